package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// defaultMatches is how many matches a claim is answered with.
const defaultMatches = 5

// The sentences that agents know the statuses of a claim by.
const (
	sayConfirmed = "This is already known"
	sayRelated   = "Related information exists"
	sayNew       = "No existing knowledge about this"
	sayConflict  = "Potential conflict — review recommended"
)

// verify compares a claim with what is known: with memories, of one project or collection
// if that is asked for, and with notes, which belong to all. Nothing is stored.
func (e *Engine) verify(ctx context.Context, req *op.VerifyRequest) (*op.VerifyResult, error) {
	limit, err := e.checkClaim(req)
	if err != nil {
		return nil, err
	}
	n, err := e.nearestTo(ctx, probe{text: req.Claim, accept: scoped(req.Project, req.Collection), notes: true})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(n.all, func(one near) bool { return one.row != nil }) && !allCollections(req.Collection) {
		if err := checkCollection(&e.stm.Memories, req.Collection); err != nil {
			return nil, err
		}
	}
	s := e.statement(req.Claim, op.CallerFrom(ctx))
	res := &op.VerifyResult{Matches: []op.Match{}, Compared: n.by(), Loading: n.loading}
	if e.notes != nil {
		res.Indexing = e.notes.indexing()
	}
	res.Conflicts = s.oppose(n.all)
	s.judge(res, n.all)
	res.Matches = res.Matches[:min(len(res.Matches), limit)]
	res.Conflicts = res.Conflicts[:min(len(res.Conflicts), limit)]
	res.Entities = e.entitiesFor(req.Claim, limit)
	if e.opt.TrackAccess && valueOrTrue(req.Track) {
		e.countMatches(res, e.opt.Now())
	}
	return res, nil
}

// checkClaim refuses a request that cannot be answered, and returns how many matches are
// wanted.
func (e *Engine) checkClaim(req *op.VerifyRequest) (limit int, err error) {
	if strings.TrimSpace(req.Claim) == "" {
		return 0, memory.Errorf(memory.Invalid, "the claim is empty; give one statement").At("claim")
	}
	if n := len(req.Claim); n > memory.MaxQueryBytes {
		return 0, memory.Errorf(memory.TooLarge, "the claim has %d bytes, more than %d; verify one statement at a time", n, memory.MaxQueryBytes).At("claim")
	}
	if err := firstError(memory.CheckText("claim", req.Claim, memory.MaxQueryBytes),
		checkNames(name{"project", req.Project}, name{"collection", req.Collection})); err != nil {
		return 0, err
	}
	return checkLimit(req.Limit, defaultMatches)
}

// judge says of everything that has to do with the claim what it says of it, and so what
// the claim is.
func (s *statement) judge(res *op.VerifyResult, all []near) {
	confirmed, best := 0.0, 0.0
	for i := range all {
		one := &all[i]
		best = max(best, one.similarity)
		switch {
		case one.conflict:
			res.Matches = append(res.Matches, s.match(one, op.VerdictConflict))
		case one.similarity < s.e.opt.Known.Related:
		case one.successor == nil && (one.same || one.similarity > s.e.opt.Known.Confirmed) && s.apart(one) == "":
			confirmed = max(confirmed, one.similarity)
			res.Matches = append(res.Matches, s.match(one, op.VerdictConfirms))
		default:
			res.Matches = append(res.Matches, s.match(one, op.VerdictRelated))
		}
	}
	switch {
	case len(res.Conflicts) > 0:
		res.Status, res.Message, res.Confidence = op.StatusConflict, sayConflict, res.Conflicts[0].Similarity
	case confirmed > 0:
		res.Status, res.Message, res.Confidence = op.StatusConfirmed, sayConfirmed, shownSimilarity(confirmed)
	case len(res.Matches) > 0:
		res.Status, res.Message, res.Confidence = op.StatusRelated, sayRelated, shownSimilarity(best)
	default:
		res.Status, res.Message, res.Confidence = op.StatusNew, sayNew, shownSimilarity(1-best)
	}
}

// countMatches counts the access to each memory that is shown, as a match, as a conflict
// or as both.
func (e *Engine) countMatches(res *op.VerifyResult, now time.Time) {
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
		e.stm.Use(stm.Use{ID: id, Accesses: 1, At: now})
	}
	if len(shown) > 0 {
		e.changed()
	}
}

func allCollections(name string) bool { return name == "" || name == everyCollection }

// scoped accepts the memories of a project and a collection, "" for any.
func scoped(project, collection string) func(*stm.Row) bool {
	if project == "" && allCollections(collection) {
		return nil
	}
	return func(r *stm.Row) bool {
		return (project == "" || r.Project() == project) && (allCollections(collection) || r.Collection() == collection)
	}
}
