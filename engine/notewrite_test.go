package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// agentDesk is a vault in which agents may write in Agents and Memories.
func agentDesk(t testing.TB, notes map[string]string, folders ...string) (*house, *engine.Engine) {
	t.Helper()
	h := promotingHouse(t, notes)
	h.VaultAgents = append([]string{"Agents"}, folders...)
	return h, h.following(t)
}

func undo(t testing.TB, e *engine.Engine, tx string) *op.UndoResult {
	t.Helper()
	return do(t, e, op.Undo, &op.UndoRequest{Tx: tx})
}

func TestNoteWrite(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, nil)
	req := &op.NoteWriteRequest{Path: "Agents/Deep/Plan", Text: "# Plan\n\nStep one.\n", Preview: true}
	got := do(t, e, op.NoteWrite, req)
	if !got.Created || !got.Preview || got.Tx != "" || !strings.Contains(got.Diff, "--- /dev/null\n+++ b/Agents/Deep/Plan.md\n@@") || !strings.Contains(got.Diff, "+Step one.\n") {
		t.Errorf("the preview is %+v", got)
	}
	wantFiles(t, h)
	req.Preview = false
	got = do(t, e, op.NoteWrite, req)
	if got.Path != "Agents/Deep/Plan.md" || !got.Created || got.Tx == "" || h.note(t, got.Path) != req.Text {
		t.Fatalf("the note is %q, %+v", h.note(t, got.Path), got)
	}
	if hits := do(t, e, op.Search, &op.SearchRequest{Query: "step", Scope: "notes"}).Hits; len(hits) != 1 {
		t.Errorf("a search finds %d notes", len(hits))
	}
	wantCode(t, refused(t, e, op.NoteWrite, req), memory.Conflict, "already exists; to replace the note, read the note and pass its digest")
	wantCode(t, refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/Deep/plan.md", Text: "x"}), memory.Conflict, "Agents/Deep/Plan.md")
	second := &op.NoteWriteRequest{Path: got.Path, Text: "# Plan\n\nStep two.\n", Digest: got.Digest}
	replaced := do(t, e, op.NoteWrite, second)
	if replaced.Created || !strings.Contains(replaced.Diff, "-Step one.\n+Step two.\n") || h.note(t, got.Path) != second.Text {
		t.Errorf("replaced: %+v", replaced)
	}
	wantCode(t, refused(t, e, op.NoteWrite, second), memory.Conflict, "has changed since you read it; read it again")
	second.Digest = replaced.Digest
	if same := do(t, e, op.NoteWrite, second); same.Changed || same.Tx != "" || same.Diff != "" {
		t.Errorf("writing what is there answered %+v", same)
	}

	u := undo(t, e, "") // the latest
	if u.Entry.Tx != replaced.Tx || u.Items[0].Path != got.Path || u.Items[0].Action != "reverted" || h.note(t, got.Path) != req.Text {
		t.Errorf("undo answered %+v, the note is %q", u, h.note(t, got.Path))
	}
	wantCode(t, refused(t, e, op.Undo, &op.UndoRequest{Tx: replaced.Tx}), memory.Invalid, "was already undone")
	again := undo(t, e, u.Tx)
	if h.note(t, got.Path) != second.Text {
		t.Errorf("undone twice the note is %q", h.note(t, got.Path))
	}
	undo(t, e, again.Tx)
	u = undo(t, e, got.Tx)
	wantFiles(t, h)
	if u.Items[0].Action != "removed" {
		t.Errorf("undo of the creation: %+v", u)
	}
	if hits := do(t, e, op.Search, &op.SearchRequest{Query: "step", Scope: "notes"}).Hits; len(hits) != 0 {
		t.Errorf("a search finds %d notes", len(hits))
	}
	h.rest(t, e)
	undo(t, e, u.Tx)
	if h.note(t, got.Path) != req.Text {
		t.Error("the undo of a removal does not bring the note back")
	}
}

