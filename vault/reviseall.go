package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"emberd/internal/contain"
)

// Revision is a note before and after a change.
type Revision struct {
	Path          string
	Before, After []byte
}

// ReviseAll changes notes as [Reviser.Revise] does, and has the disk sync them together, which is what changing
// many takes. It returns how each ended, at its place; one that no longer has the bytes Before is [Conflict], and one
// that could not be written has no outcome: the error says why, of several the first. After a crash each of them is as
// before or as after, and none is in between. No note is twice in all.
//
// The steps are those of a single write, each for all notes before the next one begins. A sync of a folder stands
// between the steps that a power cut must not reverse:
//
//  1. one file with the records of all
//  2. the new texts in temporary files, and the old texts in place
//  3. each note and its temporary file change places, if the note is as it was, then the folders of the notes
//  4. each old text moves to the backups, then the folder of backups and those of the notes
//
// A note that a program saves meanwhile leaves these steps and ends alone.
func (v Reviser) ReviseAll(ctx context.Context, all []Revision) ([]Result, error) {
	w := v.Writer
	w.mu.Lock()
	defer w.mu.Unlock()
	b := &revisions{Reviser: v, all: all, out: make([]Result, len(all))}
	b.read(ctx)
	b.record()
	b.each(func(r *revising) error { return b.prepare(r) })
	b.swapAll()
	b.sync(b.folders)
	b.each(b.retire)
	b.sync(func([]*revising) error { return w.state.SyncDir(w.backups) })
	b.sync(b.folders)
	b.finish()
	return b.out, b.err
}

// revisions are the notes of one ReviseAll.
type revisions struct {
	Reviser
	all  []Revision
	out  []Result
	open []*revising // those that go on together
	err  error
}

// revising is a note on its way through the steps.
type revising struct {
	*record
	at      int
	data    []byte
	err     error
	swapped bool // the note and the temporary file have changed places
}

// read takes the notes that are as the caller read them (V1).
func (b *revisions) read(ctx context.Context) {
	g := b.guardOfMany()
	for i, r := range b.all {
		s, held, err := g.ready(ctx, r.Path)
		switch {
		case err != nil:
			b.err = cmp.Or(b.err, err)
		case held != nil:
			b.out[i] = *held
		case !bytes.Equal(s.data, r.Before):
			b.out[i] = Result{Outcome: Conflict, Reason: HumanChanged}
		case bytes.Equal(s.data, r.After):
			b.out[i] = Result{Outcome: Written, Digest: s.sum}
		default:
			to := b.Writer.newRecord(opUpdate, r.Path, s.digest, digestOf(r.After))
			b.open = append(b.open, &revising{record: to, at: i, data: r.After})
		}
	}
}

// record makes the records (V2).
func (b *revisions) record() {
	b.sync(func(open []*revising) error {
		all := make([]*record, len(open))
		for i, r := range open {
			all[i] = r.record
		}
		return b.Writer.saveAll(all)
	})
}

// prepare makes the temporary file of a note, and has what the note says on the disk before that is displaced (V3).
func (b *revisions) prepare(r *revising) error {
	if err := b.Writer.prepare(r.record, r.data); err != nil {
		return err
	}
	return b.Writer.notes.SyncFile(r.Path)
}

// each runs a step for all notes, several at a time, and ends those that fail. None of them has changed yet, or all
// have.
func (b *revisions) each(step func(*revising) error) {
	contain.Each(len(b.open), atOnce, func(i int) { b.open[i].err = step(b.open[i]) })
	b.drop()
}

// sync runs a step that is one for all notes, and ends all if it fails.
func (b *revisions) sync(step func(open []*revising) error) {
	if len(b.open) == 0 {
		return
	}
	err := step(b.open)
	for _, r := range b.open {
		r.err = err
	}
	b.drop()
}

