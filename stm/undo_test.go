package stm_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/wal"
)

func TestRestoreKeepsWhatAnotherDeviceWroteMeanwhile(t *testing.T) {
	for _, back := range []string{"restore", "undo"} {
		t.Run(back, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			id := ts.save("apple pie", "sweet").ID()
			forgotten := ts.forget(id)
			ts.other(lineOf(1, time.Now().Add(time.Second), record.OpSet, id, `{"content":"apple tart","tags":null}`))
			ts.reopen()
			ts.wantGone(id)
			if back == "undo" {
				ts.undo(forgotten.Entry)
			} else if _, err := ts.Restore(context.Background(), []memory.ID{id}, memory.Actor{}); err != nil {
				t.Fatal(err)
			}
			ts.wantContent(id, "apple tart")
			if r, _ := ts.Get(id); len(r.Tags()) != 0 {
				t.Errorf("tags %v, which the other device took away", r.Tags())
			}
		})
	}
}

func TestAnUndoInPartsIsMarkedEvenWhenItsLastPartChangesNothing(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	before := ts.save("before")
	big := strings.Repeat("x", record.MaxLine/5)
	var entry string
	for n := range 6 {
		got := ts.commit(wal.Tx{Verb: "import", Entry: entry, Changes: []wal.Change{{ID: idOf(n), Set: textOf(big)}}})
		entry = got.Entry
	}
	ts.edit(idOf(0), "source", "changed since, and the last to be undone")
	got := ts.undo(entry)
	if got.Tx == "" || got.Items[len(got.Items)-1].Action != history.Left {
		t.Fatalf("undo: %+v", got.Items)
	}
	ts.withoutSnapshot()
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: entry}); memory.CodeOf(err) != memory.Invalid {
		t.Errorf("undone twice: %v", err)
	}
	if got := ts.undo(""); got.Entry.Verb != "edit" {
		t.Errorf("the next undo takes back %s, want the edit", got.Entry.Verb)
	}
	ts.undo("")
	if _, ok := ts.Get(before.ID()); ok {
		t.Error("the first save was not undone")
	}
}

func TestUndoOfAnEntryThatChangedAMemoryTwice(t *testing.T) {
	ts := openStore(t, wal.Options{})
	created := ts.commit(setOf(idOf(1), "content", `"one"`))
	again := setOf(idOf(1), "content", `"two"`)
	again.Entry = created.Entry
	ts.commit(again)
	if got := ts.undo(created.Entry); len(got.Items) != 2 || got.Items[1].Action != history.Removed {
		t.Errorf("undo: %+v", got.Items)
	}
	ts.wantGone(idOf(1))

	kept := ts.save("first").ID()
	one := ts.edit(kept, "content", "second")
	two := setOf(kept, "content", `"third"`)
	two.Entry = one.Entry
	ts.commit(two)
	ts.undo(one.Entry)
	ts.wantContent(kept, "first")
}

// TestUndoGoesOnStepByStep: each undo brings back what the step before it
// wrote, so the next one finds its memory unchanged.
func TestUndoGoesOnStepByStep(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one", "x").ID()
	ts.changed(a, "two")
	ts.changed(a, "three")
	ts.forget(a)
	for _, want := range []string{"three", "two", "one"} {
		ts.undo("")
		ts.wantContent(a, want)
	}
	if got := ts.undo(""); got.Items[0].Action != history.Removed {
		t.Errorf("undo of the save: %+v", got.Items)
	}
	if _, err := ts.Undo(context.Background(), history.Undo{}); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("with nothing left: %v", err)
	}
	ts.withoutSnapshot()
	ts.wantGone(a)
}

// What stays is named by what people know of it.
func TestAnUndoNamesTheTextThatStays(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one").ID()
	entry := ts.commit(wal.Tx{Verb: "archive", Changes: []wal.Change{{ID: a, Set: map[string]json.RawMessage{
		"content": record.Encode("o"), "text_digest": record.Encode("sha256:1"), "vault_path": record.Encode("One.md")}}}}).Entry
	ts.commit(wal.Tx{Verb: "rekindle", Changes: []wal.Change{{ID: a, Set: map[string]json.RawMessage{
		"content": record.Encode("one, and more"), "text_digest": record.Null}}}})
	if got, want := ts.undo(entry).Items[0].Reason, "content changed later"; got != want {
		t.Errorf("the undo says %q, want %q", got, want)
	}
}

// A text that was archived again since stays archived, and so does one that is in the note
// alone that the entry made.
func TestAnUndoLeavesATextThatWasArchivedSince(t *testing.T) {
	ts := openStore(t, wal.Options{})
	archived := func(at string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"content": record.Encode("o"), "text_digest": record.Encode("sha256:1"), "archived_at": record.Encode(at)}
	}
	again := ts.save("one").ID()
	wrote := func(id memory.ID, set map[string]json.RawMessage) string {
		return ts.commit(wal.Tx{Verb: "test", Changes: []wal.Change{{ID: id, Set: set}}}).Entry
	}
	first := wrote(again, archived("2026-01-01T00:00:00Z"))
	wrote(again, map[string]json.RawMessage{"content": record.Encode("one"), "text_digest": record.Null, "archived_at": record.Null})
	wrote(again, archived("2026-02-01T00:00:00Z"))
	promoted := ts.save("two").ID()
	note := wrote(promoted, map[string]json.RawMessage{"promoted_to": record.Encode("Two.md"), "vault_path": record.Encode("Two.md")})
	wrote(promoted, archived("2026-01-01T00:00:00Z"))
	for _, entry := range []string{first, note} {
		if got := ts.undo(entry).Items[0]; got.Action != history.Left || got.Reason != "content changed later" {
			t.Errorf("undone: %+v", got)
		}
	}
}

