package engine

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

	ctx, got = heard(t)
	_, err = op.GC.Call(ctx, e, &op.GCRequest{DryRun: new(false)})
	check("gc", err, got, [][2]int{{3, 3}})
}

// TestWhoLeavesStopsAPromotion: what was done before is done, told and can be undone.
func TestWhoLeavesStopsAPromotion(t *testing.T) {
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
	h := vaultHouse(t, map[string]string{"a.md": "a", "b.md": "b", "c.md": "c"})
	e := h.following(t)
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	ctx = op.WithProgress(ctx, func(done, _ int) { last = done; cancel() })
	if _, err := op.VaultCheck.Call(ctx, e, &op.VaultCheckRequest{}); !errors.Is(err, context.Canceled) || last != 1 {
		t.Errorf("after %d notes it answers %v; want that it stops after the first", last, err)
	}
}
