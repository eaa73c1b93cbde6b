package lifecycle

import (
	"context"
	"fmt"
	"math"
	"strings"

	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// ArchiveAsked archives memories at the request of a caller, however recently they were used.
func (e *Lifecycle) ArchiveAsked(ctx context.Context, req *op.ArchiveRequest) (*op.ArchiveResult, error) {
	ids, err := e.ResolveAll(e.SplitNames(req.ID), "id", memory.MaxIDs)
	if err == nil {
		err = e.Notes.NeedVault()
	}
	if err != nil {
		return nil, err
	}
	var moves []rekindle.Move
	for _, id := range ids {
		row, live := e.Stm.Get(id)
		if !live {
			return nil, e.Missing(id)
		}
		if err := e.MayChange(row); err != nil {
			return nil, err
		}
		moves = append(moves, rekindle.Move{ID: id, From: row.Stage(), To: memory.Archived, Used: stm.LastTouched(row)})
	}
	a := Archiver{E: e, Reason: "asked for", By: op.CallerFrom(ctx), Dry: req.DryRun}
	if err := a.all(ctx, moves); err != nil {
		return nil, err
	}
	res := &op.ArchiveResult{Archived: []op.Memory{}, Skipped: a.Out.Skipped, Tx: a.Out.Entry, DryRun: req.DryRun}
	for i, id := range a.Out.Done {
		row, live := e.Stm.Get(id)
		if !live {
			continue // it was deleted in the meantime
		}
		view, err := e.MemoryView(row, e.Opt.Now())
		if err != nil {
			return nil, err
		}
		if req.DryRun {
			view.Memory, view.Status = a.dryRunMemories[i], a.dryRunMemories[i].Status()
			view.Summary = view.Content
		}
		res.Archived = append(res.Archived, view)
	}
	return res, nil
}

// Rekindle restores the memory with an ID, or those that a query matches.
func (e *Lifecycle) Rekindle(ctx context.Context, req *op.RekindleRequest) (*op.RekindleAnswer, error) {
	text := strings.TrimSpace(req.Query)
	if text == "" {
		return nil, memory.Errorf(memory.Invalid, "missing memory ID or words to search for").At("q")
	}
	res := &op.RekindleAnswer{Results: []op.RekindleResult{}, DryRun: req.DryRun}
	id, err := e.Stm.Resolve(text)
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
	strong, nearest, err := e.searchCold(ctx, text)
	if err != nil {
		return nil, err
	}
	for _, row := range strong {
		res.Results = append(res.Results, e.rekindleOrHint(ctx, row, req.DryRun))
	}
	if len(strong) > 0 {
		return res, nil
	}
	res.Hint = "no archived memory contains any of these words"
	if stm.IsPartOfID(text) {
		res.Hint += fmt.Sprintf(", and no memory has an ID that begins or ends with %s", text)
	}
	if len(nearest) > 0 {
		res.Hint = "no archived memory matches these words well enough; pass an ID"
	}
	res.Nearest, err = e.Views(&e.Stm.MemorySet, nearest, e.Opt.Now())
	return res, err
}

func (e *Lifecycle) rekindleOne(ctx context.Context, id memory.ID, dry, named bool) (*op.RekindleResult, error) {
	if !dry {
		return e.RekindleAs(ctx, id, op.CallerFrom(ctx), named)
	}
	row, live := e.Stm.Get(id)
	if !live {
		return nil, e.Missing(id)
	}
	m, err := row.Memory()
	if err != nil || !m.Stage.Cold() && !core.Shortened(&m) {
		return e.warmAlready(row)
	}
	found, err := e.textFor(ctx, &m, named)
	if err != nil {
		return nil, err
	}
	return e.rekindleResult(ctx, row, &m, found, "")
}

// rekindleOrHint calls rekindleOne for one of several memories. An error becomes its hint.
func (e *Lifecycle) rekindleOrHint(ctx context.Context, row *stm.Row, dry bool) op.RekindleResult {
	one, err := e.rekindleOne(ctx, row.ID(), dry, false)
	if err == nil {
		return *one
	}
	view, _ := e.MemoryView(row, e.Opt.Now())
	return op.RekindleResult{Memory: view, Hint: err.Error()}
}

// searchCold searches the cold memories, and separates strong matches.
func (e *Lifecycle) searchCold(ctx context.Context, text string) (strong, nearest []*stm.Row, err error) {
	const listed = 5
	now := e.Opt.Now()
	q, err := e.Search.Question(&op.SearchRequest{Query: text, Scope: search.ScopeArchive}, now)
	if err != nil || q.Nothing {
		return nil, nil, err
	}
	c, err := e.Search.DocFrequencies(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	a := search.SearchRun{E: e.Search, Q: q, Now: now, Present: true, Res: &op.SearchResult{}}
	if err := a.FindNear(ctx, c); err != nil {
		return nil, nil, err
	}
	query, asked := e.Search.StmQuery(q, c, search.MaxCold, true, now), a.WeightOf(c)
	query.Rank, query.Most = nil, 0
	var relevances []float64
	add := func(row *stm.Row, terms []op.TermExplain) {
		x := op.Explain{Terms: terms, Meaning: q.Near.Memories[row.ID()]}
		relevances = append(relevances, search.Relevance(a.Held(&x, asked)/max(asked, math.SmallestNonzeroFloat64)))
		nearest = append(nearest, row)
	}
	found, _, err := a.AskArchive(ctx, c, search.MaxCold)
	if err != nil {
		return nil, nil, err
	}
	for i := range found {
		add(found[i].Row, found[i].ArchivedTerms())
	}
	for _, m := range e.Stm.Search(query).Matches {
		add(m.Row, search.Explain(op.Explain{}, m).Terms)
	}
	for _, i := range rekindle.DefaultThreshold().Strong(relevances) {
		strong = append(strong, nearest[i])
	}
	return strong, nearest[:min(len(nearest), listed)], nil
}