// changed edits as the engine does, with the time of the change.
func (ts *testStore) changed(id memory.ID, text string) {
	ts.t.Helper()
	tx := setOf(id, "content", string(record.Encode(text)))
	tx.Changes[0].Set[history.WhenChanged] = record.Encode(ts.Wal().Now().UTC())
	ts.commit(tx)
}

func TestAnEntryStandsAgainWhenItsUndoIsUndone(t *testing.T) {
	ts := openStore(t, wal.Options{})
	saved := ts.commit(setOf(idOf(1), "content", `"one"`))
	for _, again := range []func(){func() {}, ts.reopen, ts.withoutSnapshot} {
		first := ts.undo(saved.Entry)
		again()
		ts.wantGone(idOf(1))
		ts.undo(first.Tx)
		again()
		ts.wantContent(idOf(1), "one")
	}
}

// TestAPreviewOfUndoIsWhatUndoDoes: an entry may touch one memory several times.
func TestAPreviewOfUndoIsWhatUndoDoes(t *testing.T) {
	for _, force := range []bool{false, true} {
		for name, since := range map[string]func(ts *testStore){
			"nothing since":   func(*testStore) {},
			"changed since":   func(ts *testStore) { ts.edit(idOf(1), "content", "four") },
			"forgotten since": func(ts *testStore) { ts.forget(idOf(1)) },
		} {
			ts := openStore(t, wal.Options{})
			first := ts.commit(setOf(idOf(1), "content", `"one"`))
			for _, tx := range []wal.Tx{
				setOf(idOf(1), "content", `"two"`),
				{Verb: "forget", Changes: []wal.Change{{ID: idOf(1), Delete: true}}},
				setOf(idOf(1), "content", `"three"`),
			} {
				tx.Entry = first.Entry
				ts.commit(tx)
			}
			since(ts)
			would, err := ts.Undo(context.Background(), history.Undo{Entry: first.Entry, Force: force, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			did, err := ts.Undo(context.Background(), history.Undo{Entry: first.Entry, Force: force})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(would.Items, did.Items) || len(did.Items) != 4 {
				t.Errorf("%s, force %v: previewed %+v, done %+v", name, force, would.Items, did.Items)
			}
			if did.Items[1].Verb != "forget" {
				t.Errorf("%s: the items are %+v, want the verb of each change", name, did.Items)
			}
		}
	}
}

func TestUndoWithoutANameTakesAnEntryOfThisDevice(t *testing.T) {
	ts := openStore(t, wal.Options{})
	mine := ts.save("mine").ID()
	ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(time.Minute), record.OpPut, idOf(1), `{"content":"theirs"}`))
	ts.refresh()
	theirs := ts.entryOf(idOf(1))
	ts.undo("")
	ts.wantGone(mine)
	ts.wantContent(idOf(1), "theirs")
	if _, err := ts.Undo(context.Background(), history.Undo{}); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("with nothing of ours left: %v", err)
	}
	ts.undo(theirs)
	ts.wantGone(idOf(1))
}

// compacted moves what was replaced into a history, and reads only the log again.
func (ts *testStore) compacted() {
	ts.reopen()
	ts.compact()
	ts.withoutSnapshot()
}

// What emberd does by itself is taken back only when it is named.
func TestABareUndoPassesOverWhatNobodyAskedFor(t *testing.T) {
	for _, how := range []struct {
		name  string
		again func(*testStore)
	}{{"as it goes", func(*testStore) {}}, {"from a snapshot", (*testStore).reopen}, {"from the log", (*testStore).withoutSnapshot},
		{"from the history", (*testStore).compacted}} {
		t.Run(how.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			row := ts.save("apple")
			ts.edit(row.ID(), "content", "apple pie")
			own := ts.commit(wal.Tx{Verb: "note", By: memory.Actor{Via: record.Itself, Client: "vault"}, Changes: []wal.Change{{ID: row.ID(), Set: textOf("from the note")}}})
			how.again(ts)
			if got := ts.undo(""); got.Entry.Verb != "edit" || got.Items[0].Action != history.Left {
				t.Errorf("a bare undo took back %+v", got)
			}
			ts.undo(own.Entry)
			ts.wantContent(row.ID(), "apple pie")
		})
	}
}

// A memory can be given fields as it is forgotten: it has them in the trash, and
// the line that moved it there can be read.
func TestForgottenWithANewField(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple", "sweet").ID()
	done := ts.commit(wal.Tx{Verb: "note gone", By: memory.Actor{Via: record.Itself}, Changes: []wal.Change{
		{ID: id, Delete: true, Set: map[string]json.RawMessage{"note_gone": json.RawMessage(`"2026-03-01T12:00:00Z"`), "tags": record.Null}}}})
	for _, again := range []func(){func() {}, ts.reopen, ts.withoutSnapshot} {
		again()
		ts.wantGone(id)
		m, err := ts.ReadTrashed(id)
		if err != nil || m.Content != "apple" || m.NoteGone.IsZero() || len(m.Tags) > 0 {
			t.Errorf("in the trash: %+v, %v", m, err)
		}
		if by, err := ts.Forgetting(id); err != nil || by.Verb != "note gone" || by.Tx != done.Entry || by.By.Via != record.Itself {
			t.Errorf("forgotten by %+v, %v", by, err)
		}
	}
	ts.undo(done.Entry)
	row, _ := ts.Get(id)
	if m, err := row.Memory(); err != nil || m.NoteGone.IsZero() {
		t.Errorf("brought back as %+v, %v", m, err)
	}
	if _, err := ts.Forgetting(id); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("a live memory was forgotten by %v", err)
	}
}
