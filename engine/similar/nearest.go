package similar

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/dedupe/contradiction"
	"emberd/internal/words"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// MaxCandidates is how many memories are compared with a text, and namingCandidates how
	// many more that name the same entities.
	MaxCandidates    = 50
	namingCandidates = 20
	// noteCandidates is how many notes are compared with a text, by their best passages.
	noteCandidates = 10
	// namedIn is how much of a text is searched for names, in bytes.
	namedIn = 4 << 10
)

// Near is a memory or a passage of a note that is similar to a text.
type Near struct {
	Row   *stm.Row
	Whole string // text of the memory; of an archived one it can be the summary, see archivedTexts
	Note  *op.Note
	compared
	Same bool // the same text, up to spelling
	// Successor is the memory that supersedes this one.
	Successor *stm.Row
	Conflict  bool // it contradicts the text, see Claim.Oppose
	Fixed     bool // the caller may not change the memory
}

// Probe is a request for what is similar to a text.
type Probe struct {
	Text   string
	Accept func(*stm.Row) bool // nil for all memories
	Notes  bool                // include notes
}

// Candidates are the memories and notes similar to a text, nearest first.
type Candidates struct {
	All     []Near
	Loading *op.Loading
}

// comparison is one run of [Similar.FindSimilar].
type comparison struct {
	e       *Similar
	p       *Probe
	n       *Candidates
	like    *lexicalSimilarity
	wording stm.NormalizedText
	seen    map[memory.ID]bool
	texts   archivedTexts
}

// FindSimilar returns the memories and notes that are similar to a text, each memory once. It
// returns the merged memory instead of its parts.
func (e *Similar) FindSimilar(ctx context.Context, p Probe) (*Candidates, error) {
	c := comparison{e: e, p: &p, n: new(Candidates), like: e.LikeIn(ctx, p.Text), wording: stm.NormalizeText(p.Text),
		seen: make(map[memory.ID]bool), texts: archivedTexts{e: e, left: maxNotesRead}}
	soon, done := e.Semantic.Meaning.Soon(ctx)
	defer done()
	rows := append(e.candidates(c.n, c.like, &p, c.wording), e.nearMemories(ctx, c.like, p.Accept)...)
	reading, stop := context.WithTimeout(ctx, e.Opt.Patience)
	defer stop()
	c.addMemories(soon, reading, rows)
	if p.Notes && e.Notes.Vault != nil {
		cold, err := c.addNotes(ctx)
		if err != nil {
			return nil, memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
		}
		c.addMemories(soon, reading, cold)
	}
	slices.SortStableFunc(c.n.All, func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), ahead(a.Same, b.Same))
	})
	return c.n, nil
}

// addMemories compares with memories and with those that supersede them. soon limits the time for embeddings, and
// reading that for the notes of archived memories.
func (c *comparison) addMemories(soon, reading context.Context, rows []*stm.Row) {
	get := c.e.Stm.Get
	for i := 0; i < len(rows); i++ {
		row := core.MergedRow(get, rows[i]).Unpacked()
		if c.seen[row.ID()] || c.p.Accept != nil && !c.p.Accept(row) {
			continue
		}
		c.seen[row.ID()] = true
		whole := c.texts.of(reading, row)
		one := Near{Row: row, Whole: whole, compared: c.like.toMemory(soon, row, whole),
			Same:      c.wording.Of(whole) || c.wording.Of(row.Content()),
			Successor: core.Successor(get, row), Fixed: !c.e.CanWrite(row)}
		if one.Same {
			one.Similarity, one.By = 1, op.ComparedByWords
		}
		if one.Successor != nil {
			rows = append(rows, one.Successor)
		}
		c.n.All = append(c.n.All, one)
	}
}

// By returns the method of comparison of the nearest one.
func (n *Candidates) By() string {
	if len(n.All) == 0 {
		return op.ComparedByWords
	}
	return n.All[0].By
}

// ahead orders true before false.
func ahead(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// candidates returns memories that may be similar: the most relevant ones with any of the
// text's rarest words, those with the same text, and the most relevant ones that name the same
// entities, what somebody of a diet in the text does not eat, or the text's roles exchanged. If no
// equal text is among the first, all memories with the rarest word are checked for it.
func (e *Similar) candidates(n *Candidates, like *lexicalSimilarity, p *Probe, wording stm.NormalizedText) []*stm.Row {
	terms := like.Terms()
	has := func(r *stm.Row) bool { return wording.Of(r.Content()) }
	var rows []*stm.Row
	all := false
	if len(terms) > 0 {
		rows, all = e.Ask(n, terms, MaxCandidates, p.Accept)
	}
	if !all && !slices.ContainsFunc(rows, has) {
		same, _ := e.Ask(n, terms[:min(1, len(terms))], MaxCandidates, core.Only(p.Accept, has))
		rows = append(rows, same...)
	}
	beginning := strings.ToValidUTF8(p.Text[:min(len(p.Text), namedIn)], "")
	if names := core.Distinct(e.Text.Query(strings.Join(e.Graph.EntitiesIn(beginning), "\n"))); len(names) > 0 {
		naming, _ := e.Ask(n, names, namingCandidates, p.Accept)
		rows = append(rows, naming...)
	}
	for _, opposed := range [][]string{contradiction.Habits(e.Text, beginning), contradiction.Reversed(p.Text)} {
		if len(opposed) > 0 {
			found, _ := e.Ask(n, opposed, namingCandidates, p.Accept)
			rows = append(rows, found...)
		}
	}
	return rows
}

// Ask returns the most relevant memories with any of the terms, and reports whether these are
// all.
func (e *Similar) Ask(n *Candidates, terms []string, most int, accept func(*stm.Row) bool) (rows []*stm.Row, all bool) {
	q := stm.Query{Accept: accept, Limit: most, Most: 1, Uncounted: true}
	for _, t := range terms {
		q.Terms = append(q.Terms, words.QueryTerm{Term: t, Weight: 1})
	}
	found := e.Stm.Search(q)
	if found.Loading {
		n.Loading = &op.Loading{Indexed: found.Indexed, Total: found.Of}
	}
	rows = make([]*stm.Row, len(found.Matches))
	for i, m := range found.Matches {
		rows[i] = m.Row
	}
	archived, allArchived := e.askArchive(terms, most, accept)
	return append(rows, archived...), found.Total <= len(rows) && allArchived
}

// askArchive returns the most relevant archived memories with any of the terms, and reports whether these are all.
func (e *Similar) askArchive(terms []string, most int, accept func(*stm.Row) bool) (rows []*stm.Row, all bool) {
	if e.Notes.Vault == nil {
		return nil, true
	}
	found := map[string]*stm.Row{}
	q := ltm.Query{Limit: most, Accept: func(path string) bool {
		row := e.Notes.ArchivedAt(path)
		if row == nil || accept != nil && !accept(row) {
			return false
		}
		found[path] = row
		return true
	}}
	for _, t := range terms {
		q.Terms = append(q.Terms, ltm.Term{Text: t, Weight: 1})
	}
	var res ltm.Result
	err := e.Notes.Vault.AskArchive(func(index *ltm.Index) (err error) {
		res, err = index.Search(context.Background(), q)
		return err
	})
	if err != nil {
		e.Opt.Logger.Warn("archived memories not searched for near-duplicates", "err", err)
		return nil, false
	}
	for _, h := range res.Hits {
		if row := found[h.Path]; row != nil {
			rows = append(rows, row)
		}
	}
	return rows, res.Total <= len(rows)
}
