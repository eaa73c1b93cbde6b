package engine

import (
	"context"
	"math"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// archiveAsked archives memories because somebody asked for it, however lately they
// were used.
func (e *Engine) archiveAsked(ctx context.Context, req *op.ArchiveRequest) (*op.ArchiveResult, error) {
	ids, err := e.resolveAll(strings.Split(req.ID, ","), "id")
	if err == nil {
		err = e.needVault()
	}
	if err != nil {
		return nil, err
	}
	var moves []rekindle.Move
	for _, id := range ids {
		row, live := e.stm.Get(id)
		if !live {
			return nil, e.missing(id)
		}
		moves = append(moves, rekindle.Move{ID: id, From: row.Stage(), To: memory.Archived, Used: row.LastUsed()})
	}
	a := archiver{Engine: e, reason: "asked for", by: op.CallerFrom(ctx), dry: req.DryRun}
	if err := a.all(ctx, moves); err != nil {
		return nil, err
	}
	res := &op.ArchiveResult{Archived: []op.Memory{}, Skipped: a.out.Skipped, Tx: a.out.Entry, DryRun: req.DryRun}
	for i, id := range a.out.Done {
		row, live := e.stm.Get(id)
		if !live {
			continue // it was forgotten meanwhile
		}
		view, err := e.view(row, e.opt.Now())
		if err != nil {
			return nil, err
		}
		if req.DryRun {
			view.Memory, view.Status = a.would[i], a.would[i].Status()
			view.Summary = view.Content
		}
		res.Archived = append(res.Archived, view)
	}
	return res, nil
}

// rekindle brings back the memory that an id names, or those that words mean.
func (e *Engine) rekindle(ctx context.Context, req *op.RekindleRequest) (*op.RekindleAnswer, error) {
	text := strings.TrimSpace(req.Query)
	if text == "" {
		return nil, memory.Errorf(memory.Invalid, "nothing is asked for; name the id of a memory, or words that it is about").At("q")
	}
	res := &op.RekindleAnswer{Results: []op.RekindleResult{}, DryRun: req.DryRun}
	id, err := e.stm.Resolve(text)
	if err == nil {
		one, err := e.rekindleOne(ctx, id, req.DryRun)
		if err != nil {
			return nil, err
		}
		res.Results = append(res.Results, *one)
		return res, nil
	}
	if code := memory.CodeOf(err); code != memory.NotFound && code != memory.Invalid {
		return nil, err
	}
	strong, cold, err := e.coldOnes(ctx, text)
	if err != nil {
		return nil, err
	}
	for _, row := range strong {
		res.Results = append(res.Results, e.rekindleOrSay(ctx, row, req.DryRun))
	}
	if len(strong) > 0 {
		return res, nil
	}
	res.Hint = "no archived memory holds any of these words"
	if len(cold) > 0 {
		res.Hint = "these words mean none of them strongly enough; name one by its id"
	}
	res.Nearest, err = e.views(cold, e.opt.Now())
	return res, err
}

func (e *Engine) rekindleOne(ctx context.Context, id memory.ID, dry bool) (*op.RekindleResult, error) {
	if !dry {
		return e.rekindleMemory(ctx, id, op.CallerFrom(ctx))
	}
	row, live := e.stm.Get(id)
	if !live {
		return nil, e.missing(id)
	}
	m, err := row.Memory()
	if err != nil || !m.Stage.Cold() {
		return e.warmAlready(row)
	}
	found, err := e.textFor(ctx, &m)
	if err != nil {
		return nil, err
	}
	return e.told(ctx, row, &m, found, "")
}

// rekindleOrSay is rekindleOne for one of several: why it failed is its hint.
func (e *Engine) rekindleOrSay(ctx context.Context, row *stm.Row, dry bool) op.RekindleResult {
	one, err := e.rekindleOne(ctx, row.ID(), dry)
	if err == nil {
		return *one
	}
	view, _ := e.view(row, e.opt.Now())
	return op.RekindleResult{Memory: view, Hint: err.Error()}
}

// coldOnes searches for cold memories, and tells those apart that the words mean
// strongly. Relevance is before decay and stage, which bury what is cold.
func (e *Engine) coldOnes(ctx context.Context, text string) (strong, cold []*stm.Row, err error) {
	const looked, listed = 50, 5
	now := e.opt.Now()
	q, err := e.question(&op.SearchRequest{Query: text, Scope: scopeMemories}, now)
	if err != nil || q.nothing {
		return nil, nil, err
	}
	c, err := e.corpus(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	asked := 0.0
	for i, t := range q.terms {
		asked += idf(c.memories+c.notes, c.inMemories[i]+c.inNotes[t])
	}
	query := e.stmQuery(q, c, looked, true, now)
	query.Rank, query.Most = nil, 0
	var matches []rekindle.Match
	var rows []*stm.Row
	for _, m := range e.stm.Search(query).Matches {
		match := rekindle.Match{Cold: m.Row.Stage().Cold(), Relevance: m.Relevance, Asked: asked}
		for _, t := range m.Terms {
			match.Matched += t.IDF
		}
		matches, rows = append(matches, match), append(rows, m.Row)
	}
	for _, i := range rekindle.DefaultThreshold().Strong(matches) {
		strong = append(strong, rows[i])
	}
	cold = slices.DeleteFunc(rows, func(r *stm.Row) bool { return !r.Stage().Cold() })
	return strong, cold[:min(len(cold), listed)], nil
}

// idf is the weight of a term that so many of all documents hold, as package words
// has it.
func idf(docs, holding int) float64 {
	return math.Log1p((float64(docs-holding) + 0.5) / (float64(holding) + 0.5))
}
