package cleanup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/internal/cleanup"
	"emberd/internal/cleanup/runstore"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// The queries that validate a run: how many are derived from memories, and how many are read
// from the user's file.
const (
	maxQueries    = 200
	queryAnswers  = 10 // hits that are compared
	deepAnswers   = 50 // of a query for a critical memory
	queryWanted   = 3  // best hits of a user's query that must stay
	maxQueryBytes = 1 << 20
)

// measureBefore creates the queries and runs them before anything changes.
func (e *Cleanup) measureBefore(ctx context.Context, run *runstore.Run, plan *runstore.Plan) error {
	in, err := e.collectEntries(ctx, run.Collection)
	if err != nil {
		return err
	}
	plan.Queries = cleanup.Queries(e.Text, in.entries, maxQueries)
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
		if len(got) == 0 { // a query without hits has nothing to lose
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

// userQueries reads the user's queries. The setting may name no file. A line that begins with
// # is a comment.
func (e *Cleanup) userQueries() ([]cleanup.Query, error) {
	name := e.Opt.Cleanup.Queries
	if name == "" {
		return nil, nil
	}
	data, err := durable.ReadAtMost(e.Opt.FS, name, maxQueryBytes)
	if errors.Is(err, durable.ErrTooLarge) {
		return nil, memory.Errorf(memory.TooLarge,
			"too many bytes in %s (limit %d); remove searches that you do not need", name, maxQueryBytes)
	}
	if err != nil {
		return nil, memory.Errorf(memory.Invalid,
			"cannot read the file of the setting cleanup.queries: %w; correct or remove the setting", err)
	}
	var out []cleanup.Query
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan() && len(out) < maxQueries; {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := core.CheckQuery(line); err != nil {
			return nil, memory.Errorf(memory.Invalid, "%s: %w", name, err)
		}
		out = append(out, cleanup.Query{Text: line})
	}
	return out, nil
}

// answers runs every query without counting accesses.
func (e *Cleanup) answers(ctx context.Context, run *runstore.Run, queries []cleanup.Query) ([][]memory.ID, error) {
	out := make([][]memory.ID, len(queries))
	for i, q := range queries {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		limit := queryAnswers
		if q.Critical {
			limit = deepAnswers
		}
		req := &op.SearchRequest{Query: q.Text, Scope: search.ScopeMemories, Limit: limit, Trial: true,
			IncludeReview: new(false),
			Filter:        op.Filter{Collection: run.Collection}}
		res, err := e.Search.Search(ctx, req)
		if err != nil && !errors.Is(err, memory.ErrNotFound) { // for an empty collection
			return nil, err
		}
		if err == nil {
			for j := range res.Hits {
				out[i] = append(out[i], search.MemoryOf(&res.Hits[j]))
			}
		}
		op.Report(ctx, i+1, len(queries))
	}
	return out, nil
}

// measureAfter runs the queries again. If search got worse than allowed, or a critical memory
// is not found, it marks the run for a rollback.
func (e *Cleanup) measureAfter(ctx context.Context, run *runstore.Run, plan *runstore.Plan) error {
	answers, err := e.answers(ctx, run, plan.Queries)
	if err != nil {
		return err
	}
	moved := replacementsOf(run, plan)
	before, after := cleanup.Evaluate(plan.Queries, plan.Answers, moved), cleanup.Evaluate(plan.Queries, answers, moved)
	run.Before, run.Validated = &before, &after
	run.RolledBack = cleanup.Worse(run.Before, run.Validated, e.Opt.Cleanup.Worse)
	return nil
}

// replacementsOf returns what replaced the memories of an applied plan: the merged memory, the better
// duplicate, or nothing for worthless ones. Any other memory that is gone counts as lost.
func replacementsOf(run *runstore.Run, plan *runstore.Plan) map[memory.ID]memory.ID {
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
	for id, to := range moved { // the replacement may have been merged too
		for next, again := moved[to]; to != "" && again; next, again = moved[to] {
			to = next
		}
		moved[id] = to
	}
	return moved
}
