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

	"emberd/memory"
	"emberd/op"
)

// stored compacts the log after a start, writes the snapshot, and returns the bytes of either, histories and all.
func (d *desk) stored() (log, snapshot int64) {
	d.t.Helper()
	for range 2 { // a start begins another file of the log, and the files that were replaced go by the second
		d.clock.advance(time.Hour)
		d.restart()
		do(d.t, d.Engine, op.Compact, new(op.CompactRequest))
	}
	ok(d.t, d.Stm.WriteSnapshot(d.t.Context()))
	files, err := d.Stm.Segments()
	ok(d.t, err)
	for _, f := range files {
		if !f.Replaced {
			log += f.Bytes
		}
	}
	info, err := os.Lstat(filepath.Join(d.State, "index", "stm.snap"))
	ok(d.t, err)
	return log, info.Size()
}

// turn is a short message of a chat, of some 120 bytes.
func turn(i int) string {
	things := strings.Fields("kettle gasket bicycle harbour recipe violin passport ladder orchard tunnel")
	return fmt.Sprintf("Ann: I took the %s to the %s again, and number %d was waiting for me there. Did you hear from "+
		"Ben about the %s?", things[i%10], things[i/10%10], i, things[i/3%10])
}

// turns saves so many memories.
func (d *desk) turns(n int) (ids []memory.ID) {
	d.t.Helper()
	for first := 0; first < n; first += 50 {
		req := new(op.SaveBatchRequest)
		for i := range 50 {
			req.Items = append(req.Items, op.SaveRequest{Content: turn(first + i), Collection: "chat"})
		}
		for _, r := range do(d.t, d.Engine, op.SaveBatch, req).Results {
			ids = append(ids, r.ID)
		}
		d.clock.advance(time.Hour)
	}
	return ids
}

// Archiving four fifths of short memories makes log and snapshot smaller than they were, with what an undo needs, and
// smaller still when nothing can be undone any more.
func TestArchivingMakesLogAndSnapshotSmaller(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.unasked()
	ids := d.turns(300)
	log, snapshot := d.stored()
	cold := ids[:240]
	for some := range slices.Chunk(cold, 32) {
		d.archived(some...)
		d.clock.advance(time.Hour)
	}
	soon, after := d.stored()
	d.clock.advance(100 * 24 * time.Hour)
	later, _ := d.stored()
	t.Logf("log %d, archived %d, after the undo is gone %d; snapshot %d, then %d", log, soon, later, snapshot, after)
	if soon >= log*9/10 || after >= snapshot*9/10 {
		t.Errorf("archiving made the log %d of %d bytes, and the snapshot %d of %d", soon, log, after, snapshot)
	}
	if later >= soon {
		t.Errorf("when nothing can be undone any more, the log has %d of %d bytes", later, soon)
	}
	if again, _ := d.stored(); again != later {
		t.Errorf("another compaction makes it %d bytes of %d", again, later)
	}
	for i, id := range cold {
		if text := d.rekindled(id).Memory.Content; text != turn(i) {
			t.Fatalf("memory %d says %q", i, text)
		}
	}
}

// An archiving can be undone after compactions, and without the notes. The history of a memory says what it said before.
func TestUndoOfAnArchivingAfterCompactions(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.unasked()
	ids := d.turns(50)
	cold := ids[:40]
	edited := "The text of before."
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(ids[3]), Content: &edited})
	got := d.archived(cold...)
	d.stored()
	d.clock.advance(60 * 24 * time.Hour)
	d.stored()
	for _, id := range cold {
		ok(t, os.Remove(d.at(look(t, d.Engine, id).VaultPath)))
	}
	if v := do(t, d.Engine, op.History, &op.HistoryRequest{ID: string(ids[0])}).Versions; len(v) != 2 ||
		v[0].Cut || v[1].Cut || strings.Count(string(encoded(t, v)), turn(0)) != 2 {
		t.Errorf("the versions of an archived memory are %+v", v)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	for i, id := range cold {
		want := turn(i)
		if i == 3 {
			want = edited
		}
		if m := look(t, d.Engine, id); m.Content != want || m.Stage.Cold() || m.TextDigest != "" {
			t.Errorf("undone: %+v", m.Memory)
		}
	}
	versions := do(t, d.Engine, op.History, &op.HistoryRequest{ID: string(ids[3])}).Versions
	if len(versions) != 4 {
		t.Errorf("%d versions of the memory that was edited: %+v", len(versions), versions)
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	ok(t, err)
	return b
}
