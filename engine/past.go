package engine

import (
	"context"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// pastKept is how long the memories of an earlier moment are kept for the next
// question about it.
const pastKept = 5 * time.Minute

// moment is what a question is about: the memories of now, or those of then.
type moment struct {
	*stm.Memories
	at   time.Time
	past *stm.Past // nil for now
}

// moment returns now for the zero time.
func (e *Engine) moment(ctx context.Context, asOf time.Time) (moment, error) {
	if asOf.IsZero() {
		return e.present(), nil
	}
	if e.grant != nil {
		return moment{}, memory.Errorf(memory.Forbidden, "token %s may not look at an earlier moment, for what it sees is told by what memories are now; leave as_of out", e.grant.Token).At("as_of")
	}
	now := e.opt.Now()
	if asOf.After(now) {
		return moment{}, memory.Errorf(memory.Invalid, "as_of %s lies in the future; the clock says %s", instant(asOf), instant(now)).At("as_of")
	}
	past, err := e.stm.At(ctx, asOf)
	if err != nil {
		return moment{}, err
	}
	nudge(e.lookedBack)
	switch {
	case past.Began.IsZero():
		return moment{}, memory.Errorf(memory.Invalid, "nothing was ever saved here, so there is no earlier moment to show").At("as_of")
	case past.At.Before(past.Began):
		return moment{}, memory.Errorf(memory.Invalid, "as_of %s is before the first record of the log, which is of %s; give a later moment", instant(asOf), instant(past.Began)).At("as_of")
	}
	return moment{Memories: &past.Memories, at: past.At, past: past}, nil
}

func (e *Engine) present() moment { return moment{Memories: &e.stm.Memories, at: e.opt.Now()} }

// searchable is moment with the words of then indexed.
func (e *Engine) searchable(ctx context.Context, asOf time.Time) (moment, error) {
	m, err := e.moment(ctx, asOf)
	if err == nil && m.past != nil {
		err = m.past.Index(ctx)
	}
	return m, err
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// told says in an answer which moment it is about, nil for now.
func (m *moment) told() *op.Past {
	if m.past == nil {
		return nil
	}
	out := &op.Past{At: m.at, Uncounted: m.past.Uncounted}
	if m.at.Before(m.past.Since) {
		out.Since = m.past.Since
	}
	return out
}

// keepPast lets go of an earlier moment when nobody has asked about one for a while.
func (e *Engine) keepPast(ctx context.Context) {
	const name = "an earlier moment"
	defer e.chores.disarm(name)
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.lookedBack:
			due = time.After(pastKept)
			e.chores.arm(name, pastKept)
		case <-due:
			due = nil
			e.chores.disarm(name)
			e.stm.LetGo()
		}
	}
}

// showThen opens a memory as it was. That is no use of it.
func (e *Engine) showThen(ctx context.Context, req *op.ShowRequest) (*op.ShowResult, error) {
	then, err := e.moment(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	id, err := then.past.Resolve(req.ID)
	if memory.CodeOf(err) == memory.NotFound {
		// What is there now may not have been then.
		id, err = e.stm.Resolve(req.ID)
	}
	if err != nil {
		return nil, err
	}
	row, ok := then.Get(id)
	if !ok {
		return nil, memory.Errorf(memory.NotFound, "memory %s was not there at %s; emberd history %s tells when it came and went", id, instant(then.at), id.Short()).At("id")
	}
	m, err := e.viewIn(then.Memories, row, then.at)
	return &op.ShowResult{Memory: m, Relations: relationsIn(then.Memories, row), AsOf: then.told()}, err
}
