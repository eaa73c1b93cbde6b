package engine

import (
	"context"
	"fmt"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// archiveAsked archives memories because somebody asked for it, however lately they
// were used.
func (e *Engine) archiveAsked(ctx context.Context, req *op.ArchiveRequest) (*op.ArchiveResult, error) {
	ids, err := e.resolveAll(e.splitNames(req.ID), "id", memory.MaxIDs)
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
		if err := e.mayChange(row); err != nil {
			return nil, err
		}
		moves = append(moves, rekindle.Move{ID: id, From: row.Stage(), To: memory.Archived, Used: row.LastUsed()})
	}
	a := archiver{e: e, reason: "asked for", by: op.CallerFrom(ctx), dry: req.DryRun}
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
		one, err := e.rekindleOne(ctx, id, req.DryRun, true)
		if err != nil {
			return nil, err
		}
		res.Results = append(res.Results, *one)
		return res, nil
	}
	code := memory.CodeOf(err)
	if code != memory.NotFound && code != memory.Invalid {
		return nil, err
	}
	strong, nearest, err := e.coldOnes(ctx, text)
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
	if stm.IsPartOfID(text) {
		res.Hint += fmt.Sprintf(", and no memory has an id that begins or ends with %s", text)
	}
	if len(nearest) > 0 {
		res.Hint = "these words mean none of them strongly enough; name one by its id"
	}
	res.Nearest, err = e.views(&e.stm.Memories, nearest, e.opt.Now())
	return res, err
}

func (e *Engine) rekindleOne(ctx context.Context, id memory.ID, dry, named bool) (*op.RekindleResult, error) {
	if !dry {
		return e.rekindleAs(ctx, id, op.CallerFrom(ctx), named)
	}
	row, live := e.stm.Get(id)
	if !live {
		return nil, e.missing(id)
	}
	m, err := row.Memory()
	if err != nil || !m.Stage.Cold() && !shortened(&m) {
		return e.warmAlready(row)
	}
	found, err := e.textFor(ctx, &m, named)
	if err != nil {
		return nil, err
	}
	return e.told(ctx, row, &m, found, "")
}

// rekindleOrSay is rekindleOne for one of several: why it failed is its hint.
func (e *Engine) rekindleOrSay(ctx context.Context, row *stm.Row, dry bool) op.RekindleResult {
	one, err := e.rekindleOne(ctx, row.ID(), dry, false)
	if err == nil {
		return *one
	}
	view, _ := e.view(row, e.opt.Now())
	return op.RekindleResult{Memory: view, Hint: err.Error()}
}

// coldOnes searches among the cold memories, and tells those apart that the words mean
// strongly.
func (e *Engine) coldOnes(ctx context.Context, text string) (strong, nearest []*stm.Row, err error) {
	const listed = 5
	now := e.opt.Now()
	q, err := e.question(&op.SearchRequest{Query: text, Scope: scopeArchive}, now)
	if err != nil || q.nothing {
		return nil, nil, err
	}
	c, err := e.corpus(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	a := asking{e: e, q: q, now: now, present: true, res: &op.SearchResult{}}
	if err := a.senseNear(ctx, c); err != nil {
		return nil, nil, err
	}
	query, asked := e.stmQuery(q, c, mostCold, true, now), a.weightOf(c)
	query.Rank, query.Most = nil, 0
	var matches []rekindle.Match
	for _, m := range e.stm.Search(query).Matches {
		x := explain(op.Explain{}, m)
		x.Meaning = q.near.memories[m.Row.ID()]
		matches = append(matches, rekindle.Match{Cold: true, Relevance: m.Relevance, Matched: a.held(&x, asked), Asked: asked})
		nearest = append(nearest, m.Row)
	}
	for _, i := range rekindle.DefaultThreshold().Strong(matches) {
		strong = append(strong, nearest[i])
	}
	return strong, nearest[:min(len(nearest), listed)], nil
}
