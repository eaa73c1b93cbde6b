package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
	"emberd/watcher"
)

// desk is an engine on a vault that the test follows by hand, in place of the watcher.
type desk struct {
	*house
	*engine.Engine
	t testing.TB
}

// newDesk opens an engine on a vault of the given notes, which it has read.
func newDesk(t testing.TB, notes map[string]string) *desk {
	d := &desk{house: vaultHouse(t, notes), t: t}
	d.start()
	return d
}

// start opens the engine and has it read what is in the vault.
func (d *desk) start() {
	d.t.Helper()
	d.Engine = d.house.open(d.t)
	d.Notes.Vault.Reopen() // a vault whose notes were removed while nothing ran counts as away
	d.batch(d.all(), d.vanished())
}

// vanished are the notes that were read by the last run, and are not there any more.
func (d *desk) vanished() []string {
	d.t.Helper()
	index, _ := d.Notes.Vault.Current()
	var out []string
	for f := range d.Notes.Vault.Known(index) {
		if _, err := os.Lstat(d.at(f.Path)); err != nil {
			out = append(out, f.Path)
		}
	}
	return out
}

// restart ends the engine and begins anew.
func (d *desk) restart() {
	d.t.Helper()
	ok(d.t, d.Close())
	d.start()
}

// all are the notes that the index does not have as they are.
func (d *desk) all() []string {
	d.t.Helper()
	index, _ := d.Notes.Vault.Current()
	has := map[string]ltmFile{}
	for f := range d.Notes.Vault.Known(index) {
		has[f.Path] = ltmFile{f.Inode, f.ChangeTime}
	}
	var out []string
	for path, err := range d.Notes.Vault.Root.Load().Walk(d.t.Context()) {
		ok(d.t, err)
		if f, err := d.Notes.Vault.Root.Load().Stat(path); err != nil || has[path] != (ltmFile{f.Inode, f.ChangeTime.UnixNano()}) {
			out = append(out, path)
		}
	}
	return out
}

type ltmFile struct {
	inode  uint64
	change int64
}

// batch tells of notes that changed and notes that are gone.
func (d *desk) batch(changed, gone []string, moved ...watcher.Move) {
	d.t.Helper()
	b := watcher.Batch{Gone: gone, Moved: moved}
	for _, path := range changed {
		b.Changed = append(b.Changed, watcher.File{Path: path})
	}
	ok(d.t, d.Notes.Vault.Reconcile(d.t.Context(), b))
}

// settle has everything settled that was told of, as a minute later.
func (d *desk) settle() {
	d.t.Helper()
	d.Sync.Sync.EnqueueRestored()
	d.Sync.Sync.Mu.Lock()
	for _, w := range d.Sync.Sync.All {
		if !w.Held && !w.Due.IsZero() {
			w.Due = time.Now()
		}
	}
	d.Sync.Sync.Mu.Unlock()
	d.Sync.Sync.ProcessDue(d.t.Context())
}

// edit writes a note as a human does, and lets a minute pass.
func (d *desk) edit(path, text string) {
	d.t.Helper()
	d.write(d.t, path, text)
	d.batch([]string{path}, nil)
	d.settle()
}

// remove deletes notes, and lets the watcher's grace and a minute pass.
func (d *desk) remove(paths ...string) {
	d.t.Helper()
	for _, path := range paths {
		ok(d.t, os.Remove(d.at(path)))
	}
	d.batch(nil, paths)
	d.settle()
}

// move renames a note as the watcher tells it.
func (d *desk) move(from, to string) {
	d.t.Helper()
	ok(d.t, os.MkdirAll(filepath.Dir(d.at(to)), 0o700))
	ok(d.t, os.Rename(d.at(from), d.at(to)))
	d.batch([]string{to}, []string{from}, watcher.Move{From: from, To: to})
}

func (d *desk) at(path string) string { return filepath.Join(d.Vaults[0], path) }

// kept makes a memory with a note that says the same, as a promotion does.
func (d *desk) kept(content, path string, tags ...string) memory.ID {
	d.t.Helper()
	id := save(d.t, d.Engine, content, tags...).ID
	d.write(d.t, path, noteFor(id, content, tags...))
	d.batch([]string{path}, nil)
	d.settle()
	if m := look(d.t, d.Engine, id); m.PromotedTo != path || m.Content != content || !slices.Equal(m.Tags, tags) {
		d.t.Fatalf("the memory is %+v", m.Memory)
	}
	return id
}

