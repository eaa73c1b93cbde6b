package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
	"emberd/watcher"
)

// forgeries are notes with the ID of the memory "the safe opens with the old key", tagged safe, that
// its note never said.
func forgeries(id memory.ID) map[string]string {
	return map[string]string{
		"another text":     noteFor(id, "the safe is open", "safe"),
		"another tag":      noteFor(id, "the safe opens with the old key", "safe", "work"),
		"tags and no text": withProperties(id, "tags: [work]\n", ""),
		"another stage":    withProperties(id, "tags: [safe]\nstage: demoted\n", "the safe opens with the old key"),
	}
}

const safeText = "the safe opens with the old key"

// wantUntaken checks that a forged note at path changed nothing of a live memory, and that the user is asked.
func (d *desk) wantUntaken(id memory.ID, home, path string) {
	d.t.Helper()
	m := d.memory(id)
	if m.Content != safeText || !slices.Equal(m.Tags, []string{"safe"}) || m.PromotedTo != home || m.Stage != memory.Active {
		d.t.Errorf("the forged note took the memory over: %+v", m.Memory)
	}
	work := &access.Grant{Token: "job", Read: []access.Scope{{Kind: access.Folder, Value: "Work"}}}
	_, err := as(work, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
	wantCode(d.t, err, memory.NotFound, "")
	if items := d.claims(); len(items) != 1 || !strings.Contains(items[0].Evidence, path) {
		d.t.Errorf("the review items are %+v", items)
	}
}

// Attack 2a: a forged note waits beside a memory's note until that is deleted.
func TestAForgedNoteInheritsNothing(t *testing.T) {
	t.Parallel()
	for what, text := range forgeries(memory.DeriveID([]byte("safe"))) {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept(safeText, "A.md", "safe")
			forged := strings.ReplaceAll(text, string(memory.DeriveID([]byte("safe"))), string(id))
			d.edit("Work/B.md", forged)
			d.wantUntaken(id, "A.md", "Work/B.md")
			if got := d.findings()["duplicate Work/B.md"]; !strings.Contains(got, "emberd review show "+d.claims()[0].Short()) {
				t.Errorf("vault check does not name the question: %q", got)
			}
			d.remove("A.md")
			d.wantUntaken(id, "A.md", "Work/B.md")
			d.restart()
			d.settle()
			d.wantUntaken(id, "A.md", "Work/B.md")
		})
	}
}

// Attack 2b: a forged note brings no memory back from the trash, wherever it is. The note as it was does.
func TestAForgedNoteRestoresNothing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"A.md", "Work/B.md"} {
		t.Run(path, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept(safeText, "A.md", "safe")
			was := d.note(t, "A.md")
			d.remove("A.md")
			for what, text := range forgeries(id) {
				d.edit(path, text)
				d.restart()
				d.settle()
				if !d.Stm.Trashed(id) {
					t.Fatalf("%s: the forged note restored %+v", what, d.memory(id).Memory)
				}
			}
			d.wantFinding("memory "+path, "which is in the trash; remove the property memory-id, or to restore the memory, run: emberd rekindle "+id.Short())

			// Restored by the user, the memory is what it was, and both texts are shown.
			do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(id)}})
			d.settle()
			d.wantUntaken(id, "A.md", path)
			d.edit(path, was)
			if m := d.memory(id); m.PromotedTo != path || !m.NoteGone.IsZero() || len(d.claims()) != 0 {
				t.Errorf("with the note back the memory is %+v, the items %+v", m.Memory, d.claims())
			}
		})
	}
}

// Attack 2c: an archived memory, whose text is in a note only, takes no forged text when it is rekindled.
func TestAForgedNoteIsNoArchivedText(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"elsewhere": "Work/B.md", "in its place": archiveDir + "Safe.md"} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.filed(safeText, archiveDir+"Safe.md", "safe")
			was := d.note(t, archiveDir+"Safe.md")
			d.remove(archiveDir + "Safe.md")
			d.edit(path, noteFor(id, "the safe is open", "safe", "work"))
			err := refused(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
			wantCode(t, err, memory.Conflict, "emberd review show rev-")
			m := d.memory(id)
			if m.Content != leftOver || m.VaultPath != archiveDir+"Safe.md" || m.NoteGone.IsZero() || !slices.Equal(m.Tags, []string{"safe"}) {
				t.Errorf("the memory is %+v", m.Memory)
			}
			d.edit(path, was)
			if got := do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)}).Results[0].Memory; got.Content != safeText {
				t.Errorf("with the note back it is %+v", got.Memory)
			}
		})
	}
}

