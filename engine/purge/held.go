package purge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// in the state folder
const heldFile = "purged-in-backups.json"

// HeldBackups are memories that were purged, here or on another device, and that backups of this device
// still contain, with the names of these. Status reports them until the backups are removed, also
// after a restart.
type HeldBackups struct {
	mu sync.Mutex // guards in
	in map[memory.ID][]string
	// aside are the folders that restores renamed, as of the start: a sandbox prevents listing them later, and only a
	// restore, which needs a stopped daemon, makes one.
	aside []string
}

// LoadHeld lists what restores renamed, reads the file of the last run, and puts the purges that the log knows of into
// the list that restores go by.
func (e *Purge) LoadHeld() {
	e.held.aside = backup.Replaced(e.Opt.FS, e.Opt.Data)
	if err := core.AddPurged(e.Opt.FS, e.Opt.State, e.Stm.Purges()); err != nil {
		e.Opt.Logger.Warn("list of permanently deleted memories not written; a restore uses only the log", "err", err)
	}
	data, err := core.LastState(e.Opt.FS, filepath.Join(e.Opt.State, heldFile))
	if err == nil && data != nil {
		err = json.Unmarshal(data, &e.held.in)
	}
	if err != nil {
		e.Opt.Logger.Warn("cannot determine which backups contain memories that other devices deleted permanently",
			"err", err)
	}
}

// recordHeld finds and stores the backups and notes that contain the memories. An unreadable
// one counts. Earlier versions of notes are removed now, as on the device of the purge.
func (e *Purge) recordHeld(ids []memory.ID) error {
	found, err := e.backupsWith(ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var res op.PurgeResult
		err := errors.Join(e.purgeNotes(id, false, &res), e.forgetChanges(id, e.notesOf(id), false))
		if err != nil {
			return err
		}
		for _, left := range res.Left {
			found[id] = append(found[id], filepath.Join("notes", filepath.Base(left.Place)))
		}
	}
	return e.storeHeld(ids, found)
}

// storeHeld says of some memories which backups contain them.
func (e *Purge) storeHeld(ids []memory.ID, found map[memory.ID][]string) error {
	h := &e.held
	h.mu.Lock()
	defer h.mu.Unlock()
	next := maps.Clone(h.in)
	if next == nil {
		next = map[memory.ID][]string{}
	}
	for _, id := range ids {
		if delete(next, id); len(found[id]) > 0 {
			next[id] = found[id]
		}
	}
	if maps.EqualFunc(next, h.in, slices.Equal) {
		return nil
	}
	data, err := json.Marshal(next)
	if err == nil {
		err = durable.ReplaceFile(e.Opt.FS, filepath.Join(e.Opt.State, heldFile), data)
	}
	if err == nil {
		h.in = next
	}
	return err
}

// backupsWith reads every backup once and returns which of them contain each memory. It removes automatic
// ones that do.
func (e *Purge) backupsWith(ids []memory.ID) (map[memory.ID][]string, error) {
	dir, names, err := e.backups()
	if err != nil {
		return nil, err
	}
	found := map[memory.ID][]string{}
	for _, name := range names {
		holds, err := e.backupHolds(filepath.Join(dir, name), ids)
		if _, ours := core.AutoBackup(name); ours && (len(holds) > 0 || err != nil) {
			if err := e.Opt.FS.Remove(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
			continue
		}
		for _, id := range ids {
			if holds[id] || err != nil {
				found[id] = append(found[id], name)
			}
		}
	}
	return found, nil
}

// backups returns the names of the backups of this device, and their folder.
func (e *Purge) backups() (dir string, names []string, err error) {
	dir = core.BackupFolder(e.Opt.State)
	entries, err := e.Opt.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, nil, err
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return dir, names, nil
}

// backupHolds returns of which memories a backup contains more than that they were purged.
func (e *Purge) backupHolds(name string, ids []memory.ID) (map[memory.ID]bool, error) {
	f, err := e.Opt.FS.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	wanted, holds := map[memory.ID]bool{}, map[memory.ID]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 2*stm.MaxLine) // a file's header in the archive stands before its first line
	for lines.Scan() {
		line := lines.Bytes()
		for id := range IDsIn(line) {
			if wanted[id] && !holds[id] {
				holds[id] = stm.Tells(line[bytes.LastIndexByte(line, 0)+1:], id) // the archive pads files with zeros
			}
		}
	}
	maps.DeleteFunc(holds, func(_ memory.ID, held bool) bool { return !held })
	return holds, lines.Err()
}

