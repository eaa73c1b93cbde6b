package vault

import (
	"context"
	"crypto/sha256"

	"emberd/vault/frontmatter"
)

// A Reviser changes notes through a [Writer] and does not wait for a note that emberd alone changed in the last
// minute, as [Writer.Update], [Writer.Move] and [Writer.Remove] do. What an earlier write displaced is still looked
// at: its record follows the note to its new bytes and its new name, so that a late save is put back there.
type Reviser struct{ Writer *Writer }

// Revise changes a note by any function of its bytes. It may call change again if the note changed in
// between; an error of change ends the write and is returned as it is.
func (v Reviser) Revise(ctx context.Context, name string, change func(note []byte) ([]byte, error)) (Result, error) {
	w := v.Writer
	w.mu.Lock()
	defer w.mu.Unlock()
	for range restarts {
		s, held, err := v.guard().ready(ctx, name)
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
				v.follow(name, s.digest, digestOf(data))
			}
			return res, err
		}
	}
	return w.later(Unsettled, w.pace.quiet), nil
}

// Current reads a note that [Reviser.Revise] could change now. Without text the Result says why it could not;
// with it, it has the digest.
func (v Reviser) Current(ctx context.Context, name string) ([]byte, Result, error) {
	notes, out, err := v.CurrentAll(ctx, []string{name})
	return notes[0], out[0], err
}

// CurrentAll is Current for several notes, whose folders it lists once. After an error, which ends it, one without
// outcome is the one that could not be read.
func (v Reviser) CurrentAll(ctx context.Context, names []string) (notes [][]byte, out []Result, err error) {
	w := v.Writer
	w.mu.Lock()
	defer w.mu.Unlock()
	g := v.guardOfMany()
	notes, out = make([][]byte, len(names)), make([]Result, len(names))
	for i, name := range names {
		s, held, err := g.ready(ctx, name)
		switch {
		case err != nil:
			return notes, out, err
		case held != nil:
			out[i] = *held
		default:
			notes[i], out[i] = s.data, Result{Outcome: Written, Digest: s.sum}
		}
	}
	return notes, out, nil
}

// Rename is [Writer.Move] for a note of these bytes; for others the outcome is [Conflict].
func (v Reviser) Rename(ctx context.Context, name, to string, want [sha256.Size]byte) (Result, error) {
	w := v.Writer
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := v.guard().ready(ctx, name)
	if held == nil && err == nil && s.sum != want {
		held = &Result{Outcome: Conflict, Reason: HumanChanged}
	}
	if held != nil || err != nil {
		return result(held), err
	}
	res, err := move(w, v.guard(), s, name, to)
	if res.Outcome == Written {
		v.followName(name, to)
	}
	return res, err
}

// Create is [Writer.Create]. It does not wait if the note that was removed from this name is of the same memory.
func (v Reviser) Create(ctx context.Context, name string, data []byte) (Result, error) {
	v.Writer.mu.Lock()
	defer v.Writer.mu.Unlock()
	res, err := createGuarded(ctx, v.Writer, v.guardOfNew(data), name, data)
	if res.Outcome == Written {
		v.follow(name, absent, digestOf(data))
	}
	return res, err
}

// CanCreate returns what Create would return now, and writes nothing.
func (v Reviser) CanCreate(name string, data []byte) (Result, error) {
	v.Writer.mu.Lock()
	defer v.Writer.mu.Unlock()
	return canCreateGuarded(v.guardOfNew(data), name, data)
}

// guardOfNew is guard for a new note with these bytes.
func (v Reviser) guardOfNew(data []byte) *guard {
	g, id := v.guard(), frontmatter.Get(data, memoryIDKey)
	g.recent = func(name string) *Result {
		for _, r := range v.Writer.open {
			if (r.Path == name || r.Target == name) && (r.unsettled || id == "" || v.displacedID(r) != id) {
				return v.Writer.waiting(name)
			}
		}
		return nil
	}
	return g
}

// displacedID returns the memory whose note a write displaced, "" for none.
func (v Reviser) displacedID(r *record) string {
	if id := memoryIDAt(v.Writer.notes, r.Temp); id != "" {
		return id
	}
	return memoryIDAt(v.Writer.state, v.Writer.backupName(r))
}

// Withdraw is [Writer.Remove].
func (v Reviser) Withdraw(ctx context.Context, name string, want [sha256.Size]byte) (Result, error) {
	w := v.Writer
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := v.guard().ready(ctx, name)
	if held != nil || err != nil {
		return result(held), err
	}
	if s.sum != want {
		return Result{Outcome: Conflict, Reason: HumanChanged}, nil
	}
	return w.remove(name, s)
}

// guard returns a guard that waits for unfinished writes only. mu must be held while it is used.
func (v Reviser) guard() *guard {
	g := v.Writer.guard
	g.recent, g.revises = v.unfinished, true
	return &g
}

// guardOfMany is guard for several notes, whose folders it lists once.
func (v Reviser) guardOfMany() *guard {
	g := v.guard()
	g.listed = make(map[string][]string)
	return g
}

// unfinished returns why a note must wait whose last write an error interrupted, nil if it need not.
func (v Reviser) unfinished(name string) *Result {
	w := v.Writer
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
func (v Reviser) follow(name string, from, to digest) {
	w := v.Writer
	for _, r := range w.open {
		if r.Path == name && r.Placed == from && !r.unsettled {
			r.Placed = to
			_ = w.save(r)
		}
	}
	noteMade(w, name, to)
}

// followName has the records of earlier writes of a note expect it under its new name.
func (v Reviser) followName(from, to string) {
	for _, r := range v.Writer.open {
		if r.Path == from && !r.unsettled {
			r.Path = to
			_ = v.Writer.save(r)
		}
	}
}