// The same before the deletion of its note is applied: rekindling reads the vault itself.
func TestAForgedNoteIsNoMovedText(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"another text": "the safe is open", "another tag": safeText} {
		d := newDesk(t, nil)
		id := d.filed(safeText, archiveDir+"Safe.md", "safe")
		d.edit("Work/B.md", noteFor(id, text, "safe", "work"))
		ok(t, os.Remove(d.at(archiveDir+"Safe.md")))
		d.batch(nil, []string{archiveDir + "Safe.md"})
		err := refused(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
		wantCode(t, err, memory.Conflict, "emberd review show rev-")
		if m := d.memory(id); m.Content != leftOver || m.VaultPath != archiveDir+"Safe.md" || !m.NoteGone.IsZero() {
			t.Errorf("%s: the memory is %+v", what, m.Memory)
		}
	}
}

// Attack 2d: the memory's note is taken away, or loses the ID, and a forged one appears at once.
func TestAForgedNoteReplacesNothing(t *testing.T) {
	t.Parallel()
	for what, away := range map[string]func(d *desk) (gone []string, moved []watcher.Move){
		"removed": func(d *desk) ([]string, []watcher.Move) {
			ok(d.t, os.Remove(d.at("A.md")))
			return []string{"A.md"}, nil
		},
		"hidden": func(d *desk) ([]string, []watcher.Move) {
			ok(d.t, os.Rename(d.at("A.md"), d.at(".A.md")))
			return []string{"A.md"}, nil
		},
		// A new file can have inode, size and time of a deleted one.
		"passed off as a rename": func(d *desk) ([]string, []watcher.Move) {
			ok(d.t, os.Remove(d.at("A.md")))
			return []string{"A.md"}, []watcher.Move{{From: "A.md", To: "Work/B.md"}}
		},
		"ID taken out": func(d *desk) ([]string, []watcher.Move) {
			d.write(d.t, "A.md", safeText)
			d.batch([]string{"A.md"}, nil)
			return nil, nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept(safeText, "A.md", "safe")
			gone, moved := away(d)
			d.write(t, "Work/B.md", noteFor(id, "the safe is open", "safe"))
			d.batch([]string{"Work/B.md"}, gone, moved...)
			d.settle()
			d.wantUntaken(id, "A.md", "Work/B.md")
			if got := searchFor(t, d.Engine, "open"); len(got) > 0 && got[0].Memory != nil && got[0].Note != nil {
				t.Errorf("a search shows the forged note as the memory's: %+v", got[0])
			}
		})
	}
}

// What users, Obsidian and sync tools do with a note is followed, and nobody is asked.
func TestANoteThatOnlyMovesIsFollowed(t *testing.T) {
	t.Parallel()
	for what, to := range map[string]func(d *desk, text string){
		"renamed": func(d *desk, _ string) { d.move("A.md", "Work/B.md") },
		"renamed, and edited at once": func(d *desk, text string) {
			d.move("A.md", "Work/B.md")
			d.write(d.t, "Work/B.md", strings.Replace(text, "old", "new", 1))
			d.batch([]string{"Work/B.md"}, nil)
		},
		"edited, and renamed at once": func(d *desk, text string) {
			d.write(d.t, "A.md", strings.Replace(text, "old", "new", 1))
			d.batch([]string{"A.md"}, nil)
			d.move("A.md", "Work/B.md")
		},
		"renamed twice, and edited": func(d *desk, text string) {
			d.move("A.md", "C.md")
			d.move("C.md", "Work/B.md")
			d.write(d.t, "Work/B.md", strings.Replace(text, "old", "new", 1))
			d.batch([]string{"Work/B.md"}, nil)
		},
		"renamed, and the daemon restarts": func(d *desk, text string) {
			d.move("A.md", "Work/B.md")
			d.write(d.t, "Work/B.md", strings.Replace(text, "old", "new", 1))
			d.restart()
		},
		"renamed while the daemon is down": func(d *desk, text string) {
			ok(d.t, d.Close())
			ok(d.t, os.Remove(d.at("A.md")))
			d.write(d.t, "Work/B.md", text)
			d.start()
		},
		"deleted, then created": func(d *desk, text string) {
			ok(d.t, os.Remove(d.at("A.md")))
			d.batch(nil, []string{"A.md"})
			d.edit("Work/B.md", text)
		},
		"created, then deleted": func(d *desk, text string) {
			d.edit("Work/B.md", text)
			d.remove("A.md")
		},
		"deleted, and created a day later": func(d *desk, text string) {
			d.remove("A.md")
			d.restart()
			d.edit("Work/B.md", text)
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.kept(safeText, "A.md", "safe")
			to(d, d.note(t, "A.md"))
			d.settle()
			m := d.memory(id)
			if want := strings.ReplaceAll(d.note(t, "Work/B.md"), "\r", ""); !strings.Contains(want, m.Content) || m.PromotedTo != "Work/B.md" {
				t.Errorf("the memory is %+v", m.Memory)
			}
			if items := d.claims(); len(items) > 0 {
				t.Errorf("the user is asked: %+v", items)
			}
			d.wantNoFindings()
		})
	}
}

