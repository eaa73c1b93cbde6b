package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"emberd/compaction"
	"emberd/engine"
	"emberd/internal/testutil/bubble"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// crowded is a house whose log has more segments than it should.
func crowded(t *testing.T) *house {
	h := newHouse(t)
	h.Options.Now = time.Now
	h.SegmentBytes = 1 // every save begins a segment
	e := h.open(t)
	for n := range compaction.Defaults().Files + 2 {
		m := save(t, e, fmt.Sprintf("drop %d", n))
		do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new(fmt.Sprintf("ripple %d", n))})
	}
	shut(t, e)
	return h
}

func shut(t *testing.T, e *engine.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func kinds(t *testing.T, e *engine.Engine) map[stm.Kind]int {
	t.Helper()
	files, err := e.Stm.Segments()
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[stm.Kind]int)
	for _, g := range files {
		n[g.Kind]++
	}
	return n
}

func TestACrowdedLogIsCompactedAndTidiedUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := crowded(t)
		h.FS = unwatched{}
		e := h.open(t)
		stop := inTheBackground(t, e)
		synctest.Wait()
		st := do(t, e, op.Status, &op.StatusRequest{})
		if c := st.Log.Compaction; c == nil || !c.Pending || c.After >= c.Before {
			t.Fatalf("after the start: compaction %+v", c)
		}
		if got := kinds(t, e); got[stm.Compacted] != 1 || got[stm.History] != 1 || got[stm.Raw] < 9 {
			t.Errorf("files before the inputs go: %v", got)
		}
		if st.Timers["compaction"] != "10m0s" {
			t.Errorf("timers %v, want one for the inputs", st.Timers)
		}
		time.Sleep(2 * compaction.Defaults().UnlinkDelay)
		synctest.Wait()
		if got := kinds(t, e); got[stm.Raw] != 0 || got[stm.Compacted] != 1 {
			t.Errorf("files after the inputs went: %v", got)
		}
		st = do(t, e, op.Status, &op.StatusRequest{})
		if ticks := timers(t, e); len(ticks) != 0 || st.Log.Compaction.Pending {
			t.Errorf("at rest: timers %v, compaction %+v", ticks, st.Log.Compaction)
		}
		if got := searchFor(t, e, "ripple"); len(got) != 10 {
			t.Errorf("%d memories are found, want 10", len(got))
		}
		stop()
		shut(t, e)
	})
}

// What was edited in the segment that is being written is superseded in another, where no
// compaction can take it away yet; so none is due, and none is repeated.
func TestNoCompactionIsDueForWhatItCannotFold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.FS = unwatched{}
		h.unasked()
		h.Options.Now = time.Now
		e := h.open(t)
		text := strings.Repeat("🐟", memory.MaxContent-1)
		var ids []string
		for n := range 6 { // of 200 KB, together more than the MiB that is worth a compaction
			ids = append(ids, string(save(t, e, fmt.Sprint(n, text)).ID))
		}
		shut(t, e)
		e = h.open(t)
		stop := inTheBackground(t, e)
		for _, id := range ids {
			do(t, e, op.Edit, &op.EditRequest{ID: id, Content: new("x" + text)})
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := strings.Count(h.log.String(), "log compacted"); n > 0 {
			t.Errorf("compacted %d times in an hour", n)
		}
		stop()
		shut(t, e)
	})
}

func TestCompactOnDemand(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "apple pie")
	edited := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new(strings.Repeat("apple tart ", 100))})
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("apple cake")})
	do(t, e, op.Undo, &op.UndoRequest{})
	if got := do(t, e, op.Compact, &op.CompactRequest{}); len(got.Inputs) != 0 || got.Reason == "" {
		t.Errorf("while all is being written: %+v", got)
	}
	shut(t, e)
	e = h.open(t)
	dry := do(t, e, op.Compact, &op.CompactRequest{DryRun: true})
	if len(dry.Inputs) != 1 || dry.After >= dry.Before || kinds(t, e)[stm.Compacted] != 0 || dry.Due {
		t.Errorf("dry run: %+v", dry)
	}
	got := do(t, e, op.Compact, &op.CompactRequest{})
	if got.Output != dry.Output || got.After != dry.After || got.HistoryBytes != dry.HistoryBytes || got.Live != 1 {
		t.Errorf("compacted %+v, the dry run said %+v", got, dry)
	}
	again := do(t, e, op.Compact, &op.CompactRequest{})
	if len(again.Inputs) != 0 || len(again.Removed) != 1 {
		t.Errorf("once more: %+v, want the input removed and nothing else", again)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: edited.Tx})
	if got := look(t, e, m.ID); got.Content != "apple pie" {
		t.Errorf("after undo it is %q", got.Content)
	}
}

func TestHistoryIsKeptAtLeastAsLongAsTheTrash(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.TrashKeep = 100 * 24 * time.Hour
	_, err := engine.Open(h.Options)
	wantCode(t, err, "invalid", "set history.keep to at least the value of trash.keep")
}

// What is told of a compaction is what it folds away, and nothing that is dead elsewhere.
func TestACompactionCountsWhatItFolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SegmentBytes = 1
	e := h.open(t)
	save(t, e, "a drop")
	m := save(t, e, "a ripple")
	h.SegmentBytes = 0
	shut(t, e)
	e = h.open(t)
	for i := range 20 { // all of which is in the file that is being written
		do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new(fmt.Sprintf("ripple %d", i))})
	}
	for _, dry := range []bool{true, false} {
		got := do(t, e, op.Compact, &op.CompactRequest{DryRun: dry})
		want := fmt.Sprintf("; superseded bytes: %d of %d", got.Before-got.After, got.Before)
		if got.Due || !strings.HasSuffix(got.Reason, want) {
			t.Errorf("dry %t: due %t, %q, want %q at its end", dry, got.Due, got.Reason, want)
		}
	}
}