// noteFor is the note of a memory.
func noteFor(id memory.ID, content string, tags ...string) string {
	properties := []frontmatter.Field{{Key: "memory-id", Value: frontmatter.Text(string(id))}}
	if len(tags) > 0 {
		properties = append(properties, frontmatter.Field{Key: "tags", Value: frontmatter.List(tags...)})
	}
	return string(noteedit.Compose(properties, content))
}

// withProperties is the same with more lines of frontmatter.
func withProperties(id memory.ID, properties, content string) string {
	return fmt.Sprintf("---\nmemory-id: %q\n%s---\n%s\n", id, properties, content)
}

// lines counts what the journal says of a memory.
func (d *desk) lines(id memory.ID) int {
	d.t.Helper()
	return do(d.t, d.Engine, op.History, &op.HistoryRequest{ID: string(id)}).Total
}

// newest is the latest version of a memory.
func (d *desk) newest(id memory.ID) op.HistoryVersion {
	d.t.Helper()
	return do(d.t, d.Engine, op.History, &op.HistoryRequest{ID: string(id)}).Versions[0]
}

func (d *desk) memory(id memory.ID) op.Memory {
	d.t.Helper()
	return look(d.t, d.Engine, id)
}

// findings are those of a check, as kind and path, with the text.
func (d *desk) findings() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, f := range do(d.t, d.Engine, op.VaultCheck, &op.VaultCheckRequest{}).Findings {
		out[f.Kind+" "+f.Path] += f.Text + "\n"
	}
	return out
}

func (d *desk) wantFinding(what, says string) {
	d.t.Helper()
	if got := d.findings(); !strings.Contains(got[what], says) {
		d.t.Errorf("no finding %s saying %q, but %q", what, says, got)
	}
}

func (d *desk) wantNoFindings() {
	d.t.Helper()
	if got := d.findings(); len(got) > 0 {
		d.t.Errorf("found %q", got)
	}
}

func TestWhatANoteSaysBecomesTheMemorys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
	before := d.lines(id)
	d.clock.advance(time.Hour)
	d.edit("Kettle.md", withProperties(id, "tags: [Kitchen Things, tea]\ncategory: repairs\nstrength: 1.5\nstage: demoted\nmood: odd\n", "The kettle leaks at the seam.\n\n<!-- emberd:links -->\nours\n<!-- /emberd:links -->"))
	m := d.memory(id)
	if m.Content != "The kettle leaks at the seam." || !slices.Equal(m.Tags, []string{"kitchen_things", "tea"}) || m.Category != "repairs" || m.Strength != 1.5 || m.Stage != memory.Demoted {
		t.Errorf("the memory is %+v", m.Memory)
	}
	if !m.UpdatedAt.Equal(d.clock.Now()) {
		t.Errorf("updated at %s, want now", m.UpdatedAt)
	}
	if got := searchFor(t, d.Engine, "seam"); len(got) != 1 || got[0].Memory == nil || got[0].Note == nil {
		t.Errorf("found %+v, want memory and note as one", got)
	}
	if v := d.newest(id); d.lines(id) != before+1 || v.Verb != "note" || v.By.Via != "emberd" || v.By.Client != "vault" {
		t.Errorf("%d versions after %d, the last %+v", d.lines(id), before, v)
	}

	d.edit("Kettle.md", withProperties(id, "", "The kettle leaks at the seam."))
	m = d.memory(id)
	if len(m.Tags) > 0 || m.Category != "" || m.Strength != 1.5 || m.Stage != memory.Demoted {
		t.Errorf("without properties the memory is %+v", m.Memory)
	}
	d.wantNoFindings()
}

func TestNothingIsWrittenWhenNothingDiffers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
	text := noteFor(id, "the kettle leaks", "kitchen")
	for what, same := range map[string]string{
		"the same":           text,
		"Windows line ends":  strings.ReplaceAll(text, "\n", "\r\n"),
		"another property":   strings.Replace(text, "tags:", "cssclasses: [wide]\ntags:", 1),
		"empty lines at end": text + "\n\n",
	} {
		before := d.lines(id)
		d.edit("Kettle.md", same)
		d.restart()
		d.settle()
		if got := d.lines(id); got != before {
			t.Errorf("%s: %d lines more", what, got-before)
		}
	}
	if got := do(t, d.Engine, op.Status, &op.StatusRequest{}).Vaults[0]; got.Memories != 1 || got.Settling != 0 || got.Held != "" {
		t.Errorf("status %+v", got)
	}
}

// Text that was taken apart when the note was made of the memory is no change.
func TestTheFormOfANoteIsNoChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	content := "\n\nfirst  \r\n<% tp.date %>\n<!-- emberd:x -->"
	id := save(t, d.Engine, content).ID
	d.edit("Odd.md", noteFor(id, content))
	if m := d.memory(id); m.Content != content || m.PromotedTo != "Odd.md" {
		t.Errorf("the memory is %+v", m.Memory)
	}
}

