package stm_test

import (
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

// asked is an item about memories as a change of the first of them.
func asked(agent, evidence string, ids ...memory.ID) wal.Change {
	slices.Sort(ids)
	item := memory.ReviewItem{ID: memory.ReviewItemID(agent, ids), Agent: agent, Action: "merge", Urgency: "low", MemoryIDs: ids,
		Evidence: evidence, Status: memory.ItemOpen, CreatedAt: time.Unix(1, 0).UTC()}
	return wal.Change{ID: ids[0], Set: map[string]json.RawMessage{record.ReviewKey(item.ID): record.ReviewValue(&item)}}
}

// evidences are what the items of all live memories say.
func (ts *testStore) evidences() string {
	var out []string
	for item := range ts.ReviewItems() {
		out = append(out, item.Evidence)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestWhatIsNoReviewItem(t *testing.T) {
	c := asked("decay", "because", idOf(1), idOf(2))
	var key string
	var value json.RawMessage
	for key, value = range c.Set {
	}
	item, err := record.ParseReviewItem(key, value)
	if err != nil || record.ReviewKey(item.ID) != key || string(record.ReviewValue(&item)) != string(value) || strings.Contains(string(value), `"id"`) {
		t.Errorf("%s is read as %+v, %v", value, item, err)
	}
	for name, c := range map[string]struct{ key, value string }{
		"short key":    {"review.abc", string(value)},
		"upper case":   {"review." + strings.ToUpper(strings.TrimPrefix(key, "review.")), string(value)},
		"text":         {key, `"x"`},
		"null":         {key, `null`},
		"of nobody":    {key, `{"agent":"decay"}`},
		"of no memory": {key, `{"memory_ids":["x"]}`},
		"relation":     {record.RelationKey(item.ID), string(value)},
	} {
		if got, err := record.ParseReviewItem(c.key, []byte(c.value)); err == nil {
			t.Errorf("%s: %s %s is read as %+v", name, c.key, c.value, got)
		}
	}
}

// An item edits nothing: the revision stays, and so do an undo of the save and of edits.
func TestReviewItemsEditNothing(t *testing.T) {
	ts := openStore(t, wal.Options{})
	saved := ts.save("plum tart")
	id := saved.ID()
	rev := saved.Rev()
	filed := ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{asked("decay", "fades", id)}})
	check := func(when, want string) {
		t.Helper()
		if row, _ := ts.Get(id); row.Rev() != want {
			t.Errorf("%s the revision is %s, was %s", when, row.Rev(), want)
		}
	}
	check("at once", rev)
	ts.reopen()
	check("after a start", rev)
	ts.compact()
	ts.withoutSnapshot()
	check("compacted", rev)
	edited := ts.edit(id, "source", "Ann")
	row, _ := ts.Get(id)
	rev = row.Rev()
	ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{asked("cluster", "alike", id)}})
	check("after an edit", rev)
	ts.undo(edited.Entry)
	ts.undo(filed.Entry)
	if got := ts.evidences(); got != "alike" {
		t.Errorf("after undo of the first the items are %q", got)
	}
	ts.forget(id)
	if got := ts.evidences(); got != "" {
		t.Errorf("the items of what is in the trash are %q", got)
	}
	if _, err := ts.Restore(t.Context(), []memory.ID{id}, memory.Actor{}); err != nil || ts.evidences() != "alike" {
		t.Errorf("restored: %v, the items are %q", err, ts.evidences())
	}
}

// An item about a memory that was saved by the entry goes with it, and comes back.
func TestUndoOfASaveTakesItsItemsAlong(t *testing.T) {
	ts := openStore(t, wal.Options{})
	saved := ts.commit(wal.Tx{Verb: "save", Changes: []wal.Change{{ID: idOf(1), Set: textOf("pie")}}})
	ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{asked("decay", "fades", idOf(1))}})
	undone, err := ts.Undo(t.Context(), history.Undo{Entry: saved.Entry})
	if err != nil || undone.Items[0].Action != history.Removed {
		t.Fatalf("undone: %+v, %v", undone, err)
	}
	ts.undo(undone.Tx)
	ts.wantContent(idOf(1), "pie")
	if got := ts.evidences(); got != "fades" {
		t.Errorf("the items are %q", got)
	}
}

// A purge of any of its memories takes an item out of every file: one that is there, one
// that was replaced or removed, one in the trash and one that came with a memory.
func TestItemsAboutAPurgedMemoryGo(t *testing.T) {
	for name, victim := range map[string]int{"the first": 1, "another": 2} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			var ids []memory.ID
			for n := range 5 {
				ids = append(ids, idOf(n))
			}
			slices.Sort(ids)
			for n, text := range []string{"", "apple pie", "plum tart", "rhubarb", "meringue"} {
				if n > 0 {
					ts.put(ids[n], text)
				}
			}
			ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{asked("cluster", "quixotic", ids[1], ids[2], ids[3])}})
			ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{asked("cluster", "vermilion", ids[1], ids[2], ids[3])}}) // it says something else
			was := asked("decay", "gargoyle", ids[1], ids[2])
			ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{was}})
			for key := range was.Set {
				was.Set[key] = record.Null
			}
			ts.commit(wal.Tx{Verb: "close", Changes: []wal.Change{was}})
			ts.commit(wal.Tx{Verb: "file", Changes: []wal.Change{asked("cluster", "kept", ids[3], ids[4])}})
			whole := asked("merge", "kumquat", ids[0], ids[victim])
			whole.Set["content"] = record.Encode("custard")
			ts.commit(wal.Tx{Verb: "import", Changes: []wal.Change{whole}})
			forgotten := ts.forget(ids[0])
			ts.reopen()
			ts.compact()
			ts.purge(ids[victim])
			check := func(when string) {
				t.Helper()
				ts.wantNowhere("quixotic", "vermilion", "gargoyle", "kumquat")
				if got := ts.evidences(); got != "kept" || ts.PurgesDue() {
					t.Errorf("%s the items are %q, a purge is due: %t", when, got, ts.PurgesDue())
				}
			}
			check("at once")
			ts.reopen()
			check("after a start")
			anew := func() {
				t.Helper()
				ts.withoutSnapshot()
				if _, err := ts.CarryOutPurges(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			anew()
			check("read anew")
			ts.undo(forgotten.Entry)
			ts.wantContent(ids[0], "custard")
			check("after undo")
			ts.compact()
			ts.unlink()
			anew()
			check("compacted")
		})
	}
}

// A device that did not know of the purge asked about the memory: what it asked goes when
// it comes.
func TestAnItemThatComesAfterThePurge(t *testing.T) {
	for name, after := range map[string]time.Duration{"asked before": -time.Hour, "asked since": time.Hour} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.put(idOf(3), "quixotic zeppelin")
			ts.purge(idOf(3))
			c := asked("cluster", "marzipan", idOf(2), idOf(3))
			c.Set["content"] = record.Encode("apple pie")
			ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(after), record.OpPut, idOf(2), string(record.Encode(c.Set))))
			ts.refresh()
			ts.wantContent(idOf(2), "apple pie")
			if _, err := ts.CarryOutPurges(t.Context()); err != nil || ts.PurgesDue() {
				t.Fatalf("carried out: %v", err)
			}
			if got := ts.evidences(); got != "" {
				t.Errorf("the items are %q", got)
			}
		})
	}
}
