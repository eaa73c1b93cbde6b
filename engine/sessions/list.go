package sessions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"emberd/memory"
	"emberd/op"
)

const (
	defaultDays = 7
	maxDays     = 90
)

// List returns the sessions told of lately, newest first, or one with what it left.
func (e *Sessions) List(_ context.Context, req *op.SessionListRequest) (*op.SessionListResult, error) {
	days := cmp.Or(req.Days, defaultDays)
	if err := memory.CheckRange("days", float64(days), 1, maxDays); err != nil {
		return nil, err
	}
	all, err := e.all()
	if err != nil {
		return nil, err
	}
	res := &op.SessionListResult{Sessions: []op.Session{}, Recall: e.Opt.Hooks.Recall, Capture: e.Opt.Hooks.Capture}
	if req.ID != "" {
		r, err := find(all, req.ID)
		if err != nil {
			return nil, err
		}
		res.Sessions = append(res.Sessions, e.shown(r))
		return res, nil
	}
	since := e.Opt.Now().Add(-time.Duration(days) * 24 * time.Hour)
	for i := range all {
		r := &all[i].record
		if r.touched().After(since) && !r.isEmpty() && (req.Project == "" || r.Project == req.Project) {
			res.Sessions = append(res.Sessions, e.shown(r))
		}
	}
	return res, nil
}

// shown returns a session with what became of the memories that it left.
func (e *Sessions) shown(r *record) op.Session {
	s := r.Session
	s.Memories = nil
	for _, k := range r.Memories {
		row, live := e.Stm.Get(k.ID)
		if k.Gone = !live; live {
			k.Text = row.Content()
		}
		s.Memories = append(s.Memories, k)
	}
	return s
}

// Forget takes back what a session left: its memories go to the trash, and what it repeated counts as before.
// Memories that changed since are left, and so are those that an import reinforced, which may be of other sessions too.
func (e *Sessions) Forget(ctx context.Context, req *op.SessionForgetRequest) (*op.SessionForgetResult, error) {
	s, stored, err := e.sessionOrStored(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	res := &op.SessionForgetResult{Session: s.ID, Forgotten: []memory.ID{}, DryRun: req.DryRun}
	if err := e.forgetStored(ctx, stored, res); err != nil {
		return nil, err
	}
	for _, k := range s.Memories {
		if k.New || k.Gone {
			continue
		}
		if k.Imported {
			if !e.Stm.Undone(k.Tx) {
				res.Left = append(res.Left, op.UndoItem{ID: k.ID, Action: "left",
					Reason: "an import reinforced the memory; to undo the whole import, run: emberd undo " + k.Tx})
			}
			continue
		}
		undone, err := e.History.Undo(ctx, &op.UndoRequest{Tx: k.Tx, DryRun: req.DryRun})
		if memory.CodeOf(err) == memory.Invalid {
			continue // it was taken back before
		} else if code := memory.CodeOf(err); code == memory.Conflict || code == memory.NotFound {
			res.Left = append(res.Left, op.UndoItem{ID: k.ID, Action: "left", Reason: err.Error()})
			continue
		} else if err != nil {
			return nil, err
		}
		res.Undone += len(undone.Items)
	}
	return res, e.forgetNew(ctx, s, res)
}

// known is a session with the digests of the texts of what it left.
type known struct {
	op.Session
	sums map[memory.ID]string
}

func (e *Sessions) sessionOf(id string) (known, error) {
	all, err := e.all()
	if err != nil {
		return known{}, err
	}
	r, err := find(all, id)
	if err != nil {
		return known{}, err
	}
	return known{e.shown(r), r.Sums}, nil
}

// changedSince tells how a memory that a session made was changed since, "" if it was not.
func (e *Sessions) changedSince(k *op.SessionMemory, sum string) string {
	row, live := e.Stm.Get(k.ID)
	if !live {
		return ""
	}
	m, err := row.Memory()
	switch {
	case err != nil:
		return err.Error()
	case sum != "" && digest(m.Content) != sum:
		return "the text of the memory changed"
	case !m.ConfirmedAt.IsZero():
		return "the memory was confirmed"
	case m.PromotedTo != "":
		return "the memory has a note"
	case slices.ContainsFunc(m.Sources, func(s memory.Source) bool { return !s.By.IsHook() }):
		return "the user or an agent also saved the memory"
	}
	return ""
}

// forgetNew moves the memories that a session made to the trash, in one change.
func (e *Sessions) forgetNew(ctx context.Context, s known, res *op.SessionForgetResult) error {
	var ids []string
	for _, k := range s.Memories {
		if !k.New || k.Gone {
			continue
		}
		if why := e.changedSince(&k, s.sums[k.ID]); why != "" {
			res.Left = append(res.Left, op.UndoItem{ID: k.ID, Action: "left", Reason: why})
			continue
		}
		ids, res.Forgotten = append(ids, string(k.ID)), append(res.Forgotten, k.ID)
	}
	if len(ids) == 0 || res.DryRun {
		return nil
	}
	gone, err := e.Memories.ForgetBatch(ctx, &op.ForgetBatchRequest{IDs: ids})
	if err == nil {
		res.Tx = gone.Tx
	}
	return err
}
