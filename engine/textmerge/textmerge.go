package textmerge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/internal/durable"
	"emberd/internal/text/merge"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Verb is the journal verb of a text that was joined of others.
const Verb = "merge texts"

// retryAfter is the wait after a memory's texts could not be joined, because its note is not written now
// for instance.
const retryAfter = time.Minute

// actor returns the actor of what this package writes.
func actor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "text merge"} }

// file has the memories that wait, over restarts.
func (e *TextMerge) file() string { return filepath.Join(e.Opt.State, "pending", "texts.json") }

// Open reads the memories that waited at the end of the last run.
func (e *TextMerge) Open() {
	e.wake, e.waiting = make(chan struct{}, 1), make(map[memory.ID]time.Time)
	data, err := core.LastState(e.Opt.FS, e.file())
	var ids []memory.ID
	if err == nil && data != nil {
		err = json.Unmarshal(data, &ids)
	}
	if err != nil {
		e.Opt.Logger.Warn("list of texts to merge not read; emberd merges the texts when the memories change again",
			"error", err)
	}
	e.add(ids)
}

// Arrived looks at what other devices wrote. It never blocks.
func (e *TextMerge) Arrived() { core.Nudge(e.wake) }

// Task joins texts when they are due: at once on the primary device, and on others only when that has
// had the time to.
func (e *TextMerge) Task() *core.Task {
	e.Collect()
	return &core.Task{Name: "text merge", First: e.next(), Wake: e.wake,
		Woken: func(time.Time) time.Time {
			e.Collect()
			return e.next()
		},
		Do: func(ctx context.Context) time.Time {
			e.JoinDue(ctx)
			return e.next()
		}}
}

// Collect adds the memories that the log names.
func (e *TextMerge) Collect() {
	ids := e.Stm.TextsApart()
	if len(ids) == 0 {
		return
	}
	e.add(ids)
	e.store()
}

func (e *TextMerge) add(ids []memory.ID) {
	due := e.Opt.Now()
	if !e.Lifecycle.IsPrimary() {
		due = due.Add(e.Opt.Pace.Others)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		if _, waits := e.waiting[id]; !waits {
			e.waiting[id] = due
		}
	}
}

// next returns when the first memory is due, zero for none.
func (e *TextMerge) next() (first time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range e.waiting {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

func (e *TextMerge) due() []memory.ID {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Opt.Now()
	var due []memory.ID
	for id, at := range e.waiting {
		if !at.After(now) {
			due = append(due, id)
		}
	}
	slices.Sort(due)
	return due
}

// store writes the file.
func (e *TextMerge) store() {
	e.mu.Lock()
	defer e.mu.Unlock()
	data, err := json.Marshal(slices.Sorted(maps.Keys(e.waiting)))
	if err == nil {
		err = durable.ReplaceFile(e.Opt.FS, e.file(), data)
	}
	e.Chores.Settle("update of the list of texts to merge", err)
}

// JoinDue joins the texts of the memories that are due. One that fails is tried again.
func (e *TextMerge) JoinDue(ctx context.Context) {
	ids := e.due()
	if len(ids) == 0 {
		return
	}
	revs := make(map[memory.ID]string, len(ids))
	for _, id := range ids {
		if row, live := e.Stm.Get(id); live {
			revs[id] = row.TextRev()
		}
	}
	edits, err := e.Stm.TextEdits(ctx, ids)
	var failed error
	for _, id := range ids {
		again, bad := false, err
		if bad == nil {
			again, bad = e.join(ctx, id, revs[id], edits[id])
		}
		if ctx.Err() != nil {
			return
		}
		e.joined(id, again, bad)
		failed = cmp.Or(failed, bad)
	}
	e.Chores.Settle("merge of texts that two devices changed", failed)
	e.store()
}

// joined takes a memory off the list, or puts it off.
func (e *TextMerge) joined(id memory.ID, again bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil:
		e.waiting[id] = e.Opt.Now().Add(retryAfter)
	case again:
		e.waiting[id] = e.Opt.Now()
	default:
		delete(e.waiting, id)
	}
}

// join writes the text that joins those of a memory, and files the review item for those that cannot be
// joined. rev is the version of the text when the edits were read; again is true if there is a newer one.
func (e *TextMerge) join(ctx context.Context, id memory.ID, rev string, edits []stm.TextEdit) (again bool, _ error) {
	ctx = op.WithCaller(ctx, actor())
	_, err := e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		if again = rows[0].TextRev() != rev; again {
			return nil, nil
		}
		j, err := joinedOf(rows[0], edits)
		if err != nil || len(j.knows)+len(j.others) == 0 {
			return nil, err
		}
		set := make(map[string]json.RawMessage)
		if len(j.knows) > 0 {
			if set, err = e.Memories.TextChange(ctx, rows[0], j.text); err != nil {
				return nil, err
			}
		}
		e.Review.AddTexts(rows[0], set, j.others)
		if len(set) == 0 {
			return nil, nil
		}
		return &stm.Tx{Verb: Verb, By: actor(),
			Changes: []stm.Change{{ID: id, Set: set, Knows: j.knows, Allowed: true}}}, nil
	})
	if err != nil {
		return again, fmt.Errorf("cannot merge the texts of memory %s: %w", id.Short(), err)
	}
	e.Memories.Promote.FollowEdit(ctx, id) // its note, if a text was queued for it
	return again, nil
}

// joined is what becomes of the texts of a memory.
type joined struct {
	text   string
	knows  []stm.Stamp        // texts that are in it
	others []memory.OtherText // texts that cannot be joined with it
}

// joinedOf joins the shown text of a memory with those that were written apart from it, oldest first. A text
// that fading shortened is not joined; another part of the engine looks after it.
func joinedOf(row *stm.Row, edits []stm.TextEdit) (j joined, err error) {
	m, err := row.Memory()
	if err != nil || core.Shortened(&m) || m.Stage.Cold() {
		return j, err
	}
	j.text = m.Content
	for _, a := range stm.TextsApart(edits, row.StampOf(core.ContentField)) {
		if core.Ages(a.Verb) || a.Text == "" || a.Text == j.text {
			continue
		}
		text, can := merge.Texts(a.Base, a.Text, j.text)
		switch {
		case !can || !a.HasBase || memory.CheckContent(text) != nil:
			j.others = append(j.others, memory.OtherText{Text: a.Text, Rev: a.Stamp.String(), At: a.Stamp.Time()})
		case text != j.text:
			j.text, j.knows = text, append(j.knows, a.Stamp)
		}
	}
	return j, nil
}
