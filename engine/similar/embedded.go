package similar

import (
	"context"

	"emberd/engine/semantic"
	"emberd/internal/text/chunk"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vectors"
)

// LikeIn returns the comparison with a text, by embeddings if they can be trusted. A text
// longer than the model reads is compared by words.
func (e *Similar) LikeIn(ctx context.Context, text string) *lexicalSimilarity {
	l := e.NewSimilarity(text)
	if !e.Semantic.Meaning.ServingRack().TrustedForMerge() {
		return l
	}
	s := e.Semantic.Meaning.Claim(ctx, text)
	soon, done := e.Semantic.Meaning.Soon(ctx)
	defer done()
	if s != nil && s.Rack.TrustedForMerge() && s.Rack.FitsModel(soon, text) {
		l.Sense = s
	}
	return l
}

// compared is the similarity of a text, the part of it that was compared, and the method.
type compared struct {
	Similarity float64
	Text       string
	By         string
}

// toMemory compares with a memory, whose text is whole. It compares with the summary of an archived one, too, which
// alone has an embedding, and returns what is nearer.
func (l *lexicalSimilarity) toMemory(ctx context.Context, r *stm.Row, whole string) compared {
	content := r.Content()
	alike, part := l.To(content)
	if content != whole {
		if more, sentences := l.To(whole); more > alike {
			alike, part = more, sentences
		}
	}
	c := compared{alike, part, op.ComparedByWords}
	if l.Sense == nil || part == "" || !l.Sense.Rack.FitsModel(ctx, content) {
		return c
	}
	cosine, ok := l.Sense.Cosine(r.ID())
	if !ok {
		return c
	}
	return c.orWhole(content, l.Sense.Similarity(cosine))
}

// orWhole applies the similarity of the embeddings of whole texts: it replaces that of the
// same text by words, and that of a part if it is higher.
func (c compared) orWhole(whole string, alike float64) compared {
	if c.Text == whole || alike > c.Similarity {
		return compared{alike, whole, op.ComparedByVectors}
	}
	return c
}

// nearMemories returns the memories nearest by embedding.
func (e *Similar) nearMemories(ctx context.Context, like *lexicalSimilarity,
	accept func(*stm.Row) bool) (rows []*stm.Row) {
	if like.Sense == nil {
		return nil
	}
	least := e.Opt.Known.Least()
	found := like.Sense.Memories(ctx, MaxCandidates, func(id memory.ID) bool {
		row, live := e.Stm.Get(id)
		return live && (accept == nil || accept(row))
	})
	for _, f := range found {
		if row, live := e.Stm.Get(f.ID); live && like.Sense.Similarity(f.Cosine) >= least {
			rows = append(rows, row)
		}
	}
	return rows
}

// part is a part of a note that is near by its embedding.
type part struct {
	text   string
	line   int // where the part begins
	cosine float64
}

// nearNoteQuery returns a query for the notes with parts nearest by embedding, and reads these
// parts.
func (e *Similar) nearNoteQuery(ctx context.Context, like *lexicalSimilarity) (q ltm.Query, parts map[string]part) {
	if like.Sense == nil {
		return q, nil
	}
	ctx, done := e.Semantic.Meaning.Soon(ctx)
	defer done()
	q, parts = ltm.Query{Limit: noteCandidates, Near: make(map[string]ltm.Near)}, make(map[string]part)
	var accept func(path string) bool
	if e.Grant != nil {
		accept = e.Notes.Vault.Shows
	}
	for _, f := range like.Sense.Notes(ctx, noteCandidates, accept) {
		if like.Sense.Similarity(f.Cosine) < e.Opt.Known.Least() {
			break // the others are not nearer
		}
		if text, ok := e.PartOf(ctx, like.Sense, f.Path, f.Line); ok {
			parts[f.Path] = part{text, f.Line, f.Cosine}
			q.Near[f.Path] = ltm.Near{Score: f.Cosine, Line: f.Line}
		}
	}
	return q, parts
}

// PartOf returns the nearest of the parts of a note that begin at a line, false if the note
// has changed since it was embedded.
func (e *Similar) PartOf(ctx context.Context, s *semantic.QueryEmbedding, path string,
	line int) (text string, ok bool) {
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if err != nil {
		return "", false
	}
	doc, ok := s.Rack.Store.Doc(semantic.NoteDoc(path))
	if !ok || doc.Digest != semantic.NoteDigest(note.Digest) {
		return "", false
	}
	most := -1.0
	for _, c := range chunk.Cut(e.Semantic.NoteToCut(ctx, note), s.Rack.Room(ctx)) {
		if c.Line != line {
			continue
		}
		if v, ok := s.Rack.Store.Vector(vectors.KeyOf(c.Identity...)); ok && s.To(v) > most {
			text, most = c.Body, s.To(v)
		}
	}
	return text, text != ""
}
