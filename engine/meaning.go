package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/embedding"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vectors"
)

// meaning is what the engine knows of what memories and notes mean, as vectors. All
// methods of a nil meaning do nothing.
//
// Vectors lie on racks, one for each model. One goroutine ([Engine.keepMeaning]) looks what
// has no vector yet and makes it, newest first; it is told of changes and never waited for.
// Searches ask the rack that serves: the one that is being filled, or that of an earlier
// model as long as the new one is not complete.
type meaning struct {
	Meaning
	fs     durable.FS
	file   string        // where it is kept whether this is paused
	wake   chan struct{} // holds a token when there is news
	asks   chan ask      // queries, taken by who makes their vectors
	quiet  chan struct{} // holds a token when the last query was answered
	retry  chan struct{} // holds a token when what failed is to be tried again at once
	asking atomic.Int64  // queries under way
	made   atomic.Int64  // vectors, in this run
	stale  atomic.Bool   // a query found that the model is another one
	recent *recentQueries
	vitals *vitals
	digest func(memory.ID) (vectors.Key, bool) // of a memory's text as it is now

	serving atomic.Pointer[rack] // what searches ask, nil for none

	mu       sync.Mutex // guards what follows
	filling  *rack      // nil while no model is ready
	earlier  *rack      // of another model, nil if none serves
	news     meaningNews
	todo     todo
	counting bool // todo is not known yet
	looking  bool // todo does not have all news yet
	paused   bool
	purged   bool      // something was, and its vector may be on a rack yet
	owed     bool      // the state folder remembers that, for racks that are not open
	problem  string    // why nothing goes on, "" if it does
	again    time.Time // when it is tried again
	pace     meaningPace
	idle     string // why no vectors are made although nothing is wrong
}

// meaningNews are changes that were not looked at yet.
type meaningNews struct {
	begun    bool // changes count from here on
	all      bool // anything may have changed
	memories map[memory.ID]bool
	notes    map[string]noteState
}

// noteState is a note as it was read last.
type noteState struct {
	digest [32]byte
	at     time.Time
	gone   bool
}

// mostNews is how many changes are remembered one by one.
const mostNews = 100_000

// newMeaning is nil without an embedder.
func newMeaning(opt *Options) *meaning {
	if opt.Meaning.Embedder == nil {
		return nil
	}
	m := &meaning{Meaning: opt.Meaning, fs: opt.FS, file: filepath.Join(opt.State, "meaning.json"),
		wake: make(chan struct{}, 1), asks: make(chan ask), quiet: make(chan struct{}, 1),
		retry: make(chan struct{}, 1), recent: newRecentQueries()}
	if m.Dir == "" {
		m.Dir = filepath.Join(opt.State, "vectors")
	}
	m.news.clear()
	m.todo.clear()
	var kept meaningFile
	data, err := lastState(m.fs, m.file)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		opt.Logger.Warn("whether the making of vectors was paused is not known, it goes on", "err", err)
	}
	m.paused, m.purged, m.owed = kept.Paused, kept.Purged, kept.Purged
	return m
}

// meaningFile is what the state folder remembers.
type meaningFile struct {
	Paused bool `json:"paused"`
	Purged bool `json:"purged,omitempty"` // something, while its vector could not be reached
}

// pause stops the making of vectors, or lets it go on, in this run and later ones.
func (m *meaning) pause(paused bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.remember(meaningFile{Paused: paused, Purged: m.owed}); err != nil {
		return err
	}
	m.paused = paused
	nudge(m.wake)
	return nil
}

func (m *meaning) remember(f meaningFile) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(m.fs, m.file, data)
}

func (n *meaningNews) clear() {
	n.memories, n.notes = make(map[memory.ID]bool), make(map[string]noteState)
}

// tell takes in changes, before which it must have been said what there was.
func (m *meaning) tell(change func(*meaningNews)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.news.begun || m.news.all {
		m.news.all = m.news.begun
		return
	}
	if change(&m.news); len(m.news.memories)+len(m.news.notes) > mostNews {
		m.news.all = true
		m.news.clear()
	}
	nudge(m.wake)
}

// committed takes in that memories changed. The store waits for it.
func (m *meaning) committed(entry *stm.Entry) {
	if m != nil && entry.Verb == purgeVerb {
		m.mu.Lock()
		m.purged = true
		m.mu.Unlock()
	}
	m.tell(func(n *meaningNews) {
		for _, id := range entry.IDs {
			n.memories[id] = true
		}
	})
}

// anything takes in that any memory or note may have changed.
func (m *meaning) anything() {
	m.tell(func(n *meaningNews) { n.all = true })
}

// saw takes in notes as they were read, and those that are gone or not for searches.
func (m *meaning) saw(archive *archiveFolder, read []reading, gone []string) {
	m.tell(func(n *meaningNews) {
		for _, path := range gone {
			n.notes[path] = noteState{gone: true}
		}
		for _, r := range read {
			if r.note != nil {
				n.notes[r.doc.Path] = noteState{digest: r.note.Digest, at: r.note.ModTime, gone: archive.apart(&r)}
			}
		}
	})
}

// purge has no vector left of a memory, on this device. While no model is ready it has to
// wait for that, which is remembered.
func (m *meaning) purge(ctx context.Context, id memory.ID) error {
	if m == nil {
		return nil
	}
	m.recent.clear()
	if err := m.owePurge(); err != nil {
		return err
	}
	for _, s := range m.racks() {
		if err := s.drop(ctx, memoryDoc(id)); err != nil {
			return err
		}
	}
	return nil
}