// Exact copies and copies of sync tools ask nothing, and neither does an old copy while its original is edited.
func TestACopyAsksNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept(safeText, "A.md", "safe")
	text := d.note(t, "A.md")
	d.edit("A 1.md", text)
	d.edit("A.sync-conflict-20260301-120000-ABCDEFG.md", strings.Replace(text, "old", "older", 1))
	newer := strings.Replace(text, "old", "new", 1)
	d.write(t, "A.md", newer)
	d.write(t, "A 2.md", newer)
	d.batch([]string{"A 2.md", "A.md"}, nil)
	d.settle()
	d.restart()
	d.settle()
	if items := d.claims(); len(items) > 0 || d.memory(id).Content != "the safe opens with the new key" {
		t.Errorf("the user is asked: %+v", items)
	}
}

// An item about a note is closed when the log names that note, or the note loses the ID.
func TestAClaimIsClosedWithItsReason(t *testing.T) {
	t.Parallel()
	here, there := newDesk(t, nil), newDesk(t, nil)
	id := here.kept(safeText, "A.md", "safe")
	edited := noteFor(id, "the safe opens with the new key", "safe")
	there.write(t, "A.md", here.note(t, "A.md"))
	there.batch([]string{"A.md"}, nil)
	sync := func() {
		carry(t, here.house, there.house, status(t, here.Engine).Device)
		there.Admin.Refresh(t.Context())
		there.settle()
	}
	sync()
	here.move("A.md", "B.md")
	ok(t, os.Rename(there.at("A.md"), there.at("B.md")))
	there.write(t, "B.md", edited)
	there.batch([]string{"B.md"}, []string{"A.md"})
	there.settle()
	if items := there.claims(); len(items) != 1 {
		t.Fatalf("before the log the items are %+v", items)
	}
	here.edit("B.md", edited)
	sync()
	if m := there.memory(id); len(there.claims()) > 0 || m.PromotedTo != "B.md" || m.Content != "the safe opens with the new key" {
		t.Errorf("with the log the memory is %+v, the items %+v", m.Memory, there.claims())
	}
	here.edit("Work/C.md", noteFor(id, "the safe is open"))
	if items := here.claims(); len(items) != 1 {
		t.Fatalf("the items are %+v", items)
	}
	here.edit("Work/C.md", "the safe is open\n")
	if items := here.claims(); len(items) > 0 {
		t.Errorf("without the ID the items are %+v", items)
	}
}

// A confirmed note's text is that of who confirmed it, not of whom the memory was.
func TestAConfirmedNoteIsInTheWordsOfWhoConfirmedIt(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]string{"cli": memory.TrustUser, "http": memory.TrustAgent} {
		d := newDesk(t, nil)
		saved := do(t, d.Engine, op.Save, &op.SaveRequest{Content: safeText, Provenance: op.Provenance{Origin: memory.FromUser}})
		id := saved.Memory.ID
		promoteByID(t, d.Engine, id)
		d.edit("Work/B.md", noteFor(id, "the safe is open"))
		if len(d.claims()) != 1 {
			t.Fatal("the user is not asked")
		}
		ctx := op.WithCaller(t.Context(), memory.Actor{Via: via})
		_, err := op.ReviewClose.Call(ctx, d.Engine, d.adopting())
		ok(t, err)
		d.settle()
		m := d.memory(id)
		if m.Content != "the safe is open" || m.PromotedTo != "Work/B.md" || m.Trust != want {
			t.Errorf("confirmed over %s, it is %s: %+v", via, m.Trust, m.Memory)
		}
	}
}
