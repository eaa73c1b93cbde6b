package semantic

import (
	"container/list"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/internal/contain"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/vectors"
)

const (
	queryEmbedders = 4   // queries that are embedded at once
	KeptQueries    = 256 // size of the query cache
	// sparePassages is how many times as many memories are looked at as are wanted, since some that
	// are found by passages count less.
	sparePassages = 2
	memoryPrefix  = "m/"
	notePathMark  = "n/"
)

// QueryEmbedding is the embedding of one text.
type QueryEmbedding struct {
	Weight float64 // weight in ranking, 0 to 1
	Rack   *VectorIndex
	vector []float32
	digest func(memory.ID) (vectors.Key, bool) // digest of a memory's current text
}

// NearHit is a result of a vector search.
type NearHit struct {
	ID     memory.ID // of a memory
	Path   string    // of a note
	Line   int       // of the note, where the nearest part begins
	Chunk  int       // of a memory: 0 if its whole text is nearest, else the number of the passage
	Cosine float64
}

// Ask is a request for the embedding of a text.
type Ask struct {
	index  *VectorIndex
	as     embedding.Purpose
	Text   string
	Answer chan<- []float32 // has room for the answer, nil for none
}

// Claim returns the embedding of a text that is compared with memories and notes. It returns
// nil if there are no embeddings, or none in time.
func (m *Embeddings) Claim(ctx context.Context, text string) *QueryEmbedding {
	s, _ := m.embedAs(ctx, embedding.Claim, text)
	return s
}

// EmbedQuery returns the embedding of a query, nil if there are no embeddings, or none in
// time. without is the reason, or "" if [Embeddings.Status] has it.
func (m *Embeddings) EmbedQuery(ctx context.Context, text string) (s *QueryEmbedding, without string) {
	return m.embedAs(ctx, embedding.Query, text)
}

func (m *Embeddings) embedAs(ctx context.Context, as embedding.Purpose,
	text string) (s *QueryEmbedding, without string) {
	if m == nil {
		return nil, ""
	}
	on := m.serving.Load()
	text = strings.TrimSpace(text)
	if on == nil || text == "" {
		return nil, ""
	}
	vector, known := m.recent.Get(on, as, text)
	if !known {
		if vector, without = m.VectorOf(ctx, Ask{index: on, as: as, Text: text}); without != "" {
			return nil, without
		}
	}
	if vector == nil {
		return nil, "the vocabulary of the model contains none of the query words"
	}
	return &QueryEmbedding{Weight: m.weightOf(on), Rack: on, vector: vector, digest: m.Digest}, ""
}

// VectorOf requests the embedding of a query and waits for it at most Wait. A later result is
// cached for the next query with these words.
func (m *Embeddings) VectorOf(ctx context.Context, a Ask) (vector []float32, without string) {
	const late = "the query embedding was not ready in time"
	answer := make(chan []float32, 1)
	a.Answer = answer
	timer := time.NewTimer(m.Wait)
	defer timer.Stop()
	select {
	case m.Asks <- a:
	case <-timer.C:
		return nil, late
	case <-ctx.Done():
		return nil, late
	}
	select {
	case vector, ok := <-answer:
		if !ok {
			return nil, "emberd could not compute the embedding of the query"
		}
		return vector, ""
	case <-timer.C:
		return nil, late
	case <-ctx.Done():
		return nil, late
	}
}

// RunQueryEmbedder embeds queries until ctx is done.
func (m *Embeddings) RunQueryEmbedder(ctx context.Context) {
	var askersOf contain.Group
	for range queryEmbedders {
		askersOf.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case a := <-m.Asks:
					m.answer(ctx, a)
				}
			}
		})
	}
	askersOf.Wait()
}

func (m *Embeddings) answer(ctx context.Context, a Ask) {
	m.asking.Add(1)
	defer func() {
		if m.asking.Add(-1) == 0 {
			core.Nudge(m.quiet)
		}
	}()
	defer close(a.Answer)
	made, err := m.Vitals.Embed(ctx, a.index.embedder, a.as, []string{a.Text})
	if !a.index.own {
		m.outdated(err)
	}
	if err != nil {
		return // the embedder's status has the error
	}
	m.recent.Put(a.index, a.as, a.Text, made[0])
	a.Answer <- made[0]
}

// outdated requests a check of the model if an error says that it changed.
func (m *Embeddings) outdated(err error) {
	if errors.Is(err, embedding.ErrChanged) {
		m.stale.Store(true)
		core.Nudge(m.wake)
	}
}

// Memories returns the n nearest memories, nearest first.
func (s *QueryEmbedding) Memories(ctx context.Context, n int, accept func(memory.ID) bool) []NearHit {
	found, _ := s.Nearest(ctx, NearQuery{Memories: n, AcceptMemory: accept})
	return found
}

// Notes returns the n nearest notes by their nearest part, nearest first.
func (s *QueryEmbedding) Notes(ctx context.Context, n int, accept func(path string) bool) []NearHit {
	_, found := s.Nearest(ctx, NearQuery{Notes: n, AcceptNote: accept})
	return found
}

