package wal

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"emberd/compaction"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// ReplaceSnapshotNow writes a snapshot even if little changed, or leaves none.
func (s *Log) ReplaceSnapshotNow(ctx context.Context) error {
	if err := s.FS.Remove(device.AsideIn(s.State)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.Snapshot.fresh.Store(false)
	documentStore{s}.tidyNext()
	err := s.WriteSnapshot(ctx, false)
	if err == nil {
		return documentStore{s}.sweep()
	}
	s.Logger.Warn("snapshot not written after a permanent deletion; removed the old snapshot", "error", err)
	err = s.FS.Remove(s.SnapshotPath())
	if err == nil {
		err = s.FS.SyncDir(filepath.Dir(s.SnapshotPath()))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return documentStore{s}.drop()
	}
	return err
}

// PurgeKept takes purged memories out of the snapshots of earlier logs, and returns the names of those that held one.
// One that cannot be read is removed. With dry it changes nothing.
func PurgeKept(ctx context.Context, s *Log, p record.Redaction, dry bool) (names []string, err error) {
	for _, name := range device.KeptSnapshots(s.FS, s.State) {
		held, err := snapshot.Witness(s.FS, name)
		if err == nil && !drops(held.Table, p) && held.Files == 0 { // files of documents may have more than rows say
			continue
		}
		names = append(names, filepath.Base(name))
		switch {
		case dry:
		case err != nil || held.Meta == nil:
			s.Logger.Warn("removed an unreadable snapshot of an earlier log before a permanent deletion", "snapshot",
				name)
			err = errors.Join(s.FS.Remove(name), s.FS.SyncDir(filepath.Dir(name)))
		default:
			err = snapshot.Save(ctx, s.FS, name, &snapshot.Content{Meta: *held.Meta, Table: held.Table,
				Journal: journal.NewJournal(s.Home, &journal.FileTable{}), Keys: journal.NewIdemKeys(),
				Words: words.New()}, snapshot.Manner{})
		}
		if err != nil && !dry {
			return names, err
		}
	}
	return names, nil
}

// drops takes purged memories out of a table that no log owns, and reports whether it had one.
func drops(t *table.Table, p record.Redaction) (had bool) {
	for key := range p {
		_, lies := t.Graves[key]
		had = had || lies || t.Cells[key] != nil
		delete(t.Cells, key)
		delete(t.Graves, key)
	}
	_ = t.UnrelateAll(p) // all documents of this table are in memory
	return had
}

// KeptIDs has the memories in the snapshots of earlier logs as its keys.
func KeptIDs(s *Log) map[[16]byte]record.Stamp {
	out := map[[16]byte]record.Stamp{}
	for _, name := range device.KeptSnapshots(s.FS, s.State) {
		held, err := snapshot.Witness(s.FS, name)
		if err != nil {
			continue // a purge removes it
		}
		for _, c := range held.Table.Every() {
			out[c.Row.Load().Key] = record.Stamp{}
		}
	}
	return out
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
