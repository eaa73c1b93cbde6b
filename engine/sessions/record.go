package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// The bounds of what is known about sessions.
const (
	maxOpen     = 64      // records in memory
	spareOpen   = 16      // more of them, before those that rest are dropped
	maxRecords  = 1000    // files
	maxSeen     = 10_000  // messages of a session whose sentences were judged
	maxFile     = 4 << 20 // bytes
	keepRecords = 90 * 24 * time.Hour
)

// record is what is known about a session. It is one JSON object in a file whose name is made of the agent and of
// the session's ID.
type record struct {
	op.Session
	// Touched is the time of the last event or import of the session. Last is the time of its last message.
	Touched time.Time `json:"touched,omitzero"`
	// Told are the memories that the model was told, or would have been, since the agent last shortened what it
	// remembers.
	Told []memory.ID `json:"told,omitempty"`
	// Pending are those that it was told and that no answer used.
	Pending []memory.ID `json:"pending,omitempty"`
	// Tried are those that prompts would have been given, in shadow, and that no answer used.
	Tried []memory.ID `json:"tried,omitempty"`
	// Block is the digest of what the model was told at the start.
	Block string `json:"block,omitempty"`
	// Sums are digests of the texts of Memories, which have none here: a purge leaves no text behind.
	Sums map[memory.ID]string `json:"sums,omitempty"`
	// Seen are digests of the messages whose sentences were judged.
	Seen []string `json:"seen,omitempty"`
	// Unread are the messages of which the token forbade to save a sentence: they count as not seen.
	Unread []string `json:"unread,omitempty"`
	// Asked is the digest of the last prompt, and AskedAt when it came.
	Asked   string    `json:"asked,omitempty"`
	AskedAt time.Time `json:"asked_at,omitzero"`
}

// errBroken says of a record that it is none, as after a fault of the disk. What was shown in the session is forgotten.
var errBroken = errors.New("cannot read the record of the session")

// keep adds memories that the session left, without their texts.
func (r *record) keep(kept []op.SessionMemory) {
	for _, k := range kept {
		if k.Text != "" {
			if r.Sums == nil {
				r.Sums = map[memory.ID]string{}
			}
			r.Sums[k.ID] = digest(k.Text)
		}
		k.Text = ""
		r.Memories = append(r.Memories, k)
	}
}

// leave notes what was not kept of some messages. Those of which the token forbids a sentence count as not seen, so
// that an import, or a hook with another token, reads them again.
func (r *record) leave(messages []op.SessionMessage, res *op.HookResult) {
	r.Over += res.Over
	for i := range messages {
		d := digestOf(&messages[i])
		is := func(other string) bool { return other == d }
		r.Unread = slices.DeleteFunc(r.Unread, is)
		if slices.Contains(res.Forbidden, messages[i].ID) {
			r.Seen, r.Unread = slices.DeleteFunc(r.Seen, is), append(r.Unread, d)
		}
	}
	r.Unread = r.Unread[max(0, len(r.Unread)-maxSeen):]
	r.Forbidden = len(r.Unread)
}

// touched is Touched, also of a record from before there was that field.
func (r *record) touched() time.Time {
	if r.Touched.IsZero() {
		return r.Last
	}
	return r.Touched
}

// isEmpty reports whether a session has no message.
func (r *record) isEmpty() bool {
	return r.Prompts == 0 && len(r.Seen)+len(r.Unread)+len(r.Memories) == 0
}

// digestOf stands for what a message says.
func digestOf(m *op.SessionMessage) string { return digest(m.ID, m.Role, m.Text, m.Command) }

// digest returns 16 hex digits that stand for some texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func (e *Sessions) read(file string) (*record, error) {
	raw, err := durable.ReadAtMost(e.Opt.FS, filepath.Join(e.dir, file), maxFile)
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(raw, r); err != nil || r.ID == "" {
		return nil, fmt.Errorf("%w: %s: %w", errBroken, file, err)
	}
	before := r.Memories
	r.Memories = nil
	r.keep(before)
	return r, nil
}

func (e *Sessions) write(file string, raw []byte) error {
	if err := durable.MkdirAll(e.Opt.FS, e.dir); err != nil {
		return err
	}
	return durable.ReplaceUnlisted(e.Opt.FS, filepath.Join(e.dir, file), raw)
}

// filed is a copy of a record, and its file.
type filed struct {
	record
	file string
}

// all returns copies of the records of all sessions, newest first, and removes those beyond what is kept.
func (e *Sessions) all() ([]filed, error) {
	files, err := e.files()
	if err != nil {
		return nil, err
	}
	var all []filed
	for _, file := range files {
		r, err := e.copied(file)
		if errors.Is(err, errBroken) || errors.Is(err, fs.ErrNotExist) {
			continue // the next event of the session replaces it
		} else if err != nil {
			return nil, err
		}
		all = append(all, filed{r, file})
	}
	slices.SortFunc(all, func(a, b filed) int { return b.touched().Compare(a.touched()) })
	return e.trim(all)
}

// files returns the names of the files of all sessions, written or not.
func (e *Sessions) files() ([]string, error) {
	e.mu.Lock()
	names := slices.Collect(maps.Keys(e.open))
	e.mu.Unlock()
	entries, err := e.Opt.FS.ReadDir(e.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".json" {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// copied returns a copy of the record in memory, else of that in the file.
func (e *Sessions) copied(file string) (record, error) {
	e.mu.Lock()
	s := e.open[file]
	e.mu.Unlock()
	if s != nil && s.loaded() {
		s.mu.Lock()
		defer s.mu.Unlock()
		return *s.record, nil
	}
	r, err := e.read(file)
	if err != nil {
		return record{}, err
	}
	return *r, nil
}

// trim removes records that are too old or too many from sorted ones, but not those in use.
func (e *Sessions) trim(all []filed) ([]filed, error) {
	kept := all[:min(len(all), maxRecords)]
	for len(kept) > 0 && e.Opt.Now().Sub(kept[len(kept)-1].touched()) > keepRecords {
		kept = kept[:len(kept)-1]
	}
	for _, r := range all[len(kept):] {
		if err := e.remove(r.file); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// remove removes the record of a session unless it is in use.
func (e *Sessions) remove(file string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.open[file]; s != nil && (s.users > 0 || s.unsaved) {
		return nil
	}
	delete(e.open, file)
	if err := e.Opt.FS.Remove(filepath.Join(e.dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// find returns the record of the session with an ID or the beginning of one.
func find(all []filed, id string) (*record, error) {
	const least = 4
	var found []*record
	for i := range all {
		r := &all[i].record
		if r.ID == id {
			return r, nil
		}
		if len(id) >= least && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		if len(id) < least {
			return nil, memory.Errorf(memory.Invalid, "%q is too short; pass at least %d characters of the session ID",
				id, least).At("id")
		}
		return nil, memory.Errorf(memory.NotFound, "session %.60q not found; run: emberd hook sessions", id).At("id")
	case 1:
		return found[0], nil
	}
	return nil, memory.Errorf(memory.Invalid, "%d sessions begin with %.60q; pass more characters of the ID",
		len(found), id).At("id")
}
