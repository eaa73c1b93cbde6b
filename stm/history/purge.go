package history

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
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
// log, which hides everything about the memory but what is saved again later, and
// takes it and the relations of other memories to it out of every file of this device.
// Nothing takes that back. Other devices follow when they see it. An error after the
// line is written leaves the memory hidden and its files to [Store.CarryOutPurges].
func (s *Timeline) Purge(ctx context.Context, id memory.ID, by memory.Actor) (Purged, error) {
	key := id.Bytes()
	got, err := s.update(ctx, []memory.ID{id}, "", func(rows []*table.Row) (*wal.Tx, error) {
		if rows[0] == nil && !s.known(key) {
			return nil, memory.Errorf(memory.NotFound, "memory %s not found, so nothing was deleted", id).At("id")
		}
		if rows[0] == nil && !s.wal.Table.PurgedAt(key).IsZero() {
			return nil, nil // again, for its files
		}
		return &wal.Tx{Verb: "purge", By: by, Changes: []wal.Change{{ID: id, Purge: true}}}, nil
	})
	if err != nil {
		return Purged{}, err
	}
	s.wal.Table.SettlePurges(map[[16]byte]table.Purge{key: {Stamp: s.wal.Table.PurgedAt(key)}}, true)
	out, err := s.CarryOutPurges(ctx)
	out.Entry = got.Entry
	return out, err
}

// known reports whether the log, or the snapshot of an earlier one, has a memory.
func (s *Timeline) known(key [16]byte) bool {
	if s.wal.Table.Cell(key) != nil {
		return true
	}
	_, kept := wal.KeptIDs(s.wal)[key]
	return kept
}

// Purged reports whether a memory was purged and has not been saved again since.
func (s *Timeline) Purged(id memory.ID) bool {
	key := id.Bytes()
	return s.wal.Table.Get(id) == nil && !s.wal.Table.PurgedAt(key).IsZero()
}

// PurgesDue reports whether files of this device may still hold a memory that
// was purged, here before a crash or on another device.
func (s *Timeline) PurgesDue() bool { return len(s.wal.Table.DuePurges()) > 0 }

// DuePurges are those memories, each with the device that purged it. The caller owns the map.
func (s *Timeline) DuePurges() map[memory.ID]string { return purgedBy(s.wal.Table.DuePurges()) }

func purgedBy(due map[[16]byte]table.Purge) map[memory.ID]string {
	by := make(map[memory.ID]string, len(due))
	for key, p := range due {
		by[memory.IDFromBytes(key)] = p.Stamp.Dev.String()
	}
	return by
}

// CarryOutPurges takes purged memories out of this device's files: all of the
// log, history too, copies of damaged lines, and the snapshot. It waits for a
// compaction that is running. After an error, or a crash, purges are still due.
func (s *Timeline) CarryOutPurges(ctx context.Context) (Purged, error) {
	s.wal.Rewriting.Lock()
	defer s.wal.Rewriting.Unlock()
	var out Purged
	due := s.wal.Table.DuePurges()
	if len(due) == 0 {
		return out, nil
	}
	err := s.sweepPurged(ctx, due, &out)
	if err != nil && ctx.Err() == nil {
		code, reason := memory.CodeOf(err), err.Error()
		if _, ok := errors.AsType[*memory.Error](err); !ok {
			code, reason = device.Explain(s.wal.Data, err)
		}
		err = memory.Errorf(code, "emberd deleted the memory permanently, but some files still "+
			"contain parts of it: %s; emberd tries again automatically", reason)
	}
	return out, err
}