// What changed in the log only is not taken back by a note that still says the earlier.
func TestTheLogKeepsWhatTheNoteDidNotChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
	// By this clock the note was just changed, so what is for it waits.
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), AddTags: []string{"urgent"}, Category: new("repairs")})
	d.edit("Kettle.md", withProperties(id, "tags: [kitchen]\nstrength: 2\n", "the kettle is mended"))
	if m := d.memory(id); m.Content != "the kettle is mended" || !slices.Equal(m.Tags, []string{"kitchen", "urgent"}) || m.Category != "repairs" || m.Strength != 2 {
		t.Errorf("the memory is %+v", m.Memory)
	}
	if v := d.newest(id); len(v.Fields) == 0 || !slices.ContainsFunc(v.Fields, func(f op.FieldChange) bool { return strings.Contains(string(f.From), "leaks") }) {
		t.Errorf("the newest version is %+v", v)
	}
}

func TestWhatAMemoryCannotHoldIsAFinding(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "zQ4mT7rX1nV9kB3sW6yD8fH2jL5pC0aGuEi1"
	for what, c := range map[string]struct{ properties, body, says string }{
		"an empty note":       {"", "", "the note has no text"},
		"a strength of words": {"strength: strong\n", "the kettle leaks", `invalid strength "strong" in the note; use a number from 0 to 2`},
		"too much strength":   {"strength: 3\n", "the kettle leaks", `invalid strength "3" in the note; use a number from 0 to 2`},
		"no stage":            {"stage: asleep\n", "the kettle leaks", "use active, demoted, archived or rehydratable"},
		"a long category":     {"category: " + strings.Repeat("x", 201) + "\n", "the kettle leaks", "emberd does not sync the category of the note"},
		"a long tag":          {"tags: [" + strings.Repeat("x", 101) + "]\n", "the kettle leaks", "emberd does not sync the tags of the note"},
		"a credential":        {"", "the token is " + token, "remove the credential from the note"},
		"a credential as tag": {"tags: [" + token + "]\n", "the kettle leaks", "the tags of the note contain text that looks like a credential, so emberd does not sync the tags; remove the credential from the note"},
		"an unfinished merge": {"", "the kettle\n<<<<<<< HEAD\nleaks\n=======\nshines\n>>>>>>> laptop", "contains merge conflict markers"},
		"more than is read":   {"", strings.Repeat("a line of it\n", 90_000), "split the note"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept("the kettle leaks", "Kettle.md")
			before, rev := d.lines(id), d.memory(id).Rev
			d.edit("Kettle.md", withProperties(id, c.properties, c.body))
			if d.lines(id) != before || d.memory(id).Rev != rev {
				t.Errorf("the memory is %+v", d.memory(id).Memory)
			}
			d.wantFinding("memory Kettle.md", c.says)
			if strings.Contains(fmt.Sprint(d.findings()), token) {
				t.Error("a finding shows the credential")
			}
			// It does not keep the rest out, and once mended it is as if nothing had been.
			d.edit("Kettle.md", withProperties(id, c.properties+"category2: x\n", "mended, and new"))
			d.edit("Kettle.md", withProperties(id, "category: new\n", "mended, and new"))
			if m := d.memory(id); m.Content != "mended, and new" || m.Category != "new" {
				t.Errorf("mended, the memory is %+v", m.Memory)
			}
			d.wantNoFindings()
		})
	}
}

// A credential that was let in once does not keep the text around it from changing.
func TestACredentialThatWasAllowedStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	text := "the token is ghp_" + "zQ4mT7rX1nV9kB3sW6yD8fH2jL5pC0aGuEi1"
	id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: text, AllowSecret: true}).Memory.ID
	d.edit("Token.md", noteFor(id, text))
	d.edit("Token.md", noteFor(id, text+", good until May"))
	if got := d.memory(id).Content; !strings.HasSuffix(got, "until May") {
		t.Errorf("the memory is %q", got)
	}
}

// A note that is read again and says what it said leaves no trace, not even on the disk.
func TestNoNews(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	was, err := os.Stat(d.Sync.Sync.File)
	ok(t, err)
	d.write(t, "Kettle.md", noteFor(id, "the kettle leaks"))
	d.batch([]string{"Kettle.md"}, nil)
	now, err := os.Stat(d.Sync.Sync.File)
	ok(t, err)
	if waiting, _ := d.Sync.Sync.Count(); waiting != 0 || !os.SameFile(was, now) {
		t.Errorf("%d wait, and the list was written: %t", waiting, !os.SameFile(was, now))
	}
}

