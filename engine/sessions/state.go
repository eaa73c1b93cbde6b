package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/internal/contain"
	"emberd/op"
	"emberd/stm"
)

// State is what all views share: the records of sessions, each in a file.
type State struct {
	dir string
	// tellable and threads are the memories that a session may be told of at its start.
	tellable, threads *stm.Selection

	mu   sync.Mutex          // guards what follows, and what session says
	open map[string]*session // those of late, by the name of the file

	unsaved []*session     // whose files are to be written, oldest first
	writing bool           // a goroutine writes them
	writers sync.WaitGroup // that goroutine, for Close

	turns chan heard // for the language model
}

// NewState returns the state for the settings.
func NewState(opt *core.Options) *State {
	return &State{dir: filepath.Join(opt.State, "sessions"), tellable: stm.NewSelection(isTellable),
		threads: stm.NewSelection(isThread), open: map[string]*session{}, turns: make(chan heard, maxTurns)}
}

// Close waits until the records of all sessions are written. There must be no more events.
func (s *State) Close() { s.writers.Wait() }

// session is the record of one session in memory.
type session struct {
	file string
	disk sync.Mutex // held while the file is read or written; locked before mu
	mu   sync.Mutex // guards record
	// record is nil before it was read.
	record *record

	// These are guarded by State.mu.
	users   int       // that have it, so that it stays in memory
	unsaved bool      // it is in State.unsaved, or being written
	last    time.Time // when it was used
}

// save says what becomes of a change of a record.
type save int

const (
	nothing save = iota // it stays in memory, and may be lost
	later               // it is written after the answer
	now                 // it is written before the answer
)

// use calls fn with the record of a session, which fn may change, and writes the record as fn says. Other events of
// the session wait while fn runs, and those of other sessions never.
func (e *Sessions) use(req *op.HookRequest, fn func(*record) (save, error)) error {
	s := e.take(digest(req.Agent, req.Session) + ".json")
	defer e.put(s)
	how, err := e.change(s, req, fn)
	switch {
	case err != nil:
		return err
	case how == now:
		return e.save(s)
	case how == later:
		e.saveLater(s)
	}
	return nil
}

// change calls fn with the record, a new one for a new session.
func (e *Sessions) change(s *session, req *op.HookRequest, fn func(*record) (save, error)) (save, error) {
	if err := e.load(s); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errBroken) {
		return nothing, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.record == nil {
		fresh := &record{Session: op.Session{ID: req.Session, Agent: req.Agent, Project: req.Project,
			Folder: req.Folder, Started: e.began(req)}}
		if req.DryRun {
			return fn(fresh)
		}
		s.record = fresh
	}
	s.record.tellOf(req, e.Opt.Now())
	return fn(s.record)
}

// tellOf notes that a session was told of. An import tells of what was said before, and perhaps nothing new.
func (r *record) tellOf(req *op.HookRequest, now time.Time) {
	at := now
	if n := len(req.Messages); req.Whole && n > 0 && !req.Messages[n-1].At.IsZero() {
		at = req.Messages[n-1].At
	}
	if !req.Whole || r.Touched.IsZero() {
		r.Touched = now
	}
	if at.After(r.Last) && !at.After(now) {
		r.Last = at
	}
}

// began returns when a session began: with its first message, where a whole one is told of.
func (e *Sessions) began(req *op.HookRequest) time.Time {
	if req.Whole && len(req.Messages) > 0 && !req.Messages[0].At.IsZero() {
		return req.Messages[0].At
	}
	return e.Opt.Now()
}

// load reads the record of a session unless it is in memory. Without one the error is that of the file.
func (e *Sessions) load(s *session) error {
	if s.loaded() {
		return nil
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.loaded() {
		return nil
	}
	r, err := e.read(s.file)
	if err == nil {
		s.mu.Lock()
		s.record = r
		s.mu.Unlock()
	}
	return err
}

func (s *session) loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record != nil
}

// save writes the record of a session as it is by now.
func (e *Sessions) save(s *session) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	raw, err := s.encode()
	if err != nil {
		return err
	}
	return e.write(s.file, raw)
}

func (s *session) encode() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.Marshal(s.record)
}

// saveLater has the record of a session written by a goroutine.
func (e *Sessions) saveLater(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.unsaved {
		return
	}
	s.unsaved, e.unsaved = true, append(e.unsaved, s)
	if !e.writing {
		e.writing = true
		e.writers.Go(e.saveAll)
	}
}

// saveAll writes the records that are to be written, until there are none.
func (e *Sessions) saveAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.unsaved) > 0 {
		s := e.unsaved[0]
		e.unsaved, s.unsaved = e.unsaved[1:], false
		s.users++
		e.mu.Unlock()
		err := contain.Do(e.Opt.Logger, contain.Task, "sessions", func() error { return e.save(s) })
		if err != nil {
			e.Opt.Logger.Warn("session state not written; hooks might add the same memories again", "err", err)
		}
		e.mu.Lock()
		s.users--
	}
	e.writing = false
}

// take returns the session with a file of that name. It stays in memory until put was called.
func (e *Sessions) take(file string) *session {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.open[file]
	if s == nil {
		s = &session{file: file}
		e.open[file] = s
	}
	s.users, s.last = s.users+1, e.Opt.Now()
	return s
}

// put gives back a session, and drops the ones from memory that rest longest if there are too many.
func (e *Sessions) put(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.users--
	if len(e.open) <= maxOpen+spareOpen {
		return
	}
	var idle []*session
	for _, other := range e.open {
		if other.users == 0 && !other.unsaved {
			idle = append(idle, other)
		}
	}
	slices.SortFunc(idle, func(a, b *session) int {
		return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.file, b.file))
	})
	for _, other := range idle[:max(0, min(len(idle), len(e.open)-maxOpen))] {
		delete(e.open, other.file)
	}
}