func (s *Timeline) sweepPurged(ctx context.Context, due map[[16]byte]table.Purge, out *Purged) error {
	if err := s.wal.Purging(); err != nil {
		return err
	}
	p := s.wal.Table.Purged()
	dirty, err := s.Telling(ctx, p)
	if err != nil {
		return err
	}
	if len(dirty) > 0 {
		if err := s.rewrite(ctx, dirty); err != nil {
			return err
		}
		if left, err := s.Telling(ctx, p); err != nil || len(left) > 0 {
			return errors.Join(err, memory.Errorf(memory.Busy, "cannot remove the memory from %s",
				strings.Join(left, ", ")))
		}
		out.Rewritten = dirty
	}
	kept, err := wal.PurgeKept(ctx, s.wal, p, false)
	if err != nil {
		return err
	}
	out.Rewritten = append(out.Rewritten, kept...)
	if out.Quarantine, err = s.wal.Quarantine.Purge(p); err != nil {
		return err
	}
	var unread error
	erase := func() {
		s.wal.Table.Erase(due)
		unread = s.wal.Table.UnrelateAll(p)
		s.wal.Keys.Purge(due)
	}
	if err := errors.Join(s.wal.OnWriter(ctx, erase), unread); err != nil {
		return err
	}
	if s.purged != nil {
		if err := s.purged(ctx, purgedBy(due)); err != nil {
			return err
		}
	}
	s.wal.Table.SettlePurges(due, false)
	if err := s.wal.ReplaceSnapshotNow(ctx); err != nil {
		s.wal.Table.SettlePurges(due, true)
		return err
	}
	return nil
}

// rewrite folds this device's files and, of those that tell, the ones under former names.
func (s *Timeline) rewrite(ctx context.Context, dirty []string) error {
	former := map[record.Device]bool{}
	for _, name := range dirty {
		if dev, ok := record.ParseDevice(filepath.Dir(name)); ok {
			former[dev] = true
		}
	}
	if err := s.wal.RewriteAll(ctx); err != nil {
		return err
	}
	for dev := range former {
		if err := wal.RewriteFormer(ctx, s.wal, dev); err != nil {
			return err
		}
	}
	return nil
}

// mayRewrite reports whether a device's files are this one's.
func (s *Timeline) mayRewrite(g *record.Segment) bool {
	dev, ok := record.ParseDevice(g.Device)
	return ok && s.wal.Peers.MayRewrite(dev)
}

// Telling lists this device's files that still say something about purged
// memories, those under former names with their folder.
func (s *Timeline) Telling(ctx context.Context, p record.Redaction) (names []string, err error) {
	files, err := s.wal.Segments()
	if err != nil {
		return nil, err
	}
	for _, g := range files {
		if !s.mayRewrite(&g) {
			continue
		}
		found, err := s.tells(ctx, filepath.Join(s.wal.Data, g.Path()), p)
		if err != nil {
			return nil, err
		}
		if found && !g.Own {
			g.Name = filepath.Join(g.Device, g.Name)
		}
		if found {
			names = append(names, g.Name)
		}
	}
	return names, nil
}

// Mentions lists the files of other devices that say something about a memory,
// history files too, and those under former names that others may write under: no purge of this device reaches them.
func (s *Timeline) Mentions(ctx context.Context, id memory.ID) ([]Mention, error) {
	files, err := s.wal.Segments()
	if err != nil {
		return nil, err
	}
	var out []Mention
	p := record.Redaction{id.Bytes(): record.MaxStamp()}
	for _, g := range files {
		if s.mayRewrite(&g) {
			continue
		}
		found, err := s.tells(ctx, filepath.Join(s.wal.Data, g.Path()), p)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if found || err != nil { // what cannot be read may
			out = append(out, Mention{Device: g.Device, File: g.Name})
		}
	}
	return slices.Clip(out), nil
}

// Purgeable lists this device's files, and the snapshots of earlier logs, that say something about a memory, which
// purging it would rewrite.
func (s *Timeline) Purgeable(ctx context.Context, id memory.ID) ([]string, error) {
	if !s.known(id.Bytes()) {
		return nil, memory.Errorf(memory.NotFound, "memory %s not found, so nothing was deleted", id).At("id")
	}
	p := record.Redaction{id.Bytes(): record.MaxStamp()}
	names, err := s.Telling(ctx, p)
	if err != nil {
		return nil, err
	}
	kept, err := wal.PurgeKept(ctx, s.wal, p, true)
	return slices.Concat([]string{}, names, kept), err
}

// tells reports whether a log file says anything about purged memories but that
// they were purged.
func (s *Timeline) tells(ctx context.Context, name string, p record.Redaction) (found bool, err error) {
	f, err := s.wal.FS.OpenRead(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	dev, _ := record.ParseDevice(filepath.Base(filepath.Dir(name)))
	_, err = record.ScanLines(ctx, f, record.AtOnce(f, 0), func(b []byte, _ record.Place, whole bool) error {
		if found {
			return nil
		}
		l, good, is := record.Classify(b, whole, dev)
		_, _, _, found = p.Redact(b, good, &l, is)
		return nil
	})
	return found, err
}
