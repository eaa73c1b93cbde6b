package semantic

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"emberd/internal/text/chunk"
	"emberd/memory"
	"emberd/stm"
	"emberd/vectors"
)

// A model reads the beginning of a text only, so a longer memory has several embeddings: the first
// is that of the whole text, as far as the model reads it, and the others are those of its
// passages. A search takes the nearest of them, where those of passages count less, see
// [QueryEmbedding.ofPassages]. Whether two texts say the same is decided by embeddings of whole
// texts, so only for those that the model reads to their end.

const (
	// passageTokens is the most that a passage has. In longer ones one sentence is found less often.
	passageTokens = 100
	// passageNoise is the standard deviation of the cosines of passages, as a share of the distance
	// between unrelated texts and texts of the same meaning. With less, long messages of an assistant
	// crowd out the short ones that answer a question; with more, a sentence in a long one is found
	// less often. Both were chosen with all-MiniLM-L6-v2 on half of the conversations of BEAM.
	passageNoise = 0.146
)

// shortestToken is the bytes of a token in ordinary text, at least.
const shortestToken = 2

// isShort reports whether a text is so short that the model reads all of it, whatever its tokens.
func (s *VectorIndex) isShort(text string) bool { return len(text) <= shortestToken*s.MostTokens() }

// PartsOfMemory returns what is embedded of a memory: the whole text and, if the model does not
// read all of it, its passages. It returns nothing for an empty text.
func (s *VectorIndex) PartsOfMemory(ctx context.Context, text string) []chunk.TextPart {
	if text == "" {
		return nil
	}
	whole := []chunk.TextPart{{Text: text}}
	if s.FitsModel(ctx, text) {
		return whole
	}
	room := s.Room(ctx)
	room.Tokens = min(room.Tokens, passageTokens)
	return append(whole, chunk.CutText(text, room)...)
}

// ofPassages returns what the nearest of n passages counts in a search. The largest of n normal
// values with standard deviation σ is expected to be σ·√(2·ln n) above their mean at most
// (Boucheron, Lugosi and Massart, "Concentration Inequalities", 2013, section 2.5): a long text is
// nearer to any query by chance, and this is taken off.
func (s *QueryEmbedding) ofPassages(cosine float64, n int) float64 {
	grade := &s.Rack.Grade
	return cosine - passageNoise*(grade.Cosine(1)-grade.Cosine(0))*math.Sqrt(2*math.Log(float64(max(n, 1))))
}

// weighPassages sets what memories count that were found by a passage, and returns the first n of
// those that still have the least cosine, nearest first.
func (s *QueryEmbedding) weighPassages(hits []NearHit, n int, least float64) []NearHit {
	for i := range hits {
		h := &hits[i]
		if h.Chunk == 0 {
			continue
		}
		doc, _ := s.Rack.Store.Doc(MemoryDoc(h.ID))
		h.Cosine = s.ofPassages(h.Cosine, len(doc.Chunks)-1)
		if whole, ok := s.nearestOf(doc.Chunks[:min(1, len(doc.Chunks))]); ok && whole >= h.Cosine {
			h.Cosine, h.Chunk = whole, 0
		}
	}
	hits = slices.DeleteFunc(hits, func(h NearHit) bool { return h.Cosine <= 0 || h.Cosine < least })
	slices.SortStableFunc(hits, func(a, b NearHit) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return hits[:min(n, len(hits))]
}

// CosineOfMemory returns the cosine by which a search has a memory's current text, which is that to
// the nearest of its embeddings, false if it has none.
func (s *QueryEmbedding) CosineOfMemory(id memory.ID) (cosine float64, known bool) {
	doc, ok := s.Rack.current(id, s.digest)
	if !ok {
		return 0, false
	}
	cosine, known = s.nearestOf(doc.Chunks[:1])
	if best, some := s.nearestOf(doc.Chunks[1:]); some {
		cosine, known = max(cosine, s.ofPassages(best, len(doc.Chunks)-1)), true
	}
	return cosine, known
}

// CosineOfNote returns the cosine to the nearest part of a note, false if no part has an
// embedding.
func (s *QueryEmbedding) CosineOfNote(path string) (cosine float64, known bool) {
	doc, _ := s.Rack.Store.Doc(NoteDoc(path))
	return s.nearestOf(doc.Chunks)
}

func (s *QueryEmbedding) nearestOf(chunks []vectors.Chunk) (cosine float64, known bool) {
	for _, c := range chunks {
		if vector, ok := s.Rack.Store.Vector(c.Key); ok {
			cosine, known = max(cosine, s.To(vector)), true
		}
	}
	return cosine, known
}

// Passage returns the passage of a memory's text by which it was found, up to where the next
// begins, "" if it was found by its whole text, or if content is not the text that was embedded.
func (s *QueryEmbedding) Passage(content string, hit NearHit) string {
	content = strings.TrimSpace(content)
	doc, ok := s.Rack.Store.Doc(MemoryDoc(hit.ID))
	if !ok || hit.Chunk < 1 || hit.Chunk >= len(doc.Chunks) || doc.Chunks[0].Key != DigestOfText(content) {
		return ""
	}
	end := len(content)
	if hit.Chunk+1 < len(doc.Chunks) {
		end = min(end, doc.Chunks[hit.Chunk+1].Line)
	}
	return strings.TrimSpace(content[min(doc.Chunks[hit.Chunk].Line, end):end])
}

// current returns the document of a memory, false unless its embeddings are those of the current
// text. now returns the digest of that.
func (s *VectorIndex) current(id memory.ID, now func(memory.ID) (vectors.Key, bool)) (doc vectors.Doc, ok bool) {
	if doc, ok = s.Store.Doc(MemoryDoc(id)); !ok || len(doc.Chunks) == 0 {
		return doc, false
	}
	digest, ok := now(id)
	return doc, ok && digest == doc.Chunks[0].Key
}

// EmbeddedBy returns the name of the model of which searches have the embedding of a memory's text
// as it is in r, "" for none.
func (e *Semantic) EmbeddedBy(r *stm.Row) string {
	s := e.Meaning.ServingRack()
	if s == nil {
		return ""
	}
	if _, ok := s.some(DigestOfMemory(r)); !ok {
		return ""
	}
	return s.Identity.Model
}

// Vector returns the embedding of a memory's whole text, as far as the model reads it, false
// unless it is that of the current text.
func (s *VectorIndex) Vector(id memory.ID, now func(memory.ID) (vectors.Key, bool)) ([]float32, bool) {
	doc, ok := s.current(id, now)
	if !ok {
		return nil, false
	}
	return s.some(doc.Chunks[0].Key)
}

// some returns the embedding of a key, false if there is none, or if the model has none for its text.
func (s *VectorIndex) some(key vectors.Key) ([]float32, bool) {
	vector, ok := s.Store.Vector(key)
	return vector, ok && slices.ContainsFunc(vector, func(x float32) bool { return x != 0 })
}
