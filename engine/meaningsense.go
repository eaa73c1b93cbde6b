package engine

import (
	"container/list"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"emberd/embedding"
	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/vectors"
)

const (
	askers       = 4   // queries whose vectors are made at once
	keptQueries  = 256 // whose vectors are remembered
	memoryPrefix = "m/"
	notePathMark = "n/"
)

// sense is the meaning of one text.
type sense struct {
	weight float64 // what rankings trust it, 0 to 1
	rack   *rack
	vector []float32
	digest func(memory.ID) (vectors.Key, bool) // of a memory's text as it is now
}

// sensed is something near a sense.
type sensed struct {
	id     memory.ID // of a memory
	path   string    // of a note
	line   int       // of the note, where the nearest part begins
	cosine float64
}

// ask is a text whose vector somebody waits for.
type ask struct {
	rack   *rack
	as     embedding.Purpose
	text   string
	answer chan<- []float32 // has room for the one answer, nil for none
}

// claim returns the meaning of a text that is compared with memories and notes, nil if there
// are no vectors, or not in time.
func (m *meaning) claim(ctx context.Context, text string) *sense {
	s, _ := m.senseAs(ctx, embedding.Claim, text)
	return s
}

// senseOf returns the meaning of a query, nil if there are no vectors, or not in time. Then
// it says why there is none, "" where [meaning.told] says it.
func (m *meaning) senseOf(ctx context.Context, text string) (s *sense, without string) {
	return m.senseAs(ctx, embedding.Query, text)
}

func (m *meaning) senseAs(ctx context.Context, as embedding.Purpose, text string) (s *sense, without string) {
	if m == nil {
		return nil, ""
	}
	on := m.serving.Load()
	text = strings.TrimSpace(text)
	if on == nil || text == "" {
		return nil, ""
	}
	vector, known := m.recent.get(on, as, text)
	if !known {
		if vector, without = m.vectorOf(ctx, ask{rack: on, as: as, text: text}); without != "" {
			return nil, without
		}
	}
	if vector == nil {
		return nil, "the model does not know the words of this query"
	}
	return &sense{weight: m.weightOf(on), rack: on, vector: vector, digest: m.digest}, ""
}

// vectorOf has the vector of a query made and waits for it, for a moment. One that comes
// later is there for the next query of these words.
func (m *meaning) vectorOf(ctx context.Context, a ask) (vector []float32, without string) {
	const late = "the vector of the query did not come in time"
	answer := make(chan []float32, 1)
	a.answer = answer
	timer := time.NewTimer(m.Wait)
	defer timer.Stop()
	select {
	case m.asks <- a:
	case <-timer.C:
		return nil, late
	case <-ctx.Done():
		return nil, late
	}
	select {
	case vector, ok := <-answer:
		if !ok {
			return nil, "the vector of the query could not be made"
		}
		return vector, ""
	case <-timer.C:
		return nil, late
	case <-ctx.Done():
		return nil, late
	}
}

// keepAnswering makes the vectors of queries until ctx is done.
func (m *meaning) keepAnswering(ctx context.Context) {
	var askersOf sync.WaitGroup
	for range askers {
		askersOf.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case a := <-m.asks:
					m.answer(ctx, a)
				}
			}
		})
	}
	askersOf.Wait()
}

func (m *meaning) answer(ctx context.Context, a ask) {
	m.asking.Add(1)
	defer func() {
		if m.asking.Add(-1) == 0 {
			nudge(m.quiet)
		}
	}()
	defer close(a.answer)
	made, err := m.vitals.embed(ctx, a.rack.embedder, a.as, []string{a.text})
	if !a.rack.own {
		m.outdated(err)
	}
	if err != nil {
		return // the embedder's status has it
	}
	m.recent.put(a.rack, a.as, a.text, made[0])
	a.answer <- made[0]
}

// outdated has the model be asked for anew where an error says that it is another one.
func (m *meaning) outdated(err error) {
	if errors.Is(err, embedding.ErrChanged) {
		m.stale.Store(true)
		nudge(m.wake)
	}
}

// memories returns the n memories nearest to the sense, nearest first.
func (s *sense) memories(ctx context.Context, n int, accept func(memory.ID) bool) []sensed {
	found, _ := s.nearest(ctx, nearQuery{memories: n, acceptMemory: accept})
	return found
}

// notes returns the n notes nearest to the sense by their nearest part, nearest first.
func (s *sense) notes(ctx context.Context, n int, accept func(path string) bool) []sensed {
	_, found := s.nearest(ctx, nearQuery{notes: n, acceptNote: accept})
	return found
}

