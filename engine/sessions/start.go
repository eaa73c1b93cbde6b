package sessions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"emberd/engine/core"
	"emberd/engine/review"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The parts of the budget of a start, in tokens of 900, and how many of a kind are shown at most.
const (
	coreShare     = 3 // of 9
	maxConflicts  = 3
	maxFiled      = 10 // how many contradictions without a review item get one
	maxThreads    = 5
	maxOfProject  = 30
	maxSinceStart = 10
	// leastImportance is that of a memory of the project without a tag of notable.
	leastImportance = 0.5
)

// threads is the section of what is still open.
const threads = "Ongoing Threads"

// notable returns the tags of memories that a session should know first.
func notable() []string { return []string{"decision", "preference", "correction"} }

// isNotable reports whether a memory has such a tag, or was kept as such by a hook whose token may not set the tag.
func isNotable(r *stm.Row) bool {
	return slices.ContainsFunc(notable(), r.HasTag) || slices.Contains(notable(), core.CapturedBy(r))
}

// start returns what a model is told when a session begins.
func (e *Sessions) start(ctx context.Context, req *op.HookRequest) (*op.HookResult, error) {
	b, err := e.startBlock(ctx, req)
	if err != nil {
		return nil, err
	}
	res := &op.HookResult{}
	var shown []op.Memory
	err = e.use(req, func(r *record) (save, error) {
		if r.repeated("start "+req.Source, e.Opt.Now()) {
			return nothing, nil
		}
		if req.Source != op.StartResume {
			r.Told, r.Pending, r.Tried = nil, nil, nil
		}
		if req.Source == op.StartCompact {
			b.first("Saved in this session:", e.keptBy(r))
		}
		before := r.Block
		if r.Block = b.digest(); req.Source == op.StartResume && r.Block == before {
			return later, nil
		}
		res.Text, shown = b.text(e.Opt.Hooks.StartTokens)
		r.tell(shown, op.Tokens(res.Text))
		return later, nil
	})
	if err == nil {
		e.Recall.Remember(&op.ListResult{Memories: shown})
	}
	return res, err
}

// tell notes that the model was told some memories.
func (r *record) tell(shown []op.Memory, tokens int) {
	for i := range shown {
		r.Told = append(r.Told, shown[i].ID)
		r.Pending = append(r.Pending, shown[i].ID)
	}
	r.Shown += len(shown)
	r.Tokens += tokens
}

// try notes that the model would have been told some memories.
func (r *record) try(shown []op.Memory) {
	for i := range shown {
		r.Told, r.Tried = append(r.Told, shown[i].ID), append(r.Tried, shown[i].ID)
	}
	r.Trial += len(shown)
}

// keptBy returns the memories that a session left and that are still there, the latest last.
func (e *Sessions) keptBy(r *record) (all []*stm.Row) {
	for _, k := range r.Memories[max(0, len(r.Memories)-maxSinceStart):] {
		if row, live := e.Stm.Get(k.ID); live {
			all = append(all, row)
		}
	}
	return all
}

// startBlock gathers what a session should know.
func (e *Sessions) startBlock(ctx context.Context, req *op.HookRequest) (*block, error) {
	f := e.gather(req.Project)
	if err := review.FileContradictions(ctx, e.Review, f.disputed, maxFiled); err != nil {
		return nil, err
	}
	b := &block{e: e, project: req.Project}
	b.addConflicts() // first, so that both memories of a pair stand there
	b.add("Core memories:", f.core, e.Opt.Hooks.StartTokens*coreShare/9)
	b.add("Memories of the project:", f.project, e.Opt.Hooks.StartTokens*2*coreShare/9)
	b.add("Still open:", f.threads, e.Opt.Hooks.StartTokens)
	return b, b.err
}

// found are memories for the start of a session, the best first.
type found struct {
	core, project, threads []*stm.Row
	disputed               []memory.Relation
}

// gather looks at the memories of the project and of none that may be told, in time in proportion to their number.
func (e *Sessions) gather(project string) (f found) {
	rows, open := e.Stm.Selected(e.tellable, project), map[[16]byte]bool{}
	if project != "" {
		rows = append(rows, e.Stm.Selected(e.tellable, "")...)
	}
	for _, r := range e.Stm.Selected(e.threads, project) {
		if open[r.Key] = true; !r.Stage().Cold() && !r.Core() {
			f.threads = append(f.threads, r)
		}
	}
	for _, r := range rows {
		if !r.Stage().Cold() {
			f.place(r, project, open)
		}
		if isOf(r, project) && r.MayRelate() {
			f.disputed = append(f.disputed, e.disputes(r)...)
		}
	}
	f.core = e.best(f.core, len(f.core))
	f.project = e.best(f.project, maxOfProject)
	f.threads = e.best(f.threads, maxThreads)
	return f
}

