package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"emberd/internal/contain"
)

// New is a note to create.
type New struct {
	Path string
	Data []byte
}

// atOnce is how many files are synced at a time: a disk writes those together that wait together.
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
	recordAll(w, open)
	each(open, func(m *noteCreation) error { return w.prepare(m.record, m.data) })
	each(open, func(m *noteCreation) error { return put(w.notes, m.record.Temp, m.record.Path) })
	w.nameAll(open)
	for _, m := range open {
		err = errors.Join(err, w.endOne(m, &out[m.at]))
	}
	w.unmake(made) // those that nothing is in
	return out, err
}

// noteCreation is a note that CreateAll is creating.
type noteCreation struct {
	at     int
	record *record
	data   []byte
	err    error
	unsure bool // its name may not be on the disk
}

// beginAll checks of each note whether it can be created, and makes its folder. It lists each
// folder once.
func (w *Writer) beginAll(ctx context.Context, all []New,
	out []Result) (open []*noteCreation, made []string, err error) {
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
			out[i], failed = w.refuseOn(n.Path, failed)
			err = errors.Join(err, failed)
		case held != nil:
			out[i] = *held
		default:
			known[path.Dir(n.Path)] = append(known[path.Dir(n.Path)], path.Base(n.Path))
			open = append(open,
				&noteCreation{at: i, record: w.newRecord(opCreate, n.Path, absent, digestOf(n.Data)), data: n.Data})
		}
	}
	return open, made, err
}

// recordAll saves the records of all notes as one file.
func recordAll(w *Writer, open []*noteCreation) {
	if len(open) == 0 {
		return
	}
	records := make([]*record, len(open))
	for i, m := range open {
		records[i] = m.record
	}
	if err := w.saveAll(records); err != nil {
		for _, m := range open {
			m.err = err
		}
	}
}

// each runs a step for all notes that have not failed, several at a time. It returns after the
// last step has ended.
func each(open []*noteCreation, step func(*noteCreation) error) {
	contain.Each(len(open), atOnce, func(i int) {
		if m := open[i]; m.err == nil {
			m.err = step(m)
		}
	})
}

// nameAll syncs the folders of the new notes.
func (w *Writer) nameAll(open []*noteCreation) {
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

// endOne ends the record of a note and returns the error that the caller has to know.
func (w *Writer) endOne(m *noteCreation, res *Result) (err error) {
	switch {
	case m.unsure:
		m.record.unsettled = true
		w.open = append(w.open, m.record)
		return fmt.Errorf("cannot write note %q: %w", m.record.Path, m.err)
	case m.err == nil:
		noteMade(w, m.record.Path, m.record.New)
		*res = Result{Outcome: Written, Digest: sha256.Sum256(m.data)}
		return w.forget(m.record)
	}
	*res, _, err = w.abandon(m.record, m.err)
	if errors.Is(err, fs.ErrExist) {
		*res, err = Result{Outcome: Refused, Reason: NameTaken, Taken: m.record.Path}, nil
	}
	return err
}
