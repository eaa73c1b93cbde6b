package stm_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// imported makes some memories by one entry.
func (ts *testStore) imported(ids ...memory.ID) string {
	tx := wal.Tx{Verb: "import"}
	for _, id := range ids {
		tx.Changes = append(tx.Changes, wal.Change{ID: id, Set: textOf("the text of " + string(id))})
	}
	return ts.commit(tx).Entry
}

// byItself changes a memory as emberd does unasked. A value of "" removes its key.
func (ts *testStore) byItself(client, verb string, id memory.ID, set map[string]any) wal.Receipt {
	ts.t.Helper()
	c := wal.Change{ID: id, Set: map[string]json.RawMessage{}}
	for key, value := range set {
		if c.Set[key] = record.Null; value != "" {
			c.Set[key] = record.Encode(value)
		}
	}
	return ts.commit(wal.Tx{Verb: verb, By: memory.Actor{Via: record.Itself, Client: client}, Changes: []wal.Change{c}})
}

func (ts *testStore) archivedByItself(id memory.ID) wal.Receipt {
	return ts.byItself("lifecycle", "archive", id, map[string]any{"content": "short", "text_digest": "sha256:1",
		"stage": "archived", "archived_at": "2026-01-01T00:00:00Z", "vault_path": "Memories/Archive/" + string(id) + ".md"})
}

// everyStart runs a test with the store as it goes on and after each kind of start.
func everyStart(t *testing.T, test func(t *testing.T, ts *testStore, again func())) {
	for name, again := range map[string]func(*testStore){"as it goes": func(*testStore) {},
		"from a snapshot": (*testStore).reopen, "from the log": (*testStore).withoutSnapshot,
		"from the history": (*testStore).compacted} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			test(t, ts, func() { again(ts) })
		})
	}
}

// An import goes whole, with what emberd did to its memories since; the text that it had archived is in the trash.
func TestUndoTakesBackWhatEmberdDidSince(t *testing.T) {
	everyStart(t, func(t *testing.T, ts *testStore, again func()) {
		entry := ts.imported(idOf(1), idOf(2), idOf(3), idOf(4))
		ts.byItself("agents", "relate", idOf(1), map[string]any{"category": "plans", "context": "work"})
		ts.byItself("lifecycle", "demote", idOf(2), map[string]any{"stage": "demoted"})
		ts.archivedByItself(idOf(3))
		ts.byItself("lifecycle", "promote", idOf(4), map[string]any{"promoted_to": "Four.md", "vault_path": "Four.md"})
		ts.byItself(record.VaultClient, "note", idOf(4), map[string]any{"note_seen": map[string]string{"content": "2"}})
		again()
		got := ts.undo(entry)
		if i := slices.IndexFunc(got.Items, func(item history.UndoneItem) bool { return item.Action == history.Left }); i >= 0 {
			t.Errorf("left: %+v", got.Items[i])
		}
		for n := 1; n <= 4; n++ {
			ts.wantGone(idOf(n))
			want := "the text of " + string(idOf(n))
			if m, err := ts.ReadTrashed(idOf(n)); err != nil || m.Content != want {
				t.Errorf("in the trash is %q (%v), want %q", m.Content, err, want)
			}
		}
		ts.undo(got.Tx)
		if row, _ := ts.Get(idOf(3)); row == nil || row.Content() != "short" || row.Stage() != memory.Archived {
			t.Errorf("with the undo undone there is %+v, want it archived as before", row)
		}
	})
}

// What a person or an agent changed stays with its reason, whatever emberd did before or after, until forced, which
// also takes what an earlier undo left.
func TestUndoKeepsWhatWasAskedForSince(t *testing.T) {
	everyStart(t, func(t *testing.T, ts *testStore, again func()) {
		entry := ts.imported(idOf(1), idOf(2), idOf(3), idOf(4))
		ts.edit(idOf(1), "category", "mine")
		ts.byItself("lifecycle", "demote", idOf(1), map[string]any{"stage": "demoted"})
		ts.byItself(record.VaultClient, "note", idOf(2), map[string]any{"content": "typed in its note"})
		ts.edit(idOf(3), "content", "edited, then archived")
		ts.archivedByItself(idOf(3))
		again()
		got := ts.undo(entry)
		left := map[memory.ID]string{}
		for _, item := range got.Items {
			if item.Action == history.Left {
				left[item.ID] = item.Reason
			}
		}
		if len(left) != 3 || left[idOf(1)] != "category changed later" || left[idOf(2)] != "content changed later" {
			t.Errorf("left %v", left)
		}
		ts.wantGone(idOf(4))
		ts.wantContent(idOf(2), "typed in its note")
		ts.wantContent(idOf(3), "short")
		again()
		_, err := ts.Undo(context.Background(), history.Undo{Entry: entry})
		if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), "except for 3 memories") ||
			!strings.Contains(err.Error(), "--force") {
			t.Errorf("undone again: %v", err)
		}
		rest, err := ts.Undo(context.Background(), history.Undo{Entry: entry, Force: true})
		if err != nil || rest.Tx == "" {
			t.Fatalf("with force: %+v, %v", rest, err)
		}
		for n := 1; n <= 4; n++ {
			ts.wantGone(idOf(n))
		}
		if m, err := ts.ReadTrashed(idOf(3)); err != nil || m.Content != "edited, then archived" {
			t.Errorf("in the trash is %q, %v", m.Content, err)
		}
		again()
		_, err = ts.Undo(context.Background(), history.Undo{Entry: entry, Force: true})
		if memory.CodeOf(err) != memory.Invalid || strings.Contains(err.Error(), "--force") {
			t.Errorf("with nothing left: %v", err)
		}
	})
}

// Where emberd archived a text by itself, a bare undo takes that back first and goes on. It passes over what brought an
// archived text back by itself: only the stage is another then.
func TestABareUndoGoesThroughWhatIsInItsWay(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("whole").ID()
	before, _ := ts.Get(id)
	archive := map[string]json.RawMessage{"content": record.Encode("short"), "text_digest": record.Encode("sha256:1"),
		"stage": record.Encode("archived"), "archived_at": record.Encode("2026-01-01T00:00:00Z")}
	restored := map[string]any{"content": before.Content(), "text_digest": "", "stage": "demoted", "archived_at": ""}
	ts.commit(wal.Tx{Verb: "archive", Changes: []wal.Change{{ID: id, Set: archive}}})
	ts.byItself("search", "rekindle", id, restored)
	if got := ts.undo(""); got.Entry.Verb != "archive" || got.Items[0].Action != history.Reverted {
		t.Errorf("a bare undo took back %+v, want the archive", got)
	}
	if row, _ := ts.Get(id); row.Stage() == memory.Demoted || row.Content() != before.Content() {
		t.Errorf("the memory is %s", row.JSON())
	}
	ts.commit(wal.Tx{Verb: "edit", Changes: []wal.Change{{ID: id, Set: textOf("another")}}})
	ts.archivedByItself(id)
	for _, want := range []string{"archive", "edit", "save"} {
		if got := ts.undo(""); got.Entry.Verb != want || got.Items[0].Action == history.Left {
			t.Errorf("a bare undo took back %+v, want the %s", got, want)
		}
	}
	ts.wantGone(id)
}
