package engine_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// archiveDir is where the notes of these tests are archived.
const archiveDir = "Memories/Archive/"

// leftOver is the summary of archived memories.
const leftOver = "but the summary does not"

// filed makes a memory whose text is in a note only, as archiving does: the note
// first, and then the log.
func (d *desk) filed(content, path string, tags ...string) memory.ID {
	d.t.Helper()
	id := save(d.t, d.Engine, content, tags...).ID
	text := noteFor(id, content, tags...)
	d.write(d.t, path, text)
	d.batch([]string{path}, nil)
	d.rewrite(id, "archive", func(m *memory.Memory) {
		if !core.ArchiveText(m, core.ArchivedText{Stage: memory.Archived, Path: path, Summary: leftOver, Terms: []string{"keyterm"}, Reason: "asked for"}, d.clock.Now()) {
			d.t.Fatalf("no note keeps %q", content)
		}
		m.NoteSeen = notes.Fingerprints(vault.CarriedBy([]byte(text)))
	})
	d.settle()
	if m := d.memory(id); m.VaultPath != path || m.PromotedTo != "" || m.Content != leftOver {
		d.t.Fatalf("the memory is %+v", m.Memory)
	}
	return id
}

// woken brings back the text of a memory that is in its note, and leaves that.
func (d *desk) woken(id memory.ID) {
	d.t.Helper()
	path := d.memory(id).VaultPath
	note, err := d.Notes.Vault.Root.Load().Read(d.t.Context(), path)
	ok(d.t, err)
	d.rewrite(id, "rekindle", func(m *memory.Memory) { core.RestoreText(m, note.Carried.Body, path, memory.Active) })
}

// rewrite changes a memory in the log alone.
func (d *desk) rewrite(id memory.ID, verb string, change func(m *memory.Memory)) {
	d.t.Helper()
	_, err := d.Stm.Update(d.t.Context(), []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		before, err := core.Fields(&m)
		if err != nil {
			return nil, err
		}
		change(&m)
		after, err := core.Fields(&m)
		return &stm.Tx{Verb: verb, Changes: []stm.Change{{ID: id, Set: core.Difference(before, after)}}}, err
	})
	ok(d.t, err)
}

// wantHome checks which note is the memory's, and whether it counts as promoted.
func (d *desk) wantHome(id memory.ID, path string, promoted bool) {
	d.t.Helper()
	m := d.memory(id)
	if m.VaultPath != path || (m.PromotedTo != "") != promoted || promoted && m.PromotedTo != path {
		d.t.Errorf("the memory's note is %q, promoted to %q; want %q, promoted: %t", m.VaultPath, m.PromotedTo, path, promoted)
	}
}

// notesFound are the notes that a search for a word finds.
func (d *desk) notesFound(word string) []string {
	d.t.Helper()
	return names(do(d.t, d.Engine, op.Search, &op.SearchRequest{Query: word, Scope: "notes"}).Hits)
}

func TestAnArchiveNoteIsItsMemorys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.filed("the kettle leaks at the seam", archiveDir+"Kettle.md", "kitchen")
	wantNames(t, d.Engine, "seam", "the kettle leaks at the seam")
	wantNames(t, d.Engine, "keyterm") // it is for showing
	if got := d.notesFound("seam"); len(got) != 0 {
		t.Errorf("among the notes %q is found", got)
	}
	if got := d.Notes.Vault.Carriers.Of(id); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
		t.Errorf("the notes of the memory are %q", got)
	}
	if v := do(t, d.Engine, op.Status, &op.StatusRequest{}).Vaults[0]; v.Notes != 0 || v.Archived != 1 || v.Memories != 1 {
		t.Errorf("status %+v", v)
	}
	if got := do(t, d.Engine, op.Open, &op.OpenRequest{Ref: string(id)}); got.Path != archiveDir+"Kettle.md" {
		t.Errorf("open leads to %q", got.Path)
	}
	d.wantNoFindings()

	// Nothing of that is different after a restart, and nothing is written for it.
	lines := d.lines(id)
	d.restart()
	d.settle()
	wantNames(t, d.Engine, "seam", "the kettle leaks at the seam")
	d.wantHome(id, archiveDir+"Kettle.md", false)
	if got := d.lines(id); got != lines {
		t.Errorf("%d lines more", got-lines)
	}
}