func (m *meaning) owePurge() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.purged = true
	if m.filling != nil || m.owed {
		return nil
	}
	if err := m.remember(meaningFile{Paused: m.paused, Purged: true}); err != nil {
		return err
	}
	m.owed = true
	return nil
}

// settlePurges has no vectors left of what was purged.
func (m *meaning) settlePurges(ctx context.Context) error {
	m.mu.Lock()
	purged := m.purged
	m.purged = false
	m.mu.Unlock()
	if !purged {
		return nil
	}
	for _, s := range m.racks() {
		if err := s.store.Purge(ctx); err != nil {
			m.mu.Lock()
			m.purged = true
			m.mu.Unlock()
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.owed {
		return nil
	}
	m.owed = false
	return m.remember(meaningFile{Paused: m.paused})
}

// racks are those that are open.
func (m *meaning) racks() []*rack {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*rack
	for _, s := range []*rack{m.filling, m.earlier} {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

// lexicalWeight is what rankings trust vectors of spelling, which sit no exam, and which
// nobody has who did not ask for them: at a quarter, misspelled questions find more on every
// judged set, and the others lose nothing to speak of (docs/evaluation.md).
const lexicalWeight = 0.25

// weightOf is what rankings trust the vectors of a rack.
func (m *meaning) weightOf(s *rack) float64 {
	switch {
	case m.Weight >= 0:
		return min(m.Weight, 1)
	case s.grade.Lexical:
		return lexicalWeight
	}
	return s.grade.Trust()
}

// weight is what rankings trust the vectors that serve now, 0 to 1; 0 if there are none.
func (m *meaning) weight() float64 {
	if s := m.servingRack(); s != nil {
		return m.weightOf(s)
	}
	return 0
}

func (m *meaning) servingRack() *rack {
	if m == nil {
		return nil
	}
	return m.serving.Load()
}

// told tells an answer of the vectors, nil without any.
func (m *meaning) told() *op.Meaning {
	if m == nil {
		return nil
	}
	out := &op.Meaning{}
	s := m.serving.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	out.Covered, out.Total = m.todo.covered, m.todo.total()
	switch {
	case s != nil:
		out.Provider, out.Model, out.Weight = s.provider(), s.identity.Model, m.weightOf(s)
		if out.Weight == 0 {
			out.Without = m.idle
		}
	case m.problem != "":
		out.Without = m.problem
	case m.filling != nil && !m.filling.grade.Current():
		out.Without = "the model is examined first"
	default:
		out.Without = "the model is not ready yet"
	}
	return out
}

// warnings are what status is to warn of.
func (m *meaning) warnings() []string {
	m.mu.Lock()
	problem := m.problem
	m.mu.Unlock()
	var out []string
	if problem != "" {
		out = append(out, "vectors are not made at present: "+problem)
	}
	status := m.Embedder.Status()
	if status.Native == nil {
		return out
	}
	if why := status.Native.GivenUp; why != "" { // whether or not the next one was asked yet
		return append(out, why)
	}
	for _, passed := range status.Passed {
		if slices.ContainsFunc(status.Native.Bad, func(b embedding.BadPair) bool { return b.Why == passed.Reason }) {
			out = append(out, passed.Reason)
		}
	}
	return out
}

// toldOf is told for an answer to what made this sense; where it is nil without says why.
// How many vectors there are of everything is not for who has a grant.
func (e *Engine) toldOf(s *sense, without string) *op.Meaning {
	out := e.meaning.told()
	if out != nil && e.grant != nil {
		out.Covered, out.Total = 0, 0
	}
	if out != nil && s == nil && without != "" {
		out.Without = without
	}
	return out
}

// rack is the vectors of one model.
type rack struct {
	dir      string
	identity embedding.Identity
	embedder *embedding.Embedder
	own      bool // the embedder is closed with the rack
	store    *vectors.Store
	shut     func(dir string) // says that it was closed
	grade    embedding.Grade
	complete bool // once, everything had its vectors
}

// provider is who makes its vectors: one may have taken over from another.
func (s *rack) provider() string { return cmp.Or(s.embedder.Status().Provider, s.identity.Provider) }

// vector is that of a memory's own text, false unless it is of that digest.
func (s *rack) vector(id memory.ID, now func(memory.ID) (vectors.Key, bool)) ([]float32, bool) {
	doc, ok := s.store.Doc(memoryDoc(id))
	if !ok || len(doc.Chunks) == 0 {
		return nil, false
	}
	if digest, ok := now(id); !ok || digest != doc.Digest {
		return nil, false
	}
	vector, ok := s.store.Vector(doc.Chunks[0].Key)
	some := slices.ContainsFunc(vector, func(x float32) bool { return x != 0 })
	return vector, ok && some
}

// embeddedBy is what people call the model that made the vector of a memory, "" without one.
func (e *Engine) embeddedBy(id memory.ID) string {
	s := e.meaning.servingRack()
	if s == nil {
		return ""
	}
	if _, ok := s.store.Doc(memoryDoc(id)); !ok {
		return ""
	}
	return s.identity.Model
}

// drop takes a document and its vectors off the rack, on the disk, too.
func (s *rack) drop(ctx context.Context, doc string) error {
	if err := s.store.Place(nil, []string{doc}); err != nil {
		return err
	}
	return s.store.Purge(ctx)
}
