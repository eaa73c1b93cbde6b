package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"emberd/engine/core"
	"emberd/internal/durable"
	"emberd/ltm"
	"emberd/memory"
	"emberd/vault"
	"emberd/watcher"
)

// ArchiveFolder is the folder of the vault for the texts of archived memories. emberd follows
// its notes like all others, but searches find them as the memories that they are of. It follows the
// notes that list memories, in any folder, and these are not searched. A file keeps the state of these
// notes for the next start; without it emberd reads them again.
type ArchiveFolder struct {
	fs   durable.FS
	file string
	dir  string // in the vault, "" for none

	mu      sync.Mutex // guards the fields below
	notes   map[string]archiveEntry
	changed bool // since the file was written
}

// ArchiveNote is the state of one note when emberd last read it.
type ArchiveNote struct {
	Path       string    `json:"path"`
	Size       int64     `json:"size"`
	ModTime    int64     `json:"modified"` // Unix nanoseconds, like the next
	ChangeTime int64     `json:"changed"`
	Inode      uint64    `json:"inode"`
	Digest     string    `json:"digest,omitempty"` // SHA-256 of the bytes, in hex
	ID         memory.ID `json:"memory,omitempty"`
	// Closed is true if the frontmatter is not valid, so that the note may have any ID.
	Closed bool `json:"closed,omitempty"`
	// List is the kind of list that the note contains. Copy is true if a sync tool copied such
	// a note.
	List string `json:"list,omitempty"`
	Copy bool   `json:"copy,omitempty"`
}

// archiveEntry is an ArchiveNote in as few bytes as a store with many archived memories wants, without its path.
type archiveEntry struct {
	size, modTime, changeTime int64
	inode                     uint64
	digest                    [sha256.Size]byte
	id                        [16]byte
	list                      string
	closed, copied, read, has bool // read: it has a digest; has: it has an ID
}

func entryOf(n *ArchiveNote) archiveEntry {
	e := archiveEntry{size: n.Size, modTime: n.ModTime, changeTime: n.ChangeTime, inode: n.Inode, list: n.List,
		closed: n.Closed, copied: n.Copy}
	if id, err := memory.ParseID(string(n.ID)); err == nil {
		e.id, e.has = id.Bytes(), true
	}
	k, err := hex.Decode(e.digest[:], []byte(n.Digest[:min(len(n.Digest), 2*sha256.Size)]))
	e.read = err == nil && k == sha256.Size
	return e
}

func (e *archiveEntry) note(path string) ArchiveNote {
	n := ArchiveNote{Path: path, Size: e.size, ModTime: e.modTime, ChangeTime: e.changeTime, Inode: e.inode,
		List: e.list, Closed: e.closed, Copy: e.copied}
	if e.read {
		n.Digest = hex.EncodeToString(e.digest[:])
	}
	if e.has {
		n.ID = memory.IDFromBytes(e.id)
	}
	return n
}

// archiveFile is the file in the state folder.
type archiveFile struct {
	Sum   uint32          `json:"sum"` // CRC-32 of the field below
	Notes json.RawMessage `json:"notes"`
}

// openArchiveFolder returns the folder with the state of the last run. After an error the
// folder is empty and can be used.
func openArchiveFolder(opt *core.Options, file string) (*ArchiveFolder, error) {
	a := &ArchiveFolder{fs: opt.FS, file: file, notes: make(map[string]archiveEntry),
		dir: strings.Trim(path.Clean("/"+opt.VaultArchive), "/")}
	data, err := core.LastState(a.fs, file)
	if err != nil || data == nil {
		return a, err
	}
	var all archiveFile
	var list []ArchiveNote
	err = json.Unmarshal(data, &all)
	if err == nil && crc32.ChecksumIEEE(all.Notes) != all.Sum {
		err = errors.New("the checksum does not match the content of the file")
	}
	if err == nil {
		err = json.Unmarshal(all.Notes, &list)
	}
	if err != nil {
		return a, fmt.Errorf("%s has an invalid format: %w", file, err)
	}
	for _, note := range list {
		a.notes[note.Path] = entryOf(&note)
	}
	return a, nil
}

// contains reports whether a note is in the folder.
func (a *ArchiveFolder) contains(path string) bool {
	return a.dir != "" && strings.HasPrefix(path, a.dir+"/")
}

// Apart reports whether a note that was read is not for the index.
func (a *ArchiveFolder) Apart(r *Reading) bool {
	return core.HoldsList(r.Note) || a.contains(r.Doc.Path)
}

