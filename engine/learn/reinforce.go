package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"emberd/engine/core"
	"emberd/engine/similar"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	reinforceVerb = "reinforce"
	// importanceStep is what one more source adds to the importance of a memory, and coreFrom
	// the importance from which it may become core.
	importanceStep = 0.1
	coreFrom       = 0.8
	maxEvidence    = 1_000 // in characters
	// MaxTries is how often similar memories are searched again if they change in the
	// meantime.
	MaxTries = 4

	sayNoMatch = "No matching memory found to reinforce. Use memory_add to store new information."
)

// ErrChanged means that a memory has changed since it was found.
var ErrChanged = errors.New("the memory was changed in the meantime")

// UntilUnchanged calls try again while it returns ErrChanged, a few times.
func UntilUnchanged[T any](try func() (*T, error)) (*T, error) {
	for range MaxTries {
		res, err := try()
		if !errors.Is(err, ErrChanged) {
			return res, err
		}
	}
	return nil, memory.Errorf(memory.Busy, "the matching memories keep changing; try again")
}

// Reinforce records that a memory was learned again.
func (e *Learn) Reinforce(ctx context.Context, req *op.ReinforceRequest) (*op.ReinforceResult, error) {
	if err := e.checkReinforce(req); err != nil {
		return nil, err
	}
	link := e.Source(ctx, &req.Provenance, req.Project)
	link.Evidence = strings.Join(nonEmpty(req.Evidence, req.Quote), "\n")
	if link.By.Session == "" {
		link.By.Session = req.SessionID
	}
	if req.ID != "" {
		return e.reinforceID(ctx, req.ID, link)
	}
	return UntilUnchanged(func() (*op.ReinforceResult, error) { return e.reinforceNearest(ctx, req, link) })
}

// nonEmpty returns the texts that are not empty.
func nonEmpty(texts ...string) (all []string) {
	for _, s := range texts {
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}

func (e *Learn) checkReinforce(req *op.ReinforceRequest) error {
	if req.ID == "" && strings.TrimSpace(req.Content) == "" {
		return memory.Errorf(memory.Invalid,
			"missing content or id; pass the text, or the ID of the memory").At("content")
	}
	if req.ID == "" {
		if err := memory.CheckContent(req.Content); err != nil {
			return err
		}
	}
	err := core.FirstError(
		memory.CheckText("new_evidence", req.Evidence, maxEvidence),
		core.CheckNames(core.Name{Field: "project", Value: req.Project},
			core.Name{Field: "session_id", Value: req.SessionID}),
		core.CheckProvenance(&req.Provenance),
	)
	if err != nil || !e.Opt.DetectSecrets || req.AllowSecret {
		return err
	}
	return core.CheckSecrets(append(core.ClaimedPassages(&req.Provenance),
		core.Passage{Field: "new_evidence", Text: req.Evidence}, core.Passage{Field: "content", Text: req.Content},
		core.Passage{Field: "project", Text: req.Project}, core.Passage{Field: "session_id", Text: req.SessionID}))
}

// reinforceID reinforces a named memory, or the one that replaces it.
func (e *Learn) reinforceID(ctx context.Context, short string, link memory.Source) (*op.ReinforceResult, error) {
	row, err := e.Find(short)
	if err != nil {
		return nil, err
	}
	named := row.ID()
	row = e.latest(row)
	r := Renewal{E: e, Link: link, result: op.Reinforcement{Similarity: 1}}
	res, err := r.One(ctx, row.ID())
	if err == nil && row.ID() != named {
		res.Message += fmt.Sprintf(" This memory supersedes memory %s.", named.Short())
	}
	return res, err
}

// latest returns the memory that replaces a merged or superseded one.
func (e *Learn) latest(row *stm.Row) *stm.Row {
	row = core.MergedRow(e.Stm.Get, row)
	return cmp.Or(core.Successor(e.Stm.Get, row), row)
}

// reinforceNearest reinforces the memory with the text of the request.
func (e *Learn) reinforceNearest(ctx context.Context, req *op.ReinforceRequest,
	link memory.Source) (*op.ReinforceResult, error) {
	n, err := e.Similar.FindSimilar(ctx, similar.Probe{Text: req.Content, Accept: Scoped(req.Project, "")})
	if err != nil {
		return nil, err
	}
	s := e.Similar.Statement(req.Content, *link.By)
	s.Project = req.Project
	one, why := sayer(n.All, e.Opt.Known.Reinforce, s.Differs)
	if one == nil {
		res := &op.ReinforceResult{Compared: n.By(), Message: sayNoMatch, Conflicts: s.FindContradictions(n.All)}
		switch {
		case why == nil && len(res.Conflicts) > 0 && res.Conflicts[0].Memory != nil:
			c := &res.Conflicts[0]
			res.Message = fmt.Sprintf("Memory %s contradicts the text (%s), so emberd reinforced "+
				"no memory. Use memory_add to store new information.", c.Memory.ID.Short(), c.Why)
		case why != nil:
			res.Message = fmt.Sprintf("Memory %s is the best match, but differs from the text (%s), so "+
				"emberd reinforced no memory. Use memory_add to store new information.", why.Row.ID().Short(),
				s.Differs(why))
		}
		return res, nil
	}
	r := Renewal{E: e, Link: link, Said: req.Content, Near: one,
		result: op.Reinforcement{Similarity: similar.ShownSimilarity(one.Similarity)}}
	return r.One(ctx, one.Row.ID())
}

// sayer returns the nearest memory above threshold that says the same as a text: why returns
// "" for it. If there is none, other is the nearest with a different statement.
func sayer(all []similar.Near, threshold float64, why func(*similar.Near) string) (one, other *similar.Near) {
	for i := range all {
		one := &all[i]
		switch {
		case one.Row == nil || one.Fixed || one.Successor != nil || one.Similarity < threshold && !one.Same:
		case why(one) == "":
			return one, nil
		case other == nil:
			other = one
		}
	}
	return nil, other
}

// Renewal is the reinforcement of one memory.
type Renewal struct {
	E             *Learn
	Link          memory.Source
	Said          string        // the learned text, "" if the memory was named
	Near          *similar.Near // the memory as it was found
	minImportance float64       // minimum importance
	core          bool          // it becomes core
	result        op.Reinforcement
	noUse         bool // a tool or the web repeats another source, which is no use
	restoring     bool // its text is being restored
}

// One reinforces a memory and returns the result.
func (r *Renewal) One(ctx context.Context, id memory.ID) (*op.ReinforceResult, error) {
	receipt, err := r.E.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		switch {
		case rows[0] != nil:
		case r.Near != nil:
			return nil, ErrChanged
		default:
			return nil, r.E.Missing(id)
		}
		set, err := r.change(rows[0])
		return &stm.Tx{Verb: reinforceVerb, By: *r.Link.By, Changes: []stm.Change{{ID: id, Set: set, Allowed: true}}},
			err
	})
	if err != nil {
		return nil, err
	}
	view, err := r.count(receipt.Rows[0])
	if err != nil {
		return nil, err
	}
	res := &op.ReinforceResult{Found: true, Memory: view, Reinforced: &r.result, Compared: op.ComparedByWords,
		Message: r.message(view) + ".", Tx: receipt.Entry}
	if r.Near != nil {
		res.Compared = r.Near.By
	}
	return res, nil
}

