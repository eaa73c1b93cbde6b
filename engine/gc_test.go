package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// faint stores so many memories that gc collects, the lowest score first.
func (h *house) faint(t testing.TB, e *engine.Engine, n int) []memory.ID {
	t.Helper()
	var ids []memory.ID
	for i := range n {
		ids = append(ids, h.saved(t, e, float64(400-10*i), fmt.Sprintf("%s\npebble %d", tides, i)))
	}
	return ids
}

func TestGCTellsAndThenCollects(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	fresh := save(t, e, "fresh")
	core := do(t, e, op.Save, &op.SaveRequest{Content: "core", Core: true, CreatedAt: h.daysAgo(400), LastUsed: h.daysAgo(400)}).Memory
	ids := h.faint(t, e, 5)
	before := stored(t, e)

	would := do(t, e, op.GC, &op.GCRequest{Limit: 2})
	if !would.DryRun || would.RemovedCount != 2 || would.TotalAffected != 2 || !slices.Equal(would.MemoryIDs, ids[:2]) || would.Tx != "" ||
		would.Message != "Would remove 2 low-scoring memories (threshold: 0.05)" {
		t.Errorf("a dry run answers %+v", would)
	}
	if len(stored(t, e)) != 7 {
		t.Error("a dry run removed something")
	}
	got := do(t, e, op.GC, &op.GCRequest{DryRun: new(false)})
	if got.DryRun || got.RemovedCount != 5 || got.ArchivedCount != 0 || !slices.Equal(got.MemoryIDs, ids) || got.FreedScoreSum <= 0 || got.FreedScoreSum > 0.25 ||
		got.Message != "Removed 5 low-scoring memories (threshold: 0.05)" {
		t.Errorf("it answers %+v", got)
	}
	look(t, e, fresh.ID)
	look(t, e, core.ID)
	if trash := do(t, e, op.TrashList, &op.TrashListRequest{}); trash.Total != 5 {
		t.Errorf("%d are in the trash, want 5", trash.Total)
	}
	do(t, e, op.Undo, &op.UndoRequest{}) // is the newest that somebody asked for
	for id, was := range stored(t, e) {
		if before[id] != was {
			t.Errorf("after the undo %s is\n%s\nwant\n%s", id, was, before[id])
		}
	}
	if again := do(t, e, op.GC, &op.GCRequest{DryRun: new(false), Limit: 1}); again.Message != "Removed 1 low-scoring memory (threshold: 0.05)" {
		t.Errorf("it answers %+v", again)
	}
	err := refused(t, e, op.GC, &op.GCRequest{Limit: -1})
	wantCode(t, err, memory.Invalid, "limit -1 is out of range (")
}

func TestGCArchivesInstead(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	ids := h.faint(t, e, 4)
	promoted := h.saved(t, e, 400, "promoted")
	do(t, e, op.Promote, &op.PromoteRequest{ID: string(promoted), Force: true})
	odd := h.saved(t, e, 380, "one\r\ntwo")
	do(t, e, op.Archive, &op.ArchiveRequest{ID: string(ids[0])})

	would := do(t, e, op.GC, &op.GCRequest{ArchiveInstead: true})
	if would.ArchivedCount != 4 || would.RemovedCount != 0 || would.Message != "Would archive 4 low-scoring memories (threshold: 0.05)" {
		t.Errorf("a dry run answers %+v", would)
	}
	got := do(t, e, op.GC, &op.GCRequest{ArchiveInstead: true, DryRun: new(false)})
	if got.ArchivedCount != 3 || len(got.Skipped) != 1 || got.Skipped[0].ID != odd || got.Message != "Archived 3 low-scoring memories (threshold: 0.05)" {
		t.Errorf("it answers %+v", got)
	}
	for _, id := range ids[1:] {
		if m := look(t, e, id); m.Stage != memory.Archived || m.ArchiveReason != "gc" || !strings.Contains(h.note(t, m.VaultPath), tides[:20]) {
			t.Errorf("%s is %s for %q", id, m.Stage, m.ArchiveReason)
		}
	}
	wantStage(t, e, promoted, memory.Active)
	do(t, e, op.Undo, &op.UndoRequest{Tx: got.Tx})
	wantStage(t, e, ids[1], memory.Active)
	// A removal leaves the archived one, too.
	if got := do(t, e, op.GC, &op.GCRequest{DryRun: new(false)}); got.RemovedCount != 4 {
		t.Errorf("it answers %+v", got)
	}
	wantStage(t, e, ids[0], memory.Archived)
}

func TestGCWithoutAVaultCannotArchive(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	err := refused(t, e, op.GC, &op.GCRequest{ArchiveInstead: true})
	wantCode(t, err, memory.NotFound, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
}

// A collection of any size is told whole, and fits the lines of the log.
func TestGCOfMuchText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	for i := range 120 {
		h.saved(t, e, 400, strings.Repeat("word ", 4_500)+fmt.Sprint(i))
	}
	got := do(t, e, op.GC, &op.GCRequest{DryRun: new(false)})
	if got.RemovedCount != 120 || len(got.MemoryIDs) != 120 || e.Stm.Len() != 0 {
		t.Errorf("it answers %+v", got)
	}
	if undone := do(t, e, op.Undo, &op.UndoRequest{Tx: got.Tx}); len(undone.Items) != 120 {
		t.Errorf("undone %d, want all", len(undone.Items))
	}
}
