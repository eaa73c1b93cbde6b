package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// TestAgentsAreShownLittle bounds what a model reads before it has asked anything.
func TestAgentsAreShownLittle(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Agent)
	answer := s.ask("tools/list", json.RawMessage(`{}`))
	var list sdk.ListToolsResult
	if err := json.Unmarshal(answer.Result, &list); err != nil {
		t.Fatal(err)
	}
	const most = 2500 // tokens of four characters
	chars := utf8.RuneCountInString(instructionsOf(Agent))
	for _, tool := range list.Tools {
		shown, err := wire.Marshal(sdk.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema})
		if err != nil {
			t.Fatal(err)
		}
		chars += utf8.RuneCount(shown)
	}
	if chars > 4*most {
		t.Errorf("a model reads %d characters before its first call, more than %d", chars, 4*most)
	}
	t.Logf("instructions, names, descriptions and input schemas of %d tools have %d characters, about %d tokens",
		len(list.Tools), chars, (chars+3)/4)
	if len(list.Tools) > 12 {
		t.Errorf("agents are shown %d tools, more than 12", len(list.Tools))
	}
	for _, tool := range list.Tools {
		if !strings.HasPrefix(tool.Name, "memory_") || len(tool.Description) > 250 {
			t.Errorf("%s, %q is not short or named like the others", tool.Name, tool.Description)
		}
		if sentences := strings.Count(tool.Description, ". ") + 1; sentences != 3 {
			t.Errorf("%s has %d sentences, want what it does, when to call it and what it returns", tool.Name, sentences)
		}
		for name, p := range s.tools[tool.Name].InputSchema.(*jsonschema.Schema).Properties {
			if p.Description == "" {
				t.Errorf("%s does not describe %s", tool.Name, name)
			}
		}
	}
}

// TestEveryToolHasATitle of words.
func TestEveryToolHasATitle(t *testing.T) {
	for _, p := range Profiles() {
		for name, tool := range checkedTools(t, p) {
			if tool.Title == "" || strings.Contains(tool.Title, "_") {
				t.Errorf("%s of %s has the title %q", name, p, tool.Title)
			}
		}
	}
}

func TestInstructionsAreShort(t *testing.T) {
	for _, p := range Profiles() {
		text := instructionsOf(p)
		if n := utf8.RuneCountInString(text); n >= 2000 {
			t.Errorf("those of %s have %d characters, not less than 2,000", p, n)
		}
		if strings.ContainsAny(text, "{}") {
			t.Errorf("those of %s name a tool that has no name: %s", p, text)
		}
	}
}

