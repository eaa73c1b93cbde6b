package semantic

import (
	"context"
	"slices"
	"strings"

	"emberd/internal/text/chunk"
	"emberd/memory"
	"emberd/vectors"
)

// A model reads the beginning of a text only, so a longer memory has several embeddings: the first
// is that of the whole text, as far as the model reads it, and the others are those of its
// passages. A search takes the nearest of them. Whether two texts say the same is decided by
// embeddings of whole texts, so only for those that the model reads to their end.

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
	return append(whole, chunk.CutText(text, s.Room(ctx))...)
}

// CosineOfMemory returns the cosine to the nearest of the embeddings of a memory's current text,
// false if it has none.
func (s *QueryEmbedding) CosineOfMemory(id memory.ID) (cosine float64, known bool) {
	doc, ok := s.Rack.current(id, s.digest)
	if !ok {
		return 0, false
	}
	return s.nearestOf(doc.Chunks)
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

// FromPassage returns a memory's text from the passage on by which it was found, "" if it was
// found by its whole text, or if content is not the text that was embedded.
func (s *QueryEmbedding) FromPassage(content string, hit NearHit) string {
	content = strings.TrimSpace(content)
	doc, ok := s.Rack.Store.Doc(MemoryDoc(hit.ID))
	if !ok || hit.Chunk < 1 || hit.Chunk >= len(doc.Chunks) ||
		doc.Chunks[0].Key != DigestOfText(content) {
		return ""
	}
	return content[min(doc.Chunks[hit.Chunk].Line, len(content)):]
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

// Vector returns the embedding of a memory's whole text, as far as the model reads it, false
// unless it is that of the current text.
func (s *VectorIndex) Vector(id memory.ID, now func(memory.ID) (vectors.Key, bool)) ([]float32, bool) {
	doc, ok := s.current(id, now)
	if !ok {
		return nil, false
	}
	vector, ok := s.Store.Vector(doc.Chunks[0].Key)
	some := slices.ContainsFunc(vector, func(x float32) bool { return x != 0 })
	return vector, ok && some
}
