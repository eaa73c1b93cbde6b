package vault

import (
	"context"
	"crypto/sha256"
)

// A write of emberd's own is no sign of a user at work, so the methods of this file do not wait for it, as
// [Writer.Update], [Writer.Move] and [Writer.Remove] do. What an earlier write displaced is still looked at:
// its record follows the note to its new bytes and its new name, so that a late save is put back there.

// Revise changes a note by any function of its bytes. It may call change again if the note changed in
// between; an error of change ends the write and is returned as it is.
func (w *Writer) Revise(ctx context.Context, name string, change func(note []byte) ([]byte, error)) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range restarts {
		s, held, err := w.revising().ready(ctx, name)
		if held != nil || err != nil {
			return result(held), err
		}
		data, err := change(s.data)
		if err != nil {
			return Result{}, err
		}
		if digestOf(data) == s.digest {
			return Result{Outcome: Written, Digest: s.sum}, nil
		}
		if res, done, err := w.replace(name, s, data); done || err != nil {
			if res.Outcome == Written {
				w.follow(name, s.digest, digestOf(data))
			}
			return res, err
		}
	}
	return w.later(Unsettled, w.pace.quiet), nil
}

// Current reads a note that [Writer.Revise] could change now. Without text the Result says why it could not;
// with it, it has the digest.
func (w *Writer) Current(ctx context.Context, name string) ([]byte, Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := w.revising().ready(ctx, name)
	if held != nil || err != nil {
		return nil, result(held), err
	}
	return s.data, Result{Outcome: Written, Digest: s.sum}, nil
}

// Rename is [Writer.Move] for a note of these bytes; for others the outcome is [Conflict].
func (w *Writer) Rename(ctx context.Context, name, to string, want [sha256.Size]byte) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := w.revising().ready(ctx, name)
	if held == nil && err == nil && s.sum != want {
		held = &Result{Outcome: Conflict, Reason: HumanChanged}
	}
	if held != nil || err != nil {
		return result(held), err
	}
	res, err := w.move(w.revising(), s, name, to)
	if res.Outcome == Written {
		w.followName(name, to)
	}
	return res, err
}

// Withdraw is [Writer.Remove].
func (w *Writer) Withdraw(ctx context.Context, name string, want [sha256.Size]byte) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := w.revising().ready(ctx, name)
	if held != nil || err != nil {
		return result(held), err
	}
	if s.sum != want {
		return Result{Outcome: Conflict, Reason: HumanChanged}, nil
	}
	return w.remove(name, s)
}

// revising returns a guard that waits for unfinished writes only. mu must be held while it is used.
func (w *Writer) revising() *guard {
	g := w.guard
	g.recent = w.unfinished
	return &g
}

// unfinished returns why a note must wait whose last write an error interrupted, nil if it need not.
func (w *Writer) unfinished(name string) *Result {
	for _, r := range w.open {
		if r.unsettled && (r.Path == name || r.Target == name) {
			res := w.later(RecentlyOurs, w.pace.quiet)
			return &res
		}
	}
	return nil
}

// follow has the records of earlier writes of a note expect its new bytes. What they displaced is otherwise not
// put back, and stays among the backups; so it does if the record cannot be saved and the process is killed.
func (w *Writer) follow(name string, from, to digest) {
	for _, r := range w.open {
		if r.Path == name && r.Placed == from && !r.unsettled {
			r.Placed = to
			_ = w.save(r)
		}
	}
	noteMade(w, name, to)
}

// followName has the records of earlier writes of a note expect it under its new name.
func (w *Writer) followName(from, to string) {
	for _, r := range w.open {
		if r.Path == from && !r.unsettled {
			r.Path = to
			_ = w.save(r)
		}
	}
}
