package purge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// Purge deletes a memory permanently and returns the places that it cannot reach.
func (e *Purge) Purge(ctx context.Context, req *op.PurgeRequest) (*op.PurgeResult, error) {
	id, err := e.resolve(req.ID)
	if err != nil {
		return nil, err
	}
	res := &op.PurgeResult{ID: id, DryRun: req.DryRun, Rewritten: []string{}, Left: []op.PurgeLeft{}}
	paths, kin := e.notesOf(id), e.mergedWith(id) // unknown after the purge
	e.purgeSessions(ctx, id, res)
	if req.DryRun {
		res.Rewritten, err = e.Stm.Purgeable(ctx, id)
	} else {
		done, failed := e.Stm.Purge(ctx, id, op.CallerFrom(ctx))
		e.Purges.Add(1)
		res.Tx, res.Quarantine = done.Entry, done.Quarantine
		res.Rewritten = append(res.Rewritten, done.Rewritten...)
		if failed != nil && !e.Stm.Purged(id) {
			err = failed
		} else if failed != nil {
			unfinished(res, "the log and the state folder", failed,
				"emberd retries automatically; to retry now, repeat the permanent deletion")
		}
	}
	if err != nil {
		return nil, err
	}
	res.Left = append(res.Left, kin...)
	for _, note := range slices.DeleteFunc(slices.Clone(paths), e.isGone) {
		res.Left = append(res.Left, op.PurgeLeft{Kind: "note", Place: note,
			Advice: "the memory has this note, which the note index also contains; to remove the text from both, " +
				"delete the note in the vault"})
	}
	for _, rest := range []struct {
		place string
		do    func() error
	}{
		{"cleanup reports", func() error { return e.Cleanup.PurgeReports(id, res) }},
		{"backups", func() error { return e.purgeBackups(id, req, res) }},
		{"earlier versions of notes", func() error { return e.purgeNotes(id, req.DryRun, res) }},
		{"record of changed notes", func() error { return e.forgetChanges(id, paths, req.DryRun) }},
		{"list of backups that contain the memory", func() error { return e.remember(id, res) }},
		{"files of other devices", func() error { return e.addUnreached(ctx, id, res) }},
	} {
		if err := rest.do(); err != nil && req.DryRun {
			return nil, err
		} else if err != nil { // the memory is purged, which an error would deny
			unfinished(res, rest.place, err, "fix the problem, then delete the memory permanently again")
		}
	}
	e.Lists.PurgeLists(ctx, id, req.DryRun, res)
	if !req.DryRun {
		if err := e.Links.Purge(ctx, id); err != nil {
			unfinished(res, "links in other notes", err,
				"emberd removes the links to the memory the next time that a memory with a note changes")
		}
	}
	e.Changed()
	return res, nil
}

// purgeSessions removes the messages of past sessions that say what a memory does. Afterwards that is unknown, so it
// goes first.
func (e *Purge) purgeSessions(ctx context.Context, id memory.ID, res *op.PurgeResult) {
	m, err := memory.Memory{}, error(nil)
	if row, ok := e.Stm.Get(id); ok {
		m, err = row.Memory()
	} else {
		m, err = e.Stm.ReadTrashed(id)
	}
	if err != nil { // purged before
		return
	}
	if res.Messages, err = e.Transcripts.Purge(ctx, &m, res.DryRun); err != nil {
		unfinished(res, "past sessions", err,
			"delete the folders \"transcripts\" and \"index/transcripts\" in the state folder")
	}
}

// resolve finds a memory by what a caller names it by, also one that was purged before, or that only the snapshot of an
// earlier log has.
func (e *Purge) resolve(name string) (memory.ID, error) {
	id, err := e.Stm.Resolve(strings.TrimSpace(name))
	if memory.CodeOf(err) != memory.NotFound {
		return id, err
	}
	id, err = core.ResolvePurged(e.Opt.FS, e.Opt.State, e.Stm.Purges(), name)
	if memory.CodeOf(err) != memory.NotFound {
		return id, err
	}
	return stm.ResolvePurged(name, e.Stm.Kept())
}

// remember has status tell which backups still hold a memory.
func (e *Purge) remember(id memory.ID, res *op.PurgeResult) error {
	if res.DryRun {
		return nil
	}
	var names []string
	for _, left := range res.Left {
		name, err := filepath.Rel(core.BackupFolder(e.Opt.State), left.Place)
		if left.Kind == "backup" && err == nil {
			names = append(names, name)
		}
	}
	return e.storeHeld([]memory.ID{id}, map[memory.ID][]string{id: names})
}

