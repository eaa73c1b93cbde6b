package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// purgeVerb is what the journal says of it.
const purgeVerb = "purge"

// purge removes a memory for good and tells where that does not reach.
func (e *Engine) purge(ctx context.Context, req *op.PurgeRequest) (*op.PurgeResult, error) {
	id, err := e.stm.Resolve(strings.TrimSpace(req.ID))
	if err != nil {
		return nil, err
	}
	res := &op.PurgeResult{ID: id, DryRun: req.DryRun, Rewritten: []string{}, Left: []op.PurgeLeft{}}
	notes, kin := e.notesLeft(id), e.mergedWith(id) // not known any more afterwards
	if req.DryRun {
		res.Rewritten, err = e.stm.Purgeable(ctx, id)
	} else {
		done, failed := e.stm.Purge(ctx, id, op.CallerFrom(ctx))
		e.purges.Add(1)
		res.Tx, res.Quarantine, err = done.Entry, done.Quarantine, failed
		res.Rewritten = append(res.Rewritten, done.Rewritten...)
	}
	if err != nil {
		return nil, err
	}
	res.Left = append(res.Left, kin...)
	for _, note := range notes {
		res.Left = append(res.Left, op.PurgeLeft{Kind: "note", Place: note, Advice: "the memory was made into this note; delete it in the vault if it is to go too"})
	}
	if err := e.purgeReports(id, res); err != nil {
		return nil, err
	}
	if err := e.purgeBackups(id, req, res); err != nil {
		return nil, err
	}
	if err := e.purgeNotes(id, req.DryRun, res); err != nil {
		return nil, err
	}
	e.purgeLists(ctx, id, req.DryRun, res)
	e.changed()
	return res, e.unreached(ctx, id, res)
}

// mergedWith are the memories that have the text of one that was merged, or of which it was.
func (e *Engine) mergedWith(id memory.ID) (left []op.PurgeLeft) {
	row, live := e.stm.Get(id)
	if !live {
		return nil
	}
	m, err := row.Memory()
	if err != nil {
		return nil
	}
	for _, other := range append(slices.Clone(m.ConsolidatedFrom), m.ConsolidatedInto) {
		if _, live := e.stm.Get(other); live {
			left = append(left, op.PurgeLeft{Kind: "memory", Place: string(other), Advice: "it was merged with this memory, which may have the same text; purge that, too, if it is to go"})
		}
	}
	return left
}

// notesLeft are the notes that were made of a memory, live or in the trash.
func (e *Engine) notesLeft(id memory.ID) []string {
	m, err := memory.Memory{}, error(nil)
	if row, ok := e.stm.Get(id); ok {
		m, err = row.Memory()
	} else {
		m, err = e.stm.Forgotten(id)
	}
	if err != nil { // purged before
		m = memory.Memory{}
	}
	m.ID = id
	return e.notesOf(&m)
}

// purgeBackups looks for the memory in the backups of this device, and removes
// those that hold it if that was asked for.
func (e *Engine) purgeBackups(id memory.ID, req *op.PurgeRequest, res *op.PurgeResult) error {
	dir := BackupFolder(e.opt.State)
	entries, err := e.opt.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		holds, err := e.backupHolds(name, []memory.ID{id})
		switch {
		case err == nil && !holds[id]:
			continue
		case err == nil && req.Backups && !req.DryRun:
			if err := e.opt.FS.Remove(name); err != nil {
				return err
			}
			res.Backups = append(res.Backups, entry.Name())
			continue
		case err == nil && req.Backups:
			res.Backups = append(res.Backups, entry.Name())
			continue
		}
		why := "this backup holds the memory; purge with --backups removes it, or delete it yourself"
		if err != nil {
			why = "this backup cannot be read and may hold the memory; delete it if so"
		}
		res.Left = append(res.Left, op.PurgeLeft{Kind: "backup", Place: name, Advice: why})
	}
	if len(res.Backups) > 0 && !req.DryRun {
		return e.opt.FS.SyncDir(dir)
	}
	return nil
}

// purgeNotes removes the earlier versions of the notes that carry the memory's id,
// which package vault kept. What has not a name of its giving, or cannot be removed,
// is told.
func (e *Engine) purgeNotes(id memory.ID, dryRun bool, res *op.PurgeResult) error {
	dir := filepath.Join(BackupFolder(e.opt.State), "notes")
	entries, err := e.opt.FS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	removed := false
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		text, err := e.head(name)
		if err == nil && !carriesID(vault.CarriedBy(text), id) {
			continue
		}
		ours := entry.Name()[0] >= '0' && entry.Name()[0] <= '9' // they begin with a time
		if err == nil && ours && !dryRun {
			err = e.opt.FS.Remove(name)
			removed = removed || err == nil
		}
		if err != nil || !ours {
			res.Left = append(res.Left, op.PurgeLeft{Kind: "backup", Place: name, Advice: "this earlier version of a note may hold the memory and is not removed; delete it yourself"})
			continue
		}
		res.Backups = append(res.Backups, filepath.Join("notes", entry.Name()))
	}
	if removed {
		return e.opt.FS.SyncDir(dir)
	}
	return nil
}

// head is the beginning of a file, longer than any frontmatter of ours.
func (e *Engine) head(name string) ([]byte, error) {
	f, err := e.opt.FS.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// carriesID reports whether a note is of the memory.
func carriesID(c *vault.Carried, id memory.ID) bool {
	if c == nil {
		return false
	}
	has, err := memory.ParseID(c.ID)
	return err == nil && has == id
}

// unreached lists what other devices, tools and people may have.
func (e *Engine) unreached(ctx context.Context, id memory.ID, res *op.PurgeResult) error {
	files, err := e.stm.Mentions(ctx, id)
	if err != nil {
		return err
	}
	add := func(kind, place, advice string, args ...any) {
		res.Left = append(res.Left, op.PurgeLeft{Kind: kind, Place: place, Advice: fmt.Sprintf(advice, args...)})
	}
	for _, f := range files {
		add("device", filepath.Join(e.opt.Data, "stm", f.Device, f.File), "written by device %s, which removes the memory when it runs the next time and sees the purge", f.Device)
	}
	for _, m := range e.stm.Watermarks() {
		if dev := m.Device.String(); dev != e.stm.Status().Device {
			add("device", dev, "last heard of at %s; its snapshot, quarantine and backups hold the memory until it sees the purge", m.At.UTC().Format("2006-01-02 15:04"))
		}
	}
	for dir := e.opt.Data; ; dir = filepath.Dir(dir) {
		if _, err := e.opt.FS.Lstat(filepath.Join(dir, ".git")); err == nil {
			add("git", filepath.Join(dir, ".git"), "the data folder is in a git work tree; rewrite its history if the log was ever committed")
		}
		if _, err := e.opt.FS.Lstat(filepath.Join(dir, ".stversions")); err == nil {
			add("versions", filepath.Join(dir, ".stversions"), "Syncthing keeps earlier versions of files here; delete those of the log")
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	add("elsewhere", "", "backups and exports kept outside of %s, versions that a sync service keeps, and file system snapshots are not known here", BackupFolder(e.opt.State))
	return nil
}
