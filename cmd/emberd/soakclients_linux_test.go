package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/api"
	"emberd/memory"
	"emberd/op"
)

// workers are who works, by name.
func (s *soak) workers() map[string]func(ctx context.Context, name string) {
	return map[string]func(context.Context, string){
		"http 1": s.overHTTP, "http 2": s.overHTTP, "http 3": s.overHTTP,
		"reconnecting": s.reconnecting, "events": s.listening,
		"mcp stdio": s.overStdio, "mcp http": s.overMCP, "commands": s.commands,
		"editor": s.editing, "keeper": s.keeping,
	}
}

// words that no two texts share many of.
func soakText(rng *rand.Rand, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s noted", name)
	for range 8 {
		fmt.Fprintf(&b, " w%x", rng.Uint32N(1<<20))
	}
	return b.String()
}

// rest keeps a client to some ten calls a second, so that what is measured is many minutes of
// work and not how much fits into them.
func rest(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause/2 + rand.N(pause)):
	case <-ctx.Done():
	}
}

// did counts a call and what went wrong with it; codes in allowed are answers like any other.
func (s *soak) did(ctx context.Context, name, what string, err error, allowed ...memory.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
	if err == nil || ending(ctx) {
		return
	}
	for _, code := range allowed {
		if memory.CodeOf(err) == code {
			return
		}
	}
	key := fmt.Sprintf("%s, %s: %v", name, what, hexes.ReplaceAllString(err.Error(), "…"))
	s.faults[key]++
}

// ending reports whether a call may have been broken off by the end of the work.
func ending(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(end) < 100*time.Millisecond
}

var hexes = regexp.MustCompile(`[0-9a-f]{4,}[0-9a-f-]*`)

func (s *soak) keep(id, text string) { s.mu.Lock(); defer s.mu.Unlock(); s.kept[id] = text }
func (s *soak) letGo(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
	s.gone++
}
func seeded(name string) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(len(name)), uint64(name[len(name)-1])))
}
func maxOf(ids []string) (some bool) { return len(ids) >= soakMemories }

// soakMemories is how many memories each client keeps before it forgets the oldest.
const soakMemories = 100

func (s *soak) overHTTP(ctx context.Context, name string) {
	client := api.NewClient(s.socket(), &api.ClientOptions{Name: strings.ReplaceAll(name, " ", "")})
	defer client.Close()
	rng, ids := seeded(name), []string(nil)
	for ; ctx.Err() == nil; rest(ctx, 100*time.Millisecond) {
		ids = s.oneCall(ctx, client, name, rng, ids)
	}
}

// reconnecting makes a connection for each call.
func (s *soak) reconnecting(ctx context.Context, name string) {
	rng, ids := seeded(name), []string(nil)
	for ; ctx.Err() == nil; rest(ctx, 100*time.Millisecond) {
		client := api.NewClient(s.socket(), nil)
		ids = s.oneCall(ctx, client, name, rng, ids)
		client.Close()
	}
}

// oneCall does one thing with the memories of a client, and returns those it has then.
func (s *soak) oneCall(ctx context.Context, client *api.Client, name string, rng *rand.Rand, ids []string) []string {
	any := func() string { return ids[len(ids)/2+rng.IntN((len(ids)+1)/2)] } // the older half fades
	switch kind := rng.IntN(10); {
	case maxOf(ids):
		_, err := op.Forget.Call(ctx, client, &op.ForgetRequest{ID: ids[0]})
		s.did(ctx, name, "forget", err)
		s.letGo(ids[0])
		return ids[1:]
	case kind < 3 || len(ids) == 0:
		return s.saveOne(ctx, client, name, rng, ids)
	case kind < 5:
		_, err := op.Search.Call(ctx, client, &op.SearchRequest{Query: soakText(rng, name)})
		s.did(ctx, name, "search", err)
	case kind < 7:
		_, err := op.Show.Call(ctx, client, &op.ShowRequest{ID: any()})
		s.did(ctx, name, "show", err)
	case kind == 7:
		id, text := any(), soakText(rng, name)
		_, err := op.Edit.Call(ctx, client, &op.EditRequest{ID: id, Content: &text})
		s.did(ctx, name, "edit", err, memory.Conflict, memory.Busy) // its text may be archived by then, or its note just saved
		switch {
		case err == nil:
			s.keep(id, text)
		case ending(ctx):
			s.letGo(id) // nobody knows whether it was done
		}
	case kind == 8:
		_, err := op.Touch.Call(ctx, client, &op.TouchRequest{ID: any()})
		s.did(ctx, name, "touch", err)
	default:
		_, err := op.List.Call(ctx, client, &op.ListRequest{})
		s.did(ctx, name, "list", err)
	}
	return ids
}

func (s *soak) saveOne(ctx context.Context, client *api.Client, name string, rng *rand.Rand, ids []string) []string {
	text := soakText(rng, name)
	res, err := op.Save.Call(ctx, client, &op.SaveRequest{Content: text})
	s.did(ctx, name, "save", err)
	if err != nil {
		return ids
	}
	s.keep(string(res.Memory.ID), text)
	return append(ids, string(res.Memory.ID))
}

