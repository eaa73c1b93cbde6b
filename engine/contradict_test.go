package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/learn"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
)

func leadingFrom(t testing.TB, e *engine.Engine, id memory.ID) []memory.Relation {
	t.Helper()
	row, live := e.Stm.Get(id)
	if !live {
		t.Fatalf("memory %s not found", id)
	}
	return e.Stm.Relations(row)
}

// However alike two texts are, one that says something else is never merged away, and
// what it contradicts is told.
func TestWhatSaysSomethingElseIsNeverMerged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ known, added, why string }{
		{"The staging database of the kettle project runs on port 5432.", "The staging database of the kettle project runs on port 5433.", "5433 against 5432"},
		{"The kettle project is built with Go 1.25 on all machines.", "The kettle project is built with Go 1.26 on all machines.", "1.26 against 1.25"},
		{"The cache of the kettle project is kept on the local disk.", "The cache of the kettle project is not kept on the local disk.", ""},
		{"The nightly backup of the kettle project is enabled.", "The nightly backup of the kettle project is disabled.", ""},
		{"The review of the kettle project takes place on Monday.", "The review of the kettle project takes place on Tuesday.", "Tuesday against Monday"},
	} {
		t.Run(c.added, func(t *testing.T) {
			e, _ := newEngine(t)
			known := add(t, e, c.known).Memory
			res := add(t, e, c.added)
			if !res.New || res.Reinforced != nil || res.Memory.Content != c.added {
				t.Fatalf("got %+v", res)
			}
			if len(res.Conflicts) != 1 || res.Conflicts[0].Memory.ID != known.ID || c.why != "" && res.Conflicts[0].Why != c.why {
				t.Fatalf("conflicts %+v", res.Conflicts)
			}
			if want := fmt.Sprintf("Stored as new memory %s. Potential conflict — review recommended: %s.", res.Memory.ID.Short(), res.Conflicts[0].Why); res.Message != want {
				t.Errorf("it says %q, want %q", res.Message, want)
			}
			to := leadingFrom(t, e, res.Memory.ID)
			if len(to) != 1 || to[0].To != known.ID || to[0].Type != memory.Contradicts {
				t.Errorf("relations %+v", to)
			}
			if kept := look(t, e, known.ID); kept.Content != c.known || kept.Learned() != 1 || kept.Importance != known.Importance {
				t.Errorf("what was known has become %+v", kept.Memory)
			}
		})
	}
}

// Two things that most of the same is said of are two.
func TestAnotherNounIsAnotherFact(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	known := add(t, e, "backups of the archive machine are taken on weekdays by the cron job").Memory
	const text = "backups of the mirror machine are taken on weekdays by the cron job"
	e.Opt.Known.Add = 0.6
	if res := add(t, e, text); !res.New || len(res.Conflicts) != 0 {
		t.Errorf("got %+v", res)
	}
	e.Opt.Known.Confirmed = 0.6
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(known.ID)})
	if res := verify(t, e, known.Content); res.Status != op.StatusRelated {
		t.Errorf("got %s", res.Status)
	}
}

func TestASupersedingValueIsSuggested(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	known := add(t, e, "The staging database runs on port 5432.").Memory
	res := add(t, e, "The staging database runs on port 5433.")
	if want := fmt.Sprintf("emberd edit %s --supersedes %s", res.Memory.ID.Short(), known.ID.Short()); len(res.Conflicts) != 1 || res.Conflicts[0].Supersede != want {
		t.Errorf("got %+v, want %q", res.Conflicts, want)
	}
}

// Adding once more what disagrees makes no second relation, and one with another memory
// that came in between is made.
func TestContradictionsOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	first := add(t, e, "The staging database runs on port 5432.").Memory.ID
	second := add(t, e, "The staging database runs on port 5433.").Memory.ID
	third := save(t, e, "The staging database runs on port 5434.").ID
	for range 2 {
		if res := add(t, e, "the staging database runs on port 5432."); res.New || res.Memory.ID != first || len(res.Conflicts) != 2 {
			t.Fatalf("got %+v", res)
		}
	}
	if to := leadingFrom(t, e, first); len(to) != 1 || to[0].To != third {
		t.Errorf("the first has the relations %+v", to)
	}
	if to := leadingFrom(t, e, second); len(to) != 1 || to[0].To != first {
		t.Errorf("the second has the relations %+v", to)
	}
}

func TestAFewContradictionsAreRecorded(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for port := range 8 {
		save(t, e, fmt.Sprintf("The staging database runs on port %d.", 5432+port))
	}
	res := add(t, e, "The staging database runs on port 6000.")
	if to := leadingFrom(t, e, res.Memory.ID); len(res.Conflicts) != 8 || len(to) != learn.MaxContradictions {
		t.Errorf("%d conflicts, %d relations", len(res.Conflicts), len(to))
	}
}

// One line has the memory and its relation, so one undo takes both back.
func TestUndoOfAnAdditionTakesItsRelation(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	known := add(t, e, "The staging database runs on port 5432.").Memory.ID
	res := add(t, e, "The staging database runs on port 5433.")
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if _, live := e.Stm.Get(res.Memory.ID); live {
		t.Error("the memory is there")
	}
	if list, n := e.Stm.RelationsTo(known, 10); n != 0 {
		t.Errorf("relations %+v lead to what was known", list)
	}
}

// Whatever of an addition reached the disk before a power cut: the memory is there with
// its relation, or neither is; and what was reinforced has link and importance, or neither.
func TestAPowerCutLeavesAllOfAnAdditionOrNothing(t *testing.T) {
	t.Parallel()
	whole, none := 0, 0
	for cut := range 24 {
		disk := crashdisk.New()
		opt := core.DefaultOptions()
		opt.Data, opt.State, opt.FS = "/data", t.TempDir(), disk
		e, err := engine.Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		known := add(t, e, "The staging database runs on port 5432.").Memory.ID
		disk.StopAfter(disk.Ops() + cut)
		// Both may be answered or not.
		_, _ = op.Add.Call(t.Context(), e, &op.AddRequest{Content: "The staging database runs on port 5433."})
		_, _ = op.Add.Call(t.Context(), e, &op.AddRequest{Content: "the staging database runs on port 5432."})
		after := disk.Crash(rand.New(rand.NewPCG(1, uint64(cut))))
		_ = e.Close() // its disk has no power
		opt.FS, opt.State = after, t.TempDir()
		if e, err = engine.Open(opt); err != nil {
			t.Fatalf("after %d operations: %v", cut, err)
		}
		m := look(t, e, known)
		if (m.Importance == 0.6) != (m.Learned() == 2) || m.Importance != 0.6 && m.Importance != 0.5 {
			t.Errorf("after %d operations: importance %v, learned %d times", cut, m.Importance, m.Learned())
		}
		_, relations := e.Stm.RelationsTo(known, 10)
		if relations != e.Stm.Len()-1 {
			t.Errorf("after %d operations: %d memories, %d relations", cut, e.Stm.Len(), relations)
		}
		if whole += relations; relations == 0 {
			none++
		}
		ok(t, e.Close())
	}
	if whole == 0 || none == 0 {
		t.Errorf("%d cuts left all, %d nothing; both should happen", whole, none)
	}
}
