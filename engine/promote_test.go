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
	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/notename"
)

// promotingHouse is a house with a vault whose clock is an hour ahead, so that all
// notes have been left alone.
func promotingHouse(t testing.TB, notes map[string]string) *house {
	t.Helper()
	h := vaultHouse(t, notes)
	h.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	return h
}

// rest lets all that waits become due, and waits until it is done.
func (h *house) rest(t testing.TB, e *engine.Engine) {
	t.Helper()
	for range 3 {
		h.advance(2 * time.Minute)
		e.Promote.WriteDue(t.Context())
	}
}

func (h *house) note(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.Vaults[0], path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// markdown are the files of the vault, temporary ones included.
func (h *house) files(t testing.TB) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(h.Vaults[0], func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(h.Vaults[0], name)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantFiles(t testing.TB, h *house, want ...string) {
	t.Helper()
	if got := h.files(t); !slices.Equal(got, want) {
		t.Errorf("the vault has %q, want %q", got, want)
	}
}

func promoteByID(t testing.TB, e *engine.Engine, id memory.ID) *op.PromoteResult {
	t.Helper()
	return do(t, e, op.Promote, &op.PromoteRequest{ID: string(id)})
}

func wantPromotion(t testing.TB, got *op.PromoteResult, outcome, path string) {
	t.Helper()
	if got.Outcome != outcome || got.Path != path {
		t.Errorf("got %s %q (%s), want %s %q", got.Outcome, got.Path, got.Reason, outcome, path)
	}
}

// Obsidian takes a tag of digits alone for none.
func TestPromoteTagsOfDigits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	tags := []string{"2026", "2026/03", "q1", "2026-03"}
	m := save(t, d.Engine, "the kettle leaks", tags...)
	path := promoteByID(t, d.Engine, m.ID).Path
	note := d.note(t, path)
	if want := "tags:\n  - \"_2026\"\n  - \"_2026/03\"\n  - \"q1\"\n  - \"2026-03\"\n"; !strings.Contains(note, want) {
		t.Fatalf("the note is\n%s\nwithout\n%s", note, want)
	}
	found := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "kettle tag:2026/03", Scope: "notes"}).Hits
	if !slices.Contains(names(found), path) {
		t.Errorf("the tag of the memory finds %q, want its note", names(found))
	}
	d.edit(path, strings.Replace(note, "  - \"q1\"\n", "", 1))
	if got := d.memory(m.ID).Tags; !slices.Equal(got, []string{"2026", "2026/03", "2026-03"}) {
		t.Errorf("after one was taken out of the note the tags are %q", got)
	}
}

func TestPromote(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "# Water **deeply**\n\nIn the morning, <% never %> at noon.\n",
		Tags: []string{"garden", "to_do"}, Entities: []string{"Ann"}, Category: "habit", Source: `said "so": yes`, Strength: new(1.5)}).Memory
	created := m.CreatedAt.UTC().Format("2006-01-02T15:04:05")

	would := do(t, e, op.Promote, &op.PromoteRequest{ID: string(m.ID), DryRun: true})
	wantPromotion(t, would, op.PromotionWritten, "Memories/Water deeply.md")
	wantFiles(t, h)
	if would.Tx != "" || look(t, e, m.ID).Status != "active" {
		t.Errorf("a dry run wrote %+v", would)
	}

	got := promoteByID(t, e, m.ID)
	wantPromotion(t, got, op.PromotionWritten, "Memories/Water deeply.md")
	want := "---\nmemory-id: \"" + string(m.ID) + "\"\ncreated: " + created + "\ntags:\n  - \"garden\"\n  - \"to_do\"\ncategory: \"habit\"\n" +
		"source: \"said \\\"so\\\": yes\"\nstrength: 1.5\norigin: \"agent\"\nentities:\n  - \"Ann\"\n---\n# Water **deeply**\n\nIn the morning, <\\% never %> at noon.\n"
	if note := h.note(t, got.Path); note != want {
		t.Errorf("the note is\n%s\nwant\n%s", note, want)
	}
	m = got.Memory
	if m.PromotedTo != got.Path || m.VaultPath != got.Path || !m.PromotedAt.Equal(core.StampTime(h.clock.Now())) || len(m.NoteSeen) != 5 || got.Tx == "" || m.Status != "promoted" {
		t.Errorf("the memory is %+v", m)
	}
	found := do(t, e, op.Search, &op.SearchRequest{Query: "noon", Scope: "notes"}).Hits
	if !slices.Contains(names(found), got.Path) {
		t.Errorf("found %q, want the new note at once", names(found))
	}
	again := promoteByID(t, e, m.ID)
	wantPromotion(t, again, op.PromotionAlready, got.Path)
	if again.Tx != "" || again.Memory.Rev != m.Rev {
		t.Errorf("a second promotion wrote %+v", again)
	}
	wantFiles(t, h, "Memories/Water deeply.md")
}