// listening reads events, now and then from where it left off.
func (s *soak) listening(ctx context.Context, name string) {
	last := ""
	for ctx.Err() == nil {
		client := api.NewClient(s.socket(), nil)
		some, cancel := context.WithTimeout(ctx, 5*time.Second)
		for ev, err := range client.Events(some, last) {
			s.did(some, name, "events", err)
			if last = ev.ID; err != nil {
				break
			}
		}
		cancel()
		client.Close()
	}
}

func (s *soak) overStdio(ctx context.Context, name string) {
	s.overSessions(ctx, name, func() mcp.Transport {
		cmd := exec.Command(s.binary, "mcp", "--home", s.home)
		cmd.Args[0], cmd.Env = "emberd", s.env
		return &mcp.CommandTransport{Command: cmd}
	})
}

func (s *soak) overMCP(ctx context.Context, name string) {
	over := s.overSocket()
	defer over.CloseIdleConnections()
	s.overSessions(ctx, name, func() mcp.Transport {
		return &mcp.StreamableClientTransport{Endpoint: "http://emberd/mcp/agent", HTTPClient: httpOver(over), MaxRetries: -1}
	})
}

// overSessions adds, asks and forgets by an agent's tools, some dozens of calls a session.
func (s *soak) overSessions(ctx context.Context, name string, way func() mcp.Transport) {
	rng, ids := seeded(name), []string(nil)
	for ctx.Err() == nil {
		session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(ctx, way(), nil)
		if s.did(ctx, name, "connect", err); err != nil {
			rest(ctx, time.Second)
			continue
		}
		for n := 0; n < 40 && ctx.Err() == nil; n++ {
			ids = s.oneTool(ctx, session, name, rng, ids)
			rest(ctx, 100*time.Millisecond)
		}
		if err := session.Close(); err != nil && ctx.Err() == nil {
			s.did(ctx, name, "close", err)
		}
	}
}

func (s *soak) oneTool(ctx context.Context, session *mcp.ClientSession, name string, rng *rand.Rand, ids []string) []string {
	call := func(tool string, args map[string]any) map[string]any {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err == nil && res.IsError {
			err = errors.New(res.Content[0].(*mcp.TextContent).Text)
		}
		if s.did(ctx, name, tool, err); err != nil {
			return nil
		}
		out, _ := res.StructuredContent.(map[string]any)
		return out
	}
	switch {
	case maxOf(ids):
		call("memory_forget", map[string]any{"ids": []string{ids[0]}})
		s.letGo(ids[0])
		return ids[1:]
	case rng.IntN(2) == 0:
		call("memory_query", map[string]any{"query": soakText(rng, name)})
		return ids
	}
	text := soakText(rng, name)
	added := call("memory_add", map[string]any{"content": text})
	card, _ := added["memory"].(map[string]any)
	id, _ := card["id"].(string)
	if isNew, _ := added["new"].(bool); isNew && id != "" {
		s.keep(id, text)
		return append(ids, id)
	}
	return ids
}

// commands runs one after the other.
func (s *soak) commands(ctx context.Context, name string) {
	rng := seeded(name)
	run := func(args ...string) {
		out, err := s.command(ctx, args...)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(out))
		}
		s.did(ctx, name, args[0], err)
	}
	for ; ctx.Err() == nil; rest(ctx, time.Second) {
		id, err := memory.NewID()
		if err != nil {
			return
		}
		text := soakText(rng, name)
		run("save", text, "--id", string(id))
		if ctx.Err() == nil {
			s.keep(string(id), text)
		}
		run("list", "--limit", "5")
		run("status")
		run("forget", string(id))
		s.letGo(string(id)) // at the end, it is unknown whether the command did it
	}
}

// keeping compacts and has memories fade, far more often than a daemon does by itself, and
// asks back what has faded.
func (s *soak) keeping(ctx context.Context, name string) {
	rng := seeded(name)
	for n := 0; ctx.Err() == nil; n++ {
		rest(ctx, 4*time.Second)
		_, err := op.Compact.Call(ctx, s.client, &op.CompactRequest{})
		s.did(ctx, name, "compact", err, memory.Busy)
		if n%3 == 0 {
			_, err = op.LifecycleRun.Call(ctx, s.client, &op.LifecycleRunRequest{})
			s.did(ctx, name, "lifecycle", err, memory.Busy)
		}
		if id := s.anyKept(rng); id != "" {
			_, err = op.Rekindle.Call(ctx, s.client, &op.RekindleRequest{Query: id})
			s.did(ctx, name, "rekindle", err, memory.NotFound, memory.Busy) // somebody may forget it at this moment
		}
		_, err = op.Embed.Call(ctx, s.client, &op.EmbedRequest{Texts: []string{soakText(rng, name)}})
		s.did(ctx, name, "embed", err)
	}
}

func (s *soak) anyKept(rng *rand.Rand) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	skip := rng.IntN(max(1, len(s.kept)))
	for id := range s.kept {
		if skip--; skip < 0 {
			return id
		}
	}
	return ""
}
