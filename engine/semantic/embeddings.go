package semantic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vectors"
)

// Embeddings manages the embeddings of memories and notes. All methods of a nil *Embeddings do
// nothing.
//
// There is one vector index for each model. One goroutine (RunEmbedder) finds texts without an
// embedding and embeds them, newest first. Other goroutines report changes to it and never
// wait for it. Searches use the serving index: the one of the current model, or that of the
// previous model until the new one is complete.
//
// Concurrency: serving, the counters and the channels need no lock. Only the goroutine of
// RunEmbedder sets Building, earlier and serving, opens and closes indexes, and embeds texts
// of Todo. It may read these fields without Mu, and sets Building and earlier with Mu held. The
// goroutines of RunQueryEmbedder receive from Asks and embed queries. Any goroutine may report
// a change, search, or call Status.
type Embeddings struct {
	core.Meaning
	fs     durable.FS
	file   string        // whether embedding is paused
	wake   chan struct{} // room for one token: something changed
	Asks   chan Ask      // queries; RunQueryEmbedder receives them
	quiet  chan struct{} // room for one token: the last waiting query was answered
	retry  chan struct{} // room for one token: try again now what failed
	asking atomic.Int64  // number of queries in progress
	made   atomic.Int64  // number of embeddings in this run
	stale  atomic.Bool   // a query found that the server has another model
	recent *queryCache
	Vitals *core.Counters
	Digest func(memory.ID) (vectors.Key, bool) // digest of a memory's current text

	serving atomic.Pointer[VectorIndex] // the index for searches, nil for none

	// Mu guards the fields below. It is held for short steps only, never while a text is
	// embedded. Writes of the small state file are the exception. It is taken in the store's
	// writer goroutine (Committed) and in the goroutine that reads notes (Saw). Code that
	// holds Mu may take the lock of a vector store, and no row lock; OpenIndexes.Mu is never
	// held together with it.
	Mu       sync.Mutex
	Building *VectorIndex // nil until a model is ready
	earlier  *VectorIndex // index of another model, nil unless it serves
	changes  embeddingChanges
	Todo     EmbedQueue
	counting bool // Todo is not known yet
	looking  bool // Todo does not contain all changes yet
	paused   bool
	purged   bool      // a memory was purged, and an index may still have its embedding
	Owed     bool      // the state file records purged, for indexes that are not open
	problem  string    // why embedding stopped, "" if it runs
	again    time.Time // when it is tried again
	pace     embedPace
	idle     string // why no embeddings are needed, if nothing is wrong
	battery  battery
}

// embeddingChanges are changes that RunEmbedder has not handled yet.
type embeddingChanges struct {
	begun    bool // changes are recorded from now on
	all      bool // anything may have changed
	memories map[memory.ID]bool
	notes    map[string]noteState
}

// noteState is a note as it was last read.
type noteState struct {
	digest [32]byte
	at     time.Time
	gone   bool
}

// maxPendingChanges is how many changes are recorded one by one.
const maxPendingChanges = 100_000

// NewEmbeddings returns nil without an embedder.
func NewEmbeddings(opt *core.Options) *Embeddings {
	if opt.Meaning.Embedder == nil {
		return nil
	}
	m := &Embeddings{Meaning: opt.Meaning, fs: opt.FS, file: filepath.Join(opt.State, "meaning.json"),
		wake: make(chan struct{}, 1), Asks: make(chan Ask), quiet: make(chan struct{}, 1),
		retry: make(chan struct{}, 1), recent: NewRecentQueries()}
	if m.Dir == "" {
		m.Dir = filepath.Join(opt.State, "vectors")
	}
	m.changes.clear()
	m.Todo.Clear()
	var kept embeddingsFile
	data, err := core.LastState(m.fs, m.file)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		opt.Logger.Warn("cannot read whether the computation of embeddings is paused; emberd computes embeddings",
			"err", err)
	}
	m.paused, m.purged, m.Owed = kept.Paused, kept.Purged, kept.Purged
	return m
}

// embeddingsFile is the file in the state folder.
type embeddingsFile struct {
	Paused bool `json:"paused"`
	Purged bool `json:"purged,omitempty"` // a memory was purged while its embedding could not be reached
}

// Pause stops or resumes embedding, in this run and later ones.
func (m *Embeddings) Pause(paused bool) error {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if err := m.remember(embeddingsFile{Paused: paused, Purged: m.Owed}); err != nil {
		return err
	}
	m.paused = paused
	core.Nudge(m.wake)
	return nil
}

