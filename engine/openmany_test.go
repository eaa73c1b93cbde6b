package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// Memories come in the order of the request, each once, and what there is not too.
func TestOpenMany(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, gone := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "mermaid")
	do(t, e, op.Relate, relating(a, b, "causes"))
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone.ID)})
	const nobody = "0192f3a1-b2c3-7000-8000-000000000000"
	req := &op.OpenManyRequest{IDs: []string{nobody, b.ID.Short(), "mem-invalid-id", " " + string(a.ID), string(gone.ID), string(b.ID)}}
	res := do(t, e, op.OpenMany, req)
	if len(res.Memories) != 2 || res.Memories[0].ID != b.ID || res.Memories[1].ID != a.ID {
		t.Errorf("opened %+v", res.Memories)
	}
	if want := []string{nobody, "mem-invalid-id", string(gone.ID)}; !slices.Equal(res.NotFound, want) {
		t.Errorf("not found are %q, want %q", res.NotFound, want)
	}
	if in := res.Memories[0].Relations.Incoming; len(in) != 1 || in[0].From != a.ID {
		t.Errorf("to the boat lead %+v", in)
	}
}

// Opening is an access of each, once, unless nobody is to count, and no use; the answer shows what was
// before.
func TestOpenManyCountsAccesses(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	clock.advance(time.Hour)
	opened := func(track *bool) []int64 {
		var out []int64
		for _, m := range do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(a.ID), string(b.ID), a.ID.Short()}, Track: track}).Memories {
			out = append(out, m.AccessCount)
		}
		return out
	}
	for i, want := range []int64{0, 1, 1, 2} {
		var track *bool
		if i == 1 {
			track = new(false)
		}
		if got := opened(track); !slices.Equal(got, []int64{want, want}) {
			t.Errorf("opened for the %d. time, the accesses are %d, want %d", i+1, got, want)
		}
	}
	if m := look(t, e, a.ID); m.UseCount != 0 || !m.LastUsed.Equal(a.LastUsed) {
		t.Errorf("%d uses, last at %v", m.UseCount, m.LastUsed)
	}
}

// A memory that was merged into another comes back when it is opened, and undo takes that
// back. Where nobody is to notice, or its note cannot be read, it is shown as it is.
func TestOpeningBringsBackWhatWasMerged(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaks), save(t, d.Engine, leaking)
	into := d.merged(one.ID, other.ID).NewMemoryID
	open := func(track bool) op.OpenedMemory {
		t.Helper()
		return do(t, d.Engine, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(one.ID)}, Track: &track}).Memories[0]
	}
	if m := open(false); m.Stage != memory.Archived || m.ConsolidatedInto != into {
		t.Errorf("untracked it is %+v", m.Memory)
	}
	home := filepath.Join(d.Vaults[0], look(t, d.Engine, one.ID).VaultPath)
	note, err := os.ReadFile(home)
	ok(t, err)
	ok(t, os.WriteFile(home, []byte("---\nmemory-id: [\n---\n"), 0o600))
	if m := open(true); m.Stage != memory.Archived || m.ConsolidatedInto != into {
		t.Errorf("with a note that cannot be read it is %+v", m.Memory)
	}
	ok(t, os.WriteFile(home, note, 0o600))
	uses := look(t, d.Engine, one.ID).UseCount
	for range 2 {
		m := open(true)
		if m.Stage != memory.Active || m.Content != leaks || m.ConsolidatedInto != "" || m.UseCount != uses+1 {
			t.Errorf("opened it is %+v", m.Memory)
		}
		if in := m.Relations.Incoming; len(in) != 1 || in[0].From != into {
			t.Errorf("to it lead %+v", in)
		}
		if there := look(t, d.Engine, other.ID); there.Stage != memory.Archived {
			t.Errorf("the other part is %+v", there.Memory)
		}
		do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: d.newest(one.ID).Tx})
		if m := look(t, d.Engine, one.ID); m.Stage != memory.Archived || m.ConsolidatedInto != into {
			t.Errorf("undone it is %+v", m.Memory)
		}
		uses++
	}
	if back := do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(one.ID)}).Results; len(back) != 1 || back[0].Memory.Content != leaks {
		t.Errorf("named, it came back as %+v", back)
	}
}

// Case C81 of CortexGraph's behaviour: 100 ids and 101.
func TestOpenManyHasBounds(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "anchor")
	ids := slices.Repeat([]string{string(m.ID)}, 100)
	if res := do(t, e, op.OpenMany, &op.OpenManyRequest{IDs: ids, Relations: new(false)}); len(res.Memories) != 1 || res.Memories[0].Relations != nil {
		t.Errorf("opened %+v", res.Memories)
	}
	wantCode(t, refused(t, e, op.OpenMany, &op.OpenManyRequest{IDs: append(ids, "x")}), memory.TooLarge, "split the request")
	wantCode(t, refused(t, e, op.OpenMany, &op.OpenManyRequest{}), memory.Invalid, "missing memory ID; run: emberd list, or emberd search")
	// Two ids made in one millisecond begin alike, and so does this.
	var begin string
	for range 1000 {
		next := save(t, e, "boat").ID
		if begin = string(next)[:8]; strings.HasPrefix(string(m.ID), begin) {
			break
		}
		m.ID = next
	}
	wantCode(t, refused(t, e, op.OpenMany, &op.OpenManyRequest{IDs: []string{begin}}), memory.Ambiguous, begin)
}
