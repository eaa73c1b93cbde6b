package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/engine"
	"emberd/internal/mcp/tool"
	_ "emberd/internal/testutil/ramdisk"
	"emberd/op"
	"emberd/stm"
)

// clock is a time that only tests move.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ms.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// newStore runs an engine in a folder of its own, with a vault of these notes unless
// notes is nil. Nothing in it happens by itself.
func newStore(t testing.TB, c *clock, notes map[string]string) *engine.Engine {
	t.Helper()
	e, _ := stoppable(t, c, notes)
	return e
}

// stoppable is newStore, and what has the engine follow the vault no longer: it answers
// all the same.
func stoppable(t testing.TB, c *clock, notes map[string]string) (e *engine.Engine, stop func()) {
	t.Helper()
	dir := t.TempDir()
	opt := engine.DefaultOptions()
	opt.Data, opt.State, opt.Now = filepath.Join(dir, "data"), filepath.Join(dir, "state"), c.now
	opt.Durability, opt.LifecyclePeriod = stm.None, 0
	if notes != nil {
		opt.Vaults = []string{filepath.Join(dir, "vault")}
	}
	return following(t, opt, notes)
}

// running is an engine with options of its own, which follows the vault until the test ends.
func running(t testing.TB, opt engine.Options, notes map[string]string) *engine.Engine {
	t.Helper()
	opt.Durability = stm.None
	e, _ := following(t, opt, notes)
	return e
}

func following(t testing.TB, opt engine.Options, notes map[string]string) (e *engine.Engine, stop func()) {
	t.Helper()
	if notes != nil {
		writeNotes(t, opt.Vaults[0], notes)
	}
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	until(t, "memories and notes are indexed", func() bool { return indexed(t, e) })
	return e, stop
}

