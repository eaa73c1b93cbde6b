package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"emberd/embedding"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/vectors"
)

// traces are the places of this device beside the log that know of a memory, each with what
// has it forget one that was purged. Whatever comes to keep something of memories belongs
// into this list.
func (e *Engine) traces() []func(context.Context, memory.ID) error {
	return []func(context.Context, memory.ID) error{
		e.meaning.purge,
		e.purgeShelved,
		func(_ context.Context, id memory.ID) error { return e.cleanups.folder.Forget(id) },
		func(_ context.Context, id memory.ID) error {
			if e.truth == nil {
				return nil
			}
			return e.truth.mailbag.forget(id)
		},
		func(context.Context, memory.ID) error { return e.reports.forget() },
		func(context.Context, memory.ID) error { e.forgetEchoes(); return nil }, // what was given out may have had its text
	}
}

// purgeTraces tries all of them, whichever fail.
func (e *Engine) purgeTraces(ctx context.Context, id memory.ID) (err error) {
	for _, forget := range e.traces() {
		err = errors.Join(err, forget(ctx, id))
	}
	return err
}

// purgeShelved takes a memory off the vectors that are not open: those of models that are
// not there any more, or that no setting names.
func (e *Engine) purgeShelved(ctx context.Context, id memory.ID) (err error) {
	roots := []string{filepath.Join(e.opt.State, "vectors"), filepath.Join(e.opt.Data, "vectors")}
	if e.meaning != nil && !slices.Contains(roots, e.meaning.Dir) {
		roots = append(roots, e.meaning.Dir)
	}
	e.racks.mu.Lock()
	defer e.racks.mu.Unlock()
	for _, root := range roots {
		dirs, failed := e.opt.FS.ReadDir(root)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
		for _, d := range dirs {
			if dir := filepath.Join(root, d.Name()); d.IsDir() && !slices.Contains(e.racks.dirs, dir) {
				err = errors.Join(err, e.purgeRack(ctx, dir, id))
			}
		}
	}
	return err
}

// purgeRack takes a memory off the vectors of this device in a folder.
func (e *Engine) purgeRack(ctx context.Context, dir string, id memory.ID) error {
	for _, writer := range []string{alone, e.stm.Status().Device} {
		var f rackFile
		data, err := durable.ReadAll(e.opt.FS, filepath.Join(dir, writer+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		if err == nil {
			err = e.purgeVectors(ctx, dir, writer, f.Identity, id)
		}
		if err != nil {
			return memory.Errorf(memory.Unavailable, "the vectors in %s may still have that of the memory (%w); delete the folder, they are made again", dir, err)
		}
	}
	return nil
}

func (e *Engine) purgeVectors(ctx context.Context, dir, writer string, made embedding.Identity, id memory.ID) error {
	store, err := vectors.Open(dir, &vectors.Options{FS: e.opt.FS, Logger: e.opt.Logger, Identity: made.Key(), Dim: made.Dim, Device: writer})
	if err != nil {
		return err
	}
	s := rack{store: store}
	return errors.Join(s.drop(ctx, memoryDoc(id)), store.Close())
}

// followPurge does on this device what a purge does on the one that asked for it, and tells
// what it cannot: backups are removed when somebody says so.
func (e *Engine) followPurge(ctx context.Context, ids []memory.ID) {
	for _, id := range ids {
		e.purges.Add(1)
		err := e.purgeTraces(ctx, id)
		if err == nil {
			err = e.heldBackups(id)
		}
		e.chores.settle("purge of memory "+id.Short()+" that another device asked for", err)
	}
}

// heldBackups is an error while backups of this device hold a memory.
func (e *Engine) heldBackups(id memory.ID) error {
	dir, held := BackupFolder(e.opt.State), 0
	entries, err := e.opt.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if holds, err := e.backupHolds(filepath.Join(dir, entry.Name()), id); holds || err != nil {
			held++
		}
	}
	if held > 0 {
		return memory.Errorf(memory.Conflict, "%d backups in %s hold it; emberd purge --backups %s removes them", held, dir, id)
	}
	return nil
}