// A folder that the settings came to leave out is not read, and nothing in it is deleted.
func TestANoteThatIsIgnoredFromNowOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Private/Kettle.md")
	ok(t, d.Close())
	d.VaultIgnore = []string{"Private/"}
	d.Engine = d.house.open(t)
	d.batch(nil, []string{"Private/Kettle.md"})
	d.settle()
	if m := d.memory(id); !m.NoteGone.IsZero() {
		t.Errorf("the memory is %+v", m.Memory)
	}
	d.wantNoFindings()
}

func TestALongNoteIsTakenWholeAndFlagged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	long := strings.TrimSpace(strings.Repeat("a line of \"it\"\n", 60_000))
	for _, text := range []string{long, long + " and more"} {
		d.edit("Kettle.md", noteFor(id, text))
		if got := d.memory(id).Content; got != text {
			t.Errorf("%d bytes of %d were taken over", len(got), len(text))
		}
	}
	d.wantFinding("memory Kettle.md", "(recommended limit 50000)")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), AddTags: []string{"long"}})
	other, _ := newEngine(t)
	if got := fates(t, other, &op.ImportRequest{Records: exported(t, d.Engine)}); got[op.ImportAdded] != 1 {
		t.Errorf("imported: %v", got)
	}
	d.remove("Kettle.md")
	if !d.Stm.Trashed(id) {
		t.Error("the long memory did not go with its note")
	}
}

func TestAdoption(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "the kettle leaks", Tags: []string{"kitchen"}, Category: "repairs"}).Memory
	d.edit("Mine.md", fmt.Sprintf("---\nMemory-ID: x\nmemory-id: %s\n---\nThe kettle leaks, I think.\n", strings.ToUpper(string(m.ID))))
	do(t, d.Engine, op.ReviewClose, d.adopting())
	d.settle()
	got := d.memory(m.ID)
	if got.PromotedTo != "Mine.md" || got.VaultPath != "Mine.md" || got.PromotedAt.IsZero() || got.Content != "The kettle leaks, I think." {
		t.Errorf("adopted: %+v", got.Memory)
	}
	if !slices.Equal(got.Tags, []string{"kitchen"}) || got.Category != "repairs" {
		t.Errorf("what the note does not mention is %q and %q", got.Tags, got.Category)
	}
}

// A note that came before its memory, as when two folders are synced apart.
func TestAMemoryThatComesAfterItsNote(t *testing.T) {
	t.Parallel()
	id := memory.DeriveID([]byte("kettle"))
	d := newDesk(t, map[string]string{"Kettle.md": noteFor(id, "the kettle leaks")})
	d.settle()
	d.wantFinding("memory Kettle.md", "memory "+string(id))
	do(t, d.Engine, op.Save, &op.SaveRequest{ID: id, Content: "the kettle leaks"})
	d.settle()
	if m := d.memory(id); m.PromotedTo != "Kettle.md" {
		t.Errorf("the memory is %+v", m.Memory)
	}
	d.wantNoFindings()
}

// A memory and its note that do not agree for want of an event are told.
func TestALogOlderThanItsNotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	d.write(t, "Kettle.md", noteFor(id, "the kettle is mended"))
	_, err := d.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "import", Changes: []stm.Change{{ID: id, Set: map[string]json.RawMessage{"source": json.RawMessage(`"backup"`)}}}}, nil
	})
	ok(t, err)
	d.wantFinding("memory Kettle.md", "which is newer or was restored; to sync the note, save the note again")
}

func TestUndoDoesNotFightTheNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	older := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "Basil wants six hours of sun"})
	id := d.kept("the kettle leaks", "Kettle.md")
	d.edit("Kettle.md", noteFor(id, "the kettle is mended"))
	entry := d.newest(id).Tx
	for _, force := range []bool{false, true} {
		err := refused(t, d.Engine, op.Undo, &op.UndoRequest{Tx: entry, Force: force})
		wantCode(t, err, memory.Conflict, `so emberd would apply it again; to see the earlier text, run: emberd history `+id.Short()+`; to restore that text, edit the note, or use emberd edit`)
	}
	// The newest that somebody asked for is the save, which the note changed since.
	if got := do(t, d.Engine, op.Undo, &op.UndoRequest{DryRun: true}); got.Entry.Verb != "save" ||
		got.Previous != older.Tx {
		t.Errorf("a bare undo would take back %+v, and %q before it", got.Entry, got.Previous)
	}
	d.remove("Kettle.md")
	do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(id)}})
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: entry})
	if got := d.memory(id).Content; got != "the kettle leaks" {
		t.Errorf("with the note gone the undo gave %q", got)
	}
}
