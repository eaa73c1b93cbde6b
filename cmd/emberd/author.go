package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"emberd/engine"
	"emberd/internal/config"
	"emberd/internal/llm"
	"emberd/memory"
	"emberd/op"
)

// author is the chat endpoint that settings name as who writes summaries; without a
// URL there is none. The client is nil then.
func author(l *config.LLM) (engine.Author, *llm.Client, error) {
	if l.URL == "" {
		return engine.Author{}, nil, nil
	}
	key, err := readKey(l.KeyFile, "key")
	if err != nil {
		return engine.Author{}, nil, memory.Errorf(memory.Invalid, "llm.key_file: %w", err)
	}
	client, err := llm.New(llm.Options{URL: l.URL, Model: l.Model, Key: key, Timeout: l.Timeout})
	if err != nil {
		return engine.Author{}, nil, memory.Errorf(memory.Invalid, "llm.url: %w", err)
	}
	write := func(ctx context.Context, text string, most int) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, l.Timeout) // for all tries
		defer cancel()
		return client.Summarize(ctx, text, most)
	}
	return engine.Author{Write: write, Endpoint: client.Endpoint(), Remote: client.Remote()}, client, nil
}

// maxKey bounds a key in bytes; the longest known ones have a few hundred.
const maxKey = 16 << 10

// readKey returns the one word in a file, a key or what else it is to be; "" without a file.
func readKey(path, what string) (string, error) {
	if path == "" {
		return "", nil
	}
	// Not wrapped: an error of a path is taken for one of the daemon's own folders.
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%v; put the %s there, or leave the setting out", err, what)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", fmt.Errorf("%v; it must be a file that can be read", err)
	}
	key := string(bytes.TrimSpace(data))
	switch {
	case key == "":
		return "", fmt.Errorf("%s is empty; put the %s into it, or leave the setting out", path, what)
	case len(data) > maxKey, strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return "", fmt.Errorf("%s holds more than one word; it must hold the %s and nothing else", path, what)
	}
	return key, nil
}

// abroad says that texts leave this machine, and for where; "" when they do not.
func abroad(endpoint string, remote, cleanup bool) string {
	if !remote {
		return ""
	}
	whose := "that is archived"
	if cleanup {
		whose += ", or that a cleanup judges or words anew,"
	}
	text := "llm.url names another machine: the text of every memory " + whose + " is sent to " + endpoint
	if strings.HasPrefix(endpoint, "http:") {
		text += ", unencrypted"
	}
	return text
}

// printAuthor tells who writes summaries, where that is not emberd itself.
func (s *state) printAuthor(a *op.AuthorStatus) {
	if a == nil {
		return
	}
	s.row("summaries", "written by "+clean(a.Endpoint))
	if text := abroad(a.Endpoint, a.Remote, a.Cleanup); text != "" {
		s.warn("", clean(text))
	}
	if !a.Again.IsZero() {
		s.row("", "extracts for now; it is asked again in "+lasted(max(0, a.Again.Sub(s.now()))))
	}
}