// nearQuery says how many memories and notes are looked for, which of them, nil for any, and
// from what nearness on, 0 for whatever is nearest.
type nearQuery struct {
	memories, notes int
	acceptMemory    func(memory.ID) bool
	acceptNote      func(path string) bool
	least           float64
}

// nearest returns the memories and the notes nearest to the sense, nearest first.
func (s *sense) nearest(ctx context.Context, w nearQuery) (memories, notes []sensed) {
	least := 0.0
	if w.least > 0 {
		least = max(s.rack.grade.Cosine(w.least), 0)
	}
	found, err := s.rack.store.Nearest(ctx, s.vector,
		vectors.Want{Prefix: memoryPrefix, N: w.memories, Least: least, Accept: func(doc string) bool {
			return w.acceptMemory == nil || w.acceptMemory(memory.ID(doc[len(memoryPrefix):]))
		}},
		vectors.Want{Prefix: notePathMark, N: w.notes, Least: least, Accept: func(doc string) bool {
			return w.acceptNote == nil || w.acceptNote(doc[len(notePathMark):])
		}})
	if err != nil { // the search is over, or the model was replaced meanwhile
		return nil, nil
	}
	return sensedOf(found[0]), sensedOf(found[1])
}

func sensedOf(found []vectors.Match) []sensed {
	out := make([]sensed, 0, len(found))
	for _, f := range found {
		if f.Cosine <= 0 { // what has a vector of zeros, which nothing is near
			continue
		}
		hit := sensed{line: f.Line, cosine: f.Cosine}
		if id, is := strings.CutPrefix(f.Doc, memoryPrefix); is {
			hit.id = memory.ID(id)
		} else {
			hit.path = strings.TrimPrefix(f.Doc, notePathMark)
		}
		out = append(out, hit)
	}
	return out
}

// cosine is how near a memory is as it is now, false if it has no vector.
func (s *sense) cosine(id memory.ID) (float64, bool) {
	vector, ok := s.rack.vector(id, s.digest)
	if !ok || len(vector) != len(s.vector) {
		return 0, false
	}
	return s.to(vector), true
}

// cosineOfNote is how near the nearest part of a note is, false if none has a vector.
func (s *sense) cosineOfNote(path string) (cosine float64, known bool) {
	doc, _ := s.rack.store.Doc(noteDoc(path))
	for _, c := range doc.Chunks {
		if vector, ok := s.rack.store.Vector(c.Key); ok {
			cosine, known = max(cosine, s.to(vector)), true
		}
	}
	return cosine, known
}

// to is the cosine of a vector of the same model.
func (s *sense) to(vector []float32) float64 {
	cosine, _ := similarity.Cosine(vector, s.vector) // 0 of one of another length
	return cosine
}

// near brings a cosine to 0, as of texts that have nothing to do with each other, to 1,
// the same meaning.
func (s *sense) near(cosine float64) float64 { return s.rack.grade.Meaning(cosine) }

// similarity brings a cosine to the scale of the thresholds in [Known].
func (s *sense) similarity(cosine float64) float64 { return s.rack.grade.Similarity(cosine) }

// memoryDoc and noteDoc are what the stores of vectors call a memory and a note.
func memoryDoc(id memory.ID) string { return memoryPrefix + string(id) }
func noteDoc(path string) string    { return notePathMark + path }

// recentQueries remembers the vectors of the latest queries and claims, but no text. Nil is one, too: the model
// makes none of that text.
type recentQueries struct {
	mu    sync.Mutex // guards what follows
	order *list.List // of *recentQuery, the latest first
	at    map[vectors.Key]*list.Element
}

type recentQuery struct {
	key    vectors.Key
	vector []float32
}

func newRecentQueries() *recentQueries {
	return &recentQueries{order: list.New(), at: make(map[vectors.Key]*list.Element)}
}

func queryKey(s *rack, as embedding.Purpose, text string) vectors.Key {
	prefix := s.identity.Prefix
	if as == embedding.Query {
		prefix = s.identity.QueryPrefix
	}
	return vectors.KeyOf(s.identity.Key(), prefix, text)
}

func (r *recentQueries) get(s *rack, as embedding.Purpose, text string) (vector []float32, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.at[queryKey(s, as, text)]
	if !ok {
		return nil, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*recentQuery).vector, true
}

func (r *recentQueries) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order.Init()
	clear(r.at)
}

func (r *recentQueries) put(s *rack, as embedding.Purpose, text string, vector []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := queryKey(s, as, text)
	if r.at[key] != nil {
		return
	}
	r.at[key] = r.order.PushFront(&recentQuery{key, vector})
	if r.order.Len() > keptQueries {
		last := r.order.Remove(r.order.Back()).(*recentQuery)
		delete(r.at, last.key)
	}
}
