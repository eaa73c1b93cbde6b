package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

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
	store, err := vectors.Open(dir, &vectors.Options{FS: e.opt.FS, Logger: e.opt.Logger, Identity: made.Key(), Dim: made.Dim, Device: writer, Now: e.opt.Now})
	if err != nil {
		return err
	}
	s := rack{store: store}
	return errors.Join(s.drop(ctx, memoryDoc(id)), store.Close())
}

// forgetPurged does on this device what a purge asks for beside the log, whichever device
// asked, and takes note of what it cannot: when another device did, backups are removed when
// somebody says so here. The log asks for it before it takes purges for carried out, so that
// none is left out, after a crash either.
func (e *Engine) forgetPurged(ctx context.Context, by map[memory.ID]string) (err error) {
	e.purges.Add(1)
	here, foreign := e.stm.Status().Device, []memory.ID(nil)
	for id, device := range by {
		err = errors.Join(err, e.purgeTraces(ctx, id))
		if device != here {
			foreign = append(foreign, id)
		}
	}
	err = errors.Join(err, e.ledger.Forget(func(id memory.ID) bool { _, gone := by[id]; return gone }))
	if len(foreign) > 0 && e.lists != nil {
		e.lists.forget(foreign)
		e.lists.changed()
	}
	if len(foreign) > 0 {
		err = errors.Join(err, e.holdBackups(foreign))
	}
	return err
}

// followPurges does so at once with what has just arrived. The log follows within a minute.
func (e *Engine) followPurges(ctx context.Context) {
	due := e.stm.DuePurges()
	if len(due) == 0 {
		return
	}
	if err := e.forgetPurged(ctx, due); err != nil {
		e.opt.Logger.Warn("a purge that another device asked for is not carried out yet, and is tried again", "err", err)
	}
	nudge(e.dirty)
}