// NearQuery is a vector search: how many memories and notes, which of them (nil for any), and
// the minimum similarity (0 for any). ListedNotes has all notes that AcceptNote accepts, if they are few.
type NearQuery struct {
	Memories, Notes int
	AcceptMemory    func(memory.ID) bool
	AcceptNote      func(path string) bool
	ListedNotes     []string
	Least           float64
}

// Nearest returns the nearest memories and notes, nearest first.
func (s *QueryEmbedding) Nearest(ctx context.Context, w NearQuery) (memories, notes []NearHit) {
	least := 0.0
	if w.Least > 0 {
		least = max(s.Rack.Grade.Cosine(w.Least), 0)
	}
	found, err := s.Rack.Store.Nearest(ctx, s.vector,
		vectors.Query{Prefix: memoryPrefix, N: sparePassages * w.Memories, Least: least, Accept: func(doc string) bool {
			return w.AcceptMemory == nil || w.AcceptMemory(memory.ID(doc[len(memoryPrefix):]))
		}},
		vectors.Query{Prefix: notePathMark, N: w.Notes, Least: least, Only: noteDocs(w.ListedNotes),
			Accept: func(doc string) bool {
				return w.AcceptNote == nil || w.AcceptNote(doc[len(notePathMark):])
			}})
	if err != nil { // canceled, or the model was replaced
		return nil, nil
	}
	return s.weighPassages(nearHitsOf(found[0]), w.Memories, least), nearHitsOf(found[1])
}

// noteDocs returns the names of the documents of notes, nil for nil.
func noteDocs(paths []string) []string {
	if paths == nil {
		return nil
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = notePathMark + path
	}
	return names
}

func nearHitsOf(found []vectors.Match) []NearHit {
	out := make([]NearHit, 0, len(found))
	for _, f := range found {
		if f.Cosine <= 0 { // a zero embedding is near nothing
			continue
		}
		hit := NearHit{Cosine: f.Cosine}
		if id, is := strings.CutPrefix(f.Doc, memoryPrefix); is {
			hit.ID, hit.Chunk = memory.ID(id), f.Chunk
		} else {
			hit.Path, hit.Line = strings.TrimPrefix(f.Doc, notePathMark), f.Line
		}
		out = append(out, hit)
	}
	return out
}

// Cosine returns the cosine to the whole of a memory's current text, false if that has no
// embedding.
func (s *QueryEmbedding) Cosine(id memory.ID) (float64, bool) {
	vector, ok := s.Rack.Vector(id, s.digest)
	if !ok || len(vector) != len(s.vector) {
		return 0, false
	}
	return s.To(vector), true
}

// To returns the cosine to a vector of the same model.
func (s *QueryEmbedding) To(vector []float32) float64 {
	cosine, _ := similarity.Cosine(vector, s.vector) // 0 for another length
	return cosine
}

// NormalizedCosine scales a cosine to 0 (unrelated texts) to 1 (short texts of the same meaning)
// and beyond.
func (s *QueryEmbedding) NormalizedCosine(cosine float64) float64 {
	return s.Rack.Grade.Meaning(cosine)
}

// Similarity converts a cosine to the scale of the thresholds in [Known].
func (s *QueryEmbedding) Similarity(cosine float64) float64 { return s.Rack.Grade.Similarity(cosine) }

// MemoryDoc and NoteDoc return the document names of a memory and a note in a vector store.
func MemoryDoc(id memory.ID) string { return memoryPrefix + string(id) }
func NoteDoc(path string) string    { return notePathMark + path }

// queryCache contains the embeddings of the latest queries and claims by digest, and no text.
// A nil embedding is cached too: the model has none for that text.
type queryCache struct {
	mu    sync.Mutex // guards the fields below
	Order *list.List // of *recentQuery, latest first
	At    map[vectors.Key]*list.Element
}

type recentQuery struct {
	key    vectors.Key
	vector []float32
}

// NewRecentQueries returns an empty query cache.
func NewRecentQueries() *queryCache {
	return &queryCache{Order: list.New(), At: make(map[vectors.Key]*list.Element)}
}

func queryKey(s *VectorIndex, as embedding.Purpose, text string) vectors.Key {
	prefix := s.Identity.Prefix
	if as == embedding.Query {
		prefix = s.Identity.QueryPrefix
	}
	return vectors.KeyOf(s.Identity.Key(), prefix, text)
}

// Get returns the cached embedding of a text; known is true if there is one, even if it is
// nil.
func (r *queryCache) Get(s *VectorIndex, as embedding.Purpose, text string) (vector []float32, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.At[queryKey(s, as, text)]
	if !ok {
		return nil, false
	}
	r.Order.MoveToFront(e)
	return e.Value.(*recentQuery).vector, true
}

func (r *queryCache) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Order.Init()
	clear(r.At)
}

// Put caches the embedding of a text and drops the oldest one beyond the limit.
func (r *queryCache) Put(s *VectorIndex, as embedding.Purpose, text string, vector []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := queryKey(s, as, text)
	if r.At[key] != nil {
		return
	}
	r.At[key] = r.Order.PushFront(&recentQuery{key, vector})
	if r.Order.Len() > KeptQueries {
		last := r.Order.Remove(r.Order.Back()).(*recentQuery)
		delete(r.At, last.key)
	}
}
