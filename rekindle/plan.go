package rekindle

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"emberd/memory"
)

// A Move takes a memory to another stage. Where several are due at once, a run
// goes straight to the last; the text of one that leaves for the cold has to be in
// the vault whichever that is.
type Move struct {
	ID       memory.ID
	From, To memory.Stage
	Used     time.Time // the last use or opening that the move is based on
}

// A Plan is what one run does.
type Plan struct {
	Moves    []Move // of this run, in order
	Waiting  int    // moves that are due and left to later runs
	Memories int    // that were looked at
}

// Plan returns what a run at now should do with these memories, the same in
// whatever order they come. Demoted memories that were used since go first, then
// the others, longest unused first; equal ones by id.
func (p Policy) Plan(memories iter.Seq[StageInputs], now time.Time) Plan {
	var plan Plan
	for f := range memories {
		plan.Memories++
		if to := p.Stage(f, now); stageRank(to) != stageRank(f.Stage) {
			plan.Moves = append(plan.Moves, Move{ID: f.ID, From: f.Stage, To: to, Used: f.touched()})
		}
	}
	slices.SortFunc(plan.Moves, func(a, b Move) int {
		return cmp.Or(falseLast(!a.colder(), !b.colder()), a.Used.Compare(b.Used), cmp.Compare(a.ID, b.ID))
	})
	limit := min(len(plan.Moves), p.AtOnce(plan.Memories))
	plan.Waiting = len(plan.Moves) - limit
	plan.Moves = plan.Moves[:limit]
	return plan
}

func (m Move) colder() bool { return stageRank(m.To) > stageRank(m.From) }

// AtOnce returns how many of so many memories one run moves at most.
func (p Policy) AtOnce(all int) int {
	return min(p.Most, max(p.Few, int(p.Share*float64(all))))
}
