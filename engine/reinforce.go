package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	reinforceVerb = "reinforce"
	// importanceStep is what one more source adds to the importance of a memory, and
	// coreFrom the importance from which it may be one that must never be forgotten.
	importanceStep = 0.1
	coreFrom       = 0.8
	maxEvidence    = 1_000 // characters
	// mostTries is how often the memories that are near a text are looked for anew when
	// they change meanwhile.
	mostTries = 4

	sayNoMatch = "No matching memory found to reinforce. Use memory_add to store new information."
)

// errChanged says that a memory is not any more what it was found to be.
var errChanged = errors.New("the memory was changed meanwhile")

// untilUnchanged tries again while what was found is not so any more, a few times.
func untilUnchanged[T any](try func() (*T, error)) (*T, error) {
	for range mostTries {
		res, err := try()
		if !errors.Is(err, errChanged) {
			return res, err
		}
	}
	return nil, memory.Errorf(memory.Busy, "the memories that say this were changed all the while; try again")
}

// reinforce records that a memory was learned once more.
func (e *Engine) reinforce(ctx context.Context, req *op.ReinforceRequest) (*op.ReinforceResult, error) {
	if err := e.checkReinforce(req); err != nil {
		return nil, err
	}
	link := e.source(ctx, &req.Provenance, req.Project)
	link.Evidence = strings.Join(given(req.Evidence, req.Quote), "\n")
	if link.By.Session == "" {
		link.By.Session = req.SessionID
	}
	if req.ID != "" {
		return e.reinforceID(ctx, req.ID, link)
	}
	return untilUnchanged(func() (*op.ReinforceResult, error) { return e.reinforceNearest(ctx, req, link) })
}

// given are those of the texts that are not empty.
func given(texts ...string) (all []string) {
	for _, s := range texts {
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}

func (e *Engine) checkReinforce(req *op.ReinforceRequest) error {
	if req.ID == "" && strings.TrimSpace(req.Content) == "" {
		return memory.Errorf(memory.Invalid, "neither content nor id is given; say what was learned once more, or name the memory").At("content")
	}
	if req.ID == "" {
		if err := memory.CheckContent(req.Content); err != nil {
			return err
		}
	}
	err := firstError(
		memory.CheckText("new_evidence", req.Evidence, maxEvidence),
		checkNames(name{"project", req.Project}, name{"session_id", req.SessionID}),
		checkProvenance(&req.Provenance),
	)
	if err != nil || !e.opt.DetectSecrets || req.AllowSecret {
		return err
	}
	return checkSecrets(append(claimedPassages(&req.Provenance), passage{field: "new_evidence", text: req.Evidence}, passage{field: "content", text: req.Content},
		passage{field: "project", text: req.Project}, passage{field: "session_id", text: req.SessionID}))
}

// reinforceID reinforces a memory that is named, or the one that stands for it.
func (e *Engine) reinforceID(ctx context.Context, short string, link memory.Source) (*op.ReinforceResult, error) {
	row, err := e.find(short)
	if err != nil {
		return nil, err
	}
	named := row.ID()
	row = e.latest(row)
	r := renewal{e: e, link: link, told: op.Reinforcement{Similarity: 1}}
	res, err := r.one(ctx, row.ID())
	if err == nil && row.ID() != named {
		res.Message += fmt.Sprintf(" It took the place of memory %s.", named.Short())
	}
	return res, err
}

// latest is the memory that stands for one that was merged or superseded.
func (e *Engine) latest(row *stm.Row) *stm.Row {
	row = mergedRow(e.stm.Get, row)
	return cmp.Or(successor(e.stm.Get, row), row)
}

// reinforceNearest reinforces the memory that says what the request says.
func (e *Engine) reinforceNearest(ctx context.Context, req *op.ReinforceRequest, link memory.Source) (*op.ReinforceResult, error) {
	n, err := e.nearestTo(ctx, probe{text: req.Content, accept: scoped(req.Project, "")})
	if err != nil {
		return nil, err
	}
	s := e.statement(req.Content, *link.By)
	one, why := sayer(n.all, e.opt.Known.Reinforce, s.differs)
	if one == nil {
		res := &op.ReinforceResult{Compared: n.by(), Message: sayNoMatch, Conflicts: s.oppose(n.all)}
		switch {
		case why == nil && len(res.Conflicts) > 0 && res.Conflicts[0].Memory != nil:
			c := &res.Conflicts[0]
			res.Message = fmt.Sprintf("Memory %s disagrees (%s), so nothing was reinforced. Use memory_add to store new information.", c.Memory.ID.Short(), c.Why)
		case why != nil:
			res.Message = fmt.Sprintf("Memory %s is nearest and does not say the same (%s), so nothing was reinforced. Use memory_add to store new information.", why.row.ID().Short(), s.differs(why))
		}
		return res, nil
	}
	r := renewal{e: e, link: link, said: req.Content, near: one, told: op.Reinforcement{Similarity: shownSimilarity(one.similarity)}}
	return r.one(ctx, one.row.ID())
}

// sayer is the nearest memory, of those that are near enough, that says the same as a
// text: nothing is why it does not. If none does, other is the nearest that says something
// else.
func sayer(all []near, threshold float64, why func(*near) string) (one, other *near) {
	for i := range all {
		one := &all[i]
		switch {
		case one.row == nil || one.fixed || one.successor != nil || one.similarity < threshold && !one.same:
		case why(one) == "":
			return one, nil
		case other == nil:
			other = one
		}
	}
	return nil, other
}

// renewal is one memory's being learned once more.
type renewal struct {
	e      *Engine
	link   memory.Source
	said   string  // the text that was learned, "" if the memory was named
	near   *near   // the memory as it was found to say that
	least  float64 // how much it is said to matter at least
	core   bool    // it is said to be one that must never be forgotten
	told   op.Reinforcement
	silent bool // what a tool or the web says of what somebody else said is no use of it
	woken  bool // its text is being brought back
}

// one reinforces a memory and tells so.
func (r *renewal) one(ctx context.Context, id memory.ID) (*op.ReinforceResult, error) {
	receipt, err := r.e.stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		switch {
		case rows[0] != nil:
		case r.near != nil:
			return nil, errChanged
		default:
			return nil, r.e.missing(id)
		}
		set, err := r.change(rows[0])
		return &stm.Tx{Verb: reinforceVerb, By: *r.link.By, Changes: []stm.Change{{ID: id, Set: set, Allowed: true}}}, err
	})
	if err != nil {
		return nil, err
	}
	view, err := r.count(receipt.Rows[0])
	if err != nil {
		return nil, err
	}
	res := &op.ReinforceResult{Found: true, Memory: view, Reinforced: &r.told, Compared: op.ComparedByWords, Message: r.message(view) + ".", Tx: receipt.Entry}
	if r.near != nil {
		res.Compared = r.near.by
	}
	return res, nil
}