func TestAnArchiveNoteThatMoves(t *testing.T) {
	t.Parallel()
	for what, ways := range map[string]func(d *desk, from, to string){
		"renamed": func(d *desk, from, to string) { d.move(from, to); d.settle() },
		"by a sync tool": func(d *desk, from, to string) {
			text := d.note(d.t, from)
			ok(d.t, os.Remove(d.at(from)))
			d.batch(nil, []string{from})
			d.edit(to, text)
		},
		"copied, and then deleted": func(d *desk, from, to string) {
			d.edit(to, d.note(d.t, from))
			d.remove(from)
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			cold := d.filed("the kettle leaks", archiveDir+"Kettle.md")
			back := d.filed("the pot shines", archiveDir+"Pot.md")
			d.woken(back)
			promoted := d.kept("the pan is black", "Pan.md")
			ways(d, archiveDir+"Kettle.md", archiveDir+"Old/Teapot.md")
			ways(d, archiveDir+"Pot.md", archiveDir+"Old/Jug.md")
			d.wantHome(cold, archiveDir+"Old/Teapot.md", false)
			d.wantHome(back, archiveDir+"Old/Jug.md", false)

			// Taken out of the archive it is a note like others, and no promotion.
			ways(d, archiveDir+"Old/Teapot.md", "Garden/Teapot.md")
			ways(d, archiveDir+"Old/Jug.md", "Garden/Jug.md")
			d.wantHome(cold, "Garden/Teapot.md", false)
			d.wantHome(back, "Garden/Jug.md", false)
			if got := d.notesFound("kettle leaks"); !slices.Equal(got, []string{"Garden/Teapot.md"}) {
				t.Errorf("found %q", got)
			}
			if m := d.memory(cold); m.Content != leftOver || m.Status != "archived" {
				t.Errorf("the memory is %+v", m.Memory)
			}

			// A promoted note that is put away is the memory's still, and not searched.
			ways(d, "Pan.md", archiveDir+"Pan.md")
			d.wantHome(promoted, archiveDir+"Pan.md", true)
			if got := d.notesFound("black"); len(got) != 0 {
				t.Errorf("found %q in the archive", got)
			}
			ways(d, archiveDir+"Pan.md", "Kitchen/Pan.md")
			d.wantHome(promoted, "Kitchen/Pan.md", true)
			if got := d.notesFound("black"); !slices.Equal(got, []string{"Kitchen/Pan.md"}) {
				t.Errorf("found %q", got)
			}
			d.wantNoFindings()
		})
	}
}

func TestAnArchiveNoteThatIsEdited(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md", "kitchen")
	d.edit(archiveDir+"Kettle.md", withProperties(id, "tags: [tea]\ncategory: repairs\nstrength: 1.5\n", "The kettle leaks at the seam."))
	m := d.memory(id)
	if m.Content != leftOver || m.Stage != memory.Archived || !slices.Equal(m.Tags, []string{"tea"}) || m.Category != "repairs" || m.Strength != 1.5 {
		t.Errorf("cold, the memory is %+v", m.Memory)
	}
	wantNames(t, d.Engine, "seam", "The kettle leaks at the seam.")
	d.wantFinding("memory "+archiveDir+"Kettle.md", "to use the new text, run: emberd rekindle "+id.Short())
	lines := d.lines(id)
	d.batch([]string{archiveDir + "Kettle.md"}, nil)
	d.settle()
	if got := d.lines(id); d.Sync.Sync.Contains(id) || got != lines {
		t.Errorf("%d lines for nothing", got-lines)
	}

	d.woken(id)
	d.edit(archiveDir+"Kettle.md", withProperties(id, "tags: [tea]\n", "The kettle is mended."))
	if m := d.memory(id); m.Content != "The kettle is mended." || m.Category != "" || m.PromotedTo != "" {
		t.Errorf("warm, the memory is %+v", m.Memory)
	}
	d.wantNoFindings()
}

