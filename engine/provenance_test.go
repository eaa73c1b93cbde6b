package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/memory"
	"emberd/op"
)

// The three who write: a person, an agent, and one who gives no name.
var (
	person = memory.Actor{Via: "cli", UID: 1000, PID: 11, Client: "cli/1"}
	agent  = memory.Actor{Via: "mcp", UID: 1000, PID: 12, Client: "claude-code/2.1", Session: "s1"}
	nobody = memory.Actor{Via: "http", UID: 1000, PID: 13}
)

// doAs is do for a caller.
func doAs[Req, Res any](t testing.TB, e *engine.Engine, by memory.Actor, o op.Op[Req, Res], req *Req) *Res {
	t.Helper()
	res, err := o.Call(op.WithCaller(t.Context(), by), e, req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func refusedAs[Req, Res any](t testing.TB, e *engine.Engine, by memory.Actor, o op.Op[Req, Res], req *Req) error {
	t.Helper()
	_, err := o.Call(op.WithCaller(t.Context(), by), e, req)
	return err
}

// chain writes where a memory was learned as words.
func chain(m *memory.Memory) []string {
	var out []string
	for _, s := range m.Sources {
		text := s.String()
		if s.Evidence != "" {
			text += fmt.Sprintf(" %q", s.Evidence)
		}
		if s.By != nil && s.By.PID != 0 {
			text += fmt.Sprintf(" by %d/%d", s.By.UID, s.By.PID)
		}
		if n := s.Count(); n > 1 {
			text += fmt.Sprintf(" ×%d", n)
		}
		out = append(out, text)
	}
	return out
}

func wantChain(t testing.TB, when string, m *memory.Memory, want ...string) {
	t.Helper()
	if got := chain(m); !slices.Equal(got, want) {
		t.Errorf("%s it was learned from %q, want %q", when, got, want)
	}
}

func TestEverySaveLeavesALink(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	for _, c := range []struct {
		name   string
		by     memory.Actor
		said   op.Provenance
		origin string
		want   string
	}{
		{"by hand", person, op.Provenance{}, "user", "user, by hand by 1000/11"},
		{"an agent", agent, op.Provenance{}, "agent", "agent claude-code/2.1 in session s1 by 1000/12"},
		{"without a name", nobody, op.Provenance{}, "agent", "agent over http by 1000/13"},
		{"an agent of what a person said", agent, op.Provenance{Origin: "user", File: "notes.md", Line: 12, Quote: "it leaks"}, "user",
			`user claude-code/2.1 in session s1, notes.md:12 "it leaks" by 1000/12`},
		{"the web", agent, op.Provenance{Origin: "web", File: "https://example.org"}, "web", "web claude-code/2.1 in session s1, https://example.org by 1000/12"},
	} {
		m := doAs(t, e, c.by, op.Save, &op.SaveRequest{Content: "the kettle leaks, says " + c.name, Provenance: c.said, Project: "kitchen"}).Memory
		again := look(t, e, m.ID)
		for when, m := range map[string]op.Memory{"as answered": m, "as stored": again} {
			wantChain(t, c.name+", "+when, &m.Memory, c.want)
			if s := m.Sources[0]; m.Origin != c.origin || !s.At.Equal(clock.Now()) || s.Project != "kitchen" {
				t.Errorf("%s, %s: origin %q, learned at %v in %q; want %q, now, kitchen", c.name, when, m.Origin, s.At, s.Project, c.origin)
			}
		}
	}
}

func TestWhatCannotBeSaidOfASource(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct {
		name string
		said op.Provenance
		code memory.Code
		says string
	}{
		{"another origin", op.Provenance{Origin: "robot"}, memory.Invalid, `invalid origin "robot"; use user, agent, tool, web`},
		{"an import", op.Provenance{Origin: "import"}, memory.Invalid, `invalid origin "import"`},
		{"a line of nothing", op.Provenance{Line: 3}, memory.Invalid, "line 3 requires a file"},
		{"a line before the first", op.Provenance{File: "a", Line: -1}, memory.Invalid, "invalid line -1; use 1 or more"},
		{"a long file", op.Provenance{File: strings.Repeat("a", 501)}, memory.TooLarge, "too many characters in file: 501 (limit 500)"},
		{"a long quote", op.Provenance{Quote: strings.Repeat("ä", 1001)}, memory.TooLarge, "too many characters in quote: 1001 (limit 1000)"},
		{"no text", op.Provenance{Quote: "\xff"}, memory.Invalid, "invalid quote: the text is not UTF-8"},
		{"a secret quoted", op.Provenance{Quote: "password: hunter2hunter2X9"}, memory.Secret, "quote contains text that looks like a credential"},
		{"a secret in an address", op.Provenance{File: "https://joe:hunter2hunter2X9@example.org/"}, memory.Secret, "file contains text that looks like a credential"},
	} {
		err := refusedAs(t, e, agent, op.Save, &op.SaveRequest{Content: "the kettle leaks", Provenance: c.said})
		if memory.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %s, %s", c.name, err, c.code, c.says)
		}
	}
	longest := op.Provenance{File: strings.Repeat("a", 500), Line: 1, Quote: strings.Repeat("ä", 1000)}
	doAs(t, e, agent, op.Save, &op.SaveRequest{Content: "the kettle leaks", Provenance: longest})
}

func TestAnotherTextIsLearnedAndOtherFieldsAreNot(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := doAs(t, e, agent, op.Save, &op.SaveRequest{Content: "the kettle leaks"}).Memory.ID
	doAs(t, e, nobody, op.Edit, &op.EditRequest{ID: string(id), AddTags: []string{"kitchen"}})
	doAs(t, e, nobody, op.Show, &op.ShowRequest{ID: string(id)})
	m := look(t, e, id)
	wantChain(t, "after a tag and a use", &m.Memory, "agent claude-code/2.1 in session s1 by 1000/12")
	res := doAs(t, e, person, op.Edit, &op.EditRequest{ID: string(id), Content: new("the kettle leaks at the seam")})
	wantChain(t, "edited", &res.Memory.Memory, "agent claude-code/2.1 in session s1 by 1000/12", "user, by hand by 1000/11")
	if slices.ContainsFunc(res.Changed, func(f string) bool { return strings.HasPrefix(f, "source") }) {
		t.Errorf("the edit says that %q changed", res.Changed)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	m = look(t, e, id)
	wantChain(t, "after undo", &m.Memory, "agent claude-code/2.1 in session s1 by 1000/12")
}

func TestABatchAtTheCommandLineIsAnImport(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	items := []op.SaveRequest{{Content: "one", Provenance: op.Provenance{File: "old.jsonl", Line: 3}}, {Content: "two", Provenance: op.Provenance{Origin: "user"}}}
	for _, c := range []struct {
		by   memory.Actor
		want []string
	}{
		{person, []string{"import, by hand, old.jsonl:3 by 1000/11", "user, by hand by 1000/11"}},
		{agent, []string{"agent claude-code/2.1 in session s1, old.jsonl:3 by 1000/12", "user claude-code/2.1 in session s1 by 1000/12"}},
	} {
		for i, answer := range doAs(t, e, c.by, op.SaveBatch, &op.SaveBatchRequest{Items: items}).Results {
			m := look(t, e, answer.ID)
			wantChain(t, c.by.Via, &m.Memory, c.want[i])
		}
	}
}

// An export has the chains, and an import brings them back as they were; a memory of
// another system is of its import.
func TestChainsComeThroughExportAndImport(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	other, clock := newEngine(t)
	id := doAs(t, e, agent, op.Save, &op.SaveRequest{Content: "the kettle leaks", Provenance: op.Provenance{Quote: "it leaks"}}).Memory.ID
	doAs(t, e, person, op.Edit, &op.EditRequest{ID: string(id), Content: new("the kettle leaks at the seam")})
	want := look(t, e, id)
	records := do(t, e, op.Export, &op.ExportRequest{}).Records
	doAs(t, other, nobody, op.Import, &op.ImportRequest{Records: records})
	got := look(t, other, id)
	wantChain(t, "imported", &got.Memory, chain(&want.Memory)...)
	if again := doAs(t, other, nobody, op.Import, &op.ImportRequest{Records: records}).Results[0]; again.Fate != op.ImportPresent {
		t.Errorf("imported again it is %s, want present", again.Fate)
	}

	for i, c := range []struct{ sources, want string }{
		{"", "import, by hand by 1000/11"},
		{`[{"kind":"import","ref":"old.json"}]`, "import, by hand, old.json by 1000/11"},
		{`[{"kind":"user","at":"2020-01-01T00:00:00Z"}]`, "user"},
	} {
		rec := foreign(t, fmt.Sprint("of elsewhere ", i))
		if c.sources != "" {
			rec.Fields["sources"] = json.RawMessage(c.sources)
		}
		clock.advance(time.Hour)
		doAs(t, other, person, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{rec}})
		m := look(t, other, rec.ID)
		wantChain(t, "of another system", &m.Memory, c.want)
	}
}

// What a person writes into the note of a memory is learned from that person.
func TestAnEditOfTheNoteIsLearned(t *testing.T) {
	t.Parallel()
	d := watching(t, vaultHouse(t, garden()))
	id := d.keep("the kettle leaks", "Kettle.md")
	d.write(t, "Kettle.md", noteFor(id, "the kettle leaks at the seam"))
	until(t, "the note is taken over", func() bool { return d.memory(id).Content == "the kettle leaks at the seam" })
	m := look(t, d.Engine, id)
	if last := m.Sources[len(m.Sources)-1]; m.Learned() != 2 || last.Kind != memory.FromUser || last.Ref != "Kettle.md" || last.String() != "user, Kettle.md" {
		t.Errorf("learned %d times, last from %v; want 2, the last from its note", m.Learned(), last)
	}
	if sources := graph.SourcesOf(&m.Memory); len(sources) != 0 {
		t.Errorf("its own note is among the sources in its note: %q", sources)
	}
}

// Among others a memory shows where it was learned first, and the last two times; alone
// it shows all.
func TestLongChainsAreShortInLists(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	id := save(t, e, valve).ID
	for i := range 20 {
		clock.advance(2 * time.Hour)
		by := agent
		by.Client = fmt.Sprint("agent/", i)
		doAs(t, e, by, op.Reinforce, &op.ReinforceRequest{ID: string(id)})
	}
	whole := look(t, e, id)
	if len(whole.Sources) != 21 || whole.SourcesDropped != 0 {
		t.Fatalf("show has %d links and %d dropped, want 21 and 0", len(whole.Sources), whole.SourcesDropped)
	}
	for name, m := range map[string]op.Memory{
		"list":   do(t, e, op.List, &op.ListRequest{}).Memories[0],
		"search": *searchFor(t, e, "copper valve")[0].Memory,
		"query":  *do(t, e, op.Query, &op.QueryRequest{Query: "copper valve"}).Results[0].Hit.Memory,
	} {
		want := []memory.Source{whole.Sources[0], whole.Sources[19], whole.Sources[20]}
		if m.SourcesDropped != 18 || m.Learned() != 21 || !slices.EqualFunc(m.Sources, want, memory.Source.Equal) {
			t.Errorf("%s has %q and %d dropped", name, chain(&m.Memory), m.SourcesDropped)
		}
	}
}

// Who says the same once more is in nobody's way who edits.
func TestALinkAloneIsNoEdit(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	searchFor(t, e, "copper valve")
	if echo := doAs(t, e, agent, op.Save, &op.SaveRequest{Content: valve}); echo.Echo == nil || echo.Memory.Rev != m.Rev {
		t.Fatalf("an echo makes rev %s of %s: %+v", echo.Memory.Rev, m.Rev, echo.Echo)
	}
	edited := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), IfMatch: m.Rev, AddTags: []string{"boat"}}).Memory
	if edited.Rev == m.Rev {
		t.Error("an edit leaves the rev")
	}
	searchFor(t, e, "copper valve")
	if again := doAs(t, e, agent, op.Save, &op.SaveRequest{Content: valve}).Memory; again.Rev != edited.Rev {
		t.Errorf("an echo after an edit makes rev %s of %s", again.Rev, edited.Rev)
	}
}

