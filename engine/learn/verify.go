package learn

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/engine/similar"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// defaultMatches is how many matches an answer to a claim has.
const defaultMatches = 5

// Verify compares a claim with memories, of one project or collection on request, and with all
// notes. It stores nothing.
func (e *Learn) Verify(ctx context.Context, req *op.VerifyRequest) (*op.VerifyResult, error) {
	limit, err := e.checkClaim(req)
	if err != nil {
		return nil, err
	}
	n, err := e.Similar.FindSimilar(ctx,
		similar.Probe{Text: req.Claim, Accept: Scoped(req.Project, req.Collection), Notes: true})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(n.All, func(one similar.Near) bool { return one.Row != nil }) &&
		!allCollections(req.Collection) {
		if err := core.CheckCollection(&e.Stm.MemorySet, req.Collection); err != nil {
			return nil, err
		}
	}
	s := e.Similar.Statement(req.Claim, op.CallerFrom(ctx))
	s.Project = req.Project
	res := &op.VerifyResult{Matches: []op.Match{}, Compared: n.By(), Loading: n.Loading}
	if e.Notes.Vault != nil {
		res.Indexing = e.Notes.Vault.Indexing()
	}
	res.Conflicts = s.FindContradictions(n.All)
	s.Judge(res, n.All)
	res.Matches = res.Matches[:min(len(res.Matches), limit)]
	res.Conflicts = res.Conflicts[:min(len(res.Conflicts), limit)]
	res.Entities = e.Graph.EntitiesFor(req.Claim, limit)
	if e.Opt.TrackAccess && search.ValueOrTrue(req.Track) {
		e.countMatches(res, e.Opt.Now())
	}
	return res, nil
}

// checkClaim returns the requested number of matches, or an error for an invalid request.
func (e *Learn) checkClaim(req *op.VerifyRequest) (limit int, err error) {
	if strings.TrimSpace(req.Claim) == "" {
		return 0, memory.Errorf(memory.Invalid, "missing claim; pass one statement").At("claim")
	}
	if n := len(req.Claim); n > memory.MaxQueryBytes {
		return 0, memory.Errorf(memory.TooLarge,
			"too many bytes in the claim: %d (limit %d); verify one statement at a time", n,
			memory.MaxQueryBytes).At("claim")
	}
	if err := core.FirstError(memory.CheckText("claim", req.Claim, memory.MaxQueryBytes),
		core.CheckNames(core.Name{Field: "project", Value: req.Project},
			core.Name{Field: "collection", Value: req.Collection})); err != nil {
		return 0, err
	}
	return core.CheckLimit(req.Limit, defaultMatches)
}

// countMatches counts one access to each memory in the answer.
func (e *Learn) countMatches(res *op.VerifyResult, now time.Time) {
	var shown []memory.ID
	count := func(m *op.Match) {
		if m.Memory != nil && !slices.Contains(shown, m.Memory.ID) {
			shown = append(shown, m.Memory.ID)
		}
	}
	for i := range res.Matches {
		count(&res.Matches[i])
	}
	for i := range res.Conflicts {
		count(&res.Conflicts[i].Match)
	}
	for _, id := range shown {
		e.Stm.Use(stm.Use{ID: id, Accesses: 1, At: now})
	}
	if len(shown) > 0 {
		e.Changed()
	}
}

func allCollections(name string) bool { return name == "" || name == core.EveryCollection }

// Scoped returns a filter for the memories of a project and a collection, "" for any.
func Scoped(project, collection string) func(*stm.Row) bool {
	if project == "" && allCollections(collection) {
		return nil
	}
	return func(r *stm.Row) bool {
		return (project == "" || r.Project() == project) && (allCollections(collection) || r.Collection() == collection)
	}
}