// folders syncs the folders of notes.
func (b *revisions) folders(open []*revising) error {
	synced := make(map[string]error)
	for _, r := range open {
		if _, done := synced[r.dir()]; !done {
			synced[r.dir()] = b.Writer.notes.SyncDir(r.dir())
		}
	}
	return cmp.Or(slices.Collect(maps.Values(synced))...)
}

// drop ends the notes whose step failed: those that have not changed are as before, the others are settled.
func (b *revisions) drop() {
	b.open = slices.DeleteFunc(b.open, func(r *revising) bool {
		switch {
		case r.err == nil:
			return false
		case r.swapped:
			b.settle(r)
		default:
			res, _, err := b.Writer.abandon(r.record, r.err)
			b.end(r, res, err)
		}
		return true
	})
}

// end records how a note ended.
func (b *revisions) end(r *revising, res Result, err error) {
	b.out[r.at], b.err = res, cmp.Or(b.err, err)
}

// settle ends a note alone, by what is on the disk.
func (b *revisions) settle(r *revising) {
	res, err := b.Writer.settle(r.record)
	if res.Outcome == Written {
		b.follow(r.Path, r.Old, r.New)
	}
	b.end(r, res, err)
}

// swapAll gives the notes their new texts, one by one. A note that a program saved at that moment ends alone (V6).
func (b *revisions) swapAll() {
	b.open = slices.DeleteFunc(b.open, func(r *revising) bool {
		switch res, err := b.swap(r); {
		case !r.swapped:
			b.end(r, res, err)
		case b.Writer.isContested(r.record):
			b.settle(r)
		default:
			return false
		}
		return true
	})
}

// swap exchanges a note and its temporary file if the note is as it was (V4, V5).
func (b *revisions) swap(r *revising) (Result, error) {
	w := b.Writer
	now, err := look(w.notes, r.Path)
	var res Result
	var done bool
	if err != nil || now != r.Old {
		res, done, err = w.abandon(r.record, err)
	} else if err = w.swap(r.record); err != nil {
		res, done, err = w.swapFailed(r.record, err)
	} else {
		r.swapped = true
		return Result{}, nil
	}
	if !done && err == nil {
		res = Result{Outcome: Conflict, Reason: HumanChanged}
	}
	return res, err
}

// isContested reports whether a note has not its new text, or displaced another one than was read.
func (w *Writer) isContested(r *record) bool {
	name, err := look(w.notes, r.Path)
	displaced, failed := look(w.notes, r.Temp)
	return err != nil || failed != nil || name != r.New || displaced != r.Old
}

// retire moves the old text of a note to the backups (V8). Its record says by what it has since the beginning that
// nothing but this may be left to do, so that it need not be saved again.
func (b *revisions) retire(r *revising) error {
	r.Kept, r.Placed = r.Old, r.New
	// From here on only a late saver changes it, and not a power cut.
	if err := b.Writer.notes.SyncFile(r.Temp); err != nil {
		return err
	}
	return b.Writer.export(r.record)
}

// finish has the notes that were written checked for late saves.
func (b *revisions) finish() {
	w := b.Writer
	b.followAll()
	for _, r := range b.open {
		w.watch(r.record)
		b.out[r.at] = Result{Outcome: Written, Digest: sha256.Sum256(r.data), Backup: w.backupName(r.record)}
	}
}

// followAll is [Reviser.follow] for all notes.
func (b *revisions) followAll() {
	w := b.Writer
	w.dropMade()
	now := make(map[string]*revising, len(b.open))
	for _, r := range b.open {
		now[r.Path] = r
		noteIsMade(w, r.Path, r.New)
	}
	var follow []*record
	for _, r := range w.open {
		if n := now[r.Path]; n != nil && r.Placed == n.Old && !r.unsettled {
			r.Placed = n.New
			follow = append(follow, r)
		}
	}
	contain.Each(len(follow), atOnce, func(i int) { _ = w.saveUnlisted(follow[i]) })
	if len(follow) > 0 {
		_ = w.state.SyncDir(w.records)
	}
}