// toolName is how the tools of all profiles are called.
var toolName = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b`)

func TestInstructionsNameToolsThereAre(t *testing.T) {
	for _, p := range Profiles() {
		tools := checkedTools(t, p)
		for _, name := range toolName.FindAllString(instructionsOf(p), -1) {
			if tools[name] == nil {
				t.Errorf("those of %s name %s, which is no tool", p, name)
			}
		}
	}
}

// crowded is a store of long, odd and many memories, and of a long note.
func crowded(t *testing.T) op.Invoker {
	t.Helper()
	notes := map[string]string{"Long.md": "# Long\n" + strings.Repeat("The quick tide \"turns\" at <six>.\n", 2000)}
	e := newStore(t, newClock(), notes)
	texts := []string{
		strings.Repeat("tide and moon ", 3000), strings.Repeat("潮が満ちる", 2000), "tide\n" + strings.Repeat("\n", 500),
		strings.Repeat("tide \t\"\\ ", 1000), "a short tide",
	}
	tags := make([]string, memory.MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprintf("%s%d", strings.Repeat("t", 90), i)
	}
	for i := range 40 {
		req := &op.SaveRequest{Content: fmt.Sprintf("%s %d", texts[i%len(texts)], i), Project: "sea"}
		if i%3 == 0 {
			req.Tags = tags
		}
		if _, err := op.Save.Call(t.Context(), e, req); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// TestAnswersKeepToMaxTokens holds both forms of every answer against the bound.
func TestAnswersKeepToMaxTokens(t *testing.T) {
	s := newStructured(t, crowded(t), Agent)
	var ids []string
	for _, m := range called[agentListOut](s, "memory_list", `{"limit":20,"max_tokens":20000}`).Memories {
		ids = append(ids, fmt.Sprintf("%q", m.ID))
	}
	refs := `["Long.md",` + strings.Join(ids, ",") + `]`
	for _, most := range []int{500, 700, 2000, 20000} {
		calls := [][2]string{
			{"memory_open", fmt.Sprintf(`{"refs":%s,"max_tokens":%d}`, refs, most)},
			{"memory_list", fmt.Sprintf(`{"limit":100,"max_tokens":%d}`, most)},
			{"memory_verify", fmt.Sprintf(`{"claim":%q,"max_tokens":%d}`, strings.Repeat("tide and moon ", 20), most)},
		}
		for _, depth := range []string{depthIndex, depthExcerpt, depthWhole} {
			calls = append(calls, [2]string{"memory_query", fmt.Sprintf(`{"query":"tide","limit":100,"depth":%q,"max_tokens":%d}`, depth, most)})
		}
		for _, c := range calls {
			res, _ := s.callTool(c[0], json.RawMessage(c[1]))
			if text, structured := op.Tokens(res.whole), op.Tokens(asRead(t, res.Structured)); res.IsError || text > most || structured > most {
				t.Errorf("%s %.100s: %d and %d tokens, error %v", c[0], c[1], text, structured, res.IsError)
			}
			if most <= 700 && !strings.Contains(res.text(), "truncated; continue with: ") {
				t.Errorf("%s %.100s does not say how to go on:\n%s", c[0], c[1], res.text())
			}
		}
	}
}

// TestWhatIsLearnedIsToldInShort: these tools have no max_tokens and need none.
func TestWhatIsLearnedIsToldInShort(t *testing.T) {
	s := newStructured(t, crowded(t), Agent)
	long, _ := json.Marshal(strings.Repeat("tide and moon ", 3000) + " 0")
	for _, c := range [][2]string{
		{"memory_add", fmt.Sprintf(`{"content":%s,"again":true}`, long)},
		{"memory_add", fmt.Sprintf(`{"content":%s}`, long)},
		{"memory_reinforce", fmt.Sprintf(`{"content":%s}`, long)},
	} {
		res, _ := s.callTool(c[0], json.RawMessage(c[1]))
		if text, structured := op.Tokens(res.whole), op.Tokens(asRead(t, res.Structured)); res.IsError || text > 2000 || structured > 2000 {
			t.Errorf("%s: %d and %d tokens, error %v", c[0], text, structured, res.IsError)
		}
	}
}

// asRead is JSON as a client reads it: on the way, < is \u003c.
func asRead(t *testing.T, raw json.RawMessage) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	plain, err := wire.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// called calls a tool that goes well and returns its structured answer.
func called[Out any](s *session, name, args string) *Out {
	s.t.Helper()
	res, _ := s.callTool(name, json.RawMessage(args))
	if res == nil || res.IsError {
		s.t.Fatalf("%s %s: %+v", name, args, res)
	}
	out := new(Out)
	if err := json.Unmarshal(res.Structured, out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// A memory is found by its own words or by those of its note, and is whole either way.
func TestWholeIsWhole(t *testing.T) {
	text := "The boiler is in the cellar.\n\n## Filling\n\nTurn the brass valve.\n\n## Bleeding\n\nOpen the top radiator first."
	opt := engine.DefaultOptions()
	dir := t.TempDir()
	opt.Data, opt.State, opt.Vaults = filepath.Join(dir, "data"), filepath.Join(dir, "state"), []string{filepath.Join(dir, "vault")}
	opt.LTMWeight, opt.STMWeight = 2, 0.5 // the note comes first
	store := running(t, opt, map[string]string{"Other.md": "Nothing of that."})
	id := saved(t, store, &op.SaveRequest{Content: text})
	if _, err := op.Promote.Call(t.Context(), store, &op.PromoteRequest{ID: string(id), Force: true}); err != nil {
		t.Fatal(err)
	}
	s := newStructured(t, store, Agent)
	for depth, want := range map[string]resultItem{depthWhole: {Text: text}, depthExcerpt: {Text: "Turn the brass valve.", Cut: true}} {
		got := called[agentQueryOut](s, "memory_query", fmt.Sprintf(`{"query":"brass valve","scope":"notes","depth":%q}`, depth)).Results
		if len(got) != 1 || got[0].ID != id || got[0].Text != want.Text || got[0].Cut != want.Cut {
			t.Errorf("%s: %+v, want %+v", depth, got, want)
		}
	}
}

// What resources are called by names a memory for every tool.
func TestURIsNameMemories(t *testing.T) {
	store := newStore(t, newClock(), nil)
	one, other := saved(t, store, &op.SaveRequest{Content: "the boiler"}), saved(t, store, &op.SaveRequest{Content: "the new boiler"})
	s := newStructured(t, store, Agent)
	for _, c := range [][2]string{
		{"memory_open", `{"refs":[%[1]q]}`},
		{"memory_used", `{"ids":[%[1]q]}`},
		{"memory_reinforce", `{"id":%[1]q}`},
		{"memory_relate", `{"from":%[1]q,"to":%[2]q,"type":"causes"}`},
		{"memory_edit", `{"id":%[1]q,"supersedes":[%[2]q]}`},
		{"memory_forget", `{"ids":[%[1]q,%[2]q]}`},
	} {
		args := fmt.Sprintf(c[1], memoryScheme+string(one), memoryScheme+string(other))
		if res, _ := s.callTool(c[0], json.RawMessage(args)); res == nil || res.IsError {
			t.Errorf("%s %s: %+v", c[0], args, res)
		}
	}
}

// TestWhoGoesOnReadsEverythingOnce follows what truncated answers say.
func TestWhoGoesOnReadsEverythingOnce(t *testing.T) {
	s := newStructured(t, crowded(t), Agent)
	seen := make(map[string]int)
	next := `{"limit":7,"max_tokens":600`
	for args := next + "}"; ; {
		out := called[agentListOut](s, "memory_list", args)
		for _, m := range out.Memories {
			seen[string(m.ID)]++
		}
		if !out.Truncated {
			break
		}
		args = next + "," + strings.TrimPrefix(out.Next, "the same memory_list call with ") + "}"
	}
	if len(seen) != 40 {
		t.Errorf("%d memories were listed, want 40", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was listed %d times", id, n)
		}
	}

	want := called[agentQueryOut](s, "memory_query", `{"query":"tide","limit":30,"depth":"index","max_tokens":20000}`).Results
	var got []resultItem
	next = `{"query":"tide","limit":30,"depth":"index","max_tokens":500`
	for args := next + "}"; len(got) < len(want); {
		out := called[agentQueryOut](s, "memory_query", args)
		got = append(got, out.Results...)
		if len(out.Results) == 0 || !out.Truncated {
			break
		}
		args = next + "," + strings.TrimPrefix(out.Next, "the same memory_query call with ") + "}"
	}
	for i := range min(len(got), len(want)) {
		if got[i].ID != want[i].ID || got[i].Path != want[i].Path {
			t.Fatalf("hit %d is %v, want %v", i, got[i], want[i])
		}
	}
	if len(got) < len(want) {
		t.Errorf("%d hits were found, want %d", len(got), len(want))
	}
}

func TestTextsThatWereCutCanBeReadToTheEnd(t *testing.T) {
	e := newStore(t, newClock(), map[string]string{"Long.md": strings.Repeat("größe „so“\n", 3000)})
	content := strings.TrimSpace(strings.Repeat("潮 and tide\n\n", 3000))
	saved, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: content})
	if err != nil {
		t.Fatal(err)
	}
	s := newStructured(t, e, Agent)
	read := make(map[string]string)
	for args := fmt.Sprintf(`{"refs":["Long.md",%q]}`, saved.Memory.ID); ; {
		out := called[agentOpenOut](s, "memory_open", args)
		for _, item := range out.Items {
			read[item.Path+string(item.ID)] += item.Text
		}
		if !out.Truncated {
			break
		}
		args = strings.TrimPrefix(out.Next, "memory_open ")
	}
	if got := read["Long.md"]; got != strings.Repeat("größe „so“\n", 3000) {
		t.Errorf("of the note %d bytes were read", len(got))
	}
	if got := read[string(saved.Memory.ID)]; got != content {
		t.Errorf("of the memory %d bytes were read, want %d", len(got), len(content))
	}
	if shown, err := op.Show.Call(t.Context(), e, &op.ShowRequest{ID: string(saved.Memory.ID), Track: new(false)}); err != nil || shown.Memory.AccessCount != 1 || shown.Memory.UseCount != 0 {
		t.Errorf("reading it in parts counted as %d accesses, %v; want one", shown.Memory.AccessCount, err)
	}
}

// TestForeignTextIsMarked: whatever a text has in it, no line of it begins as ours do.
func TestForeignTextIsMarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("a \n\r\v\f\u0085\u2028\u2029>[]")), rapid.Rune())).Draw(t, "text")
		s := resultItem{ID: nobody, Text: text, Tags: []string{text}, Project: text, Path: text}
		for _, depth := range []string{depthIndex, depthWhole} {
			if depth == depthIndex {
				s.Text = firstWords(text)
			}
			for i, line := range strings.FieldsFunc(s.render(depth), func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
				if i > 0 && !strings.HasPrefix(line, "> ") {
					t.Fatalf("%q shows the line %q", text, line)
				}
			}
		}
	})
}

func TestTokensAreEstimatedHigh(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "größe": 3, "潮が満ちる": 5, "a潮": 2} {
		if got := op.Tokens(text); got != want {
			t.Errorf("%q counts as %d, want %d", text, got, want)
		}
	}
}

func TestLongestEndsBehindAWord(t *testing.T) {
	atMost := func(n int) func(string) bool {
		return func(part string) bool { return utf8.RuneCountInString(part) <= n }
	}
	for n, want := range map[int]string{0: "", 3: "the", 9: "the größe", 12: "the größe ", 14: "the größe of ", 99: "the größe of it"} {
		if got := longestFit("the größe of it", atMost(n)); got != want {
			t.Errorf("of %d characters: %q, want %q", n, got, want)
		}
	}
}

// TestASecretIsRefusedWithANextStep: agents have no way around it.
func TestASecretIsRefusedWithANextStep(t *testing.T) {
	token := "ghp_" + strings.Join([]string{"aB3dE5fG7h", "J9kL2mN4pQ", "6rS8tU0vW1", "xY3zA5"}, "")
	s := newSession(t, newStore(t, newClock(), nil), Agent)
	res, _ := s.callTool("memory_add", json.RawMessage(fmt.Sprintf(`{"content":"the key is %s"}`, token)))
	if !res.IsError || strings.Contains(res.text(), token) || !strings.Contains(res.text(), `; remove the credential"`) {
		t.Errorf("it is answered with %s", res.text())
	}
}

// A line says whose words a memory is once.
func TestALineNamesTheOriginOnce(t *testing.T) {
	for _, c := range []struct{ source, origin, want string }{
		{"user, by hand", "user", "by hand"},
		{"agent claude/2 in session s; call with Ada", "agent", "agent claude/2 in session s; call with Ada"},
		{"user; learned 2 times", "user", "learned 2 times"},
		{"user", "user", ""},
		{"users of the shop", "user", "users of the shop"},
		{"import, old.json", "agent", "import, old.json"},
		{"a letter", "", "a letter"},
	} {
		if got := withoutOrigin(c.source, c.origin); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.source, c.origin, got, c.want)
		}
	}
}
