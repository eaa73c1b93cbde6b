package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// BackupCreate writes the log, as of one moment, to one file. Saves continue.
func (e *Storage) BackupCreate(ctx context.Context, req *op.BackupCreateRequest) (*op.BackupCreateResult, error) {
	created := core.StampTime(e.Opt.Now())
	file := req.File
	if file == "" {
		file = e.backupName("emberd-", created)
		if err := durable.MkdirAll(e.Opt.FS, filepath.Dir(file)); err != nil {
			return nil, BackupFault(file, err)
		}
	}
	if !filepath.IsAbs(file) {
		return nil, memory.Errorf(memory.Invalid, "invalid file %q; use an absolute path, which begins with /",
			file).At("file")
	}
	if below, err := filepath.Rel(e.Opt.Data, file); err == nil && filepath.IsLocal(below) {
		return nil, memory.Errorf(memory.Invalid,
			"%s is in the data folder, which the backup copies; choose a location outside of that folder",
			file).At("file")
	}
	if e.Opt.Sandbox.Closed(file) {
		return nil, memory.Errorf(memory.Forbidden, "the sandbox of the daemon does not allow writing %s; omit the "+
			"file name and copy the backup afterwards, or set sandbox to off and restart the daemon", file).At("file")
	}
	m, err := e.writeBackup(ctx, file, created, false)
	if err != nil {
		return nil, BackupFault(file, err)
	}
	info, err := e.Opt.FS.Lstat(file)
	if err != nil {
		return nil, BackupFault(file, err)
	}
	if filepath.Dir(file) == core.BackupFolder(e.Opt.State) {
		e.Backups.made(m, filepath.Base(file))
	}
	healed := e.healLog(ctx, m)
	return &op.BackupCreateResult{File: file, Bytes: info.Size(), Files: len(m.Files), Content: m.Bytes(),
		Created: created, Memories: m.Memories, FromMemory: m.FromMemory, LostTrash: m.LostTrash,
		Damaged: m.Damaged, Healed: healed}, nil
}

func (e *Storage) backupName(kind string, created time.Time) string {
	return filepath.Join(core.BackupFolder(e.Opt.State),
		kind+created.Format("20060102T150405.000Z")+"-"+e.Stm.Status().Device+".tar.gz")
}

// writeBackup writes a backup of the log as it is now, and compares it with what the store knows. It
// does so again if a memory is purged in the meantime: the purge did not see the file.
func (e *Storage) writeBackup(ctx context.Context, file string, created time.Time, automatic bool) (*backup.Manifest,
	error) {
	const attempts = 3
	for try := 1; ; try++ {
		purges := e.Purges.Load()
		m, err := e.writeOnce(ctx, file, created, automatic)
		if err != nil || e.Purges.Load() == purges {
			return m, err
		}
		if err := e.Opt.FS.Remove(file); err != nil {
			return nil, err
		}
		if try == attempts {
			return nil, memory.Errorf(memory.Busy, "a permanent deletion is in progress; create the backup later")
		}
	}
}

func (e *Storage) writeOnce(ctx context.Context, file string, created time.Time, automatic bool) (*backup.Manifest,
	error) {
	moment, known, err := e.Stm.Moment(ctx)
	if err != nil {
		return nil, err
	}
	log := &backup.Log{FS: e.Opt.FS, Data: e.Opt.Data, Known: known,
		Damage: func(ctx context.Context) ([]string, error) { return e.damage(ctx, moment.Read) }}
	m, err := backup.Create(ctx, e.Opt.FS, e.Opt.Data, file, backup.Manifest{Emberd: e.Opt.Version, Created: created,
		Device: moment.Device, Seq: moment.Seq, Stamp: moment.Stamp, Automatic: automatic,
		TrashSince: created.Add(-e.Opt.TrashKeep)}, moment.Of, log.Fill)
	if err == nil && m.FromMemory+m.LostTrash > 0 {
		e.Opt.Logger.Error("log on the disk lacks memories", "from_daemon", m.FromMemory,
			"lost_from_trash", m.LostTrash, "damage", m.Damaged)
	}
	return m, err
}

// healLog writes what a backup found missing to the log again, and reports whether all that is known of it
// is there now.
func (e *Storage) healLog(ctx context.Context, m *backup.Manifest) bool {
	if m.FromMemory+m.LostTrash == 0 {
		return false
	}
	got, err := e.Stm.Heal(ctx, nil, false)
	if memory.CodeOf(err) == memory.Busy { // the log noticed by itself: wait for it
		if _, err = e.Stm.Refresh(ctx); err == nil {
			got, err = e.Stm.Heal(ctx, nil, false)
		}
	}
	if err != nil {
		e.Opt.Logger.Warn("cannot write the missing records to the log", "error", err)
		return false
	}
	e.Opt.Logger.Info("wrote the missing records to the log", "memories", got.Memories, "lines", got.Lines)
	return true
}

// damage says what is wrong with the files of the log, of which the store read those in read: at most
// twenty sentences.
func (e *Storage) damage(ctx context.Context, read []string) (out []string, err error) {
	for _, name := range read {
		if _, err := e.Opt.FS.Lstat(filepath.Join(e.Opt.Data, name)); errors.Is(err, fs.ErrNotExist) {
			out = append(out, name+" is missing")
		}
	}
	check, err := stm.CheckDecidedLog(ctx, e.Opt.FS, e.Opt.Data, e.Opt.State, e.Opt.Now())
	if errors.Is(err, fs.ErrNotExist) {
		return append(out, "the folder of the log is missing"), nil
	}
	if err != nil {
		return out, err
	}
	found := check.Missing
	for _, f := range check.Files {
		i := slices.IndexFunc(f.Findings, func(g stm.LogFinding) bool { return !g.Harmless })
		if i >= 0 {
			found = append(found, f.Findings[i])
		}
	}
	for _, f := range found {
		name, failed := filepath.Rel(e.Opt.Data, f.File)
		if failed != nil {
			name = f.File
		}
		out = append(out, fmt.Sprintf("%s, line %d: %s", filepath.ToSlash(name), f.Line, f.Reason))
	}
	return out[:min(len(out), 20)], nil
}

// BackupFault converts an error of the disk to one that says what to do.
func BackupFault(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return memory.Errorf(memory.Invalid, "%s already exists; choose another name", file).At("file")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return memory.Errorf(memory.Invalid, "cannot write the backup %s: %w; create the folder of the backup first",
			file, err).At("file")
	case errors.Is(err, fs.ErrPermission):
		return memory.Errorf(memory.Invalid, "cannot write %s: %w; choose another location", file, err).At("file")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.Errorf(memory.DiskFull,
			"the disk has too little free space for the backup %s; free some space, or choose another location", file)
	}
	return err
}
