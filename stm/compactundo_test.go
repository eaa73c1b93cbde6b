package stm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/testutil/crashdisk"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// twin is one of two stores that are asked the same; only one is compacted.
type twin struct {
	*stm.Store
	disk    *crashdisk.Disk
	opt     wal.Options
	entries []string // journal entries, in the order they were made
}

func newTwin(t *rapid.T, a *analysis.Analyzer, now func() time.Time) *twin {
	tw := &twin{disk: crashdisk.New()}
	tw.opt = wal.Options{FS: tw.disk, Now: now, SegmentBytes: 700, DocumentBytes: 1, Analyzer: a}
	tw.open(t)
	return tw
}

func (tw *twin) open(t *rapid.T) {
	s, err := stm.Open("/data", "/state", &tw.opt)
	if err != nil {
		t.Fatal(err)
	}
	tw.Store = s
}

// compact folds everything sealed, and unlinks what earlier ones replaced.
func (tw *twin) compact(t *rapid.T, unlink bool) {
	if unlink {
		if _, err := unlinks().do(tw.Store); err != nil {
			t.Fatal(err)
		}
	}
	if len(ownInputs(tw.Store)) == 0 {
		return
	}
	if _, err := compacts().do(tw.Store); err != nil {
		t.Fatal(err)
	}
}

func (tw *twin) reopen(t *rapid.T, snapshot bool) {
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if !snapshot {
		if err := tw.disk.Remove("/state/index/stm.snap"); err != nil {
			t.Fatal(err)
		}
	}
	tw.open(t)
}

// entered notes the entry that an operation made, and says how it ended.
func (tw *twin) entered(entry string, err error) string {
	if entry != "" {
		tw.entries = append(tw.entries, entry)
	}
	if err != nil {
		return string(memory.CodeOf(err))
	}
	return "ok"
}

func (tw *twin) update(verb string, changes ...wal.Change) string {
	var ids []memory.ID
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	got, err := tw.Update(context.Background(), ids, "", func([]*table.Row) (*wal.Tx, error) { return &wal.Tx{Verb: verb, Changes: changes}, nil })
	return tw.entered(got.Entry, err)
}

// takeBack undoes the nth entry, or the newest.
func (tw *twin) takeBack(nth int, force, dryRun bool) string {
	u := history.Undo{Force: force, DryRun: dryRun}
	if nth >= 0 && len(tw.entries) > 0 {
		u.Entry = tw.entries[nth%len(tw.entries)]
	}
	got, err := tw.Undo(context.Background(), u)
	end := tw.entered(got.Tx, err)
	return fmt.Sprintf("%s %s of entry %d: %v", end, got.Entry.Verb, slices.Index(tw.entries, got.Entry.Tx), got.Items)
}

func (tw *twin) restore(id memory.ID) string {
	got, err := tw.Restore(context.Background(), []memory.ID{id}, memory.Actor{})
	return tw.entered(got.Entry, err)
}

// shows everything a caller can see.
func (tw *twin) shows() string {
	var out []string
	for n := range 4 {
		text := "none"
		if r, ok := tw.Get(idOf(n)); ok {
			m, err := r.Memory()
			text = fmt.Sprintf("%+v, %v", m, err)
		}
		out = append(out, fmt.Sprintf("%d: %s", n, text))
	}
	for _, item := range tw.Trash() {
		m, err := tw.ReadTrashed(item.ID)
		out = append(out, fmt.Sprintf("trash %s: %q by entry %d, %v", item.ID, m.Content, slices.Index(tw.entries, item.Entry), err))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestUndoAndTrashAreAsWithoutCompaction: whatever is done, compacting in
// between changes no answer.
func TestUndoAndTrashAreAsWithoutCompaction(t *testing.T) {
	analyzer := analysis.New()
	rapid.Check(t, func(t *rapid.T) {
		clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		now := func() time.Time { return clock }
		plain, compacted := newTwin(t, analyzer, now), newTwin(t, analyzer, now)
		both := func(what string, do func(*twin) string) {
			clock = clock.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "hours")) * time.Hour)
			want := do(plain)
			if got := do(compacted); got != want {
				t.Fatalf("%s: %s\nwithout compaction: %s", what, got, want)
			}
		}
		memoryOf := func() memory.ID { return idOf(rapid.IntRange(0, 3).Draw(t, "memory")) }
		for step := range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				c := wal.Change{ID: memoryOf(), Set: textOf(fmt.Sprintf("text %d", step))}
				if rapid.Bool().Draw(t, "another key") {
					c.Set = textOf("same")
					c.Set["source"] = record.Encode(fmt.Sprint(step))
				}
				both("save", func(tw *twin) string { return tw.update("save", c) })
			case 3:
				a, b := wal.Change{ID: idOf(0), Delete: true}, wal.Change{ID: idOf(1), Delete: true}
				both("forget two", func(tw *twin) string { return tw.update("forget", a, b) })
			case 4:
				c := wal.Change{ID: memoryOf(), Delete: true}
				both("forget", func(tw *twin) string { return tw.update("forget", c) })
			case 5, 6:
				nth, force, dry := rapid.IntRange(-2, 20).Draw(t, "entry"), rapid.Bool().Draw(t, "force"), rapid.Bool().Draw(t, "dry")
				both("undo", func(tw *twin) string { return tw.takeBack(nth, force, dry) })
			case 7:
				id := memoryOf()
				both("restore", func(tw *twin) string { return tw.restore(id) })
			case 8:
				compacted.compact(t, rapid.Bool().Draw(t, "unlink"))
			case 9:
				snapshot := rapid.Bool().Draw(t, "snapshot")
				both("reopen", func(tw *twin) string { tw.reopen(t, snapshot); return "" })
				compacted.compact(t, false)
			}
			both("show", (*twin).shows)
		}
		plain.Close()
		compacted.Close()
	})
}
