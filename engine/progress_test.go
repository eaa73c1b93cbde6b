package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"emberd/op"
)

// heard is how far an operation said that it was, each time.
func heard(t testing.TB) (ctx context.Context, steps *[][2]int) {
	steps = new([][2]int)
	return op.WithProgress(t.Context(), func(done, total int) { *steps = append(*steps, [2]int{done, total}) }), steps
}

func TestLongOperationsTellHowFarTheyAre(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	for i := range 3 {
		h.write(t, fmt.Sprintf("note %d.md", i), "text")
	}
	e := h.following(t)
	all := [][2]int{{1, 3}, {2, 3}, {3, 3}}
	check := func(what string, err error, got *[][2]int, want [][2]int) {
		t.Helper()
		if err != nil || !slices.Equal(*got, want) {
			t.Errorf("%s told %v, %v; want %v", what, *got, err, want)
		}
	}

	ctx, got := heard(t)
	_, err := op.VaultCheck.Call(ctx, e, &op.VaultCheckRequest{})
	check("vault.check", err, got, all)

	for i := range 3 {
		h.used(t, e, 10, 7, fmt.Sprintf("used much %d", i))
	}
	ctx, got = heard(t)
	_, err = op.PromoteAuto.Call(ctx, e, &op.PromoteAutoRequest{})
	check("promote.auto", err, got, all)

	h.faint(t, e, 3)
	ctx, got = heard(t)
	_, err = op.LifecycleRun.Call(ctx, e, &op.LifecycleRunRequest{})
	check("lifecycle.run", err, got, [][2]int{{3, 3}})

	h.faint(t, e, 3) // what was archived stays
	ctx, got = heard(t)
	_, err = op.GC.Call(ctx, e, &op.GCRequest{DryRun: new(false)})
	check("gc", err, got, [][2]int{{3, 3}})
}

// TestWhoLeavesStopsAPromotion: what was done before is done, told and can be undone.
func TestWhoLeavesStopsAPromotion(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	for i := range 5 {
		h.used(t, e, 10, 7, fmt.Sprintf("used much %d", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ctx = op.WithProgress(ctx, func(done, _ int) {
		if done == 2 {
			cancel()
		}
	})
	res, err := op.PromoteAuto.Call(ctx, e, &op.PromoteAutoRequest{})
	if err != nil || res.PromotedCount != 2 {
		t.Errorf("it answers %+v, %v; want that two were promoted", res, err)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantFiles(t, h)
}

func TestWhoLeavesStopsAVaultCheck(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"a.md": "a", "b.md": "b", "c.md": "c"})
	e := h.following(t)
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	ctx = op.WithProgress(ctx, func(done, _ int) { last = done; cancel() })
	if _, err := op.VaultCheck.Call(ctx, e, &op.VaultCheckRequest{}); !errors.Is(err, context.Canceled) || last != 1 {
		t.Errorf("after %d notes it answers %v; want that it stops after the first", last, err)
	}
}

// A consolidation that nobody waits for any more ends, and what it did is one entry.
func TestAConsolidationTellsHowFarItIsAndEnds(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	for _, text := range []string{leaks, leaking, "Water the tomatoes early", "Early water for the tomatoes", "The tide turns", "the tide turns, the tide turns"} {
		save(t, d.Engine, text)
	}
	before := stateOf(t, d.Engine)
	req := &op.ConsolidateRequest{AutoDetect: true, Mode: op.ModeApply}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := op.Consolidate.Call(op.WithProgress(ctx, func(int, int) { cancel() }), d.Engine, req)
	if !errors.Is(err, context.Canceled) || stateOf(t, d.Engine) != before {
		t.Errorf("given up at once: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	var steps [][2]int
	res, err := op.Consolidate.Call(op.WithProgress(ctx, func(done, total int) {
		if steps = append(steps, [2]int{done, total}); done == 13 {
			cancel()
		}
	}), d.Engine, req)
	if err != nil || len(res.Merged) != 1 || len(res.Refused) != 0 || res.Message != "Merged 2 memories into "+string(res.Merged[0].NewMemoryID)+"; remaining groups: 2; repeat the request" {
		t.Errorf("given up after the first: %+v, %v", res, err)
	}
	if want := [][2]int{{0, 12}, {12, 15}, {13, 15}}; !slices.Equal(steps, want) {
		t.Errorf("told %v, want %v", steps, want)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if after := withoutLine(stateOf(t, d.Engine), res.Merged[0].NewMemoryID); after != before {
		t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
	}
}
