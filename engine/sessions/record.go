package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	maxRecords  = 1000    // files
	maxSeen     = 10_000  // messages of a session whose sentences were judged
	maxFile     = 4 << 20 // bytes
	keepRecords = 90 * 24 * time.Hour
)

// record is what is known about a session. It is one JSON object in a file whose name is made of the agent and of
// the session's ID.
type record struct {
	op.Session
	Folder string `json:"folder,omitempty"`
	// Told are the memories that the model was told since the agent last shortened what it remembers.
	Told []memory.ID `json:"told,omitempty"`
	// Pending are those of them that no answer has had a chance to use.
	Pending []memory.ID `json:"pending,omitempty"`
	// Block is the digest of what the model was told at the start.
	Block string `json:"block,omitempty"`
	// Seen are digests of the messages whose sentences were judged.
	Seen []string `json:"seen,omitempty"`
	// Asked is the digest of the last prompt, and AskedAt when it came.
	Asked   string    `json:"asked,omitempty"`
	AskedAt time.Time `json:"asked_at,omitzero"`

	file string
}

// errBroken says of a record that it is none, as after a fault of the disk. What was shown in the session is forgotten.
var errBroken = errors.New("what is known about the session cannot be read")

// digest returns 16 hex digits that stand for some texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// use calls fn with the record of a session, which fn may change, and writes the record if fn says so. Other
// sessions wait.
func (e *Sessions) use(req *op.HookRequest, fn func(*record) (write bool, err error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, err := e.recordOf(req)
	if err != nil {
		return err
	}
	r.Last = e.Opt.Now()
	write, err := fn(r)
	if err != nil || !write {
		return err
	}
	return e.write(r)
}

// recordOf returns the record of a session, a new one for a new session. The caller holds the lock.
func (e *Sessions) recordOf(req *op.HookRequest) (*record, error) {
	name := digest(req.Agent, req.Session) + ".json"
	if r := e.open[name]; r != nil {
		return r, nil
	}
	r, err := e.read(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBroken) {
		r = &record{Session: op.Session{ID: req.Session, Agent: req.Agent, Project: req.Project,
			Started: e.began(req)}, Folder: req.Folder, file: name}
	} else if err != nil {
		return nil, err
	}
	e.remember(r)
	return r, nil
}

// began returns when a session began: with its first message, where a whole one is told of.
func (e *Sessions) began(req *op.HookRequest) time.Time {
	if req.Whole && len(req.Messages) > 0 && !req.Messages[0].At.IsZero() {
		return req.Messages[0].At
	}
	return e.Opt.Now()
}

// remember keeps a record in memory, in place of the one that rests longest if there are too many.
func (e *Sessions) remember(r *record) {
	e.open[r.file] = r
	if len(e.open) <= maxOpen {
		return
	}
	oldest := r
	for _, other := range e.open {
		if other.Last.Before(oldest.Last) {
			oldest = other
		}
	}
	delete(e.open, oldest.file)
}

func (e *Sessions) read(name string) (*record, error) {
	raw, err := durable.ReadAtMost(e.Opt.FS, filepath.Join(e.dir, name), maxFile)
	if err != nil {
		return nil, err
	}
	r := &record{file: name}
	if err := json.Unmarshal(raw, r); err != nil || r.ID == "" {
		return nil, fmt.Errorf("%w: %s: %w", errBroken, name, err)
	}
	return r, nil
}

func (e *Sessions) write(r *record) error {
	if err := durable.MkdirAll(e.Opt.FS, e.dir); err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return durable.ReplaceUnlisted(e.Opt.FS, filepath.Join(e.dir, r.file), raw)
}

// all returns the records of all sessions, newest first, and removes those beyond what is kept. The caller holds
// the lock.
func (e *Sessions) all() ([]*record, error) {
	entries, err := e.Opt.FS.ReadDir(e.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []*record
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		r := e.open[entry.Name()]
		if r == nil {
			if r, err = e.read(entry.Name()); errors.Is(err, errBroken) {
				continue // the next event of the session replaces it
			} else if err != nil {
				return nil, err
			}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *record) int { return b.Last.Compare(a.Last) })
	return e.trim(all)
}

// trim removes records that are too old or too many from sorted ones.
func (e *Sessions) trim(all []*record) ([]*record, error) {
	kept := all[:min(len(all), maxRecords)]
	for len(kept) > 0 && e.Opt.Now().Sub(kept[len(kept)-1].Last) > keepRecords {
		kept = kept[:len(kept)-1]
	}
	for _, r := range all[len(kept):] {
		delete(e.open, r.file)
		if err := e.Opt.FS.Remove(filepath.Join(e.dir, r.file)); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// find returns the record of the session with an ID or the beginning of one.
func find(all []*record, id string) (*record, error) {
	const least = 4
	var found []*record
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
		if len(id) >= least && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, memory.Errorf(memory.NotFound, "no session %.60q is known; list them with emberd hook sessions",
			id).At("id")
	case 1:
		return found[0], nil
	}
	return nil, memory.Errorf(memory.Invalid, "%d sessions begin with %.60q; write more of the id", len(found),
		id).At("id")
}
