package engine

import (
	"context"

	"emberd/internal/chunk"
	"emberd/internal/cluster"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vectors"
)

// Where there are vectors that can be trusted to decide, memories are compared by these; one
// that has none yet, or of whose text the model does not read all, by its words. Both are on
// one scale. A ranking weighs vectors by how far their exam trusts them; what is known,
// reinforced or merged is not a matter of degree, so that it takes [decisiveTrust].
//
// A vector is that of a whole text. What is as long as the text it is compared with is only
// compared by it: of judged pairs, taking the higher of both at 0.85 is wrong more often than
// either. Of a longer text the sentences that are nearest by their words count, or all of it
// by its vector, whichever is nearer, since words find the sentence that says it and the
// vector what says it in other words. Cosines say no more than words of whether two texts
// with different numbers, names or negations say the same, so that all that keeps texts
// apart does so with vectors too.

// soon bounds for how long tokens are counted while somebody waits: who counts them has other
// work, too, and may hang. What is not counted by then is estimated.
func (m *meaning) soon(ctx context.Context) (context.Context, context.CancelFunc) {
	if m == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, m.Wait)
}

// likeIn is like by vectors, too, if there are any. A text that the model does not read to its
// end is compared by words.
func (e *Engine) likeIn(ctx context.Context, text string) *likeness {
	l := e.like(text)
	if !e.meaning.servingRack().decides() {
		return l
	}
	s := e.meaning.claim(ctx, text)
	soon, done := e.meaning.soon(ctx)
	defer done()
	if s != nil && s.rack.decides() && s.rack.reads(soon, text) {
		l.sense = s
	}
	return l
}

// decisiveTrust is what the exam of a model has to say for its vectors to decide whether
// texts say the same.
const decisiveTrust = 0.5

// decides reports whether the vectors are trusted that far, whatever rankings are told to
// trust them. None are not.
func (s *rack) decides() bool { return s != nil && s.grade.Trust() >= decisiveTrust }

// reads reports whether the model takes in all of a text.
func (s *rack) reads(ctx context.Context, text string) bool {
	most := s.mostTokens()
	const shortest = 2 // bytes of a token, in what is not made to have many of them
	return len(text) <= shortest*most || s.embedder.Tokens(ctx, text) <= most
}

// compared is how alike something is to a text, what of it was compared, and by what.
type compared struct {
	similarity float64
	text       string
	by         string
}

// toMemory compares with a memory.
func (l *likeness) toMemory(ctx context.Context, r *stm.Row) compared {
	content := r.Content()
	alike, part := l.to(content)
	c := compared{alike, part, op.ComparedByWords}
	if l.sense == nil || part == "" || !l.sense.rack.reads(ctx, content) {
		return c
	}
	cosine, ok := l.sense.cosine(r.ID())
	if !ok {
		return c
	}
	return c.orWhole(content, l.sense.similarity(cosine))
}

// orWhole takes what vectors say of a whole text for what words say of the same, or of the
// nearest part of it if they say less.
func (c compared) orWhole(whole string, alike float64) compared {
	if c.text == whole || alike > c.similarity {
		return compared{alike, whole, op.ComparedByVectors}
	}
	return c
}

// sensedMemories are the memories nearest to a text by their vectors.
func (e *Engine) sensedMemories(ctx context.Context, like *likeness, accept func(*stm.Row) bool) (rows []*stm.Row) {
	if like.sense == nil {
		return nil
	}
	least := e.opt.Known.least()
	found := like.sense.memories(ctx, mostCandidates, func(id memory.ID) bool {
		row, live := e.stm.Get(id)
		return live && (accept == nil || accept(row))
	})
	for _, f := range found {
		if row, live := e.stm.Get(f.id); live && like.sense.similarity(f.cosine) >= least {
			rows = append(rows, row)
		}
	}
	return rows
}

// part is a part of a note that is near to a text by its vector.
type part struct {
	text   string
	line   int // where it begins
	cosine float64
}

// sensedNotes asks for the notes of which a part is nearest to a text by its vector, and
// reads these parts.
func (e *Engine) sensedNotes(ctx context.Context, like *likeness) (q ltm.Query, parts map[string]part) {
	if like.sense == nil {
		return q, nil
	}
	ctx, done := e.meaning.soon(ctx)
	defer done()
	q, parts = ltm.Query{Limit: noteCandidates, Near: make(map[string]ltm.Near)}, make(map[string]part)
	var accept func(path string) bool
	if e.grant != nil {
		accept = e.notes.shows
	}
	for _, f := range like.sense.notes(ctx, noteCandidates, accept) {
		if like.sense.similarity(f.cosine) < e.opt.Known.least() {
			break // the others are not nearer
		}
		if text, ok := e.partOf(ctx, like.sense, f.path, f.line); ok {
			parts[f.path] = part{text, f.line, f.cosine}
			q.Near[f.path] = ltm.Near{Score: f.cosine, Line: f.line}
		}
	}
	return q, parts
}

// partOf is the nearest of the parts of a note that begin at a line, false if the note is
// another by now than the one that the vectors are of.
func (e *Engine) partOf(ctx context.Context, s *sense, path string, line int) (text string, ok bool) {
	note, err := e.notes.vault.Load().Read(ctx, path)
	if err != nil {
		return "", false
	}
	doc, ok := s.rack.store.Doc(noteDoc(path))
	if !ok || doc.Digest != noteDigest(note.Digest) {
		return "", false
	}
	most := -1.0
	for _, c := range chunk.Cut(e.noteToCut(ctx, note), s.rack.room(ctx)) {
		if c.Line != line {
			continue
		}
		if v, ok := s.rack.store.Vector(vectors.KeyOf(c.Identity...)); ok && s.to(v) > most {
			text, most = c.Body, s.to(v)
		}
	}
	return text, text != ""
}

// least is the similarity below which nothing is about what a text says.
func (k *Known) least() float64 { return min(k.Add, k.Related, k.Confirmed, k.Reinforce) }

// clusterVectors are what the memories of a clustering are compared by, nil for words alone.
func (e *Engine) clusterVectors(ctx context.Context, g *gathering) *cluster.Vectors {
	on := e.meaning.servingRack()
	if !on.decides() {
		return nil
	}
	whole := make(map[int]bool) // by place, whether the model reads it to its end
	return &cluster.Vectors{
		Of: func(i int) ([]float32, bool) {
			reads, known := whole[i]
			if !known {
				reads = on.reads(ctx, g.items[i].Text)
				whole[i] = reads
			}
			if !reads {
				return nil, false
			}
			return on.vector(g.items[i].ID, e.meaning.digest)
		},
		Similarity: on.grade.Similarity,
	}
}
