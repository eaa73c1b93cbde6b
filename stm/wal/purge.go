package wal

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// ReplaceSnapshotNow writes a snapshot even if little changed, or leaves none.
func (s *Log) ReplaceSnapshotNow(ctx context.Context) error {
	if err := s.FS.Remove(device.AsideIn(s.State)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := purgeKept(s); err != nil {
		return err
	}
	s.Snapshot.fresh.Store(false)
	err := s.WriteSnapshot(ctx, false)
	if err == nil {
		return nil
	}
	s.Logger.Warn("snapshot not written after a purge, so it is removed", "error", err)
	err = s.FS.Remove(s.SnapshotPath())
	if err == nil {
		err = s.FS.SyncDir(filepath.Dir(s.SnapshotPath()))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// purgeKept removes the snapshots of earlier logs that hold a purged memory, or cannot be read.
func purgeKept(s *Log) error {
	for _, name := range device.KeptSnapshots(s.FS, s.State) {
		held, err := repair.OfSnapshot(s.FS, name)
		holds := err != nil
		for key := range s.Table.AllPurges() {
			holds = holds || held.Table.Cell(key) != nil
		}
		if !holds {
			continue
		}
		s.Logger.Warn("the snapshot of an earlier log is removed, since it holds a purged memory", "snapshot", name)
		if err := errors.Join(s.FS.Remove(name), s.FS.SyncDir(filepath.Dir(name))); err != nil {
			return err
		}
	}
	return nil
}

// RewriteAll folds all files of this device, histories too, and removes them.
// Every rewrite leaves out what was purged.
func (s *Log) RewriteAll(ctx context.Context) error {
	if err := s.sealNow(ctx); err != nil {
		return err
	}
	files, err := s.Segments()
	if err != nil {
		return err
	}
	job := compaction.Job{HistoryKeep: 1<<63 - 1, Histories: true}
	for _, g := range files {
		if g.Own && !g.Active {
			job.Inputs = append(job.Inputs, g.Name)
		}
	}
	begin := s.Now()
	out, err := s.compact(ctx, job)
	if err != nil {
		return err
	}
	return s.unlinkInputs(ctx, begin, out.Inputs)
}

// RewriteFormer is [Log.RewriteAll] for the files of a device whose name this one had, see [device.Peers.MayRewrite].
// To the rest of the log they are files of another device, which has compacted them.
func RewriteFormer(ctx context.Context, s *Log, dev record.Device) error {
	dir := filepath.Join(s.Data, "stm", dev.String())
	entries, err := s.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	job := compaction.Job{HistoryKeep: 1<<63 - 1, Histories: true}
	for _, e := range entries {
		if record.IsLogFile(e) {
			job.Inputs = append(job.Inputs, e.Name())
		}
	}
	from := s.compactionSource()
	from.Dir, from.Device, from.Hide, from.Missing = dir, dev, nil, s.before.Lacks(dev)
	from.IsActive = func(string) bool { return false }
	out, err := compaction.Run(ctx, from, job)
	if err == nil {
		err = pickUpFrom(ctx, s, dir)
	}
	if err != nil {
		return err
	}
	made, err := s.ReadHeader(filepath.Join(dir, out.Output))
	for _, base := range out.Inputs {
		if err == nil && compaction.IsListed(s.FS, dir, base, made.Replaces) {
			err = s.FS.Remove(filepath.Join(dir, base))
		}
	}
	if err == nil {
		err = s.FS.SyncDir(dir)
	}
	if err != nil {
		return err
	}
	return pickUpFrom(ctx, s, dir)
}

// unlinkInputs removes what was folded at once.
func (s *Log) unlinkInputs(ctx context.Context, begin time.Time, inputs []string) error {
	var out Unlinked
	if err := s.unlink(ctx, begin.Add(2*time.Second), time.Time{}, &out); err != nil {
		return err
	}
	for _, base := range inputs {
		if record.ParseName(base).Kind != record.History {
			continue
		}
		if err := s.unlinkOne(filepath.Join(s.OwnDir(), base), &out); err != nil {
			return err
		}
	}
	s.Journal.Swap(func(uint32) bool { return false }, nil)
	return s.FS.SyncDir(s.OwnDir())
}

// Purging tells which memories are purged, before any file is rewritten without them.
func (s *Log) Purging() error {
	due := s.Table.DuePurges()
	if s.purging == nil || len(due) == 0 {
		return nil
	}
	ids := make([]memory.ID, 0, len(due))
	for key := range due {
		ids = append(ids, memory.IDFromBytes(key))
	}
	return s.purging(ids)
}