// Whoever saves by hand what a tool or the web said stands for it.
func TestAPersonWhoSavesTheSameConfirms(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	web := doAs(t, e, agent, op.Save, &op.SaveRequest{Content: valve, Provenance: op.Provenance{Origin: "web"}}).Memory
	if res := doAs(t, e, agent, op.Save, &op.SaveRequest{Content: valve, EvenRecalled: true}); res.Confirmed || res.Memory.ID == web.ID {
		t.Fatalf("an agent confirms: %+v", res)
	}
	for name, req := range map[string]op.SaveRequest{
		"elsewhere":       {Collection: "other"},
		"wanted":          {Again: true},
		"of the web":      {Provenance: op.Provenance{Origin: "web"}},
		"of more":         {Tags: []string{"boat"}},
		"of another date": {CreatedAt: newClock().daysAgo(2)},
	} {
		req.Content, req.EvenRecalled = valve, true
		if res := doAs(t, e, person, op.Save, &req); res.Confirmed {
			t.Errorf("%s: it confirms %s", name, res.Memory.ID)
		}
	}
	res := doAs(t, e, person, op.Save, &op.SaveRequest{Content: "  " + strings.ToUpper(valve), IdempotencyKey: "k"})
	if !res.Confirmed || res.Memory.DataOnly() || res.Memory.Learned() != 2 {
		t.Fatalf("a person's save answers %+v, want a memory that is confirmed", res)
	}
	if again := doAs(t, e, person, op.Save, &op.SaveRequest{Content: "  " + strings.ToUpper(valve), IdempotencyKey: "k"}); !again.Replayed || again.Memory.ID != res.Memory.ID {
		t.Errorf("the same request again answers %+v", again)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if m := look(t, e, res.Memory.ID); !m.DataOnly() {
		t.Error("after the undo it is confirmed still")
	}
}

func TestAnImportRefusesLinksThatNothingWrote(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct{ key, value, says string }{
		{"source.abcdefgh.0", `{"kind":"agent","evidence":"` + strings.Repeat("x", core.MaxLink+1) + `"}`, "too many characters in evidence: "},
		{"source.abcdefgh.0", `{"kind":"agent","times":-1}`, "times -1 is out of range ("},
		{"sources", `[{"kind":"agent","times":9000000000000000000}]`, "times 9e+18 is out of range ("},
		{"sources_dropped", "-1", "sources_dropped -1 is out of range ("},
	} {
		rec := foreign(t, "of elsewhere")
		rec.Fields[c.key] = json.RawMessage(c.value)
		res := do(t, e, op.Import, &op.ImportRequest{Records: []op.Record{rec}}).Results[0]
		if res.Fate != op.ImportFailed || !strings.Contains(fmt.Sprint(*res.Error), c.says) {
			t.Errorf("%s %.40s: %s, %v; want it refused, %s", c.key, c.value, res.Fate, res.Error, c.says)
		}
	}
}

// However long a save takes, the memory was learned when it was made: the log says that once.
func TestASaveHasOneTime(t *testing.T) {
	h := newHouse(t)
	h.Options.Now = func() time.Time {
		h.clock.advance(time.Millisecond)
		return h.clock.Now()
	}
	saved := doAs(t, h.open(t), person, op.Save, &op.SaveRequest{Content: "the port is 5432"}).Memory
	if at := saved.Sources[0].At; !at.Equal(saved.CreatedAt) {
		t.Errorf("learned at %s, made at %s", at, saved.CreatedAt)
	}
}
