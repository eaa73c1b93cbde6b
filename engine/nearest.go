package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"emberd/internal/words"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// mostCandidates is how many memories are compared with a text, and namingCandidates
	// how many more that name what it names.
	mostCandidates   = 50
	namingCandidates = 20
	// noteCandidates is how many notes are compared with a text, by their best passages.
	noteCandidates = 10
	// namedIn is how much of a text is looked through for names.
	namedIn = 4 << 10
)

// near is something known that is about what a text says: a memory or a passage of a note.
type near struct {
	row  *stm.Row
	note *op.Note
	compared
	same bool // it is the text itself, maybe in another spelling
	// successor is the memory that took the place of this one.
	successor *stm.Row
	conflict  bool // it disagrees with the text, see statement.oppose
	fixed     bool // it is a memory that who asks may not change
}

// probe asks for what is near a text.
type probe struct {
	text   string
	accept func(*stm.Row) bool // nil for all memories
	notes  bool                // look at notes, too
}

// nearness is what is near a text, nearest first.
type nearness struct {
	all     []near
	loading *op.Loading
}

// nearestTo finds what is known that is about what a text says, each memory once. Of a memory
// that was merged into another one the other is found.
func (e *Engine) nearestTo(ctx context.Context, p probe) (*nearness, error) {
	like := e.likeIn(ctx, p.text)
	n := new(nearness)
	soon, done := e.meaning.soon(ctx)
	defer done()
	wording := stm.WordingOf(p.text)
	rows := append(e.candidates(n, like, &p, wording), e.sensedMemories(ctx, like, p.accept)...)
	seen := make(map[memory.ID]bool, len(rows))
	for i := 0; i < len(rows); i++ {
		row := mergedRow(e.stm.Get, rows[i])
		if seen[row.ID()] || p.accept != nil && !p.accept(row) {
			continue
		}
		seen[row.ID()] = true
		one := near{row: row, compared: like.toMemory(soon, row), same: wording.Of(row.Content()), successor: successor(e.stm.Get, row), fixed: !e.may(row)}
		if one.same {
			one.similarity, one.by = 1, op.ComparedByWords
		}
		if one.successor != nil {
			rows = append(rows, one.successor)
		}
		n.all = append(n.all, one)
	}
	if p.notes && e.notes != nil {
		if err := e.nearNotes(ctx, n, like); err != nil {
			return nil, memory.Errorf(memory.Internal, "search the note index: %w", err)
		}
	}
	slices.SortStableFunc(n.all, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), ahead(a.same, b.same))
	})
	return n, nil
}

// by is what the nearest was compared by.
func (n *nearness) by() string {
	if len(n.all) == 0 {
		return op.ComparedByWords
	}
	return n.all[0].by
}

// ahead orders what is so before what is not.
func ahead(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// candidates are memories that may be near: the most relevant of those that hold any of
// the text's rarest words, those with the text itself, and the most relevant of those that
// name what it names. The text itself is looked for among all that hold its rarest word,
// if it was not among the first.
func (e *Engine) candidates(n *nearness, like *likeness, p *probe, wording stm.Wording) []*stm.Row {
	terms := like.terms()
	has := func(r *stm.Row) bool { return wording.Of(r.Content()) }
	var rows []*stm.Row
	all := false
	if len(terms) > 0 {
		rows, all = e.ask(n, terms, mostCandidates, p.accept)
	}
	if !all && !slices.ContainsFunc(rows, has) {
		same, _ := e.ask(n, terms[:min(1, len(terms))], mostCandidates, only(p.accept, has))
		rows = append(rows, same...)
	}
	beginning := strings.ToValidUTF8(p.text[:min(len(p.text), namedIn)], "")
	if names := distinct(e.text.Query(strings.Join(e.entitiesIn(beginning), "\n"))); len(names) > 0 {
		naming, _ := e.ask(n, names, namingCandidates, p.accept)
		rows = append(rows, naming...)
	}
	return rows
}

// ask looks up the most relevant memories that hold any of the terms, and says whether
// that is all of them.
func (e *Engine) ask(n *nearness, terms []string, most int, accept func(*stm.Row) bool) (rows []*stm.Row, all bool) {
	q := stm.Query{Accept: accept, Limit: most, Most: 1, Uncounted: true}
	for _, t := range terms {
		q.Terms = append(q.Terms, words.QueryTerm{Term: t, Weight: 1})
	}
	found := e.stm.Search(q)
	if found.Loading {
		n.loading = &op.Loading{Indexed: found.Indexed, Total: found.Of}
	}
	rows = make([]*stm.Row, len(found.Matches))
	for i, m := range found.Matches {
		rows[i] = m.Row
	}
	return rows, found.Total <= len(rows)
}

// nearNotes adds the best passages of notes, one of each. The note of a memory is not one of
// them: the memory has its text.
func (e *Engine) nearNotes(ctx context.Context, n *nearness, like *likeness) error {
	byWords := ltm.Query{Limit: noteCandidates}
	for _, t := range like.terms() {
		byWords.Terms = append(byWords.Terms, ltm.Term{Text: t, Weight: 1})
	}
	bySense, parts := e.sensedNotes(ctx, like)
	best := make(map[string]near)
	for _, q := range []ltm.Query{byWords, bySense} {
		if len(q.Terms)+len(q.Near) == 0 {
			continue
		}
		var found ltm.Result
		err := e.notes.ask(func(index *ltm.Index) (err error) {
			found, err = index.Search(ctx, q)
			return err
		})
		if err != nil {
			return err
		}
		for _, h := range found.Hits {
			one, ok := e.nearNote(&h, like, parts)
			if before, met := best[h.Path]; ok && (!met || one.similarity > before.similarity) {
				best[h.Path] = one
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(best)) {
		n.all = append(n.all, best[path])
	}
	return nil
}

// nearNote compares with the passage of a hit, or with the part of it that is near by its
// vector.
func (e *Engine) nearNote(h *ltm.Hit, like *likeness, parts map[string]part) (one near, ok bool) {
	if id, err := memory.ParseID(h.MemoryID); err == nil && e.live(id) {
		return near{}, false
	}
	one.note = e.noteOfHit(*h)
	if h.Near.Line > 0 {
		p := parts[h.Path]
		alike, part := like.to(p.text)
		one.note.Line, one.compared = p.line, compared{alike, part, op.ComparedByWords}.orWhole(p.text, like.sense.similarity(p.cosine))
		return one, true
	}
	text, err := e.notes.vault.Load().Excerpt(fileOf(*h), h.SectionLine, h.Above, passageBytes)
	if err != nil {
		return near{}, false // it is another note by now, and will be found as that
	}
	alike, part := like.to(text)
	one.compared = compared{alike, part, op.ComparedByWords}
	return one, true
}

func (e *Engine) live(id memory.ID) bool {
	_, live := e.stm.Get(id)
	return live
}
