package stm

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// Purged is what a purge did.
type Purged struct {
	Entry      string // journal entry, "" when the memory had been purged before
	Rewritten  []string
	Quarantine int // copies of damaged lines that were removed
}

// Mention is a file of another device that says something about a memory.
type Mention struct{ Device, File string }

// Purge removes a memory for good, live or in the trash: it writes so to the
// log, which hides everything about the memory but what is saved anew later, and
// takes it and the relations of other memories to it out of every file of this device.
// Nothing takes that back. Other devices follow when they see it. An error after the
// line is written leaves the memory hidden and its files to [Store.CarryOutPurges].
func (s *Store) Purge(ctx context.Context, id memory.ID, by memory.Actor) (Purged, error) {
	key := id.Bytes()
	got, err := s.Update(ctx, []memory.ID{id}, "", func(rows []*Row) (*Tx, error) {
		if rows[0] == nil && s.table.cell(key) == nil {
			return nil, memory.Errorf(memory.NotFound, "there is no memory %s to purge", id).At("id")
		}
		if rows[0] == nil && !s.table.purgedAt(key).IsZero() {
			return nil, nil // again, for its files
		}
		return &Tx{Verb: "purge", By: by, Changes: []Change{{ID: id, purge: true}}}, nil
	})
	if err != nil {
		return Purged{}, err
	}
	s.table.settlePurges(map[[16]byte]purge{key: {stamp: s.table.purgedAt(key)}}, true)
	out, err := s.CarryOutPurges(ctx)
	out.Entry = got.Entry
	return out, err
}

// Purged reports whether a memory was purged and has not been saved anew since.
func (s *Store) Purged(id memory.ID) bool {
	key := id.Bytes()
	return s.table.get(id) == nil && !s.table.purgedAt(key).IsZero()
}

// PurgesDue reports whether files of this device may still hold a memory that
// was purged, here before a crash or on another device.
func (s *Store) PurgesDue() bool { return len(s.table.duePurges()) > 0 }

// DuePurges are those memories, each with the device that purged it. The caller owns the map.
func (s *Store) DuePurges() map[memory.ID]string { return purgedBy(s.table.duePurges()) }

func purgedBy(due map[[16]byte]purge) map[memory.ID]string {
	by := make(map[memory.ID]string, len(due))
	for key, p := range due {
		by[memory.IDFromBytes(key)] = p.stamp.Dev.String()
	}
	return by
}

// CarryOutPurges takes purged memories out of this device's files: all of the
// log, history too, copies of damaged lines, and the snapshot. It waits for a
// compaction that is running. After an error, or a crash, purges are still due.
func (s *Store) CarryOutPurges(ctx context.Context) (Purged, error) {
	s.rewriting.Lock()
	defer s.rewriting.Unlock()
	var out Purged
	due := s.table.duePurges()
	if len(due) == 0 {
		return out, nil
	}
	err := s.sweepPurged(ctx, due, &out)
	if err != nil && ctx.Err() == nil {
		code, reason := memory.CodeOf(err), err.Error()
		if _, ok := errors.AsType[*memory.Error](err); !ok {
			code, reason = explain(s.data, err)
		}
		err = memory.Errorf(code, "the memory is purged, but not all that files said of it is removed yet: %s; emberd tries again, or purge it again", reason)
	}
	return out, err
}

func (s *Store) sweepPurged(ctx context.Context, due map[[16]byte]purge, out *Purged) error {
	p := s.table.purged()
	dirty, err := s.telling(ctx, p)
	if err != nil {
		return err
	}
	if len(dirty) > 0 {
		if err := s.rewriteAll(ctx); err != nil {
			return err
		}
		if left, err := s.telling(ctx, p); err != nil || len(left) > 0 {
			return errors.Join(err, memory.Errorf(memory.Busy, "%s could not be removed", strings.Join(left, ", ")))
		}
		out.Rewritten = dirty
	}
	if out.Quarantine, err = s.purgeQuarantine(p); err != nil {
		return err
	}
	if err := s.onWriter(ctx, func() { s.table.erase(due); s.table.unrelateAll(p); s.keys.purge(due) }); err != nil {
		return err
	}
	if s.tellPurged != nil {
		if err := s.tellPurged(ctx, purgedBy(due)); err != nil {
			return err
		}
	}
	s.table.settlePurges(due, false)
	if err := s.replaceSnapshotNow(ctx); err != nil {
		s.table.settlePurges(due, true)
		return err
	}
	return nil
}