// The user wins: what they saved since is neither written over nor undone.
func TestAUserWhoSavesMeanwhile(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, map[string]string{"Agents/a.md": "one\n"})
	digest := do(t, e, op.NoteContext, &op.NoteContextRequest{Path: "Agents/a.md"}).Digest
	done := do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Text: "two"})
	h.write(t, "Agents/a.md", "one\n\ntwo\nthe user's\n")
	wantCode(t, refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/a.md", Text: "x", Digest: digest}), memory.Conflict, "has changed since you read it")
	wantCode(t, refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/a.md", Text: "x", Digest: done.Digest}), memory.Conflict, "has changed since you read it")
	u := undo(t, e, done.Tx)
	if u.Tx != "" || u.Items[0].Action != "left" || !strings.Contains(u.Items[0].Reason, "the note changed again later") {
		t.Errorf("undo answered %+v", u)
	}
	if got := h.note(t, "Agents/a.md"); got != "one\n\ntwo\nthe user's\n" {
		t.Errorf("the note is %q", got)
	}
	gone := do(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/gone.md", Text: "x"})
	if err := os.Remove(filepath.Join(h.Vaults[0], gone.Path)); err != nil {
		t.Fatal(err)
	}
	if u := undo(t, e, gone.Tx); u.Items[0].Action != "left" || !strings.Contains(u.Items[0].Reason, "moved or deleted after the change") {
		t.Errorf("undo of a note that is gone answered %+v", u)
	}
	h.ms.Store(time.Now().UnixMilli())
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Text: "x"}), memory.Busy, "try again in")
}

func TestNoteAppend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ note, heading, text, want string }{
		"paragraph":       {"one\n", "", "two", "one\n\ntwo\n"},
		"no line end":     {"one", "", "two\n", "one\n\ntwo\n"},
		"item":            {"- one\n", "", "- two", "- one\n- two\n"},
		"row":             {"| a |\n|---|\n| b |\n", "", "| c |", "| a |\n|---|\n| b |\n| c |\n"},
		"empty":           {"", "", "two", "two\n"},
		"properties":      {"---\na: b\n---\n", "", "two", "---\na: b\n---\ntwo\n"},
		"heading":         {"# A\n\none\n\n# B\n\nend\n", "A", "two", "# A\n\none\n\ntwo\n\n# B\n\nend\n"},
		"empty heading":   {"# A\n# B\n", "A", "two", "# A\ntwo\n\n# B\n"},
		"last heading":    {"# A\n\none\n\n## Log\n\n- x\n", "## Log", "- y", "# A\n\none\n\n## Log\n\n- x\n- y\n"},
		"of two":          {"# A\n## X\n1\n# B\n## X\n2\n", "B#X", "- y", "# A\n## X\n1\n# B\n## X\n2\n\n- y\n"},
		"CRLF":            {"one\r\n\r\n# B\r\n\r\nend\r\n", "B", "two\nthree", "one\r\n\r\n# B\r\n\r\nend\r\n\r\ntwo\r\nthree\r\n"},
		"byte-order mark": {"\ufeff# A\n\none\n", "A", "two", "\ufeff# A\n\none\n\ntwo\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h, e := agentDesk(t, map[string]string{"Agents/a.md": c.note})
			got := do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Heading: c.heading, Text: c.text})
			if now := h.note(t, "Agents/a.md"); now != c.want {
				t.Errorf("the note is %q, want %q", now, c.want)
			}
			undo(t, e, got.Tx)
			if now := h.note(t, "Agents/a.md"); now != c.note {
				t.Errorf("undone the note is %q", now)
			}
		})
	}
	_, e := agentDesk(t, map[string]string{"Agents/a.md": "# A\n## X\n# B\n## X\n", "Agents/open.md": "```\ncode\n"})
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "a", Heading: "X", Text: "x"}), memory.Ambiguous, "add the parent heading before the text, for example Plan#Steps")
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "a", Heading: "Y", Text: "x"}), memory.NotFound, "not found among the 4 headings of the note")
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "open", Text: "x"}), memory.Conflict, "the note ends in an open code block or comment")
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "a", Text: " \n"}), memory.Invalid, "missing text")
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "none", Text: "x"}), memory.NotFound, "none")
}

