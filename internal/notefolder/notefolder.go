// Package notefolder writes notes into a folder, again and again, and leaves alone what it
// did not write: a file of another program, and a note of its own that the user has edited.
//
// What it wrote is listed in a file of the folder, [ListName], in JSON: the names of the
// notes, each with the SHA-256 of what was written. The list is written before the first
// note, with the names that are to come, and after the last one. So a run that was broken
// off can be repeated: a note that it wrote is known by its name, and is as it would be
// written now, or counts as edited if its memory has changed in the meantime.
//
// Names are of one folder, without any below it. Two that differ in case or in the form of
// their letters are one, as some file systems have it. One goroutine at a time may use a
// Folder, and one process a folder.
package notefolder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"emberd/internal/durable"
	"emberd/memory"
)

// ListName is the file that lists what was written. No program shows files with a dot first.
const ListName = ".emberd-export.json"

// Bounds of what is read: of the list, and of a note of which is asked whether it is as it
// was written. A longer one was edited.
const (
	maxList = 256 << 20
	maxNote = 16 << 20
)

// list is the content of that file.
type list struct {
	Emberd string            `json:"emberd"`
	Format int               `json:"format"`
	Notes  map[string]string `json:"notes"` // SHA-256 in hex by name, "" for one that is to come
}

const (
	kind   = "vault"
	format = 1
)

// Folder is a folder that is being written.
type Folder struct {
	root    *os.Root
	disk    durable.Root
	wrote   map[string]string // as listed
	taken   map[string]bool   // names of others, folded
	now     map[string]string // what this run leaves
	waiting []note
	Done    Report
}

// Report is what became of the notes of a run.
type Report struct {
	Written   int `json:"written"`
	Unchanged int `json:"unchanged"`
	Removed   int `json:"removed"`
	// Kept are the names of notes that the user edited since they were written.
	Kept []string `json:"kept"`
}