// replaceSnapshotNow writes a snapshot even if little changed, or leaves none.
func (s *Store) replaceSnapshotNow(ctx context.Context) error {
	s.snapshot.fresh.Store(false)
	err := s.WriteSnapshot(ctx)
	if err == nil {
		return nil
	}
	s.log.Warn("snapshot not written after a purge, so it is removed", "error", err)
	err = s.fs.Remove(s.snapshotPath())
	if err == nil {
		err = s.fs.SyncDir(filepath.Dir(s.snapshotPath()))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// telling lists this device's files that still say something about purged
// memories.
func (s *Store) telling(ctx context.Context, p purged) (names []string, err error) {
	files, err := s.Segments()
	if err != nil {
		return nil, err
	}
	for _, g := range files {
		if !g.Own {
			continue
		}
		found, err := s.tells(ctx, filepath.Join(s.data, g.Path()), p)
		if err != nil {
			return nil, err
		}
		if found {
			names = append(names, g.Name)
		}
	}
	return names, nil
}

// rewriteAll folds all files of this device, histories too, and removes them.
// Every rewrite leaves out what was purged.
func (s *Store) rewriteAll(ctx context.Context) error {
	if err := s.sealNow(ctx); err != nil {
		return err
	}
	files, err := s.Segments()
	if err != nil {
		return err
	}
	job := Compaction{HistoryKeep: 1<<63 - 1, histories: true}
	for _, g := range files {
		if g.Own && !g.Active {
			job.Inputs = append(job.Inputs, g.Name)
		}
	}
	r := s.newRewrite(ctx, job)
	defer r.sweep()
	if err = r.choose(); err == nil {
		err = r.count()
	}
	if err == nil {
		err = r.carryOut()
	}
	if err != nil {
		return err
	}
	return s.unlinkInputs(ctx, r)
}

// unlinkInputs removes what was folded at once.
func (s *Store) unlinkInputs(ctx context.Context, r *rewrite) error {
	var out Unlinked
	if err := s.unlink(ctx, r.now.Add(2*time.Second), time.Time{}, &out); err != nil {
		return err
	}
	for _, in := range r.inputs {
		if in.kind != History {
			continue
		}
		if err := s.unlinkOne(filepath.Join(s.ownDir(), in.base), &out); err != nil {
			return err
		}
	}
	s.journal.swap(func(uint32) bool { return false }, nil)
	return s.fs.SyncDir(s.ownDir())
}

// sealNow begins a new segment, so that all others can be rewritten.
func (s *Store) sealNow(ctx context.Context) error {
	err := error(memory.Errorf(memory.Unavailable, "emberd is stopping"))
	if gaveUp := s.onWriter(ctx, func() { err = s.writer.nextSegment() }); gaveUp != nil {
		return gaveUp
	}
	return err
}

// nextSegment ends the active segment, if the log is still where it was.
func (w *writer) nextSegment() error {
	if err := w.present(); err != nil {
		return err
	}
	return w.succeed()
}

// purgeQuarantine removes the copies of damaged lines that mention a memory.
func (s *Store) purgeQuarantine(p purged) (removed int, err error) {
	entries, err := s.fs.ReadDir(s.quarantineDir())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		name := filepath.Join(s.quarantineDir(), e.Name())
		if !strings.Contains(e.Name(), "@") || !e.Type().IsRegular() {
			continue
		}
		b, err := durable.ReadAll(s.fs, name)
		if err != nil {
			return removed, err
		}
		if !p.mentioned(b) {
			continue
		}
		if err := s.fs.Remove(name); err != nil {
			return removed, err
		}
		removed++
	}
	if removed > 0 {
		err = s.fs.SyncDir(s.quarantineDir())
	}
	return removed, err
}

// Mentions lists the files of other devices that say something about a memory,
// history files too: no purge of this device reaches them.
func (s *Store) Mentions(ctx context.Context, id memory.ID) ([]Mention, error) {
	files, err := s.Segments()
	if err != nil {
		return nil, err
	}
	var out []Mention
	p := purged{id.Bytes(): forever()}
	for _, g := range files {
		if g.Own {
			continue
		}
		found, err := s.tells(ctx, filepath.Join(s.data, g.Path()), p)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if found || err != nil { // what cannot be read may
			out = append(out, Mention{Device: g.Device, File: g.Name})
		}
	}
	return slices.Clip(out), nil
}

// Purgeable lists this device's files that say something about a memory, which
// purging it would rewrite.
func (s *Store) Purgeable(ctx context.Context, id memory.ID) ([]string, error) {
	if s.table.cell(id.Bytes()) == nil {
		return nil, memory.Errorf(memory.NotFound, "there is no memory %s to purge", id).At("id")
	}
	names, err := s.telling(ctx, purged{id.Bytes(): forever()})
	return append([]string{}, names...), err
}
