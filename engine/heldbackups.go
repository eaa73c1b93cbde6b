package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// heldFile is in the state folder.
const heldFile = "purged-in-backups.json"

// heldBackups are the memories that another device purged and backups of this one still hold,
// by their names. They are told in status until the backups are gone, and kept over a restart.
type heldBackups struct {
	mu sync.Mutex // guards in
	in map[memory.ID][]string
}

// loadHeld reads what the last run left.
func (e *Engine) loadHeld() {
	data, err := lastState(e.opt.FS, filepath.Join(e.opt.State, heldFile))
	if err == nil && data != nil {
		err = json.Unmarshal(data, &e.held.in)
	}
	if err != nil {
		e.opt.Logger.Warn("which backups hold what other devices purged is not known", "err", err)
	}
}

// holdBackups looks for memories in the backups and notes which have them, on the disk, too.
// What cannot be read may. Earlier versions of notes go at once, as on the device that purged.
func (e *Engine) holdBackups(ids []memory.ID) error {
	found, err := e.backupsWith(ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var res op.PurgeResult
		if err := e.purgeNotes(id, false, &res); err != nil {
			return err
		}
		for _, left := range res.Left {
			found[id] = append(found[id], filepath.Join("notes", filepath.Base(left.Place)))
		}
	}
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
		err = durable.ReplaceFile(e.opt.FS, filepath.Join(e.opt.State, heldFile), data)
	}
	if err == nil {
		h.in = next
	}
	return err
}

// backupsWith reads every backup once and returns which of them hold each of some memories.
func (e *Engine) backupsWith(ids []memory.ID) (map[memory.ID][]string, error) {
	dir := BackupFolder(e.opt.State)
	entries, err := e.opt.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := map[memory.ID][]string{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		holds, err := e.backupHolds(filepath.Join(dir, entry.Name()), ids)
		for _, id := range ids {
			if holds[id] || err != nil {
				found[id] = append(found[id], entry.Name())
			}
		}
	}
	return found, nil
}

// backupHolds returns which of some memories a backup mentions.
func (e *Engine) backupHolds(name string, ids []memory.ID) (map[memory.ID]bool, error) {
	f, err := e.opt.FS.OpenRead(name)
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
	for buf, have := make([]byte, 1<<16), 0; ; {
		n, err := z.Read(buf[have:])
		have += n
		for id := range idsIn(buf[:have]) {
			if wanted[id] {
				holds[id] = true
			}
		}
		if errors.Is(err, io.EOF) || len(holds) == len(wanted) {
			return holds, nil
		}
		if err != nil {
			return nil, err
		}
		// An id may go on in what comes next.
		keep := min(have, idLength-1)
		copy(buf, buf[have-keep:have])
		have = keep
	}
}

// idLength is that of 01a201e6-1e19-7e1f-a8c6-d73eebcf8cd4, firstDash where its first dash is.
const idLength, firstDash = 36, 8

// idsIn yields what has the dashes of an id, which need not be one.
func idsIn(b []byte) func(yield func(memory.ID) bool) {
	return func(yield func(memory.ID) bool) {
		for at := firstDash; at+idLength-firstDash <= len(b); at++ {
			next := bytes.IndexByte(b[at:], '-')
			if at += next; next < 0 || at+idLength-firstDash > len(b) {
				return
			}
			if b[at+5] == '-' && b[at+10] == '-' && b[at+15] == '-' && !yield(memory.ID(b[at-firstDash:at+idLength-firstDash])) {
				return
			}
		}
	}
}

// heldWarnings is a sentence for each of the first few memories that backups still hold.
func (e *Engine) heldWarnings() (out []string) {
	const most = 5
	dir := BackupFolder(e.opt.State)
	h := &e.held
	h.mu.Lock()
	defer h.mu.Unlock()
	more := 0
	for _, id := range slices.Sorted(maps.Keys(h.in)) {
		left := slices.DeleteFunc(slices.Clone(h.in[id]), func(name string) bool {
			_, err := e.opt.FS.Lstat(filepath.Join(dir, name))
			return errors.Is(err, fs.ErrNotExist)
		})
		switch {
		case len(left) == 0:
			delete(h.in, id) // the file is put right with the next one
		case len(out) == most:
			more++
		default:
			out = append(out, fmt.Sprintf("%d backups in %s hold memory %s, which another device purged, or cannot be read; emberd purge --backups %s removes those that hold it",
				len(left), dir, id.Short(), id))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("backups in %s hold %d more memories that other devices purged; delete the backups, or purge those when the ones above are gone", dir, more))
	}
	return out
}
