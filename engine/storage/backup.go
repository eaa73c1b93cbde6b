package storage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// BackupCreate writes the log, as of one moment, to one file. Saves continue.
func (e *Storage) BackupCreate(ctx context.Context, req *op.BackupCreateRequest) (*op.BackupCreateResult, error) {
	moment, err := e.Stm.Moment(ctx)
	if err != nil {
		return nil, err
	}
	created := core.StampTime(e.Opt.Now())
	file := req.File
	if file == "" {
		file = filepath.Join(core.BackupFolder(e.Opt.State),
			"emberd-"+created.Format("20060102T150405.000Z")+"-"+moment.Device+".tar.gz")
		if err := durable.MkdirAll(e.Opt.FS, filepath.Dir(file)); err != nil {
			return nil, BackupFault(file, err)
		}
	}
	if !filepath.IsAbs(file) {
		return nil, memory.Errorf(memory.Invalid, "file %q is not an absolute path; begin it with /", file).At("file")
	}
	if below, err := filepath.Rel(e.Opt.Data, file); err == nil && filepath.IsLocal(below) {
		return nil, memory.Errorf(memory.Invalid,
			"%s lies in the data folder, which the backup is of; choose a place outside of it", file).At("file")
	}
	if e.Opt.Sandbox.Closed(file) {
		return nil, memory.Errorf(memory.Forbidden,
			"the daemon's sandbox keeps it from writing %s; leave the name out and copy what is made, or start the "+
				"daemon with sandbox off", file).At("file")
	}
	m, err := backup.Create(ctx, e.Opt.FS, e.Opt.Data, file, backup.Manifest{Emberd: e.Opt.Version, Created: created,
		Device: moment.Device, Seq: moment.Seq, Stamp: moment.Stamp, Memories: e.Stm.Len()}, moment.Of)
	if err != nil {
		return nil, BackupFault(file, err)
	}
	info, err := e.Opt.FS.Lstat(file)
	if err != nil {
		return nil, BackupFault(file, err)
	}
	return &op.BackupCreateResult{File: file, Bytes: info.Size(), Files: len(m.Files), Content: m.Bytes(),
		Created: created}, nil
}

// BackupFault converts an error of the disk to one that says what to do.
func BackupFault(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return memory.Errorf(memory.Invalid, "%s is there already and stays as it is; choose another name",
			file).At("file")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return memory.Errorf(memory.Invalid, "the backup %s cannot be written (%w); make its folder first", file,
			err).At("file")
	case errors.Is(err, fs.ErrPermission):
		return memory.Errorf(memory.Invalid, "emberd may not write %s (%w); choose another place", file, err).At("file")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.Errorf(memory.DiskFull,
			"the disk is too full for the backup %s; make room, or choose another place", file)
	}
	return err
}
