package purge

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"emberd/engine/core"
	"emberd/engine/semantic"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/vectors"
)

// traces returns, for each place besides the log that knows of a memory, the function that
// removes a purged memory. A feature that stores something about memories must be in this
// list.
func (e *Purge) traces() []func(context.Context, memory.ID) error {
	return []func(context.Context, memory.ID) error{
		e.Semantic.Meaning.Purge,
		e.purgeClosedIndexes,
		func(_ context.Context, id memory.ID) error { return e.Cleanup.Cleanups.Folder.Forget(id) },
		func(_ context.Context, id memory.ID) error {
			if e.Sync.Sync == nil {
				return nil
			}
			return e.Sync.Sync.NoteChanges.Forget(id)
		},
		func(context.Context, memory.ID) error { return e.Health.Reports.Forget() },
		// returned texts may contain it
		func(context.Context, memory.ID) error { e.Hooks.ForgetEchoes(); return nil },
	}
}

// purgeTraces calls all of them, even if one fails.
func (e *Purge) purgeTraces(ctx context.Context, id memory.ID) (err error) {
	for _, forget := range e.traces() {
		err = errors.Join(err, forget(ctx, id))
	}
	return err
}

// purgeClosedIndexes removes a memory from vector indexes that are not open: those of earlier models
// and of earlier settings.
func (e *Purge) purgeClosedIndexes(ctx context.Context, id memory.ID) (err error) {
	roots := []string{filepath.Join(e.Opt.State, "vectors"), filepath.Join(e.Opt.Data, "vectors")}
	if e.Semantic.Meaning != nil && !slices.Contains(roots, e.Semantic.Meaning.Dir) {
		roots = append(roots, e.Semantic.Meaning.Dir)
	}
	e.Semantic.Indexes.Mu.Lock()
	defer e.Semantic.Indexes.Mu.Unlock()
	for _, root := range roots {
		dirs, failed := e.Opt.FS.ReadDir(root)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
		for _, d := range dirs {
			if dir := filepath.Join(root, d.Name()); d.IsDir() && !slices.Contains(e.Semantic.Indexes.Dirs, dir) {
				err = errors.Join(err, e.purgeIndex(ctx, dir, id))
			}
		}
	}
	return err
}

// purgeIndex removes a memory from this device's embeddings in a folder.
func (e *Purge) purgeIndex(ctx context.Context, dir string, id memory.ID) error {
	for _, writer := range []string{semantic.Alone, e.Stm.Status().Device} {
		var f semantic.VectorIndexFile
		data, err := durable.ReadAll(e.Opt.FS, filepath.Join(dir, writer+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		if err == nil {
			err = e.purgeVectors(ctx, dir, writer, f.Identity.Dim, id)
		}
		if err != nil {
			return memory.Errorf(memory.Unavailable, "cannot delete the embedding of the memory from folder %s: %w; "+
				"delete the folder; emberd then computes the embeddings again", dir, err)
		}
	}
	return nil
}

// purgeVectors takes the vectors of a memory out of a folder, which is named by the key of its vectors.
func (e *Purge) purgeVectors(ctx context.Context, dir, writer string, dim int, id memory.ID) error {
	store, err := vectors.Open(dir, &vectors.Options{FS: e.Opt.FS, Logger: e.Opt.Logger, Identity: filepath.Base(dir),
		Dim: dim, Device: writer, Now: e.Opt.Now})
	if err != nil {
		return err
	}
	s := semantic.VectorIndex{Store: store}
	return errors.Join(s.Drop(ctx, semantic.MemoryDoc(id)), store.Close())
}

// ForgetPurged does the part of a purge besides the log, on this device and for any device. It
// records what it cannot do: after a purge of another device, backups are removed only at the
// user's request here. The log calls it before it marks purges as done, so that a crash leaves
// none out.
func (e *Purge) Apply(ctx context.Context, by map[memory.ID]string) (err error) {
	e.Purges.Add(1)
	err = core.AddPurged(e.Opt.FS, e.Opt.State, e.Stm.Purges())
	here, foreign := e.Stm.Status().Device, []memory.ID(nil)
	for id, device := range by {
		err = errors.Join(err, e.purgeTraces(ctx, id))
		if device != here {
			foreign = append(foreign, id)
		}
	}
	if vault := e.Promote.Notes.Vault; vault != nil {
		err = errors.Join(err, vault.Scrub(ctx))
	}
	err = errors.Join(err, e.Ledger.Forget(func(id memory.ID) bool { _, gone := by[id]; return gone }))
	if len(foreign) > 0 && e.Lists.Lists != nil {
		e.Lists.Lists.Forget(foreign)
		e.Lists.Lists.Changed()
		e.Links.Known.Changed()
	}
	if len(foreign) > 0 {
		err = errors.Join(err, e.recordHeld(foreign))
	}
	return err
}

// followPurges calls ForgetPurged for the purges that just arrived. The log follows within a
// minute.
func (e *Purge) ApplyDue(ctx context.Context) {
	due := e.Stm.DuePurges()
	if len(due) == 0 {
		return
	}
	if err := e.Apply(ctx, due); err != nil {
		e.Opt.Logger.Warn("permanent deletion by another device not applied yet; retrying", "err", err)
	}
	core.Nudge(e.Dirty)
}
