package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"emberd/internal/durable"
	"emberd/ltm"
	"emberd/memory"
	"emberd/vault"
	"emberd/watcher"
)

// archiveFolder is the folder of the vault that the texts of memories are archived in.
// Its notes are followed like all others and not in the index, unless the settings have
// them searched; nor are, wherever they lie, the notes that hold lists of memories. What the watcher and the carriers are to know of them at the next start
// is in a file, without which they are read again.
type archiveFolder struct {
	fs       durable.FS
	file     string
	dir      string // in the vault, "" if there is none
	searched bool   // its notes are in the index

	mu      sync.Mutex // guards what follows
	notes   map[string]archiveNote
	changed bool // since the file was written
}

// archiveNote is what is known of one note: the state of its file that was read.
type archiveNote struct {
	Path       string    `json:"path"`
	Size       int64     `json:"size"`
	ModTime    int64     `json:"modified"` // Unix nanoseconds, as the next
	ChangeTime int64     `json:"changed"`
	Inode      uint64    `json:"inode"`
	ID         memory.ID `json:"memory,omitempty"`
	// Closed says that its frontmatter is not valid, so that it may carry any id.
	Closed bool `json:"closed,omitempty"`
	// List is which list of memories it holds, and Copy that a sync tool made it of one.
	List string `json:"list,omitempty"`
	Copy bool   `json:"copy,omitempty"`
}

// archiveFile is the file of the state folder.
type archiveFile struct {
	Sum   uint32          `json:"sum"` // CRC-32 of what follows
	Notes json.RawMessage `json:"notes"`
}

// openArchiveFolder begins with what the last run knew. An error says why that is
// nothing, and the folder can be used.
func openArchiveFolder(opt *Options, file string) (*archiveFolder, error) {
	a := &archiveFolder{fs: opt.FS, file: file, searched: opt.IndexArchive, notes: make(map[string]archiveNote),
		dir: strings.Trim(path.Clean("/"+opt.VaultArchive), "/")}
	data, err := lastState(a.fs, file)
	if err != nil || data == nil {
		return a, err
	}
	var all archiveFile
	var list []archiveNote
	err = json.Unmarshal(data, &all)
	if err == nil && crc32.ChecksumIEEE(all.Notes) != all.Sum {
		err = errors.New("its checksum does not fit")
	}
	if err == nil {
		err = json.Unmarshal(all.Notes, &list)
	}
	if err != nil {
		return a, fmt.Errorf("%s cannot be understood: %w", file, err)
	}
	for _, note := range list {
		a.notes[note.Path] = note
	}
	return a, nil
}

// holds reports whether a note lies in the folder.
func (a *archiveFolder) holds(path string) bool {
	return a.dir != "" && strings.HasPrefix(path, a.dir+"/")
}

// keeps reports whether a note lies in the folder and so is not in the index.
func (a *archiveFolder) keeps(path string) bool { return !a.searched && a.holds(path) }

// apart reports whether what was read is not for the index.
func (a *archiveFolder) apart(r *reading) bool { return holdsList(r.note) || a.keeps(r.doc.Path) }

// agree has the index let go of the notes that are kept here since the settings
// changed. Nobody is told, for they are what they were.
func (a *archiveFolder) agree(index *ltm.Index) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var own []string
	for path, c := range index.Known() {
		if !a.keeps(path) {
			a.drop(path)
			continue
		}
		own = append(own, path)
		a.notes[path] = archiveNote{Path: path, Size: c.Size, ModTime: c.ModTime.UnixNano(), ChangeTime: c.ChangeTime.UnixNano(), Inode: c.Inode}
	}
	if len(own) == 0 {
		return nil
	}
	for path, text := range index.Having(memoryIDKey) {
		note, here := a.notes[path]
		if id, err := memory.ParseID(text); err == nil && here {
			note.ID = id
			a.notes[path] = note
		}
	}
	a.changed = true
	return errors.Join(a.store(), index.Update(context.Background(), nil, own))
}