// change returns the changes of a locked memory. Words that it does not have are recorded as
// evidence. The user's own save confirms an unconfirmed memory.
func (r *Renewal) change(row *stm.Row) (map[string]json.RawMessage, error) {
	if r.Near != nil && (row.Content() != r.Near.Row.Content() || r.E.Superseded(row)) {
		return nil, ErrChanged
	}
	was, err := row.Memory()
	if err != nil {
		return nil, err
	}
	link := r.Link
	if link.Evidence == "" && r.Near != nil && !r.Near.Same {
		link.Evidence = text.First(r.Said, maxEvidence)
	}
	r.noUse = core.FromData(link) && !was.DataOnly()
	if core.Confirms(link) && was.DataOnly() {
		set, err := r.E.ConfirmedFields(row, link)
		if err != nil {
			return nil, err
		}
		was.ConfirmedAt = link.At
		more, err := r.raise(&was, 0)
		maps.Copy(set, more)
		return set, err
	}
	set, err := r.raise(&was, importanceStep)
	if err != nil {
		return nil, err
	}
	r.E.AddSource(row, link, set)
	return set, nil
}

// raise raises the importance of a memory by a step, or to the requested one, and makes it
// core on request. Notes contain neither.
func (r *Renewal) raise(was *memory.Memory, step float64) (map[string]json.RawMessage, error) {
	r.result.OldImportance, r.result.NewImportance = was.Importance, was.Importance
	is := *was
	is.Importance = max(r.minImportance, min(1, math.Round((was.Importance+step)*1e6)/1e6))
	is.Core = was.Core || r.core
	if r.result.Held = r.E.HeldFrom(was, r.Link); r.result.Held != "" || is.Importance == was.Importance &&
		is.Core == was.Core {
		return make(map[string]json.RawMessage), nil
	}
	is.UpdatedAt = core.StampTime(r.E.Opt.Now())
	r.result.NewImportance, r.result.Core = is.Importance, is.Core && !was.Core
	return core.Changes(was, &is)
}

// count counts a use and an access of the memory, requests its text if that is archived, and
// returns the memory. If it was just deleted, it returns the state before.
func (r *Renewal) count(row *stm.Row) (*op.Memory, error) {
	now := r.E.Opt.Now()
	if !r.noUse {
		r.E.Lifecycle.Used(row, now)
		r.E.Stm.Use(stm.Use{ID: row.ID(), Accesses: 1, At: now})
	}
	if is, live := r.E.Stm.Get(row.ID()); live {
		row = is
	}
	view, err := r.E.MemoryView(row, now)
	if err != nil {
		return nil, err
	}
	r.result.Sources = view.Learned()
	r.result.Entities = r.E.Graph.Mentions(view.Entities)
	r.result.SuggestCore = view.Importance >= coreFrom && !view.Core
	if view.Stage.Cold() && !r.noUse && r.E.Opt.Rekindle == core.RekindleAuto && r.E.Notes.Vault != nil {
		r.restoring = r.E.Notes.RequestRekindle(view.ID)
	}
	return &view, nil
}

// message describes the reinforcement, without a period.
func (r *Renewal) message(m *op.Memory) string {
	text := fmt.Sprintf("Reinforced memory %s: importance changed from %.2f to %.2f; number of sources: %d",
		m.ID.Short(), r.result.OldImportance, r.result.NewImportance, r.result.Sources)
	if r.result.Held != "" {
		text += "; the importance is unchanged: " + r.result.Held
	}
	if r.result.Core {
		text += "; the memory is now core and never fades"
	}
	switch {
	case r.restoring:
		text += "; the memory was archived, and emberd restores its full text"
	case m.Stage.Cold():
		text += "; the memory is " + core.Archived(m)
	}
	if r.result.SuggestCore {
		text += fmt.Sprintf("; to keep the memory from fading, run: emberd edit %s --core", m.ID.Short())
	}
	return text
}