// Open opens a folder that is new, empty or was written before, and makes it if need be.
// Any other is refused with code Invalid. What a run that was killed left of a temporary
// file is removed.
func Open(dir string) (*Folder, error) {
	if err := durable.MkdirAll(durable.OS{}, dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{root: root, disk: durable.NewRoot(root), taken: make(map[string]bool), now: make(map[string]string),
		Done: Report{Kept: []string{}}}
	if err := f.survey(dir); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// Close lets go of the folder.
func (f *Folder) Close() error { return f.root.Close() }

func (f *Folder) survey(dir string) error {
	entries, err := f.disk.ReadDir(".")
	if err != nil {
		return err
	}
	if f.wrote, err = f.listed(); err != nil {
		return memory.Errorf(memory.Invalid, "cannot read %s in folder %s: %w; choose another folder", ListName, dir,
			err)
	}
	if f.wrote == nil && len(entries) > 0 {
		return memory.Errorf(memory.Invalid, "%s is not empty and not an earlier export; choose a new folder", dir)
	}
	for _, entry := range entries {
		if _, ours := f.wrote[entry.Name()]; !ours {
			f.taken[Fold(entry.Name())] = true
		}
	}
	return durable.SweepTemps(f.disk, ".")
}

// listed is what the list says, nil if there is none.
func (f *Folder) listed() (map[string]string, error) {
	raw, err := f.read(ListName, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l list
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, err
	}
	if l.Emberd != kind || l.Format != format {
		return nil, fmt.Errorf("unsupported export type %q or version %d", l.Emberd, l.Format)
	}
	if l.Notes == nil {
		l.Notes = make(map[string]string)
	}
	return l.Notes, nil
}

// Fold is the form in which two names are compared.
func Fold(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

// Free reports whether a note may have this name: no file of another program has it.
func (f *Folder) Free(name string) bool {
	return !f.taken[Fold(name)] && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".")
}

// Wrote reports whether a note of this name was written before.
func (f *Folder) Wrote(name string) bool {
	_, ours := f.wrote[name]
	return ours
}

// Spare leaves alone those notes of earlier runs that keep wants left, which it is shown as
// they are: they stay and stay listed, and their names are not free. It comes before names
// are chosen. A file that is not a note any more is not shown.
func (f *Folder) Spare(keep func(name string, note []byte) bool) error {
	for name, was := range f.wrote {
		info, err := f.disk.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxNote) {
			continue
		}
		var note []byte
		if err == nil {
			note, err = f.read(name, maxNote)
		}
		if err != nil {
			return err
		}
		if keep(name, note) {
			f.now[name], f.taken[Fold(name)] = was, true
		}
	}
	return nil
}

// Begin notes the names that are to come, each of them free.
func (f *Folder) Begin(names []string) error {
	all := make(map[string]string, len(names)+len(f.wrote))
	for _, name := range names {
		if !f.Free(name) {
			return fmt.Errorf("note name %q already exists", name)
		}
		all[name] = ""
	}
	maps.Copy(all, f.wrote)
	return f.save(all)
}

func (f *Folder) save(notes map[string]string) error {
	raw, err := json.MarshalIndent(list{kind, format, notes}, "", " ")
	if err != nil {
		return err
	}
	return durable.ReplaceFile(f.disk, ListName, append(raw, '\n'))
}

// Write writes one of the notes that were begun, unless it is up to date, or another program
// has edited it since it was written. The note is there when a later Write or [Folder.End]
// has returned; data is the folder's from now on.
func (f *Folder) Write(name string, data []byte) error {
	here, there, err := f.digest(name)
	if err != nil {
		return err
	}
	want := digestOf(data)
	switch {
	case there && here == want:
		f.Done.Unchanged++
	case there && here != f.wrote[name]:
		f.keep(name)
		return nil
	default:
		f.Done.Written++
		f.waiting = append(f.waiting, note{name, data})
	}
	f.now[name] = want
	if len(f.waiting) < together {
		return nil
	}
	return f.flush()
}

// note is one that waits for others to be synced with.
type note struct {
	name string
	data []byte
}

// together is how many notes are written at a time, and atOnce how many of them are synced
// at a time: a disk writes those that wait together.
const (
	together = 64
	atOnce   = 16
)

// flush writes the notes that wait. Their names are on the disk once the folder is synced.
// A note that could not be written is left as it was.
func (f *Folder) flush() error {
	var wait sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	failed := make([]error, len(f.waiting))
	for i, n := range f.waiting {
		turn <- struct{}{}
		wait.Go(func() {
			failed[i] = durable.ReplaceUnlisted(f.disk, n.name, n.data)
			<-turn
		})
	}
	wait.Wait()
	f.waiting = f.waiting[:0]
	return errors.Join(failed...)
}

// keep leaves a note to the user who edited it.
func (f *Folder) keep(name string) {
	f.now[name] = f.wrote[name]
	f.Done.Kept = append(f.Done.Kept, name)
}

// End removes the notes of earlier runs that were not written in this one, but for those
// that the user edited, which emberd no longer owns, and lists the rest.
func (f *Folder) End() error {
	if err := f.flush(); err != nil {
		return err
	}
	if err := f.disk.SyncDir("."); err != nil { // before the list says that they are there
		return err
	}
	for name, was := range f.wrote {
		if _, still := f.now[name]; still {
			continue
		}
		here, there, err := f.digest(name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		if here != was {
			f.Done.Kept = append(f.Done.Kept, name)
			continue
		}
		if err := f.disk.Remove(name); err != nil {
			return err
		}
		f.Done.Removed++
	}
	slices.Sort(f.Done.Kept)
	return f.save(f.now)
}

// digest is that of the file of a name. What is no plain file has one that nothing has.
func (f *Folder) digest(name string) (digest string, there bool, err error) {
	info, err := f.disk.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular() || info.Size() > maxNote:
		return "edited", true, nil
	}
	raw, err := f.read(name, maxNote)
	return digestOf(raw), true, err
}

func (f *Folder) read(name string, limit int64) ([]byte, error) {
	file, err := f.disk.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("too many bytes in the file: %d (limit %d)", info.Size(), limit)
	}
	raw := make([]byte, info.Size())
	n, err := file.ReadAt(raw, 0)
	if n == len(raw) {
		err = nil
	}
	return raw[:n], err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