func writeNotes(t testing.TB, vault string, notes map[string]string) {
	t.Helper()
	for path, text := range notes {
		name := filepath.Join(vault, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		changed := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
		if err := os.Chtimes(name, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(vault, 0o700); err != nil {
		t.Fatal(err)
	}
}

func indexed(t testing.TB, e *engine.Engine) bool {
	t.Helper()
	res, err := op.Search.Call(t.Context(), e, &op.SearchRequest{Query: "anything", Track: new(false)})
	if err != nil {
		t.Fatal(err)
	}
	known, err := op.EntityList.Call(t.Context(), e, &op.EntityListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Loading == nil && res.Indexing == nil && !known.Partial
}

// until waits for something that other goroutines bring about.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); !is(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("a minute and still not: %s", what)
		}
	}
}

// session is a client that speaks JSON-RPC with a server, a line a message.
type session struct {
	t    testing.TB
	to   io.Writer
	from *bufio.Reader
	sent int
	// told are the notifications that came since the last answer.
	told  []json.RawMessage
	tools map[string]*checked
	as    Profile
	form  Form // of the answers to the client, never auto
}

const (
	textForm       = tool.Text
	structuredForm = tool.Structured
)

// checked is a tool with its schemas, ready to judge.
type checked struct {
	*sdk.Tool
	profiles []Profile
	input    func() *jsonschema.Resolved // made when it is asked for, which is dear
	output   func() *jsonschema.Resolved
}

// newSession connects a client to a server for a profile over inv, and greets.
func newSession(t testing.TB, inv op.Invoker, p Profile) *session {
	t.Helper()
	return newClient(t, &Options{Invoker: inv, Profile: p}, "transcript", "1")
}

// newStructured is newSession for a client that receives structured content.
func newStructured(t testing.TB, inv op.Invoker, p Profile) *session {
	t.Helper()
	return newClient(t, &Options{Invoker: inv, Profile: p, Form: tool.Structured}, "transcript", "1")
}

// newClient connects a client that gives itself a name and a version.
func newClient(t testing.TB, opt *Options, name, version string) *session {
	t.Helper()
	opt.Profile = cmp.Or(opt.Profile, Agent)
	server := offering(described(t, opt.Profile), *opt)
	asked, ask := io.Pipe()
	answered, answer := io.Pipe()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- server.Run(ctx, &sdk.IOTransport{Reader: asked, Writer: answer}) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	s := &session{t: t, to: ask, from: bufio.NewReader(answered), tools: checkedTools(t, opt.Profile),
		as: opt.Profile, form: opt.FormFor(&sdk.Implementation{Name: name, Version: version})}
	s.ask("initialize", json.RawMessage(fmt.Sprintf(
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":%q}}`, name, version)))
	s.write(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return s
}

// describedTools are the tools of each profile, whose schemas take longer to draw than most tests run.
var describedTools = struct {
	sync.Mutex
	of map[Profile][]*tool.Tool
}{of: make(map[Profile][]*tool.Tool)}

// described are the tools of a profile, the same ones for all tests: nobody changes them.
func described(t testing.TB, p Profile) []*tool.Tool {
	t.Helper()
	describedTools.Lock()
	defer describedTools.Unlock()
	if describedTools.of[p] == nil {
		tools, err := toolsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		describedTools.of[p] = tools
	}
	return describedTools.of[p]
}

// checkedTools are those that a client of a profile may call.
func checkedTools(t testing.TB, p Profile) map[string]*checked {
	t.Helper()
	tools := described(t, p)
	out := make(map[string]*checked, len(tools))
	for _, tool := range tools {
		c := &checked{Tool: tool.Def, profiles: tool.Profiles}
		c.input = sync.OnceValue(func() *jsonschema.Resolved { return resolve(t, tool.Def.InputSchema) })
		c.output = sync.OnceValue(func() *jsonschema.Resolved { return resolve(t, tool.Def.OutputSchema) })
		out[tool.Def.Name] = c
	}
	return out
}

// A schema that is wrong, or has a default that it forbids, is no schema.
func TestEverySchemaResolves(t *testing.T) {
	for _, p := range []Profile{Agent, All, CortexGraph, Reference} {
		for _, tool := range checkedTools(t, p) {
			tool.input()
			tool.output()
		}
	}
}

// resolve takes a schema as a client gets it.
func resolve(t testing.TB, schema any) *jsonschema.Resolved {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// fits says why JSON does not fit a schema, nil if it does.
func fits(schema *jsonschema.Resolved, raw json.RawMessage) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

// withoutNulls leaves out the members that are null, which is what null stands for.
func withoutNulls(t testing.TB, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return raw
	}
	maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reply is what came back: a result or an error.
type reply struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// ask sends a request and returns its answer.
func (s *session) ask(method string, params json.RawMessage) reply {
	s.t.Helper()
	s.sent++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.sent, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(raw)
	s.told = nil
	for {
		line, err := s.from.ReadBytes('\n')
		if err != nil {
			s.t.Fatalf("no answer to %s: %v", method, err)
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			s.t.Fatalf("%s was answered with no JSON: %v", method, err)
		}
		if r.ID != nil && *r.ID == s.sent && r.Method == "" {
			return r
		}
		s.told = append(s.told, bytes.TrimSpace(line))
	}
}

func (s *session) write(raw json.RawMessage) {
	s.t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		s.t.Fatal(err)
	}
	line.WriteByte('\n')
	if _, err := s.to.Write(line.Bytes()); err != nil {
		s.t.Fatal(err)
	}
}

// result is that of a tool call.
type result struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	whole      string          // the text with its fence
}

// text is what a model reads.
func (r *result) text() string {
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		return fmt.Sprintf("%d pieces of content", len(r.Content))
	}
	return r.Content[0].Text
}

// callTool calls a tool, and holds what was asked and answered against its schemas.
func (s *session) callTool(name string, args json.RawMessage) (*result, reply) {
	s.t.Helper()
	params, err := json.Marshal(map[string]json.RawMessage{"name": json.RawMessage(fmt.Sprintf("%q", name)), "arguments": args})
	if err != nil {
		s.t.Fatal(err)
	}
	answer := s.ask("tools/call", params)
	if answer.Error != nil {
		return nil, answer
	}
	var res result
	if err := json.Unmarshal(answer.Result, &res); err != nil {
		s.t.Fatal(err)
	}
	s.unfence(name, &res)
	s.check(name, args, &res)
	return &res, answer
}

// unfence leaves of the text what is between the lines of the fence and behind them, and
// checks that there is one where there has to be.
func (s *session) unfence(name string, res *result) {
	s.t.Helper()
	res.whole = res.text()
	tool := s.tools[name]
	if res.IsError || tool == nil ||
		s.form == structuredForm && s.as != Agent && s.as != All && !slices.Contains(tool.profiles, Agent) {
		return
	}
	if s.form == structuredForm {
		checkJSONFence(s.t, string(res.Structured))
	}
	inside, after := withinFence(s.t, res.whole)
	res.Content[0].Text = strings.TrimSuffix(inside+after, "\n")
}

// check holds a call against the schemas: what fits the input schema may still be
// refused, but nothing else may be accepted.
func (s *session) check(name string, args json.RawMessage, res *result) {
	s.t.Helper()
	tool := s.tools[name]
	if tool == nil {
		s.t.Errorf("%s answered and is not among the tools %v", name, maps.Keys(s.tools))
		return
	}
	if res.IsError {
		if res.Structured != nil {
			s.t.Errorf("%s failed with structured content %s", name, res.Structured)
		}
		return
	}
	if err := fits(tool.input(), withoutNulls(s.t, args)); err != nil {
		s.t.Errorf("%s accepted %.200s, which its input schema does not: %v", name, args, err)
	}
	if s.form == textForm {
		if res.Structured != nil {
			s.t.Errorf("%s answered a client of texts with structured content %s", name, res.Structured)
		}
		if all := json.RawMessage(res.text()); json.Valid(all) {
			if err := fits(tool.output(), all); err != nil {
				s.t.Errorf("the answer of %s does not fit its output schema: %v\n%s", name, err, all)
			}
		}
		return
	}
	if err := fits(tool.output(), res.Structured); err != nil {
		s.t.Errorf("the answer of %s does not fit its output schema: %v\n%s", name, err, res.Structured)
	}
}