// Case 57: the note's name is made from any text, inside the vault, once for each
// memory.
func TestCase57NamesOfNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"../../x": "x",
		"/etc/x":  "etc x",
		"CON":     "CON_",
		"a/b\\c":  "a b c",
		"---\n\n> - [ ] `Buy` ~~no~~ [[Milk|oat milk]] [now](http://x)": "Buy no oat milk now",
		"1. first\n2. second":       "first",
		"…\n!?":                     "Untitled",
		"🌱":                         "🌱",
		"\u202eabc":                 "abc",
		strings.Repeat("word ", 30): strings.TrimSpace(strings.Repeat("word ", 12)),
		strings.Repeat("é", 90):     strings.Repeat("é", 60),
		"snake_case __bold__ 2 * 3": "snake_case bold 2 3",
		"__bold__ alone":            "bold alone",
		"a *slant* alone":           "a slant alone",
		"a ~~stroke~~ alone":        "a stroke alone",
		"a ==light== alone":         "a light alone",
		"some `code` alone":         "some code alone",
		"Ends with a comma, and then goes on for so many words that it": "Ends with a comma, and then goes on for so many words that",
	} {
		m := memory.Memory{Content: text}
		if got := notename.New(notes.TitleOf(&m), ""); got != want+".md" {
			t.Errorf("%q is named %q, want %q", text, got, want+".md")
		}
	}
	m := memory.Memory{Content: "text", Meta: map[string]json.RawMessage{"name": json.RawMessage(`"My name"`)}}
	if got := notes.TitleOf(&m); got != "My name" {
		t.Errorf("title %q, want the memory's name", got)
	}
}

// Case 57 among others' notes, folders and look-alikes.
func TestCase57NamesThatAreTaken(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Memories/TEA.md": "a human's", "Memories/Folder.md/x.md": "x"})
	e := h.following(t)
	tea, folder := save(t, e, "Tea"), save(t, e, "Folder")
	wantPromotion(t, promoteByID(t, e, tea.ID), op.PromotionWritten, "Memories/Tea "+tea.ID.Short()+".md")
	wantPromotion(t, promoteByID(t, e, folder.ID), op.PromotionWritten, "Memories/Folder "+folder.ID.Short()+".md")
	if h.note(t, "Memories/TEA.md") != "a human's" {
		t.Error("the human's note changed")
	}
	other := save(t, e, "tea!?")
	h.write(t, "Memories/tea! "+other.ID.Short()+".md", "taken too")
	h.write(t, "Memories/TEA!.md", "taken")
	before := h.files(t)
	err := refused(t, e, op.Promote, &op.PromoteRequest{ID: string(other.ID)})
	wantCode(t, err, memory.Conflict, `"Memories/TEA!.md" and "Memories/tea! `+other.ID.Short()+`.md" already exist; rename one of them`)
	wantFiles(t, h, before...)
}

// Case 53: what a crash leaves between note and log is taken up, and there is one note.
func TestCase53ANoteThatTheLogDoesNotKnow(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.open(t)
	m := save(t, e, "the tide turns at six", "harbour")
	full, err := e.Find(string(m.ID))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := full.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h.write(t, "Memories/the tide turns at six.md", string(promote.NoteBytes(&whole)))

	e = h.following(t)
	got := promoteByID(t, e, m.ID)
	wantPromotion(t, got, op.PromotionAdopted, "Memories/the tide turns at six.md")
	if len(got.Memory.NoteSeen) != 5 {
		t.Errorf("seen %v, want all five fields", got.Memory.NoteSeen)
	}
	wantFiles(t, h, "Memories/the tide turns at six.md")
}