// unfinished adds what of a purge could not be done yet, and what comes next.
func unfinished(res *op.PurgeResult, place string, err error, next string) {
	res.Left = append(res.Left, op.PurgeLeft{Kind: "unfinished", Place: place,
		Advice: fmt.Sprintf("the memory is deleted permanently, but this place might still contain a copy: %v; %s", err,
			next)})
}

// mergedWith returns the memories that contain the text of a merged one, or its parts.
func (e *Purge) mergedWith(id memory.ID) (left []op.PurgeLeft) {
	row, live := e.Stm.Get(id)
	if !live {
		return nil
	}
	m, err := row.Memory()
	if err != nil {
		return nil
	}
	for _, other := range append(slices.Clone(m.ConsolidatedFrom), m.ConsolidatedInto) {
		if _, live := e.Stm.Get(other); live {
			left = append(left,
				op.PurgeLeft{Kind: "memory", Place: string(other),
					Advice: "emberd merged the deleted memory with this memory; if this memory contains the same " +
						"text, delete this memory permanently too"})
		}
	}
	return left
}

// notesOf returns the notes of a memory that is live or in the trash.
func (e *Purge) notesOf(id memory.ID) []string {
	m, err := memory.Memory{}, error(nil)
	if row, ok := e.Stm.Get(id); ok {
		m, err = row.Memory()
	} else {
		m, err = e.Stm.ReadTrashed(id)
	}
	if err != nil { // purged before
		m = memory.Memory{}
	}
	m.ID = id
	return e.Promote.NotesOf(&m)
}

// isGone reports whether neither the vault nor the index has a note.
func (e *Purge) isGone(path string) bool {
	v := e.Promote.Notes.Vault
	if v == nil || e.Promote.Notes.VaultUnavailable() != "" || !notes.Absent(v.Root.Load(), path) {
		return false
	}
	index, _ := v.Current()
	_, indexed := index.Cursor(path)
	return !indexed
}

// purgeBackups finds the memory in the backups of this device. It removes automatic ones that hold it, or
// cannot be read, and the others on request.
func (e *Purge) purgeBackups(id memory.ID, req *op.PurgeRequest, res *op.PurgeResult) error {
	dir, names, err := e.backups()
	if err != nil {
		return err
	}
	for _, base := range names {
		name := filepath.Join(dir, base)
		holds, err := e.backupHolds(name, []memory.ID{id})
		_, ours := core.AutoBackup(base)
		switch {
		case err == nil && !holds[id]:
			continue
		case ours, err == nil && req.Backups:
			if !req.DryRun {
				if err := e.Opt.FS.Remove(name); err != nil {
					return err
				}
			}
			res.Backups = append(res.Backups, base)
			continue
		}
		why := fmt.Sprintf("this backup contains the memory; delete the backup file "+
			"yourself, or run: emberd forget --permanently --backups %s", id)
		if err != nil {
			why = "emberd cannot read this backup, which might contain the memory; to be sure, delete the backup"
		}
		res.Left = append(res.Left, op.PurgeLeft{Kind: "backup", Place: name, Advice: why})
	}
	if len(res.Backups) > 0 && !req.DryRun {
		return e.Opt.FS.SyncDir(dir)
	}
	return nil
}

// purgeNotes removes the earlier versions of notes with the memory's ID that package vault kept, and
// those of the lists that emberd writes, which show texts without an ID. It reports files with other
// names, and those that it cannot remove.
func (e *Purge) purgeNotes(id memory.ID, dryRun bool, res *op.PurgeResult) error {
	dir := filepath.Join(core.BackupFolder(e.Opt.State), "notes")
	entries, err := e.Opt.FS.ReadDir(dir)
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
		if err == nil && !core.CarriesID(vault.CarriedBy(text), id) && vault.ListIn(text) == "" {
			continue
		}
		ours := entry.Name()[0] >= '0' && entry.Name()[0] <= '9' // names of such versions start with a time
		if err == nil && ours && !dryRun {
			err = e.Opt.FS.Remove(name)
			removed = removed || err == nil
		}
		if err != nil || !ours {
			res.Left = append(res.Left, op.PurgeLeft{Kind: "backup", Place: name,
				Advice: "emberd did not delete this earlier version of a note, which might contain the memory; " +
					"delete the file yourself"})
			continue
		}
		res.Backups = append(res.Backups, filepath.Join("notes", entry.Name()))
	}
	if removed {
		return e.Opt.FS.SyncDir(dir)
	}
	return nil
}