// change is what the log is to say of a locked memory. Words that it does not have are
// kept as evidence. The word of a person makes what is data only count like any other.
func (r *renewal) change(row *stm.Row) (map[string]json.RawMessage, error) {
	if r.near != nil && (row.Content() != r.near.row.Content() || r.e.superseded(row)) {
		return nil, errChanged
	}
	was, err := row.Memory()
	if err != nil {
		return nil, err
	}
	link := r.link
	if link.Evidence == "" && r.near != nil && !r.near.same {
		link.Evidence = firstRunes(r.said, maxEvidence)
	}
	r.silent = fromData(link) && !was.DataOnly()
	if confirms(link) && was.DataOnly() {
		set, err := r.e.confirming(row, link)
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
	r.e.learn(row, link, set)
	return set, nil
}

// fromData reports whether a link is of a tool or the web.
func fromData(link memory.Source) bool {
	return link.Kind == memory.FromTool || link.Kind == memory.FromWeb
}

func firstRunes(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}

// raise raises the importance of a memory by a step, or to what is asked for, and makes it
// core if that is. Its note does not have either.
func (r *renewal) raise(was *memory.Memory, step float64) (map[string]json.RawMessage, error) {
	r.told.OldImportance, r.told.NewImportance = was.Importance, was.Importance
	is := *was
	is.Importance = max(r.least, min(1, math.Round((was.Importance+step)*1e6)/1e6))
	is.Core = was.Core || r.core
	if r.told.Held = held(was, r.link); r.told.Held != "" || is.Importance == was.Importance && is.Core == was.Core {
		return make(map[string]json.RawMessage), nil
	}
	is.UpdatedAt = stampTime(r.e.opt.Now())
	r.told.NewImportance, r.told.Core = is.Importance, is.Core && !was.Core
	return changes(was, &is)
}

// count counts the use and the access of a memory that was reinforced, asks for its text
// back if that is archived, and shows it. If it was forgotten just now, that is how it was.
func (r *renewal) count(row *stm.Row) (*op.Memory, error) {
	now := r.e.opt.Now()
	if !r.silent {
		r.e.used(row, now)
		r.e.stm.Use(stm.Use{ID: row.ID(), Accesses: 1, At: now})
	}
	if is, live := r.e.stm.Get(row.ID()); live {
		row = is
	}
	view, err := r.e.view(row, now)
	if err != nil {
		return nil, err
	}
	r.told.Sources = view.Learned()
	r.told.Entities = r.e.mentions(view.Entities)
	r.told.SuggestCore = view.Importance >= coreFrom && !view.Core
	if view.Stage.Cold() && !r.silent && r.e.opt.Rekindle == RekindleAuto && r.e.notes != nil {
		_, r.woken = r.e.wake(view.Memory)
	}
	return &view, nil
}

// message tells what was reinforced, without the full stop.
func (r *renewal) message(m *op.Memory) string {
	text := fmt.Sprintf("Reinforced memory %s: importance %.2f to %.2f, learned %d times", m.ID.Short(), r.told.OldImportance, r.told.NewImportance, r.told.Sources)
	if r.told.Held != "" {
		text += "; its importance stays: " + r.told.Held
	}
	if r.told.Core {
		text += "; it is a core memory now, which never fades"
	}
	switch {
	case r.woken:
		text += "; it was archived, and its text is brought back"
	case m.Stage.Cold():
		text += "; it is " + archived(m)
	}
	if r.told.SuggestCore {
		text += fmt.Sprintf("; it may be one that must never be forgotten: emberd edit %s --core", m.ID.Short())
	}
	return text
}
