package mcp

//lint:file-ignore SA1019 clients of the protocol's earlier versions have messages and roots

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/mcp/tool"
	"emberd/memory"
	"emberd/op"
)

// checkNotes is a tool that takes long: nothing else in the tests of this package does.
func checkNotes() *tool.Tool {
	type in struct{}
	return tool.Define("check_notes", op.Read, "Read all notes.", func(ctx context.Context, c *tool.Call, _ *in) (*op.VaultCheckResult, error) {
		return op.VaultCheck.Call(ctx, c, &op.VaultCheckRequest{})
	}, All)
}

// served is a server that has one more tool, and the client of a person who uses it.
func served(t *testing.T, inv op.Invoker, extra *tool.Tool, opt *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	o := Options{Invoker: inv}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if extra != nil {
		if err := extra.Describe(); err != nil {
			t.Fatal(err)
		}
		s.AddTool(extra.Def, extra.Handler(&o))
	}
	return met(t, s, sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opt))
}

// met connects the two. The newest protocol has neither levels of messages nor roots.
func met(t *testing.T, s *sdk.Server, client *sdk.Client) *sdk.ClientSession {
	t.Helper()
	there, here := sdk.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// watched is a daemon's engine that tells how each operation ended.
type watched struct {
	*engine.Engine
	ended chan error
	// lasting says that an operation that told how far it is goes on only when it is
	// cancelled, so that it is under way then, however fast or busy the machine.
	lasting bool
}

func (w watched) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	if tell := op.ProgressOf(ctx); w.lasting && tell != nil {
		ctx = op.WithProgress(ctx, func(done, total int) {
			tell(done, total)
			<-ctx.Done()
		})
	}
	res, err := w.Engine.Invoke(ctx, s, req)
	if s == op.VaultCheck.Spec {
		w.ended <- err
	}
	return res, err
}

// overSocket is a daemon with 50 notes, behind a real socket; of lasting see watched.
func overSocket(t *testing.T, lasting bool) (*api.Client, chan error) {
	t.Helper()
	texts := make(map[string]string)
	for i := range 50 {
		texts[fmt.Sprintf("%d.md", i)] = "text"
	}
	w := watched{newStore(t, newClock(), texts), make(chan error, 1), lasting}
	socket := filepath.Join(t.TempDir(), "s", "emberd.sock")
	ln, err := api.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var daemon sync.WaitGroup
	daemon.Go(func() {
		if err := api.Serve(ctx, ln, api.NewHandler(w, nil), nil); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); daemon.Wait() })
	client := api.NewClient(socket, &api.ClientOptions{Name: "mcp"})
	t.Cleanup(client.Close)
	return client, w.ended
}

// TestProgressReachesTheClient through the socket and the protocol.
func TestProgressReachesTheClient(t *testing.T) {
	inv, ended := overSocket(t, false)
	got := make(chan float64, 100)
	session := served(t, inv, checkNotes(), &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			if req.Params.Total != 50 || req.Params.ProgressToken != "how far" {
				t.Errorf("progress %+v, want it of 50 and of the token", req.Params)
			}
			got <- req.Params.Progress
		}})
	params := &sdk.CallToolParams{Name: "check_notes"}
	params.SetProgressToken("how far")
	res, err := session.CallTool(t.Context(), params)
	if err != nil || res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := next(t, ended); err != nil {
		t.Error(err)
	}
	var steps []float64
	for len(steps) == 0 || steps[len(steps)-1] != 50 {
		steps = append(steps, next(t, got))
	}
	if !slices.IsSorted(steps) || steps[0] != 1 || len(slices.Compact(steps)) != len(steps) {
		t.Errorf("the steps are %v, want them to grow from 1 to 50", steps)
	}
}

// TestWhoCancelsStopsTheDaemon: the operation ends, not just the wait for it.
func TestWhoCancelsStopsTheDaemon(t *testing.T) {
	inv, ended := overSocket(t, true)
	ctx, cancel := context.WithCancel(t.Context())
	session := served(t, inv, checkNotes(), &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { cancel() }})
	params := &sdk.CallToolParams{Name: "check_notes"}
	params.SetProgressToken(1)
	if _, err := session.CallTool(ctx, params); !errors.Is(err, context.Canceled) {
		t.Errorf("the call answers %v", err)
	}
	if err := next(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the operation ended with %v, want that it was cancelled", err)
	}
	if res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_status"}); err != nil || res.IsError {
		t.Errorf("the next call: %+v, %v", res, err)
	}
}

// next is what comes next, which takes no time unless something is wrong.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came in a minute")
		panic("unreachable")
	}
}

// absent is a daemon that does not run.
type absent struct{}

func (absent) Invoke(context.Context, *op.Spec, any) (any, error) {
	return nil, memory.Errorf(memory.Unavailable, `no emberd is listening; start one with "emberd serve"`)
}

func TestClientsThatListenHearOfTrouble(t *testing.T) {
	heard := make(chan *sdk.LoggingMessageParams, 10)
	session := served(t, absent{}, nil, &sdk.ClientOptions{
		LoggingMessageHandler: func(_ context.Context, req *sdk.LoggingMessageRequest) { heard <- req.Params }})
	if err := session.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "warning"}); err != nil {
		t.Fatal(err)
	}
	if m := next(t, heard); m.Level != "warning" || !strings.Contains(fmt.Sprint(m.Data), "emberd serve") {
		t.Errorf("at first it hears %+v", m)
	}
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_query", Arguments: map[string]any{"query": "a"}})
	if err != nil || !res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if m := next(t, heard); m.Level != "error" || !strings.HasPrefix(fmt.Sprint(m.Data), "memory_query: no emberd") {
		t.Errorf("of a call it hears %+v", m)
	}
	// A mistake in a call is the caller's business, and not worth a message.
	if res, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_query"}); err != nil || !res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if len(heard) != 0 {
		t.Errorf("of a mistake it hears %+v", <-heard)
	}
}

// TestTheProjectIsWhereTheClientWorks, when nobody says otherwise.
func TestTheProjectIsWhereTheClientWorks(t *testing.T) {
	e := newStore(t, newClock(), nil)
	o := Options{Invoker: e, ProjectOf: func(dir string) string {
		name, _ := strings.CutPrefix(filepath.ToSlash(dir), "/home/ada/")
		return name
	}}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	client.AddRoots(&sdk.Root{URI: "file:///home/ada/shop"})
	elsewhere := saved(t, e, &op.SaveRequest{Content: "The bell rings", Project: "school"})
	session := met(t, s, client)
	for _, call := range []*sdk.CallToolParams{
		{Name: "memory_add", Arguments: map[string]any{"content": "The till beeps"}},
		{Name: "memory_edit", Arguments: map[string]any{"id": elsewhere, "project": "."}},
	} {
		res, err := session.CallTool(t.Context(), call)
		if err != nil || res.IsError {
			t.Fatalf("%s: %+v, %v", call.Name, res, err)
		}
	}
	list, err := op.List.Call(t.Context(), e, &op.ListRequest{Filter: op.Filter{Project: "shop"}})
	if err != nil || len(list.Memories) != 2 {
		t.Errorf("saved and moved %+v, %v; want both in the project shop", list, err)
	}
}