func (m *Embeddings) remember(f embeddingsFile) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(m.fs, m.file, data)
}

func (n *embeddingChanges) clear() {
	n.memories, n.notes = make(map[memory.ID]bool), make(map[string]noteState)
}

// recordChange records changes. It does nothing before the first comparison, which finds them anyway.
func (m *Embeddings) recordChange(change func(*embeddingChanges)) {
	if m == nil {
		return
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if !m.changes.begun || m.changes.all {
		m.changes.all = m.changes.begun
		return
	}
	if change(&m.changes); len(m.changes.memories)+len(m.changes.notes) > maxPendingChanges {
		m.changes.all = true
		m.changes.clear()
	}
	core.Nudge(m.wake)
}

// Committed records changed memories. The store's writer goroutine calls it and waits.
func (m *Embeddings) Committed(entry *stm.Entry) {
	if entry.Verb == core.PurgeVerb {
		m.PurgeNext()
	}
	m.recordChange(func(n *embeddingChanges) {
		for _, id := range entry.IDs {
			n.memories[id] = true
		}
	})
}

// PurgeNext has the files rewritten with the next changes, since a purged memory or its note is among these.
func (m *Embeddings) PurgeNext() {
	if m == nil {
		return
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.purged = true
}

// ChangedAll records that any memory or note may have changed.
func (m *Embeddings) ChangedAll() {
	m.recordChange(func(n *embeddingChanges) { n.all = true })
}

// Observe records notes that were read, and those that are deleted or not for searches.
func (m *Embeddings) Observe(archive *notes.ArchiveFolder, read []notes.Reading, gone []string) {
	m.recordChange(func(n *embeddingChanges) {
		for _, path := range gone {
			n.notes[path] = noteState{gone: true}
		}
		for _, r := range read {
			if r.Note != nil {
				n.notes[r.Doc.Path] = noteState{digest: r.Note.Digest, at: r.Note.ModTime, gone: archive.Apart(&r)}
			}
		}
	})
}

// Purge removes the embeddings of a memory on this device. If no model is ready, the state
// file records it until one is.
func (m *Embeddings) Purge(ctx context.Context, id memory.ID) error {
	if m == nil {
		return nil
	}
	m.recent.clear()
	if err := m.deferPurge(); err != nil {
		return err
	}
	for _, s := range m.openIndexes() {
		if err := s.Drop(ctx, MemoryDoc(id)); err != nil {
			return err
		}
	}
	return nil
}

func (m *Embeddings) deferPurge() error {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.purged = true
	if m.Building != nil || m.Owed {
		return nil
	}
	if err := m.remember(embeddingsFile{Paused: m.paused, Purged: true}); err != nil {
		return err
	}
	m.Owed = true
	return nil
}

// applyDeferredPurges removes the embeddings of purged memories.
func (m *Embeddings) applyDeferredPurges(ctx context.Context) error {
	m.Mu.Lock()
	purged := m.purged
	m.purged = false
	m.Mu.Unlock()
	if !purged {
		return nil
	}
	for _, s := range m.openIndexes() {
		if err := s.Store.Purge(ctx); err != nil {
			m.Mu.Lock()
			m.purged = true
			m.Mu.Unlock()
			return err
		}
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if !m.Owed {
		return nil
	}
	m.Owed = false
	return m.remember(embeddingsFile{Paused: m.paused})
}

// openIndexes returns the open indexes.
func (m *Embeddings) openIndexes() []*VectorIndex {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	var out []*VectorIndex
	for _, s := range []*VectorIndex{m.Building, m.earlier} {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

// LexicalWeight is the weight in ranking of embeddings of spelling, which have no calibration
// and which only users have who chose them. At a half, misspelled queries find more on
// every judged set, and other queries lose almost nothing (docs/internals/evaluation.md).
const LexicalWeight = 0.5

// StaticWeight is the share of its trust that static embeddings have in ranking: the best of
// 0.3 to 1 on half of the questions of four judged sets (docs/internals/evaluation.md).
const StaticWeight = 0.65

// weightOf returns the weight of an index in ranking.
func (m *Embeddings) weightOf(s *VectorIndex) float64 {
	switch {
	case m.Weight >= 0:
		return min(m.Weight, 1)
	case s.Grade.Lexical:
		return LexicalWeight
	}
	return s.Trust()
}

// Trust returns how much the nearness of a text counts by itself, 0 to 1: by the calibration, and for static
// embeddings StaticWeight of that.
func (s *VectorIndex) Trust() float64 {
	if s.Identity.Provider == embedding.Static {
		return StaticWeight * s.Grade.Trust()
	}
	return s.Grade.Trust()
}

// RankWeight returns the weight in ranking of the serving index, 0 to 1; 0 without one.
func (m *Embeddings) RankWeight() float64 {
	if s := m.ServingRack(); s != nil {
		return m.weightOf(s)
	}
	return 0
}

// ServingRack returns the vector index for searches, nil for none.
func (m *Embeddings) ServingRack() *VectorIndex {
	if m == nil {
		return nil
	}
	return m.serving.Load()
}

// Status returns the state of the embeddings for an answer, nil without any.
func (m *Embeddings) Status() *op.Meaning {
	if m == nil {
		return nil
	}
	out := &op.Meaning{}
	s := m.serving.Load()
	m.Mu.Lock()
	defer m.Mu.Unlock()
	out.Covered, out.Total = m.Todo.Covered, m.Todo.Total()
	switch {
	case s != nil:
		out.Provider, out.Model, out.Weight = s.provider(), s.Identity.Model, m.weightOf(s)
		if out.Weight == 0 {
			out.Without = m.idle
		}
	case m.problem != "":
		out.Without = m.problem
	case m.Building != nil && !m.Building.Grade.Current():
		out.Without = "the model is being calibrated"
	default:
		out.Without = "the model is not ready yet"
	}
	return out
}

// Warnings returns the warnings for status.
func (m *Embeddings) Warnings() []string {
	m.Mu.Lock()
	problem, idle := m.problem, m.idle
	m.Mu.Unlock()
	var out []string
	if idle != "" && m.Weight < 0 {
		out = append(out, idle)
	}
	if problem != "" {
		out = append(out, "emberd currently computes no embeddings: "+problem)
	}
	status := m.Embedder.Status()
	if n := len(status.Passed); status.Provider == embedding.Static && n > 0 {
		out = append(out, fmt.Sprintf("emberd uses static embeddings instead of the configured "+
			"model: %s: %s; fix the problem and restart the daemon", status.Passed[n-1].Provider,
			status.Passed[n-1].Reason))
	}
	if status.Native == nil {
		return out
	}
	if why := status.Native.NoSandbox; why != "" {
		out = append(out, why)
	}
	if status.Native.Unconfined {
		out = append(out, "the setting sandbox is off, so the llama.cpp libraries can read and "+
			"change all files that you can read and change; set sandbox to auto")
	}
	if why := status.Native.GivenUp; why != "" { // even if the next runtime was not tried yet
		return append(out, why)
	}
	for _, passed := range status.Passed {
		if slices.ContainsFunc(status.Native.Bad,
			func(b embedding.IncompatibleModel) bool { return b.Why == passed.Reason }) {
			out = append(out, passed.Reason)
		}
	}
	return out
}

// ToldOf returns Status for an answer that used s; if s is nil, without is the reason. A
// caller with a grant does not get the number of all embeddings.
func (e *Semantic) ToldOf(s *QueryEmbedding, without string) *op.Meaning {
	out := e.Meaning.Status()
	if out != nil && e.Grant != nil {
		out.Covered, out.Total = 0, 0
	}
	if out != nil && s == nil && without != "" {
		out.Without = without
	}
	return out
}

// VectorIndex is the embeddings of one model.
type VectorIndex struct {
	Dir      string
	Identity embedding.Identity
	embedder *embedding.Embedder
	own      bool // the embedder is closed with the index
	Store    *vectors.Store
	onClose  func(dir string) // called when the index was closed
	Grade    embedding.Calibration
	complete bool // every text had its embedding once
}

// provider returns the runtime that embeds; it changes if another one takes over.
func (s *VectorIndex) provider() string {
	return cmp.Or(s.embedder.Status().Provider, s.Identity.Provider)
}

// Drop removes a document and its embeddings from the index and from its files.
func (s *VectorIndex) Drop(ctx context.Context, doc string) error {
	if err := s.Store.Place(nil, []string{doc}); err != nil {
		return err
	}
	return s.Store.Purge(ctx)
}
