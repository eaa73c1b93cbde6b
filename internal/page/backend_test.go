package page

import (
	"context"
	"iter"
	"slices"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// counting is a backend that counts what reaches it.
type counting struct{ calls int }

func (c *counting) Invoke(_ context.Context, s *op.Spec, _ any) (any, error) {
	c.calls++
	return s.NewResult(), nil
}

func (c *counting) Events(context.Context, string) iter.Seq2[op.Event, error] { return nil }

// TestCallsOnlyWhatItNames: no operation that makes a token, or that cannot be undone, reaches the daemon.
func TestCallsOnlyWhatItNames(t *testing.T) {
	c := &counting{}
	b, names := asPage(c, "test"), allowed()
	for _, s := range op.Table() {
		before := c.calls
		_, err := b.Invoke(t.Context(), s, s.NewRequest())
		if want := slices.Contains(names, s); (err == nil) != want || (c.calls > before) != want {
			t.Errorf("%s: reached the daemon: %v, error: %v", s.Name, c.calls > before, err)
		}
		if err != nil && memory.CodeOf(err) != memory.Forbidden {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	for _, s := range []*op.Spec{op.TokenCreate.Spec, op.Purge.Spec, op.Import.Spec, op.NoteWrite.Spec, op.VaultConfirm.Spec,
		op.QuarantineDrop.Spec, op.LifecycleRun.Spec, op.Cleanup.Spec} {
		if slices.Contains(names, s) {
			t.Errorf("the page can call %s", s.Name)
		}
	}
}
