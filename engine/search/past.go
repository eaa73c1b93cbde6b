package search

import (
	"context"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// pastKept is how long the memories of an earlier moment are cached.
const pastKept = 5 * time.Minute

// moment is the state that a search uses: the current one or an earlier one.
type moment struct {
	*stm.MemorySet
	At   time.Time
	Past *stm.PastView // nil for the current state
}

// Moment returns the state at asOf, the current one for the zero time.
func (e *Search) Moment(ctx context.Context, asOf time.Time) (moment, error) {
	if asOf.IsZero() {
		return e.present(), nil
	}
	if e.Grant != nil {
		return moment{},
			memory.Errorf(memory.Forbidden, "token %s cannot read memories as of an earlier time, because the "+
				"scopes of the token depend on the current memories; omit as_of", e.Grant.Token).At("as_of")
	}
	now := e.Opt.Now()
	if asOf.After(now) {
		return moment{}, memory.Errorf(memory.Invalid, "as_of %s is in the future; use a time before %s", instant(asOf),
			instant(now)).At("as_of")
	}
	past, err := e.Stm.At(ctx, asOf)
	if err != nil {
		return moment{}, err
	}
	core.Nudge(e.LookedBack)
	switch {
	case past.Began.IsZero():
		return moment{}, memory.Errorf(memory.Invalid,
			"cannot show memories as of an earlier time, because no memories are saved yet; omit as_of").At("as_of")
	case past.At.Before(past.Began):
		return moment{},
			memory.Errorf(memory.Invalid, "as_of %s is before the first record of the log; use %s or a later time",
				instant(asOf), instant(past.Began)).At("as_of")
	}
	return moment{MemorySet: &past.MemorySet, At: past.At, Past: past}, nil
}

func (e *Search) present() moment { return moment{MemorySet: &e.Stm.MemorySet, At: e.Opt.Now()} }

// Searchable returns Moment with a word index.
func (e *Search) Searchable(ctx context.Context, asOf time.Time) (moment, error) {
	m, err := e.Moment(ctx, asOf)
	if err == nil && m.Past != nil {
		err = m.Past.Index(ctx)
	}
	return m, err
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// Description returns the description of the moment for an answer, nil for the current state.
func (m *moment) Description() *op.Past {
	if m.Past == nil {
		return nil
	}
	out := &op.Past{At: m.At, Uncounted: m.Past.Uncounted}
	if m.At.Before(m.Past.Since) {
		out.Since = m.Past.Since
	}
	return out
}

// Task releases the cached earlier moment when no caller has used it for a while.
func (e *Search) Task() *core.Task {
	return &core.Task{Name: "cache of memories as of an earlier time", Wake: e.LookedBack,
		Woken: func(time.Time) time.Time { return e.Opt.Now().Add(pastKept) },
		Do: func(context.Context) time.Time {
			e.Stm.ReleasePast()
			return time.Time{}
		}}
}

// ShowThen returns a memory as it was. It does not count as a use.
func (e *Search) ShowThen(ctx context.Context, req *op.ShowRequest) (*op.ShowResult, error) {
	then, err := e.Moment(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	id, err := then.Past.Resolve(req.ID)
	if memory.CodeOf(err) == memory.NotFound {
		// The ID may be of a memory that did not exist then.
		id, err = e.Stm.Resolve(req.ID)
	}
	if err != nil {
		return nil, err
	}
	row, ok := then.Get(id)
	if !ok {
		return nil, memory.Errorf(memory.NotFound,
			"memory %s did not exist at %s; to see its versions, run: emberd history %s", id, instant(then.At),
			id.Short()).At("id")
	}
	m, err := e.ViewIn(then.MemorySet, row, then.At)
	return &op.ShowResult{Memory: m, Relations: core.RelationsIn(then.MemorySet, row), AsOf: then.Description()}, err
}
