package notelinks

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
)

// Known is what emberd wrote into notes, and when it writes again.
type Known struct {
	*core.Debounce // when links are written

	fs   durable.FS
	file string

	// passing is held through a pass and guards notes. It is taken before row locks.
	passing sync.Mutex
	notes   knownFile
	saved   [sha256.Size]byte // of the file as this run wrote it last

	// mu guards the fields below. It is held only to read or set them; the store's writer goroutine takes it.
	mu    sync.Mutex
	wrote map[string][sha256.Size]byte
}

// knownFile is the file in the state folder.
type knownFile struct {
	// Since is when emberd began to write links here. An older note is left alone until its memory changes, or the
	// user asks for it.
	Since time.Time                 `json:"since"`
	Notes map[memory.ID]*knownLinks `json:"notes,omitempty"`
}

// knownLinks is what emberd knows of the links in one note.
type knownLinks struct {
	// Values are the properties that are not relations, as emberd wrote them last, and Writing as it was writing them
	// when the daemon ended.
	Values  map[string][]string `json:"values,omitempty"`
	Writing map[string][]string `json:"writing,omitempty"`
	// Links are the links to memories by property, and Off those that an undo took out, which are not written again.
	Links map[string][]knownLink `json:"links,omitempty"`
	Off   map[string][]memory.ID `json:"off,omitempty"`
	// Theirs are the properties among those of Values that a person has changed.
	Theirs []string `json:"theirs,omitempty"`
	// Digest is that of the note when it had all this, "" to read it again.
	Digest string `json:"digest,omitempty"`
}

// knownLink is a link to a memory that was in a note.
type knownLink struct {
	To   memory.ID `json:"to"`
	Text string    `json:"text"`
	By   string    `json:"by,omitempty"` // one of the three below
}

// Whose a link is: emberd's, which changes with the name of the note and goes with the relation; a person's, which
// stays; or one that was there before and stands for no relation.
const (
	byEmberd = ""
	byUser   = "user"
	byOther  = "other"
)

// Next returns when links are due, zero to wait for a change. What was put off waits for changes, and never brings them
// forward: notes are written again once nothing has changed for a while.
func (k *Known) Next() time.Time { return cmp.Or(k.Due(), k.Debounce.Next()) }

// NewKnown continues from the file of the last run.
func NewKnown(opt *core.Options, dir string) *Known {
	k := &Known{Debounce: core.NewDebounce(opt.Now), fs: opt.FS,
		wrote: make(map[string][sha256.Size]byte),
		file:  filepath.Join(opt.State, "links", notes.StateName("notes", dir)+".json")}
	data, err := core.LastState(k.fs, k.file)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &k.notes)
	}
	if err != nil {
		opt.Logger.Warn("list of note links not read; emberd might write removed links again", "err", err)
		k.notes = knownFile{}
	}
	if k.notes.Notes == nil {
		k.notes.Notes = make(map[memory.ID]*knownLinks)
	}
	if k.notes.Since.IsZero() {
		k.notes.Since = core.StampTime(opt.Now())
	}
	return k
}

// save writes the file if it has changed. passing must be held.
func (k *Known) save() error {
	data, err := json.Marshal(k.notes)
	sum := sha256.Sum256(data)
	if err == nil && sum == k.saved {
		return nil
	}
	if err == nil {
		err = durable.ReplaceFile(k.fs, k.file, data)
	}
	if err != nil {
		return fmt.Errorf("cannot store the list of note links: %w", err)
	}
	k.saved = sum
	return nil
}

// Committed schedules a pass if memories with notes changed. The store's writer goroutine calls it and waits.
func (k *Known) Committed(of *notes.NoteIDs, entry *stm.Entry) {
	if slices.ContainsFunc(entry.IDs, func(id memory.ID) bool { return len(of.Of(id)) > 0 }) {
		k.Changed()
	}
}

// Observe schedules a pass if the note of a memory changed, or if there are other notes than before, to which
// entities may lead. It ignores what emberd wrote.
func (k *Known) Observe(known func(path string) bool, read []notes.Reading, gone []string) {
	news := len(gone) > 0 || slices.ContainsFunc(read, func(r notes.Reading) bool {
		return r.Note != nil && !k.isOwn(r.Note.Path, r.Note.Digest) &&
			(r.Note.Carried != nil || !known(r.Note.Path))
	})
	if news {
		k.Changed()
	}
}

// isOwn reports whether the last pass wrote these bytes.
func (k *Known) isOwn(path string, sum [sha256.Size]byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	own, is := k.wrote[path]
	return is && own == sum
}

// begin clears what is due.
func (k *Known) begin() {
	k.Begin()
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.wrote)
}

// writes records the bytes that a pass is about to write to a note.
func (k *Known) writes(path string, sum [sha256.Size]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wrote[path] = sum
}

// errAway is why a pass waits.
var errAway = errors.New("emberd cannot read the notes now")