// idLength is the length of an ID such as 01a201e6-1e19-7e1f-a8c6-d73eebcf8cd4, and firstDash
// the index of its first dash.
const idLength, firstDash = 36, 8

// IdsIn yields texts with the dashes of an ID, which need not be IDs.
func IDsIn(b []byte) func(yield func(memory.ID) bool) {
	return func(yield func(memory.ID) bool) {
		for at := firstDash; at+idLength-firstDash <= len(b); at++ {
			next := bytes.IndexByte(b[at:], '-')
			if at += next; next < 0 || at+idLength-firstDash > len(b) {
				return
			}
			if b[at+5] == '-' && b[at+10] == '-' && b[at+15] == '-' &&
				!yield(memory.ID(b[at-firstDash:at+idLength-firstDash])) {
				return
			}
		}
	}
}

// Waits returns the first few memories that backups still contain although they were purged.
func (e *Purge) Waits() (out []op.Waiting) {
	const most = 5
	dir := core.BackupFolder(e.Opt.State)
	h := &e.held
	h.mu.Lock()
	defer h.mu.Unlock()
	more := 0
	for _, id := range slices.Sorted(maps.Keys(h.in)) {
		left := slices.DeleteFunc(slices.Clone(h.in[id]), func(name string) bool {
			_, err := e.Opt.FS.Lstat(filepath.Join(dir, name))
			return errors.Is(err, fs.ErrNotExist)
		})
		switch {
		case len(left) == 0:
			delete(h.in, id) // the next purge corrects the file
		case len(out) == most:
			more++
		default:
			out = append(out, heldWait(id, dir, len(left)))
		}
	}
	if more > 0 {
		rest := fmt.Sprintf("backups in %s contain %d more permanently deleted memories; delete these backups, "+
			"or to see the other memories, delete the listed memories from the backups first", dir, more)
		out = append(out, op.Waiting{Code: op.WaitsPurge, Count: more, Text: rest, Command: "emberd backup list",
			Warning: rest})
	}
	return append(out, e.asideWaits()...)
}

// setAside returns the earlier data folders that restores renamed and that still exist.
func (e *Purge) setAside() []string {
	return slices.DeleteFunc(slices.Clone(e.held.aside), func(dir string) bool {
		_, err := e.Opt.FS.Lstat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// asideWaits are the folders of restores that are older than a purge.
func (e *Purge) asideWaits() (out []op.Waiting) {
	for _, dir := range e.setAside() {
		info, err := e.Opt.FS.Lstat(dir)
		n := 0
		for _, at := range e.Stm.Purges() {
			if err != nil || at.Time().After(info.ModTime()) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		what := "a memory that was deleted permanently"
		if n > 1 {
			what = fmt.Sprintf("%d memories that were deleted permanently", n)
		}
		told := fmt.Sprintf("a restore renamed the earlier data folder to %s, which might contain %s", dir, what)
		out = append(out, op.Waiting{Code: op.WaitsPurge, Count: n, Text: told, Command: removeFolder(dir),
			Warning: told + "; if you no longer need the folder, run: " + removeFolder(dir)})
	}
	return out
}

func removeFolder(dir string) string { return "rm -r -- " + text.ShellQuote(dir) }

// heldWait is what the user has to do about a purged memory that n backups contain.
func heldWait(id memory.ID, dir string, n int) op.Waiting {
	command := "emberd forget --permanently --backups " + string(id)
	return op.Waiting{Code: op.WaitsPurge, Count: 1, Command: command,
		Text: fmt.Sprintf("memory %s was deleted permanently, but %s in %s might still contain it", id.Short(),
			backupCount(n), dir),
		Warning: fmt.Sprintf("%s in %s might contain memory %s, which was deleted permanently; "+
			"to delete the backups that contain the memory, run: %s", backupCount(n), dir, id.Short(), command)}
}

func backupCount(n int) string {
	if n == 1 {
		return "1 backup"
	}
	return fmt.Sprintf("%d backups", n)
}