// A note with the ID is adopted if it says what emberd would write, as a crash leaves it. One with
// another text is a note like any other, and stays as it is.
func TestANoteThatSaysTheSameIsAdopted(t *testing.T) {
	t.Parallel()
	for text, outcome := range map[string]string{"the tide turns at six": op.PromotionAdopted, "at seven": op.PromotionWritten} {
		h := promotingHouse(t, nil)
		e := h.following(t)
		m := save(t, e, "the tide turns at six", "harbour")
		h.write(t, "Harbour/Tides.md", "---\nmemory-id: "+string(m.ID)+"\ntags: [harbour]\nstrength: 1\n---\n"+text+"\n")
		until(t, "the note is known", func() bool { return len(e.Notes.Vault.Carriers.Of(m.ID)) == 1 })
		before := h.note(t, "Harbour/Tides.md")
		got := promoteByID(t, e, m.ID)
		if got.Outcome != outcome || got.Memory.Content != m.Content || len(got.Memory.NoteSeen) != 5 {
			t.Errorf("with a note that says %q the promotion is %s of %q, seen %v", text, got.Outcome, got.Memory.Content, got.Memory.NoteSeen)
		}
		if h.note(t, "Harbour/Tides.md") != before {
			t.Error("the note changed")
		}
	}
}

// Case 74: two devices that promote one memory while apart make the same file, which
// after the sync is the memory's on both.
func TestCase74TwoDevicesMakeOneNote(t *testing.T) {
	t.Parallel()
	first, second := promotingHouse(t, nil), promotingHouse(t, nil)
	a := first.following(t)
	m := save(t, a, "Use JWT tokens", "security", "api")
	do(t, a, op.Edit, &op.EditRequest{ID: string(m.ID), Category: new("decision")})
	records := exported(t, a)
	b := second.following(t)
	do(t, b, op.Import, &op.ImportRequest{Records: records})
	second.advance(time.Hour)
	searchFor(t, b, "tokens") // which counts on one of the devices
	pathA, pathB := promoteByID(t, a, m.ID).Path, promoteByID(t, b, m.ID).Path
	if pathA != pathB || first.note(t, pathA) != second.note(t, pathB) {
		t.Errorf("%s:\n%s\n%s:\n%s", pathA, first.note(t, pathA), pathB, second.note(t, pathB))
	}
	second.write(t, pathB, first.note(t, pathA)) // as the sync tool does
	wantPromotion(t, promoteByID(t, b, m.ID), op.PromotionAlready, pathB)
	wantFiles(t, second, pathB)

	copied := strings.TrimSuffix(pathB, ".md") + ".sync-conflict-20260101-000000-ABCDEFG.md"
	second.write(t, copied, first.note(t, pathA)+"edited")
	wantPromotion(t, promoteByID(t, b, m.ID), op.PromotionAlready, pathB)
	wantFiles(t, second, pathB, copied)
}

func TestPlacesThatAreNoFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, folder, says string }{
		{"Memories", "Memories", "a file has the same name as a folder in the path of the note; rename the file"},
		{"memories/x.md", "Memories", `some file systems treat a folder in the path of the note and an existing folder as the same; rename the existing folder, or use its name ("memories")`},
		{"x.md", "Out/Templates", "the path matches an ignore pattern in the settings"},
	} {
		h := promotingHouse(t, map[string]string{c.file: "x"})
		h.VaultPromoted, h.VaultIgnore = c.folder, []string{"Templates/"}
		e := h.following(t)
		err := refused(t, e, op.Promote, &op.PromoteRequest{ID: string(save(t, e, "short").ID)})
		wantCode(t, err, memory.Conflict, c.says)
		wantFiles(t, h, c.file)
	}
}

