package daemon

import (
	"context"
	"strings"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/llm"
	"emberd/memory"
	"emberd/op"
)

// summaryTimeout is how long the endpoint has for one summary, all tries included.
const summaryTimeout = 30 * time.Second

// author returns the chat endpoint that writes summaries; without a URL there is none, and the
// client is nil.
func author(l *config.LLM, timeout time.Duration) (core.Author, *llm.Client, error) {
	if l.URL == "" {
		return core.Author{}, nil, nil
	}
	key, err := cli.ReadKey(l.KeyFile, "key")
	if err != nil {
		return core.Author{}, nil, memory.Errorf(memory.Invalid, "llm.key_file: %w", err)
	}
	client, err := llm.New(llm.Options{URL: l.URL, Model: l.Model, Key: key, Timeout: timeout})
	if err != nil {
		return core.Author{}, nil, memory.Errorf(memory.Invalid, "llm.url: %w", err)
	}
	write := func(ctx context.Context, text string, most int) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout) // for all tries
		defer cancel()
		return client.Summarize(ctx, text, most)
	}
	return core.Author{Write: write, Endpoint: client.Endpoint(), Remote: client.Remote()}, client, nil
}

// useModel has the engine use the language model of the settings for what they name, until it is closed.
func useModel(c *config.Config, opt *engine.Options) (closeModel func(), err error) {
	writes, endpoint, err := author(&c.LLM, summaryTimeout)
	if err != nil {
		return nil, err
	}
	closeModel = func() {
		if endpoint != nil {
			endpoint.Close()
		}
	}
	opt.Author = writes
	if opt.Cleanup, err = cleanupOptions(c, endpoint); err == nil {
		opt.Hooks.Ask, err = chooser(c, endpoint)
	}
	if err != nil {
		closeModel()
	}
	return closeModel, err
}

// chooser returns what has the endpoint choose sentences of sessions, nil for nothing.
func chooser(c *config.Config, client *llm.Client) (func(context.Context, string, string, int) (string, error), error) {
	if !c.Hooks.LLM {
		return nil, nil
	}
	if client == nil {
		return nil, memory.Errorf(memory.Invalid, "hooks.llm requires llm.url; set llm.url, or turn off hooks.llm")
	}
	return client.Complete, nil
}

// Abroad says that texts leave this machine, and for where; "" when they do not.
func Abroad(a *op.AuthorStatus) string {
	if !a.Remote {
		return ""
	}
	whose := "that emberd archives"
	if a.Cleanup {
		whose += ", or that a cleanup rates or rewrites,"
	}
	text := "llm.url is on another machine: emberd sends the text of every memory " + whose + " to " + a.Endpoint
	if a.Sessions {
		text += ", and the messages of sessions with coding agents"
	}
	if strings.HasPrefix(a.Endpoint, "http:") {
		text += ", unencrypted"
	}
	return text
}

// PrintAuthor tells who writes summaries, where that is not emberd itself.
func PrintAuthor(s *cli.App, a *op.AuthorStatus) {
	if a == nil {
		return
	}
	s.Row("summaries", "written by "+cli.Clean(a.Endpoint))
	if text := Abroad(a); text != "" {
		s.Warn("", cli.Clean(text))
	}
	if !a.Again.IsZero() {
		s.Row("", "emberd writes the summaries without the language model "+
			"until the next attempt in "+cli.Lasted(max(0, a.Again.Sub(s.Now()))))
	}
}