// forgetChanges removes what is kept to undo changes of notes of the memory, whose names begin as its text does, and
// the earlier texts of lists, which show texts without an ID.
func (e *Purge) forgetChanges(id memory.ID, paths []string, dryRun bool) error {
	if dryRun || e.Promote.Notes.Vault == nil {
		return nil
	}
	return errors.Join(
		e.NoteWrite.Journal.Forget(paths, func(note []byte) bool { return core.CarriesID(vault.CarriedBy(note), id) }),
		e.NoteWrite.Erase(func(note []byte) bool { return vault.ListIn(note) != "" }))
}

// head returns the beginning of a file, longer than any frontmatter that emberd writes.
func (e *Purge) head(name string) ([]byte, error) {
	f, err := e.Opt.FS.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// mayBeOf reports whether a damaged line may be about a memory although it does not name it: it names none.
func (e *Purge) mayBeOf(id memory.ID, line []byte) bool {
	for named := range IDsIn(line) {
		if named == id || e.Stm.Table.Cell(named.Bytes()) != nil {
			return false
		}
	}
	return true
}

// addUnreached adds the copies that other devices, tools and people may have.
func (e *Purge) addUnreached(ctx context.Context, id memory.ID, res *op.PurgeResult) error {
	files, err := e.Stm.Mentions(ctx, id)
	if err != nil {
		return err
	}
	add := func(kind, place, advice string, args ...any) {
		res.Left = append(res.Left, op.PurgeLeft{Kind: kind, Place: place, Advice: fmt.Sprintf(advice, args...)})
	}
	damaged, err := e.Stm.Quarantine()
	if err != nil {
		return err
	}
	for _, q := range damaged {
		if e.mayBeOf(id, q.Text) {
			add("damaged", filepath.Join(e.Opt.State, "quarantine", q.Name),
				"this damaged line of the log might contain the memory; run: emberd doctor quarantine "+
					"show %[1]s; if the line contains the memory, run: emberd doctor quarantine drop %[1]s", q.Name)
		}
	}
	for _, f := range files {
		place := filepath.Join(e.Opt.Data, "stm", f.Device, f.File)
		if e.Stm.WroteAs(f.Device) {
			add("device", place, "emberd did not rewrite this file: this device wrote the file under an earlier "+
				"device ID, or a copy of the home folder still writes the file; if a copy "+
				"exists, run there: emberd forget --permanently %s; otherwise create a backup, "+
				"stop the daemon, restore the backup with --replace, delete the renamed data "+
				"folder, start the daemon, and run: emberd forget --permanently --backups %s", id, id)
			continue
		}
		add("device", place, "device %s wrote this file; when that device receives the "+
			"deletion, the device removes the memory from the file", f.Device)
	}
	for _, dir := range e.setAside() {
		add("elsewhere", dir, "a restore renamed this earlier data folder, and emberd does not search "+
			"it; because the folder might contain the memory, delete the folder; run: %s", removeFolder(dir))
	}
	here := e.Stm.Status().Device
	for _, m := range e.Stm.Watermarks() {
		if dev := m.Device.String(); dev != here {
			add("device", dev, "this device was last seen at %s; until the device syncs, its "+
				"snapshot, quarantine and backups might still contain the memory",
				m.At.UTC().Format("2006-01-02 15:04"))
		}
	}
	for dir := e.Opt.Data; ; dir = filepath.Dir(dir) {
		if _, err := e.Opt.FS.Lstat(filepath.Join(dir, ".git")); err == nil {
			add("git", filepath.Join(dir, ".git"),
				"the data folder is in a git work tree; if you ever committed the log, rewrite the git history")
		}
		if _, err := e.Opt.FS.Lstat(filepath.Join(dir, ".stversions")); err == nil {
			add("versions", filepath.Join(dir, ".stversions"),
				"Syncthing keeps earlier versions of files here; delete the versions of log files")
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	add("elsewhere", "", "emberd cannot check backups and exports outside of %s, file versions "+
		"of a sync service, or file system snapshots; check them yourself", core.BackupFolder(e.Opt.State))
	return nil
}
