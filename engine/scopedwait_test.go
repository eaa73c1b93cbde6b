package engine_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// bout is one try of a test: what it opens is closed with it, and its folders go. The
// test itself would keep hundreds of engines until its end.
type bout struct {
	testing.TB
	ends []func()
}

func (r *bout) Cleanup(do func()) { r.ends = append(r.ends, do) }

func (r *bout) TempDir() string {
	dir, err := os.MkdirTemp("", "worlds")
	ok(r, err)
	r.Cleanup(func() { ok(r, os.RemoveAll(dir)) })
	return dir
}

func (r *bout) end() {
	for _, do := range slices.Backward(r.ends) {
		do()
	}
}

// settle waits for what follows an answer: memories that it brings back are written, and
// what is new gets its vectors.
func (w *worlds) settle(in *world, res any) {
	if w.auto {
		for _, m := range broughtBack(res) {
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if row, live := in.e.Stm.Get(m); !live || !core.Cold(row) {
					break
				}
			}
		}
	}
	if w.model != "" {
		covered(w.t, in.e)
	}
}

// broughtBack are the memories that an answer may bring back: a cold one that was learned once more.
func broughtBack(res any) (ids []memory.ID) {
	switch res := res.(type) {
	case *op.AddResult:
		ids = append(ids, res.Memory.ID)
	case *op.ReinforceResult:
		if res.Reinforced != nil {
			ids = append(ids, res.Memory.ID)
		}
	}
	return ids
}