func TestNoteEdit(t *testing.T) {
	t.Parallel()
	const note = "---\nstatus: open # mine\ntags: [a]\n---\n# Plan\n\nred red\n\n## Steps\n\n1. x\n\n### Deep\n\ny\n\n# End\n\nz\n"
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, c := range map[string]struct {
		req  op.NoteEditRequest
		from string
		to   string
	}{
		"find":     {op.NoteEditRequest{Find: "1. x", Replace: "1. new\n2. more"}, "1. x", "1. new\n2. more"},
		"twice":    {op.NoteEditRequest{Find: "red", Replace: "blue", Count: 2}, "red red", "blue blue"},
		"remove":   {op.NoteEditRequest{Find: "red red\n\n"}, "red red\n\n", ""},
		"section":  {op.NoteEditRequest{Heading: "Steps", Text: new("new\n")}, "1. x\n\n### Deep\n\ny\n", "new\n"},
		"empty":    {op.NoteEditRequest{Heading: "Deep", Text: new("")}, "### Deep\n\ny\n\n", "### Deep\n\n"},
		"last":     {op.NoteEditRequest{Heading: "End", Text: new("a\nb")}, "# End\n\nz\n", "# End\n\na\nb\n"},
		"property": {op.NoteEditRequest{Set: map[string]json.RawMessage{"status": raw(`"done"`), "rank": raw("2"), "who": raw(`["a","b"]`)}}, "status: open # mine\ntags: [a]\n", "status: \"done\" # mine\ntags: [a]\nrank: 2\nwho:\n  - \"a\"\n  - \"b\"\n"},
		"unset":    {op.NoteEditRequest{Unset: []string{"status"}}, "status: open # mine\n", ""},
		"both":     {op.NoteEditRequest{Find: "z", Replace: "w", Unset: []string{"status", "tags"}}, "---\nstatus: open # mine\ntags: [a]\n---\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, e := agentDesk(t, map[string]string{"Agents/a.md": note})
			want := strings.Replace(note, c.from, c.to, 1)
			if name == "both" {
				want = strings.Replace(want, "z", "w", 1)
			}
			c.req.Path = "Agents/a.md"
			c.req.Preview = true
			if would := do(t, e, op.NoteEdit, &c.req); would.Diff == "" || h.note(t, "Agents/a.md") != note {
				t.Errorf("the preview is %+v, the note %q", would, h.note(t, "Agents/a.md"))
			}
			c.req.Preview = false
			got := do(t, e, op.NoteEdit, &c.req)
			if now := h.note(t, "Agents/a.md"); now != want {
				t.Errorf("the note is\n%s\nwant\n%s", now, want)
			}
			undo(t, e, got.Tx)
			if now := h.note(t, "Agents/a.md"); now != note {
				t.Errorf("undone the note is %q", now)
			}
		})
	}
	_, e := agentDesk(t, map[string]string{"Agents/a.md": note})
	for why, req := range map[string]op.NoteEditRequest{
		"contains the text 2 times, but count is 1":           {Find: "red", Replace: "x"},
		"contains the text 2 times, but count is 3":           {Find: "red", Replace: "x", Count: 3},
		`text "green" not found in the note`:                  {Find: "green"},
		"missing find":                                        {},
		"find and heading cannot be combined":                 {Find: "x", Heading: "Plan", Text: new("")},
		"heading requires text":                               {Heading: "Plan"},
		"text requires heading":                               {Text: new("")},
		"are the same text":                                   {Find: "x", Replace: "x"},
		"property \"y\": YAML reads it as a value":            {Set: map[string]json.RawMessage{"y": raw(`"x"`)}},
		"property \"true\": YAML reads it":                    {Unset: []string{"true"}},
		"\"Memory-Id\"; emberd reserves memory-id and emberd": {Unset: []string{"Memory-Id"}},
		"property \"1a\"; begin with a letter":                {Set: map[string]json.RawMessage{"1a": raw(`"x"`)}},
		"invalid property \"memory-id\"":                      {Set: map[string]json.RawMessage{"memory-id": raw(`"x"`)}},
		"invalid value of property":                           {Set: map[string]json.RawMessage{"x": raw(`{}`)}},
		"would be invalid YAML":                               {Find: "tags: [a]", Replace: "tags: [a"},
		"has changed since":                                   {Find: "z", Replace: "w", Digest: "0123456789abcdef"},
	} {
		req.Path = "Agents/a.md"
		if err := refused(t, e, op.NoteEdit, &req); !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want %q", err, why)
		}
	}
}