// removeApart removes from the index the notes that the settings no longer include. It calls no
// follower, because the notes did not change.
func (a *ArchiveFolder) removeApart(index *ltm.Index) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var own []string
	for path, c := range index.Known() {
		if !a.contains(path) {
			a.drop(path)
			continue
		}
		own = append(own, path)
		a.notes[path] = archiveEntry{size: c.Size, modTime: c.ModTime.UnixNano(),
			changeTime: c.ChangeTime.UnixNano(), inode: c.Inode}
	}
	if len(own) == 0 {
		return nil
	}
	for path, text := range index.Having(MemoryIDKey) {
		note, here := a.notes[path]
		if id, err := memory.ParseID(text); err == nil && here {
			note.id, note.has = id.Bytes(), true
			a.notes[path] = note
		}
	}
	a.changed = true
	return errors.Join(a.store(), index.Update(context.Background(), nil, own))
}

// known yields the files that were read. It yields one that is no longer apart, or whose text is not
// indexed, with another change time, so that the watcher reports it and emberd indexes it.
func (a *ArchiveFolder) known(indexed func(path string) bool, yield func(watcher.File) bool) {
	for _, note := range a.List() {
		f := watcher.File{Path: note.Path, Size: note.Size, ModTime: note.ModTime, ChangeTime: note.ChangeTime,
			Inode: note.Inode}
		here := a.contains(note.Path)
		if !here && note.List == "" || here && note.ID != "" && !note.Copy && !indexed(note.Path) {
			f.ChangeTime = 0
		}
		if !yield(f) {
			return
		}
	}
}

// List returns the state of all notes, by path.
func (a *ArchiveFolder) List() []ArchiveNote {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all()
}

// all returns the notes by path. mu must be held.
func (a *ArchiveFolder) all() []ArchiveNote {
	out := make([]ArchiveNote, 0, len(a.notes))
	for _, path := range slices.Sorted(maps.Keys(a.notes)) {
		e := a.notes[path]
		out = append(out, e.note(path))
	}
	return out
}

// split returns the part of a batch that is for the index.
func (a *ArchiveFolder) split(read []Reading, gone []string) (put []ltm.Doc, removed []string) {
	for _, r := range read {
		switch {
		case r.Note == nil:
		case !a.Apart(&r):
			put = append(put, r.Doc)
		case !a.contains(r.Doc.Path):
			removed = append(removed, r.Doc.Path) // it may be in the index under an earlier kind
		}
	}
	return put, append(removed, slices.DeleteFunc(slices.Clone(gone), a.contains)...)
}

// record records a batch after the index applied its part.
func (a *ArchiveFolder) record(read []Reading, gone []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, path := range gone {
		a.drop(path)
	}
	for _, r := range read {
		switch {
		case r.Note == nil:
		case a.Apart(&r):
			note := AsArchived(r.Note)
			a.notes[r.Doc.Path], a.changed = entryOf(&note), true
		default:
			a.drop(r.Doc.Path)
		}
	}
}

// drop removes a note. mu must be held.
func (a *ArchiveFolder) drop(path string) {
	if _, ok := a.notes[path]; ok {
		delete(a.notes, path)
		a.changed = true
	}
}

// AsArchived returns the state of a note for the archive folder's list.
func AsArchived(note *vault.Note) ArchiveNote {
	out := ArchiveNote{Path: note.Path, Size: note.Size, ModTime: note.ModTime.UnixNano(),
		ChangeTime: note.ChangeTime.UnixNano(), Inode: note.Inode, Digest: hex.EncodeToString(note.Digest[:]),
		Closed: note.Frontmatter == vault.InvalidFrontmatter}
	if core.HoldsList(note) {
		out.List, out.Copy = note.List, note.Copy
	}
	if id, err := memory.ParseID(note.MemoryID); err == nil {
		out.ID = id
	}
	return out
}

// len returns how many notes are not indexed, and how many of them list memories.
func (a *ArchiveFolder) len() (all, lists int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, note := range a.notes {
		if note.list != "" {
			lists++
		}
	}
	return len(a.notes), lists
}

// State returns the state of one note.
func (a *ArchiveFolder) State(path string) ArchiveNote {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, known := a.notes[path]
	if !known {
		return ArchiveNote{}
	}
	return e.note(path)
}

// closed returns the file names of the notes whose frontmatter is not valid.
func (a *ArchiveFolder) closed() []string {
	var out []string
	for _, note := range a.List() {
		if note.Closed && note.List == "" {
			out = append(out, path.Base(note.Path))
		}
	}
	return out
}

// ClosedInArchive returns the file names of the notes in the archive folder whose memory ID
// emberd cannot read.
func (n *VaultNotes) ClosedInArchive() []string {
	names := n.Archive.closed()
	n.Mu.RLock()
	defer n.Mu.RUnlock()
	for p := range n.Skipped {
		if n.InArchive(p) {
			names = append(names, path.Base(p))
		}
	}
	return names
}

// save writes the file if the state changed.
func (a *ArchiveFolder) save() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.store()
}

// store writes the file if the state changed. mu must be held.
func (a *ArchiveFolder) store() error {
	if !a.changed {
		return nil
	}
	list, err := json.Marshal(a.all())
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
