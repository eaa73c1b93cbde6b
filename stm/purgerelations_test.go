package stm_test

import (
	"encoding/json"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// because makes a relation with words of its own.
func because(from, to memory.ID, kind, why string) wal.Change {
	r := memory.Relation{From: from, To: to, Type: memory.Related, Kind: kind, Strength: 1, CreatedAt: time.Unix(1, 0),
		Metadata: map[string]json.RawMessage{"why": record.Encode(why)}}
	r.ID = memory.RelationID(from, to, r.Type, kind)
	value, err := record.RelationValue(&r)
	if err != nil {
		panic(err)
	}
	return wal.Change{ID: from, Set: map[string]json.RawMessage{record.RelationKey(r.ID): value}}
}

// What other memories have of one that was purged goes with it: relations that are
// there, that were removed, that are in the trash and that were saved with a memory.
func TestRelationsToAPurgedMemoryGo(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id, other := ts.save("quixotic zeppelin").ID(), ts.save("apple pie").ID()
	trashed := ts.save("plum tart").ID()
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{because(other, id, "flies with", "marzipan"), because(trashed, id, "", "gargoyle")}})
	kept := because(other, trashed, "beside", "custard")
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{kept}})
	was := because(other, id, "once", "vermilion")
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{was}})
	for key := range was.Set {
		was.Set[key] = record.Null
	}
	removed := ts.commit(wal.Tx{Verb: "unrelate", Changes: []wal.Change{was}})
	whole := because(idOf(9), id, "", "kumquat")
	whole.Set["content"] = record.Encode("rhubarb crumble")
	ts.commit(wal.Tx{Verb: "import", Changes: []wal.Change{whole}})
	forgotten := ts.forget(trashed)
	ts.reopen()
	ts.compact()
	names, err := ts.Purgeable(t.Context(), id)
	if err != nil || len(names) == 0 {
		t.Errorf("a purge would rewrite %q, %v", names, err)
	}
	ts.purge(id)
	check := func(when string) {
		t.Helper()
		ts.wantNowhere("zeppelin", "marzipan", "gargoyle", "vermilion", "kumquat", "flies")
		if ts.PurgesDue() {
			t.Errorf("%s a purge is due", when)
		}
		row, _ := ts.Get(other)
		if n := len(row.Fields()); n != 3 || !row.MayRelate() {
			t.Errorf("%s the other memory has %s", when, row.JSON())
		}
	}
	check("at once")
	ts.reopen()
	check("after a start")
	ts.withoutSnapshot()
	if _, err := ts.CarryOutPurges(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("read anew")
	ts.undo(removed.Entry)
	ts.undo(forgotten.Entry)
	ts.wantContent(trashed, "plum tart")
	ts.wantContent(idOf(9), "rhubarb crumble")
	check("after undo")
	row, _ := ts.Get(other)
	if got := ts.Relations(row); len(got) != 1 || got[0].Kind != "beside" {
		t.Errorf("left are the relations %+v", got)
	}
	ts.put(id, "meringue") // and with it no relation comes back
	if _, n := ts.RelationsTo(id, 9); n != 0 {
		t.Errorf("%d relations lead to the memory that was saved anew", n)
	}
	ts.commit(wal.Tx{Verb: "relate", Changes: []wal.Change{because(other, id, "flies with", "sorbet")}})
	ts.withoutSnapshot()
	if got, n := ts.RelationsTo(id, 9); n != 1 || string(got[0].Metadata["why"]) != `"sorbet"` {
		t.Errorf("the relation that was made since is %+v", got)
	}
}

// A device that did not know of the purge made a relation to the memory, before it or
// since: it goes when it comes.
func TestARelationThatComesAfterThePurge(t *testing.T) {
	for name, after := range map[string]time.Duration{"made before": -time.Hour, "made since": time.Hour} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			id := idOf(1)
			ts.put(id, "quixotic zeppelin")
			ts.purge(id)
			c := because(idOf(2), id, "", "marzipan")
			c.Set["content"] = record.Encode("apple pie")
			ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(after), record.OpPut, idOf(2), string(record.Encode(c.Set))))
			ts.refresh()
			ts.wantContent(idOf(2), "apple pie")
			if _, err := ts.CarryOutPurges(t.Context()); err != nil || ts.PurgesDue() {
				t.Fatalf("carried out: %v", err)
			}
			if row, _ := ts.Get(idOf(2)); row.MayRelate() {
				t.Errorf("there is %s", row.JSON())
			}
		})
	}
}

// That another memory took the place of one goes with the purge of the other, also in what
// was superseded since, and when it comes from a device that did not know.
func TestWhatSaysThatAPurgedMemoryTookAPlaceGoes(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id, kept := ts.save("quixotic zeppelin").ID(), ts.save("plum tart").ID()
	old, older := ts.save("apple pie").ID(), ts.save("apple tart").ID()
	took := func(old, by memory.ID) wal.Change {
		return wal.Change{ID: old, Set: map[string]json.RawMessage{record.SuccessorKey: record.Encode(by), record.SuccessorSince: record.Encode("2026-05-06T07:08:09.123Z")}}
	}
	ts.commit(wal.Tx{Verb: "edit", Changes: []wal.Change{took(old, id), took(older, id)}})
	ts.commit(wal.Tx{Verb: "edit", Changes: []wal.Change{took(older, kept)}})
	ts.reopen()
	ts.compact()
	ts.purge(id)
	check := func(when string) {
		t.Helper()
		ts.wantNowhere(string(id) + `"` + "}") // as a value, not as the id of the delete
		a, _ := ts.Get(old)
		b, _ := ts.Get(older)
		if a.SupersededBy() != "" || b.SupersededBy() != kept {
			t.Errorf("%s they are superseded by %q and %q, want none and %s", when, a.SupersededBy(), b.SupersededBy(), kept)
		}
		if a.Has(record.SuccessorSince) || !b.Has(record.SuccessorSince) {
			t.Errorf("%s it is told since when: %t and %t, want of the second alone", when, a.Has(record.SuccessorSince), b.Has(record.SuccessorSince))
		}
	}
	check("at once")
	ts.withoutSnapshot()
	check("read anew")
	late := wal.Change{ID: idOf(2), Set: map[string]json.RawMessage{record.SuccessorKey: record.Encode(id), "content": record.Encode("rhubarb crumble")}}
	ts.peerFile("s-00000001.jsonl", lineOf(1, time.Now().Add(-time.Hour), record.OpPut, idOf(2), string(record.Encode(late.Set))))
	ts.refresh()
	if row, _ := ts.Get(idOf(2)); row.SupersededBy() != "" {
		t.Errorf("what came later is superseded by %s", row.SupersededBy())
	}
}