func TestWhatCannotBePromoted(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "no vault")
	wantCode(t, refused(t, e, op.Promote, &op.PromoteRequest{ID: string(m.ID)}), memory.NotFound, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")

	h := promotingHouse(t, nil)
	e = h.following(t)
	wantCode(t, refused(t, e, op.Promote, &op.PromoteRequest{ID: "abcdef12"}), memory.NotFound, "abcdef12")
	gone := save(t, e, "gone")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone.ID)})
	wantCode(t, refused(t, e, op.Promote, &op.PromoteRequest{ID: string(gone.ID)}), memory.NotFound, "is in the trash")
	records := exported(t, e)
	cold := save(t, e, "cold")
	record := op.Record{ID: memory.DeriveID([]byte("cold")), Fields: map[string]json.RawMessage{}}
	for _, r := range exported(t, e) {
		if r.ID == cold.ID {
			record.Fields = r.Fields
		}
	}
	record.Fields["stage"] = json.RawMessage(`"archived"`)
	do(t, e, op.Import, &op.ImportRequest{Records: append(records, record)})
	wantCode(t, refused(t, e, op.Promote, &op.PromoteRequest{ID: string(record.ID)}), memory.Conflict, "and has only a summary, and emberd found no note with its text; to search for the text, run: emberd rekindle")
	wantFiles(t, h)
}

// A memory whose note was deleted gets one again by this command only.
func TestAMemoryWhoseNoteIsGoneIsPromotedAgain(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "short")
	path := m.PromotedTo
	if err := os.Remove(filepath.Join(h.Vaults[0], path)); err != nil {
		t.Fatal(err)
	}
	got := promoteByID(t, e, m.ID)
	wantPromotion(t, got, op.PromotionWritten, path)
	wantFiles(t, h, path)
}

// While the frontmatter of its note is broken, no second note is made of a memory.
func TestABrokenNoteIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "short")
	path := m.PromotedTo
	h.write(t, path, strings.Replace(h.note(t, path), "created: ", "created: [", 1))
	until(t, "the broken note is read", func() bool { return len(e.Notes.Vault.Carriers.Of(m.ID)) == 0 })
	err := refused(t, e, op.Promote, &op.PromoteRequest{ID: string(m.ID)})
	wantCode(t, err, memory.Conflict, "has invalid frontmatter, which might contain the memory ID; fix the frontmatter")
	wantFiles(t, h, path)
}

func TestForgetTellsThatTheNoteStays(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "short")
	path := m.PromotedTo
	got := do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	if !slices.Equal(got.Notes, []string{path}) {
		t.Errorf("notes %q, want %q", got.Notes, path)
	}
	left := do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID), DryRun: true}).Left
	if !slices.ContainsFunc(left, func(l op.PurgeLeft) bool { return l.Kind == "note" && l.Place == path }) {
		t.Errorf("left %+v, want the note", left)
	}
	wantFiles(t, h, path)
}

// When a sync client puts another folder in the place of the vault, notes are written
// to that one, and what was unfinished in the first is left to it.
func TestAVaultThatIsReplaced(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Tea.md": "about tea"})
	e := h.following(t)
	first, second := save(t, e, "first"), save(t, e, "second")
	promoteByID(t, e, first.ID)
	do(t, e, op.Edit, &op.EditRequest{ID: string(first.ID), Category: new("habit")}) // looked after for a minute
	if err := os.Rename(h.Vaults[0], h.Vaults[0]+"-away"); err != nil {
		t.Fatal(err)
	}
	got := promoteByID(t, e, second.ID)
	wantPromotion(t, got, op.PromotionPending, "Memories/second.md")
	if got.Reason != string(vault.VaultReplaced) {
		t.Errorf("it waits for %q", got.Reason)
	}
	h.write(t, "Tea.md", "about tea")
	h.write(t, "Memories/first.md", "written elsewhere")
	e.Notes.Vault.Reopen()
	h.rest(t, e)
	if path := look(t, e, second.ID).PromotedTo; path != "Memories/second.md" {
		t.Errorf("promoted to %q", path)
	}
	wantFiles(t, h, "Memories/first.md", "Memories/second.md", "Tea.md")
	if h.note(t, "Memories/first.md") != "written elsewhere" {
		t.Error("the note in the new folder changed")
	}
}
