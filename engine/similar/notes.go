package similar

import (
	"context"
	"maps"
	"slices"

	"emberd/engine/core"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// addNotes adds the best passage of each similar note, without the notes of memories. Of these memories it returns
// those whose text is in the note alone.
func (c *comparison) addNotes(ctx context.Context) (cold []*stm.Row, err error) {
	hits, parts, err := c.noteHits(ctx)
	if err != nil {
		return nil, err
	}
	best := make(map[string]Near)
	for _, h := range hits {
		if row, is := c.memoryOf(&h); is {
			if core.Cold(row) {
				cold = append(cold, row)
			}
			continue
		}
		one, ok := c.nearNote(&h, parts)
		if before, met := best[h.Path]; ok && (!met || one.Similarity > before.Similarity) {
			best[h.Path] = one
		}
	}
	for _, path := range slices.Sorted(maps.Keys(best)) {
		c.n.All = append(c.n.All, best[path])
	}
	return cold, nil
}

// noteHits returns the notes nearest by words and by embedding, and the parts of the latter.
func (c *comparison) noteHits(ctx context.Context) (hits []ltm.Hit, parts map[string]part, err error) {
	byWords := ltm.Query{Limit: noteCandidates}
	for _, t := range c.like.Terms() {
		byWords.Terms = append(byWords.Terms, ltm.Term{Text: t, Weight: 1})
	}
	bySense, parts := c.e.nearNoteQuery(ctx, c.like)
	for _, q := range []ltm.Query{byWords, bySense} {
		if len(q.Terms)+len(q.Near) == 0 {
			continue
		}
		err := c.e.Notes.Vault.Ask(func(index *ltm.Index) error {
			found, err := index.Search(ctx, q)
			hits = append(hits, found.Hits...)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return hits, parts, nil
}

// memoryOf returns the memory whose note a hit is.
func (c *comparison) memoryOf(h *ltm.Hit) (row *stm.Row, is bool) {
	id, err := memory.ParseID(h.MemoryID)
	if err != nil || !c.e.Notes.IsNoteOf(id, h.Path) {
		return nil, false
	}
	return c.e.Stm.Get(id)
}

// nearNote compares with the passage of a hit, or with the part of it that is near by
// embedding.
func (c *comparison) nearNote(h *ltm.Hit, parts map[string]part) (one Near, ok bool) {
	one.Note = c.e.Notes.NoteOfHit(*h)
	if h.Near.Line > 0 {
		p := parts[h.Path]
		alike, part := c.like.To(p.text)
		one.Note.Line, one.compared = p.line,
			compared{alike, part, op.ComparedByWords}.orWhole(p.text, c.like.Sense.Similarity(p.cosine))
		return one, true
	}
	text, err := c.e.Notes.Vault.Excerpt(h)
	if err != nil {
		return Near{}, false // the note has changed, and is found by its new text
	}
	alike, part := c.like.To(text)
	one.compared = compared{alike, part, op.ComparedByWords}
	return one, true
}
