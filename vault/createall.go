package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
)

// New is a note that is to be made.
type New struct {
	Path string
	Data []byte
}

// atOnce is how many files are synced at a time: a disk writes those that wait together.
const atOnce = 16

// CreateAll makes notes as [Writer.Create] does, and has the disk sync them together, which
// is what making many takes. It returns how each ended, at its place; one that could not
// be made has no outcome, and the error joins why. After a crash each of them is there
// whole or not at all.
func (w *Writer) CreateAll(ctx context.Context, all []New) ([]Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Result, len(all))
	open, made, err := w.beginAll(ctx, all, out)
	w.each(open, func(m *making) error { return w.save(m.record) })
	w.each(open, func(m *making) error { return w.prepare(m.record, m.data) })
	w.each(open, func(m *making) error { return put(w.notes, m.record.Temp, m.record.Path) })
	w.nameAll(open)
	for _, m := range open {
		err = errors.Join(err, w.endOne(m, &out[m.at]))
	}
	w.unmake(made) // those that nothing is in
	return out, err
}

// making is a note on its way.
type making struct {
	at     int
	record *record
	data   []byte
	err    error
	unsure bool // its name may not be on the disk
}

// beginAll tells of each note whether it can be made, and makes its folder. Folders are
// listed once each.
func (w *Writer) beginAll(ctx context.Context, all []New, out []Result) (open []*making, made []string, err error) {
	known := make(map[string][]string)
	for i, n := range all {
		if ctx.Err() != nil {
			return open, made, errors.Join(err, context.Cause(ctx))
		}
		held, failed := w.freeIn(known, n.Path, digestOf(n.Data))
		if held == nil && failed == nil {
			var folders []string
			folders, failed = makeFolder(w.notes, path.Dir(n.Path))
			made = append(made, folders...)
		}
		switch {
		case failed != nil:
			out[i], failed = w.denied(n.Path, failed)
			err = errors.Join(err, failed)
		case held != nil:
			out[i] = *held
		default:
			known[path.Dir(n.Path)] = append(known[path.Dir(n.Path)], path.Base(n.Path))
			open = append(open, &making{at: i, record: w.newRecord(opCreate, n.Path, absent, digestOf(n.Data)), data: n.Data})
		}
	}
	return open, made, err
}

// freeIn is free for several notes of a folder, the names of which are known after the
// first.
func (w *Writer) freeIn(known map[string][]string, name string, want digest) (*Result, error) {
	dir := path.Dir(name)
	names, listed := known[dir]
	if listed {
		if held := w.place(name); held != nil {
			return held, nil
		}
		if other, taken := lookAlike(names, path.Base(name)); !taken {
			return nil, nil
		} else if held, err := w.free(name, want); held != nil || err != nil {
			return held, err
		} else { // by one that is made with it
			return &Result{Outcome: Refused, Reason: NameTaken, Taken: path.Join(dir, other)}, nil
		}
	}
	held, err := w.free(name, want)
	if held == nil && err == nil {
		entries, failed := w.notes.ReadDir(dir)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			return nil, failed
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		known[dir] = names
	}
	return held, err
}

// each does a step of all that did not fail, several at a time.
func (w *Writer) each(open []*making, step func(*making) error) {
	var wait sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	for _, m := range open {
		if m.err != nil {
			continue
		}
		turn <- struct{}{}
		wait.Go(func() {
			m.err = step(m)
			<-turn
		})
	}
	wait.Wait()
}

// nameAll syncs the folders that notes were put into.
func (w *Writer) nameAll(open []*making) {
	folders := make(map[string]error)
	for _, m := range open {
		if m.err != nil {
			continue
		}
		dir := m.record.dir()
		if _, done := folders[dir]; !done {
			folders[dir] = w.notes.SyncDir(dir)
		}
		m.err, m.unsure = folders[dir], folders[dir] != nil
	}
}

// endOne ends the record of a note, whatever became of it.
func (w *Writer) endOne(m *making, res *Result) (err error) {
	switch {
	case m.unsure:
		m.record.unsettled = true
		w.open = append(w.open, m.record)
		return fmt.Errorf("write note %q: %w", m.record.Path, m.err)
	case m.err == nil:
		*res = Result{Outcome: Written, Digest: sha256.Sum256(m.data)}
		return w.forget(m.record)
	}
	*res, _, err = w.abandon(m.record, m.err)
	if errors.Is(err, fs.ErrExist) {
		*res, err = Result{Outcome: Refused, Reason: NameTaken, Taken: m.record.Path}, nil
	}
	return err
}