// known yields the files whose state was read. Those that are not kept here any more
// are yielded as changed since, so that they are read for the index.
func (a *archiveFolder) known(yield func(watcher.File) bool) {
	for _, note := range a.list() {
		f := watcher.File{Path: note.Path, Size: note.Size, ModTime: note.ModTime, ChangeTime: note.ChangeTime, Inode: note.Inode}
		if !a.keeps(note.Path) && note.List == "" {
			f.ChangeTime = 0
		}
		if !yield(f) {
			return
		}
	}
}

// list returns what is known, by path.
func (a *archiveFolder) list() []archiveNote {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Values(a.notes), func(x, y archiveNote) int { return strings.Compare(x.Path, y.Path) })
}

// split returns the index's part of what was read and what is gone.
func (a *archiveFolder) split(read []reading, gone []string) (put []ltm.Doc, removed []string) {
	for _, r := range read {
		switch {
		case r.note == nil:
		case !a.apart(&r):
			put = append(put, r.doc)
		case !a.keeps(r.doc.Path):
			removed = append(removed, r.doc.Path) // it may have been a note like others
		}
	}
	return put, append(removed, slices.DeleteFunc(slices.Clone(gone), a.keeps)...)
}

// take takes in what the index has taken in of its part.
func (a *archiveFolder) take(read []reading, gone []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, path := range gone {
		a.drop(path)
	}
	for _, r := range read {
		switch {
		case r.note == nil:
		case a.apart(&r):
			a.notes[r.doc.Path], a.changed = asArchived(r.note), true
		default:
			a.drop(r.doc.Path)
		}
	}
}

// drop is called with mu held.
func (a *archiveFolder) drop(path string) {
	if _, ok := a.notes[path]; ok {
		delete(a.notes, path)
		a.changed = true
	}
}

func asArchived(note *vault.Note) archiveNote {
	out := archiveNote{Path: note.Path, Size: note.Size, ModTime: note.ModTime.UnixNano(), ChangeTime: note.ChangeTime.UnixNano(), Inode: note.Inode,
		Closed: note.Frontmatter == vault.InvalidFrontmatter}
	if holdsList(note) {
		out.List, out.Copy = note.List, note.Copy
	}
	if id, err := memory.ParseID(note.MemoryID); err == nil {
		out.ID = id
	}
	return out
}

// len counts the notes that are kept here, and among them those that hold lists.
func (a *archiveFolder) len() (all, lists int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, note := range a.notes {
		if note.List != "" {
			lists++
		}
	}
	return len(a.notes), lists
}

// state is what is known of one note.
func (a *archiveFolder) state(path string) archiveNote {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.notes[path]
}

// closed are the names of the notes that may carry any id.
func (a *archiveFolder) closed() []string {
	var out []string
	for _, note := range a.list() {
		if note.Closed && note.List == "" {
			out = append(out, path.Base(note.Path))
		}
	}
	return out
}

// closedInArchive are the names of the notes in the archive folder of which it cannot be
// said which id they carry.
func (n *notes) closedInArchive() []string {
	names := n.archive.closed()
	n.mu.RLock()
	defer n.mu.RUnlock()
	for p := range n.skipped {
		if n.inArchive(p) {
			names = append(names, path.Base(p))
		}
	}
	return names
}

// save writes the file if something changed.
func (a *archiveFolder) save() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.store()
}

// store is called with mu held.
func (a *archiveFolder) store() error {
	if !a.changed {
		return nil
	}
	list, err := json.Marshal(slices.Collect(maps.Values(a.notes)))
	if err != nil {
		return err
	}
	data, err := json.Marshal(archiveFile{Sum: crc32.ChecksumIEEE(list), Notes: list})
	if err == nil {
		err = durable.ReplaceFile(a.fs, a.file, data)
	}
	a.changed = err != nil
	return err
}
