package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"emberd/internal/cleanrun"
	"emberd/internal/cleanup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// The searches that tell whether a run went well: at most so many are made from the
// memories, and as many taken from the user's file.
const (
	mostQueries    = 200
	queryAnswers   = 10 // that are looked at
	deepAnswers    = 50 // of a search for what must be found at all
	queryWanted    = 3  // of a query of the user the best ones now are those that are to stay
	mostQueryBytes = 1 << 20
)

// measureBefore makes the query set and asks it while nothing is changed.
func (e *Engine) measureBefore(ctx context.Context, run *cleanrun.Run, plan *cleanrun.Plan) error {
	in, err := e.collectEntries(ctx, run.Collection)
	if err != nil {
		return err
	}
	plan.Queries = cleanup.Queries(e.text, in.entries, mostQueries)
	own, err := e.userQueries()
	if err != nil {
		return err
	}
	asked := append(slices.Clone(plan.Queries), own...)
	answers, err := e.answers(ctx, run, asked)
	if err != nil {
		return err
	}
	for i, q := range own {
		got := answers[len(plan.Queries)]
		if len(got) == 0 { // it finds nothing, so that there is nothing to lose
			answers = slices.Delete(answers, len(plan.Queries), len(plan.Queries)+1)
			continue
		}
		own[i].Want = got[:min(queryWanted, len(got))]
		q.Want = own[i].Want
		plan.Queries = append(plan.Queries, q)
	}
	plan.Answers = answers
	before := cleanup.Evaluate(plan.Queries, answers, nil)
	run.Before = &before
	return nil
}

// userQueries reads the user's searches. The file may name none, and lines that begin with
// # are none.
func (e *Engine) userQueries() ([]cleanup.Query, error) {
	name := e.opt.Cleanup.Queries
	if name == "" {
		return nil, nil
	}
	data, err := durable.ReadAll(e.opt.FS, name)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "the searches of cleanup.queries cannot be read (%w); write one a line there, or leave the setting out", err)
	}
	if len(data) > mostQueryBytes {
		return nil, memory.Errorf(memory.TooLarge, "%s has %d bytes, more than %d; keep the searches that matter", name, len(data), mostQueryBytes)
	}
	var out []cleanup.Query
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan() && len(out) < mostQueries; {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := checkQuery(line); err != nil {
			return nil, memory.Errorf(memory.Invalid, "%s: %w", name, err)
		}
		out = append(out, cleanup.Query{Text: line})
	}
	return out, nil
}

// answers asks every query and leaves no trace of it.
func (e *Engine) answers(ctx context.Context, run *cleanrun.Run, queries []cleanup.Query) ([][]memory.ID, error) {
	out := make([][]memory.ID, len(queries))
	for i, q := range queries {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		limit := queryAnswers
		if q.Critical {
			limit = deepAnswers
		}
		req := &op.SearchRequest{Query: q.Text, Scope: scopeMemories, Limit: limit, Trial: true, IncludeReview: new(false),
			Filter: op.Filter{Collection: run.Collection}}
		res, err := e.search(ctx, req)
		if err != nil && !errors.Is(err, memory.ErrNotFound) { // of an empty collection
			return nil, err
		}
		if err == nil {
			for j := range res.Hits {
				out[i] = append(out[i], memoryOf(&res.Hits[j]))
			}
		}
		op.Report(ctx, i+1, len(queries))
	}
	return out, nil
}

// measureAfter asks the query set again. If less is found than may be, or something
// critical is not, the run says that it is to be rolled back.
func (e *Engine) measureAfter(ctx context.Context, run *cleanrun.Run, plan *cleanrun.Plan) error {
	answers, err := e.answers(ctx, run, plan.Queries)
	if err != nil {
		return err
	}
	moved := movedBy(run, plan)
	before, after := cleanup.Evaluate(plan.Queries, plan.Answers, moved), cleanup.Evaluate(plan.Queries, answers, moved)
	run.Before, run.Validated = &before, &after
	run.RolledBack = cleanup.Worse(run.Before, run.Validated, e.opt.Cleanup.Worse)
	return nil
}

// movedBy says what became of the memories of a plan that was carried out: another one has
// the text of what was merged, or of what was worse than its like; what nobody would miss
// is not wanted any more. What else is gone is missed.
func movedBy(run *cleanrun.Run, plan *cleanrun.Plan) map[memory.ID]memory.ID {
	moved := make(map[memory.ID]memory.ID)
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if run.Problems[i] != "" {
			continue
		}
		for _, id := range a.MemoryIDs {
			switch {
			case a.Action == op.CleanupMerge:
				moved[id] = a.Into
			case a.Action == op.CleanupDelete && a.Keep != "" && id != a.Keep:
				moved[id] = a.Keep
			case a.Action == op.CleanupDelete && id != a.Keep && slices.Contains(plan.Junk, id):
				moved[id] = ""
			}
		}
	}
	for id, to := range moved { // what a memory was moved to may have been merged in turn
		for next, again := moved[to]; to != "" && again; next, again = moved[to] {
			to = next
		}
		moved[id] = to
	}
	return moved
}