// isTellable reports whether a memory may be told in some session at its start, beside those that are still open.
func isTellable(r *stm.Row) bool {
	return r.Core() || isNotable(r) || isImportant(r) || isUsers(r) || r.MayRelate()
}

// isThread reports whether a memory says what is still open.
func isThread(r *stm.Row) bool { return r.Section() == threads }

// place adds a memory to where it may be told, unless it is among what is still open.
func (f *found) place(r *stm.Row, project string, open map[[16]byte]bool) {
	switch {
	case r.Core():
		f.core = append(f.core, r)
	case open[r.Key]:
	case tellsOfProject(r, project):
		f.project = append(f.project, r)
	}
}

// dataOnly is [memory.Memory.DataOnly] of a row.
func dataOnly(r *stm.Row) bool {
	if origin := r.Value("origin"); string(origin) != `"tool"` && string(origin) != `"web"` {
		return false
	}
	m, err := r.Memory()
	return err != nil || m.DataOnly()
}

// tellsOfProject reports whether a memory is worth being told without a question.
func tellsOfProject(r *stm.Row, project string) bool {
	is := isNotable(r)
	if is || r.Project() != project || project == "" {
		return is
	}
	return (isImportant(r) || isUsers(r)) && !core.OnProbation(r)
}

// isUsers reports whether the user saved a memory for a project: its sessions should know it even if nothing marks it.
func isUsers(r *stm.Row) bool {
	if r.Project() == "" || !bytes.Contains(r.Value("sources"), []byte(`"via":"`+core.ViaCLI+`"`)) {
		return false
	}
	m, err := r.Memory()
	return err == nil && m.Origin == memory.FromUser
}

func isImportant(r *stm.Row) bool {
	importance, err := strconv.ParseFloat(string(r.Value("importance")), 64)
	return err == nil && importance > leastImportance
}

// best returns the first memories by tags and by their score: how much, and how lately, they were used. What is
// superseded, or only a tool or the web said, is told nowhere.
func (e *Sessions) best(rows []*stm.Row, most int) (told []*stm.Row) {
	for _, r := range e.ranked(rows) {
		if len(told) == most {
			break
		}
		if !e.Superseded(r.row) && !dataOnly(r.row) {
			told = append(told, r.row)
		}
	}
	return told
}

// rankedRow is a memory and what the order is by.
type rankedRow struct {
	row  *stm.Row
	rank float64
}

func (e *Sessions) ranked(rows []*stm.Row) []rankedRow {
	now := e.Opt.Now()
	all := make([]rankedRow, len(rows))
	for i, r := range rows {
		all[i] = rankedRow{r, e.lateness(r, now)}
		if isNotable(r) {
			all[i].rank++
		}
	}
	slices.SortFunc(all, func(a, b rankedRow) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), b.row.CreatedAt().Compare(a.row.CreatedAt()), b.row.CompareID(a.row))
	})
	return all
}

// lateness is the score of a memory. The score of an unused memory follows its creation time, even if an import saved
// it now.
func (e *Sessions) lateness(r *stm.Row, now time.Time) float64 {
	if r.UseCount() > 0 || r.Core() {
		return e.Score(r, now)
	}
	return e.Opt.Decay.Score(0, r.CreatedAt(), now, r.Strength())
}

// disputes returns the contradictions that lead from a memory to another one that counts.
func (e *Sessions) disputes(r *stm.Row) (all []memory.Relation) {
	for _, rel := range e.Stm.Relations(r) {
		if other, live := e.Stm.Get(rel.To); rel.Type == memory.Contradicts && live && !e.Superseded(other) &&
			!e.Superseded(r) {
			all = append(all, rel)
		}
	}
	return all
}

// isOf reports whether contradictions of a memory are told in sessions of a project.
func isOf(r *stm.Row, project string) bool {
	return r.Core() || r.Project() == project && project != ""
}

// addConflicts adds pairs of memories that disagree, as the review items say that wait for a decision.
func (b *block) addConflicts() {
	total, rows := 0, []*stm.Row(nil)
	for _, item := range review.UndecidedContradictions(b.e.Review) {
		var pair []*stm.Row
		for _, id := range item.MemoryIDs {
			if r, live := b.e.Stm.Get(id); live {
				pair = append(pair, r)
			}
		}
		if !slices.ContainsFunc(pair, func(r *stm.Row) bool { return isOf(r, b.project) }) {
			continue
		}
		if total++; total <= maxConflicts {
			rows = append(rows, pair...)
		}
	}
	b.add(fmt.Sprintf("These memories contradict each other and need a decision (%d):", total), rows,
		b.e.Opt.Hooks.StartTokens)
}
