package compaction

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
)

// What was verified is what is on the disk: a flip of any byte of either file is found.
func TestAFlippedByteIsNotPublished(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	dev, _ := record.ParseDevice("k7q2mzxa")
	at := func(n uint64) record.Stamp { return record.Stamp{T: uint64(now.UnixMilli())<<16 + n, Dev: dev} }
	id := memory.DeriveID([]byte{1})
	b := record.MetaLine(record.OpSegment, at(1), record.Header{Dev: dev.String(), Segment: 1, First: 1, Format: record.FormatVersion})
	put := record.Line{Seq: 1, Stamp: at(2), Tx: at(2), Op: record.OpPut, Verb: "save",
		Changes: []record.Change{{Op: record.OpPut, ID: id, Data: []byte(`{"content":"apple pie"}`)}}}
	set := record.Line{Seq: 2, Stamp: at(3), Tx: at(3), Op: record.OpSet, Verb: "edit",
		Changes: []record.Change{{Op: record.OpSet, ID: id, Data: []byte(`{"content":"apple tart"}`),
			Prev: record.EncodePrev(at(2), nil, []byte(`{"content":"apple pie"}`))}}}
	b = set.Append(put.Append(b))
	if err := os.WriteFile(filepath.Join(dir, record.SegmentName(1)), b, 0o600); err != nil {
		t.Fatal(err)
	}
	from := Source{FS: durable.OS{}, Dir: dir, Device: dev, Log: slog.New(slog.DiscardHandler), Now: now, TrashKeep: time.Hour,
		IsActive: func(string) bool { return false }, Seen: func() map[record.Device]uint64 { return nil },
		Foreign: func() ([]string, error) { return nil, nil }}
	r := newCompaction(context.Background(), from, Job{Inputs: []string{record.SegmentName(1)}, HistoryKeep: 24 * time.Hour})
	defer r.sweep()
	if err := errors.Join(r.choose(), r.count(), r.writeFiles()); err != nil {
		t.Fatal(err)
	}
	r.sum()
	if len(r.temps) != 2 {
		t.Fatalf("%d files were written, want the compacted one and its history", len(r.temps))
	}
	for _, name := range r.temps {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			flipped := slices.Clone(whole)
			flipped[i] ^= 1
			if err := os.WriteFile(name, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := r.verify(); err == nil {
				t.Fatalf("byte %d of %s changed from %q to %q unnoticed", i, filepath.Base(name), whole[i], flipped[i])
			}
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.verify(); err != nil {
		t.Errorf("unchanged: %v", err)
	}
}
