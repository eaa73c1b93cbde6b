package wal

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// Rewrite folds sealed files of this device into one, verifies it, and puts it
// beside them with a history of what was superseded. Saves and searches continue
// in the meantime; only one Rewrite or Unlink at a time, others are busy. The inputs
// stay until Unlink. What a crash after each step leaves:
//
//	K1 fold the inputs              nothing
//	K2 write two temporary files    temporary files, removed by the next Open
//	K3 sync them                    the same
//	K4 read them back and compare   the same
//	K5 rename history, then output  names that may or may not be there; the
//	                                inputs still are, and say the same
//	K6 sync the folder              the output for good, the inputs replaced
//
// An error leaves the inputs as they are, and no temporary file if the disk lets
// go of it.
func (s *Log) Rewrite(ctx context.Context, job compaction.Job) (compaction.Result, error) {
	if !s.Rewriting.TryLock() {
		return compaction.Result{}, errRewriting()
	}
	defer s.Rewriting.Unlock()
	out, err := s.compact(ctx, job)
	if err != nil {
		return compaction.Result{}, s.compactionFailed(ctx, err)
	}
	return out.Result, nil
}

// compact runs a compaction and takes its files into use. The caller holds rewriting.
func (s *Log) compact(ctx context.Context, job compaction.Job) (compaction.Output, error) {
	if !job.DryRun {
		if err := s.Purging(); err != nil {
			return compaction.Output{}, err
		}
	}
	out, err := compaction.Run(ctx, s.compactionSource(), job)
	if err == nil && !job.DryRun {
		err = s.adopt(ctx, &out)
	}
	return out, err
}

// adopt makes a published file the one that lines are looked up in.
func (s *Log) adopt(ctx context.Context, out *compaction.Output) error {
	name := filepath.Join(s.OwnDir(), out.Output)
	file := s.AddFile(name)
	for i := range out.Lines {
		out.Lines[i].At.File = file
	}
	deletes := make(map[[16]byte]table.TombstoneRef, len(out.Deletes))
	for key, l := range out.Deletes {
		l.At.File = file
		deletes[key] = table.TombstoneRef{Stamp: l.Stamp, Tx: l.Tx, At: l.At}
	}
	if out.History != "" {
		s.Journal.NoteHistory(filepath.Join(s.OwnDir(), out.History))
	}
	old := make([]string, len(out.Inputs))
	for i, base := range out.Inputs {
		old[i] = filepath.Join(s.OwnDir(), base)
	}
	if out.Seen != nil {
		s.Review.raise(&record.Header{Dev: s.Device.String(), Floor: out.Floor.String(), Seen: out.Seen})
	}
	s.noteMade(out.Output, out.History)
	gone := s.Retire(old)
	s.Journal.Swap(gone, journal.InOrder(out.Lines))
	s.Table.Moved(gone, deletes)
	s.bytes.Add(out.After - out.Before)
	s.dead.folded(gone, out.Before-out.After, out.All)
	s.Snapshot.fresh.Store(false)
	return s.OnWriter(context.WithoutCancel(ctx), func() {
		for _, name := range old {
			delete(s.Snapshot.marks, name)
		}
		if info, err := s.FS.Lstat(name); err == nil && out.Verbatim == 0 {
			s.Snapshot.marks[name] = snapshot.MarkOf(name, info)
		}
		s.Table.Drop(out.Dropped)
	})
}

// noteMade remembers the files that a compaction made.
func (s *Log) noteMade(names ...string) {
	for _, base := range names {
		if base == "" {
			continue
		}
		if err := s.own.NoteMade(base); err != nil {
			s.Logger.Debug("write position of a log file not stored", "file", base, "error", err)
		}
	}
}

// compactionSource returns the log as it is now for a compaction.
func (s *Log) compactionSource() compaction.Source {
	now := s.Now()
	return compaction.Source{FS: s.FS, Dir: s.OwnDir(), Device: s.Device, Log: s.Logger, Now: now,
		TrashKeep: s.TrashKeep, Hide: s.foreignTombstones(now), Purged: s.Table.Purged(),
		Cold:    func(key [16]byte) bool { c := s.Table.Cell(key); return c != nil && c.Row.Load().Cold() },
		Decided: s.Quarantine.Hashes(), IsActive: s.isActive, Seen: s.Snapshot.Seen.Contiguous,
		Missing: healer{s}.missing(), Foreign: s.foreignNames}
}

// missing are own numbers that are missed, or would be without other devices. A damaged line is told by itself.
func (h healer) missing() *record.Ranges {
	h.Snapshot.mu.Lock()
	defer h.Snapshot.mu.Unlock()
	out := record.Ranges{Spans: slices.Clone(h.Snapshot.carried.Spans)}
	if met := h.met(); met.Gaps > met.Quarantined {
		out.AddAll(&h.Snapshot.missed)
	}
	return &out
}

// foreignNames lists the files of other devices that a start reads.
func (s *Log) foreignNames() (names []string, err error) {
	files, err := s.Segments()
	for _, g := range files {
		if !g.Own && g.Kind != record.History {
			names = append(names, filepath.Join(s.Data, g.Path()))
		}
	}
	return names, err
}

// compactionFailed reports what went wrong in a way that a caller can act on.
func (s *Log) compactionFailed(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*memory.Error](err); ok || ctx.Err() != nil {
		return err
	}
	code, reason := device.Explain(s.Data, err)
	if errors.Is(err, compaction.ErrVerify) {
		code, reason = memory.Internal, err.Error()
	}
	return memory.Errorf(code, "compaction stopped without changing the log: %s", reason)
}

// isActive reports whether a file may still be written: while a segment gets its
// seal, its successor is there already.
func (s *Log) isActive(base string) bool {
	n := record.ParseName(base)
	return n.Kind == record.Raw && n.To >= s.unsealed.Load()
}

// foreignTombstones are deletions by other devices that can no longer be
// reverted from the trash.
func (s *Log) foreignTombstones(now time.Time) map[[16]byte]record.Stamp {
	hide := map[[16]byte]record.Stamp{}
	s.Table.Mu.RLock()
	defer s.Table.Mu.RUnlock()
	for key, c := range s.Table.Cells {
		tomb := c.Row.Load().Rest().Tomb
		if !tomb.IsZero() && tomb.Dev != s.Device && now.Sub(tomb.Time()) >= s.TrashKeep {
			hide[key] = tomb
		}
	}
	return hide
}