func TestAnArchiveNoteThatIsDeleted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	cold, back := d.filed("the kettle leaks", archiveDir+"Kettle.md"), d.filed("the pot shines", archiveDir+"Pot.md")
	d.woken(back)
	notes := map[string]string{archiveDir + "Kettle.md": d.note(t, archiveDir+"Kettle.md"), archiveDir + "Pot.md": d.note(t, archiveDir+"Pot.md")}
	d.remove(archiveDir+"Kettle.md", archiveDir+"Pot.md")
	if m := d.memory(cold); m.NoteGone.IsZero() || m.Content != leftOver || m.VaultPath != archiveDir+"Kettle.md" {
		t.Errorf("cold, the memory is %+v", m.Memory)
	}
	d.wantFinding("memory "+archiveDir+"Kettle.md", "this note contained the text of memory "+cold.Short())
	if m := d.memory(back); m.VaultPath != "" || m.NoteSeen != nil || !m.NoteGone.IsZero() || m.Content != "the pot shines" {
		t.Errorf("brought back, the memory is %+v", m.Memory)
	}

	for path, text := range notes {
		d.edit(path, text)
	}
	d.wantHome(cold, archiveDir+"Kettle.md", false)
	d.wantHome(back, archiveDir+"Pot.md", false)
	if m := d.memory(cold); !m.NoteGone.IsZero() {
		t.Errorf("with the note back the memory is %+v", m.Memory)
	}
	d.wantNoFindings()
}

// A copy in the archive folder of which the log does not know, as a crash leaves it or an
// undo: it promotes nothing, and an old text takes no newer one's place.
func TestAnArchiveNoteThatTheLogDoesNotKnow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	same, other := save(t, d.Engine, "the kettle leaks", "kitchen").ID, save(t, d.Engine, "the pot shines").ID
	d.write(t, archiveDir+"Kettle.md", noteFor(same, "the kettle leaks", "old"))
	d.write(t, archiveDir+"Pot.md", noteFor(other, "the pot is dull"))
	d.restart()
	d.settle()
	d.wantHome(same, archiveDir+"Kettle.md", false)
	if m := d.memory(same); !slices.Equal(m.Tags, []string{"kitchen"}) {
		t.Errorf("the memory is %+v", m.Memory)
	}
	d.wantHome(other, "", false)
	if m := d.memory(other); m.Content != "the pot shines" {
		t.Errorf("the memory is %+v", m.Memory)
	}
	d.wantFinding("memory "+archiveDir+"Pot.md", "this note contains the ID of memory "+other.Short()+" but a different text")

	// A note elsewhere that says what the memory says is its, whatever lies in the archive.
	d.edit("Pot.md", noteFor(other, "the pot shines"))
	d.wantHome(other, "Pot.md", true)
	d.wantFinding("duplicate "+archiveDir+"Pot.md", `whose note is "Pot.md"`)
	nobody := memory.DeriveID([]byte("nobody"))
	d.edit(archiveDir+"Nobody.md", noteFor(nobody, "of no memory"))
	d.wantFinding("memory "+archiveDir+"Nobody.md", "memory "+string(nobody))
}

// An archived memory whose note went while nobody could see it.
func TestAnArchiveNoteThatIsMissing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
	ok(t, os.Remove(d.at(archiveDir+"Kettle.md")))
	d.wantFinding("memory "+archiveDir+"Kettle.md", "this note of memory "+id.Short()+" is missing")
}

// Case 44 for archived memories: their notes count among those that do not go in bulk.
func TestCase44TheArchiveFolderIsAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	var ids []memory.ID
	var paths []string
	for i := range 8 {
		paths = append(paths, fmt.Sprintf("%s%d.md", archiveDir, i))
		ids = append(ids, d.filed(fmt.Sprintf("fact %d", i), paths[i]))
	}
	away := d.Vaults[0] + " away"
	ok(t, os.Rename(d.at(archiveDir), away))
	d.batch(nil, paths)
	d.settle()
	gone := func() (n int) {
		for _, id := range ids {
			if !d.memory(id).NoteGone.IsZero() {
				n++
			}
		}
		return n
	}
	if held := status(t, d.Engine).Vaults[0].Held; gone() != 0 || !strings.HasPrefix(held, "8 notes of memories disappeared at once") {
		t.Errorf("%d notes count as gone; %q", gone(), held)
	}
	d.restart()
	ok(t, os.Rename(away, d.at(archiveDir)))
	d.batch(paths, nil)
	d.settle()
	if got := status(t, d.Engine).Vaults[0]; gone() != 0 || got.Held != "" || got.Archived != 8 {
		t.Errorf("back again, %d notes count as gone: %+v", gone(), got)
	}
	d.wantNoFindings()
}