// Where agents do not write: outside of their folders and of the vault, in emberd's own notes and in those of
// memories, and nothing that a plugin would run or that is a password.
func TestWhereAgentsDoNotWrite(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Private/a.md": "mine\n", "Agents/list.md": "---\nemberd: index\n---\nx\n", "Agents/user.md": "```dataviewjs\nalert()\n```\n\ntext\n"})
	h.VaultAgents = []string{"Agents"}
	h.VaultIndex = "Memories/Index.md"
	e := h.following(t)
	m := promoteByID(t, e, save(t, e, "the broker is RabbitMQ").ID).Memory
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(h.Vaults[0], "Agents"), 0o700))
	must(os.Symlink(t.TempDir(), filepath.Join(h.Vaults[0], "Agents", "out")))
	for path, why := range map[string]string{
		"Private/new.md":           "outside of the folders for agents (Memories/, Agents/)",
		"new.md":                   "outside of the folders for agents",
		"Agents.md":                "outside of the folders for agents",
		"../x.md":                  "invalid path",
		"Agents/../../x.md":        "invalid path",
		"/etc/x.md":                "invalid path",
		".obsidian/x.md":           "invalid name",
		"Agents/.hidden.md":        "invalid name",
		"Agents/a:b.md":            `use "ab"`,
		"Agents/a[b].md":           "invalid name",
		"Agents/out/x.md":          "symbolic link",
		"Memories/Archive/x.md":    "is in the archive folder",
		"Memories/Index.md":        "only emberd can write note",
		"Agents/x.sync-conflict-1": "invalid name",
		"":                         "missing path",
	} {
		if err := refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: path, Text: "x"}); !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", path, err, why)
		}
	}
	for path, why := range map[string]string{"Private/a.md": "outside of the folders", "Agents/list.md": "only emberd can write note", m.PromotedTo: "to change it, run: emberd edit " + m.ID.Short()} {
		for _, err := range []error{
			refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: path, Text: "x"}),
			refused(t, e, op.NoteEdit, &op.NoteEditRequest{Path: path, Find: "i", Replace: "x"}),
		} {
			if !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %q", path, err, why)
			}
		}
	}
	for text, why := range map[string]string{
		"---\nmemory-id: " + string(m.ID) + "\n---\nx": "only emberd can set memory-id and emberd; remove these properties",
		"---\nemberd: core\n---\nx":                    "only emberd can set memory-id and emberd; remove these properties",
		"---\na: <% tp.file %>\n---\nx":                "Templater",
		"---\na: [\n---\nx":                            "invalid YAML",
		"the key is AKIAIOSFODNN7EXAMPL2 and " + "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEZ": "credential",
		"a\x00b": "U+0000",
		"a\xffb": "not UTF-8",
		"---\nMemory-ID: " + string(m.ID) + "\n---\nx":       "only emberd can set memory-id and emberd; remove these properties",
		"---\n\"MEMORY-ID \": " + string(m.ID) + "\n---\nx":  "only emberd can set memory-id and emberd; remove these properties",
		"---\nEmberd: core\n---\nx":                          "only emberd can set memory-id and emberd; remove these properties",
		"---\n<<: {memory-id: " + string(m.ID) + "}\n---\nx": "invalid properties: only emberd can set memory-id and emberd; remove these properties, and YAML merge keys (<<), which can set properties",
		"---\na: &a {memory-id: x}\n<<: [*a]\n---\nx":        "only emberd can set memory-id and emberd; remove these properties",
	} {
		if err := refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/x.md", Text: text}); !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
	if got := do(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/x.md", Text: "a\n```dataviewjs\nalert()\n```\n<% x %>\n"}); !got.Neutralized || h.note(t, got.Path) != "a\n```text dataviewjs\nalert()\n```\n<\\% x %>\n" {
		t.Errorf("code for plugins is written as %q", h.note(t, got.Path))
	}
	do(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/user.md", Find: "text", Replace: "words"})
	if got := h.note(t, "Agents/user.md"); got != "```dataviewjs\nalert()\n```\n\nwords\n" {
		t.Errorf("the user's own code became %q", got)
	}
	wantCode(t, refused(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/user.md", Find: "alert()", Replace: "evil()"}), memory.Conflict, "inside HTML, a comment or code that a plugin runs")
	wantCode(t, refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Agents/x.md", To: "Private/x.md"}), memory.Forbidden, "outside of the folders")
	wantCode(t, refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Private/a.md", To: "Agents/a.md"}), memory.Forbidden, "outside of the folders")
}

func TestNoteMove(t *testing.T) {
	t.Parallel()
	notes := map[string]string{
		"Agents/Plan.md":   "---\naliases: [The plan]\n---\n# Steps\n\nsee [[Log]] and [up](../Other/x.md)\n",
		"Agents/Log.md":    "- [[Plan]] [[Plan#Steps|s]] ![[Agents/Plan]] [m](Plan.md#Steps) [[The plan]] `[[Plan]]`\n",
		"Other/x.md":       "[[Agents/Plan.md|P]] and [[plan]]\n",
		"Other/Plan 2.md":  "nothing\n",
		"Private/quiet.md": "no link\n",
	}
	h, e := agentDesk(t, notes, "Other")
	would := do(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Plan", To: "Agents/Deep/Road map", Preview: true})
	if would.Tx != "" || !strings.HasPrefix(would.Diff, "rename from Agents/Plan.md\nrename to Agents/Deep/Road map.md\n") || len(would.Links) != 3 {
		t.Errorf("the preview is %+v", would)
	}
	got := do(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Plan", To: "Agents/Deep/Road map"})
	wantNote(t, h, "Agents/Deep/Road map.md", "see [[Log]] and [up](../../Other/x.md)\n")
	wantNote(t, h, "Agents/Log.md", "- [[Road map]] [[Road map#Steps|s]] ![[Agents/Deep/Road map]] [m](Road%20map.md#Steps) [[The plan]] `[[Plan]]`\n")
	wantNote(t, h, "Other/x.md", "[[Agents/Deep/Road map.md|P]] and [[Road map]]\n")
	if len(got.Left) > 0 || got.From != "Agents/Plan.md" {
		t.Errorf("the answer is %+v", got)
	}
	if in := do(t, e, op.Links, &op.LinksRequest{Note: "Road map"}).Incoming; !slices.Equal(in, []string{"Agents/Log.md", "Other/x.md"}) {
		t.Errorf("links come from %q", in)
	}
	u := undo(t, e, got.Tx)
	for path, text := range notes {
		if now := h.note(t, path); now != text {
			t.Errorf("undone %s is %q, want %q", path, now, text)
		}
	}
	if len(u.Items) != 3 || u.Tx == "" {
		t.Errorf("undo answered %+v", u)
	}
	undo(t, e, u.Tx)
	wantNote(t, h, "Other/x.md", "[[Agents/Deep/Road map.md|P]] and [[Road map]]\n")
	// What the user changed since stays, and its links follow all the same.
	h.write(t, "Other/x.md", "the user's [[Road map]]\n")
	all := do(t, e, op.Journal, &op.JournalRequest{})
	undo(t, e, all.Entries[0].Tx)
	wantNote(t, h, "Other/x.md", "the user's [[Plan]]\n")
	wantNote(t, h, "Agents/Log.md", notes["Agents/Log.md"])
}

// Links in a note where agents do not write keep the note from moving.
func TestAMoveThatWouldTouchOtherNotes(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, map[string]string{"Agents/Plan.md": "x\n", "Private/a.md": "[[Plan]]\n", "Agents/b.md": "[[Plan]]\n"})
	wantCode(t, refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Plan", To: "Agents/New.md"}), memory.Forbidden, "in 1 notes outside of the folders for agents (Memories/, Agents/); ask the user")
	wantCode(t, refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Plan", To: "Agents/b.md"}), memory.Conflict, "choose another path")
	wantCode(t, refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Plan", To: "Agents/plan.md"}), memory.Conflict, "differs only in capitals")
	wantFiles(t, h, "Agents/Plan.md", "Agents/b.md", "Private/a.md")
	do(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Plan", To: "Agents/Deep/Plan.md"}) // the links lead there as they are
	wantNote(t, h, "Private/a.md", "[[Plan]]\n")
}

// The note of a memory can move, and the memory knows where.
func TestAPromotedNoteMoves(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m := promoteByID(t, d.Engine, save(t, d.Engine, "the broker is RabbitMQ").ID).Memory
	d.advance(time.Hour)
	got := do(t, d.Engine, op.NoteMove, &op.NoteMoveRequest{Path: m.PromotedTo, To: "Memories/Work/Broker"})
	d.batch(nil, nil)
	synced(t, d.Engine, m.ID, func(m *memory.Memory) bool { return m.PromotedTo == "Memories/Work/Broker.md" })
	undo(t, d.Engine, got.Tx)
	synced(t, d.Engine, m.ID, func(now *memory.Memory) bool { return now.PromotedTo == m.PromotedTo })
}

func TestNoteContextAndRecent(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, map[string]string{"Agents/Kettle.md": "# Kettle\n\nIt leaks, see [[Gasket]] and [[nowhere]].\n" + strings.Repeat("A long line about it.\n", 500), "Home/Gasket.md": "x\n", "Home/Log.md": "[[Kettle]]\n"})
	m := save(t, e, "the kettle leaks at the gasket")
	got := do(t, e, op.NoteContext, &op.NoteContextRequest{Path: "kettle", MaxTokens: 600})
	if got.Path != "Agents/Kettle.md" || !got.Writable || got.Next == 0 || op.Tokens(got.Text) > 600 || len(got.Outgoing) != 2 || got.Outgoing[0].Path != "Home/Gasket.md" ||
		!slices.Equal(got.Incoming, []string{"Home/Log.md"}) || len(got.Memories) != 1 || got.Memories[0].ID != m.ID {
		t.Errorf("the context is %+v", got)
	}
	var whole strings.Builder
	for from := 0; ; from = got.Next {
		got = do(t, e, op.NoteContext, &op.NoteContextRequest{Path: "kettle", MaxTokens: 600, From: from})
		whole.WriteString(got.Text)
		if got.Next == 0 {
			break
		}
	}
	if whole.String() != h.note(t, "Agents/Kettle.md") {
		t.Error("the parts of a text are not the whole")
	}
	if got := do(t, e, op.NoteContext, &op.NoteContextRequest{Path: "Gasket"}); got.Writable || !strings.Contains(got.Advice, "outside of the folders") {
		t.Errorf("the context of a note of the user is %+v", got)
	}
	do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "kettle", Text: "end"})
	var seen []string
	for cursor := ""; ; {
		page := do(t, e, op.RecentActivity, &op.RecentActivityRequest{Limit: 1, Cursor: cursor})
		for _, a := range page.Items {
			seen = append(seen, strings.Join([]string{a.Path, a.Text, a.What}, "|"))
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	slices.Sort(seen)
	if want := []string{"Agents/Kettle.md||note.append", "Home/Gasket.md||", "Home/Log.md||", "|the kettle leaks at the gasket|save"}; !slices.Equal(seen, want) {
		t.Errorf("recent activity is %q, want %q", seen, want)
	}
}

// A token writes notes in its folders alone, undoes its own changes alone, and never moves a note.
func TestATokenWritesNotes(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, map[string]string{"Agents/Bot/a.md": "x\n", "Agents/other.md": "#secret y\n"})
	g := &access.Grant{Token: "bot", Write: []access.Scope{{Kind: access.Folder, Value: "Agents/Bot"}}}
	ok := func(got *op.NoteChangeResult, err error) *op.NoteChangeResult {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	made := ok(as(g, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/Bot/new.md", Text: "x\n"}))
	ok(as(g, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/Bot/a.md", Text: "more"}))
	other := do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/other.md", Text: "mine"})
	_, err := as(g, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/new.md", Text: "x"})
	wantCode(t, err, memory.Forbidden, "token bot cannot write note")
	_, err = as(g, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/other.md", Text: "x"})
	wantCode(t, err, memory.NotFound, "")
	_, err = as(g, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/Bot/a.md", Text: "#private"})
	wantCode(t, err, memory.Forbidden, `cannot add the tag "private"`)
	_, err = as(g, e, op.NoteMove, &op.NoteMoveRequest{Path: "Agents/Bot/a.md", To: "Agents/Bot/b.md"})
	wantCode(t, err, memory.Forbidden, "")
	_, err = as(g, e, op.Undo, &op.UndoRequest{Tx: other.Tx})
	wantCode(t, err, memory.NotFound, " not found; you can undo a change of a note for")
	if page, err := as(g, e, op.Journal, &op.JournalRequest{}); err != nil || len(page.Entries) != 2 {
		t.Errorf("the journal of the token is %+v, %v", page, err)
	}
	if page, err := as(g, e, op.RecentActivity, &op.RecentActivityRequest{}); err != nil || len(page.Items) != 2 {
		t.Errorf("the activity of the token is %+v, %v", page, err)
	}
	if _, err := as(g, e, op.Undo, &op.UndoRequest{Tx: made.Tx}); err != nil {
		t.Error(err)
	}
	wantFiles(t, h, "Agents/Bot/a.md", "Agents/other.md")
}

// A restarted daemon knows what can be undone.
func TestNoteChangesAfterARestart(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, map[string]string{"Agents/a.md": "x\n"})
	done := do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Text: "more"})
	e = h.restart(t, e)
	all := do(t, e, op.Journal, &op.JournalRequest{})
	if len(all.Entries) != 1 || all.Entries[0].Tx != done.Tx || !slices.Equal(all.Entries[0].Notes, []string{"Agents/a.md"}) {
		t.Errorf("the journal is %+v", all)
	}
	h.ms.Store(time.Now().UnixMilli() + 1) // what changed before was changed a moment ago
	e = h.restart(t, e)
	undo(t, e, do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Text: "at once"}).Tx)
	h.ms.Store(time.Now().UnixMilli() + 1)
	e = h.restart(t, e)
	h.write(t, "Agents/a.md", h.note(t, "Agents/a.md"))
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Text: "x"}), memory.Busy, "the note changed a few seconds ago and might be open in an editor")
	h.advance(time.Hour)
	undo(t, e, "")
	if got := h.note(t, "Agents/a.md"); got != "x\n" {
		t.Errorf("the note is %q", got)
	}
	saved := save(t, e, "later")
	h.advance(time.Second)
	done = do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/a.md", Text: "again"})
	if u := undo(t, e, ""); u.Entry.Tx != done.Tx {
		t.Errorf("undone is %+v, want the latest change", u)
	}
	if u := undo(t, e, ""); len(u.Items) != 1 || u.Items[0].ID != saved.ID {
		t.Errorf("undone is %+v, want the memory", u)
	}
}