// What is edited through emberd reaches the archive note, but for the text: that one is
// what was archived.
func TestEditsOfAMemoryWithAnArchiveNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.ms.Store(d.clock.Now().AddDate(1, 0, 0).UnixMilli()) // all notes have been left alone
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md", "kitchen")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), AddTags: []string{"tea"}, Category: new("repairs")})
	wantNote(t, d.house, archiveDir+"Kettle.md", "the kettle leaks", "- \"tea\"", "category: \"repairs\"")
	d.woken(id)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new("the kettle is mended"), RemoveTags: []string{"kitchen"}})
	d.rest(t, d.Engine)
	wantNote(t, d.house, archiveDir+"Kettle.md", "the kettle leaks", "!kitchen", "!mended")
	d.seen(archiveDir + "Kettle.md")
	if m := d.memory(id); m.Content != "the kettle is mended" || !slices.Equal(m.Tags, []string{"tea"}) || m.Category != "repairs" {
		t.Errorf("the memory is %+v", m.Memory)
	}
	d.wantNoFindings()
}

// Taking such an edit back takes it out of the archive note, too.
func TestUndoOfAnEditOfAMemoryWithAnArchiveNote(t *testing.T) {
	t.Parallel()
	for what, warm := range map[string]bool{"cold": false, "brought back": true} {
		d := shelf(t, nil)
		id := d.filed("the kettle leaks", archiveDir+"Kettle.md", "kitchen")
		req := &op.EditRequest{ID: string(id), AddTags: []string{"tea"}}
		if warm {
			d.woken(id)
			req.Content = new("the kettle is mended")
		}
		was := d.memory(id).Content
		entry := do(t, d.Engine, op.Edit, req).Tx
		d.rest(t, d.Engine)
		wantNote(t, d.house, archiveDir+"Kettle.md", "- \"tea\"")
		do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: entry})
		d.rest(t, d.Engine)
		wantNote(t, d.house, archiveDir+"Kettle.md", "the kettle leaks", "- \"kitchen\"", "!tea")
		d.seen(archiveDir + "Kettle.md")
		if m := d.memory(id); m.Content != was || !slices.Equal(m.Tags, []string{"kitchen"}) {
			t.Errorf("%s: the memory is %+v", what, m.Memory)
		}
		d.wantNoFindings()
	}
}

// Forgotten and purged memories leave their archive notes, and say so.
func TestForgettingAMemoryWithAnArchiveNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
	if got := do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)}).Notes; !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
		t.Errorf("forget leaves the notes %q", got)
	}
	d.settle()
	d.wantFinding("memory "+archiveDir+"Kettle.md", "is in the trash")
	if got := left(do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(id)}), "note"); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
		t.Errorf("purge leaves the notes %q", got)
	}
	wantFiles(t, d.house, archiveDir+"Kettle.md")
}

// Whichever way a program saves an archive note, the watcher finds it.
func TestEverySaveOfAnArchiveNoteIsFound(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.open(t)
	ids := map[string]memory.ID{}
	for way := range saves() {
		ids[way] = save(t, e, "tagged when its note is").ID
		h.write(t, archiveDir+way+".md", noteFor(ids[way], "tagged when its note is"))
	}
	ok(t, e.Close())
	h.Options.Pace = brisk()
	e = h.following(t)
	until(t, "the notes are the memories'", func() bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(ids)), func(id memory.ID) bool { return look(t, e, id).VaultPath == "" })
	})
	for way, write := range saves() {
		write(t, h.Vaults[0]+"/"+archiveDir+way+".md", noteFor(ids[way], "tagged when its note is", "found"))
	}
	for way, id := range ids {
		until(t, "found: "+way, func() bool { return slices.Equal(look(t, e, id).Tags, []string{"found"}) })
		if m := look(t, e, id); m.PromotedTo != "" {
			t.Errorf("%s: promoted to %q", way, m.PromotedTo)
		}
	}
	if got := names(do(t, e, op.Search, &op.SearchRequest{Query: "tagged", Scope: "notes"}).Hits); len(got) != 0 {
		t.Errorf("found in the archive: %q", got)
	}
}
