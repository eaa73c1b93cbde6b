package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/internal/query"
	"emberd/internal/relevance"
	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Scopes of a search.
const (
	ScopeAll      = "all"
	ScopeMemories = "memories"
	ScopeNotes    = "notes"
	ScopeArchive  = "archive"
	ScopeSessions = "sessions" // alone: no other scope has any of it
)

// parsedQuery is a search request, analyzed once for both tiers.
type parsedQuery struct {
	Query  query.Query
	Filter *core.Filter
	// Terms are the terms to rank by, including the words of phrases, sorted and each once.
	Terms []string
	// asked is how the query says each term.
	asked map[string]askedTerm
	// weak are the stop words of the query: they rank notes a little and match nothing.
	weak  []string
	begun prefixGroup // words that begin with the last word
	// corrected are words of the query that are probably misspelled; with lenient, what was meant
	// need not fit the other words.
	corrected []correction
	lenient   bool
	whole     bool         // nobody is typing it: the last word is one
	required  []string     // terms of the phrases, which a text must contain
	unquoted  string       // phrases that were turned into words
	phrases   [][]string   // the phrases as rows of terms
	excluded  [][]string   // phrases that a text must not contain
	named     *nameMatcher // entities that a text must or must not name, nil for any
	Nothing   bool         // the query has words but no terms
	set       *stm.MemorySet
	memories  bool // which tiers are searched
	notes     bool
	Archive   bool // cold memories only, by relevance only
	scope     string
	modified  time.Time    // earliest change time of notes
	only      singleTarget // restricts the search to one item
	// stm and ltm are the factors of the tiers, and age the exponent of [decay.RankFactor].
	stm, ltm, age float64
	// trust is the weight of embeddings in ranking, 0 for none.
	trust     float64
	embedding func() queryEmbeddingWait // waits for the embedding of the query; nil until it is requested
	Near      vectorScores
	dates     dateBoost
}

// singleTarget is the one memory, or the notes, to which a search is restricted; the zero
// value restricts nothing.
type singleTarget struct {
	id   memory.ID
	path string // beginning of their paths
}

// Question parses and analyzes a request.
func (e *Search) Question(req *op.SearchRequest, now time.Time) (*parsedQuery, error) {
	if err := core.CheckQuery(req.Query); err != nil {
		return nil, err
	}
	parsed, err := query.Parse(req.Query, now.In(time.Local))
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err).At("q")
	}
	q, err := e.questionOf(parsed, req.Scope, req.Filter, now)
	if err != nil {
		return nil, err
	}
	if req.KeepNotes {
		q.keepNotes(e.Notes.Vault != nil)
	}
	return q, q.setTierWeights(req)
}

// questionOf analyzes a request whose query is parsed.
func (e *Search) questionOf(parsed query.Query, scope string, f op.Filter, now time.Time) (*parsedQuery, error) {
	q := &parsedQuery{Query: parsed, set: &e.Stm.MemorySet, stm: e.Opt.STMWeight, ltm: e.Opt.LTMWeight,
		age: e.Opt.AgeExponent, trust: e.Semantic.Meaning.RankWeight()}
	var err error
	if q.Filter, err = e.Filter(f, now); err != nil {
		return nil, err
	}
	if q.Filter.Tags, err = addTags(q.Filter.Tags, parsed.Must.Tags); err != nil {
		return nil, err
	}
	q.scope, q.modified = scope, q.Filter.Since
	if err := q.chooseTiers(scope, e.Notes.Vault != nil); err != nil {
		return nil, err
	}
	q.analyse(e.Text)
	q.named = e.naming(&parsed)
	return q, nil
}

func addTags(have, more []string) ([]string, error) {
	extra, err := memory.NormalizeTags(more)
	return append(have, extra...), err
}

// chooseTiers sets the tiers to search. A filter that only one tier has excludes the other.
func (q *parsedQuery) chooseTiers(scope string, vault bool) error {
	f := q.Filter
	onlyMemories := f.Project != "" || f.Collection != "" || f.Category != "" || f.Section != "" || len(f.Stages) > 0 ||
		len(f.Statuses) > 0 || f.MinScore > 0 || f.MinConfidence > 0
	switch scope {
	case "", ScopeAll:
		q.memories, q.notes = !q.Query.NotesOnly(), vault && !onlyMemories
	case ScopeMemories:
		q.memories = !q.Query.NotesOnly()
	case ScopeArchive:
		q.memories, q.Archive = !q.Query.NotesOnly(), true
	case ScopeNotes:
		if !vault {
			return memory.Errorf(memory.Invalid,
				"no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR").At("scope")
		}
		q.notes = !onlyMemories
	default:
		return memory.Errorf(memory.Invalid,
			"invalid scope %.40q; use all, memories, notes or archive; a search also accepts sessions",
			scope).At("scope")
	}
	return nil
}

// keepNotes includes notes, unless the scope is memories only.
func (q *parsedQuery) keepNotes(vault bool) {
	q.modified = time.Time{}
	if q.scope == "" || q.scope == ScopeAll || q.scope == ScopeNotes {
		q.notes = vault
	}
}

// setTierWeights sets the tier factors of a request.
func (q *parsedQuery) setTierWeights(req *op.SearchRequest) error {
	for _, w := range []struct {
		name string
		from *float64
		to   *float64
		most float64
	}{
		{"stm_weight", req.STMWeight, &q.stm, 2}, {"ltm_weight", req.LTMWeight, &q.ltm, 2},
		{"age_exponent", req.AgeExponent, &q.age, 1}, {"meaning_weight", req.MeaningWeight, &q.trust, 1},
	} {
		if w.from == nil {
			continue
		}
		if err := memory.CheckRange(w.name, *w.from, 0, w.most); err != nil {
			return err
		}
		*w.to = *w.from
	}
	return nil
}

// askedTerm is how often a query says a term, and in which form it says it first.
type askedTerm struct {
	times      float64
	form, name words.Forms
}

// of returns how the query says a term. A term that took the place of another counts once.
func (q *parsedQuery) of(term string) askedTerm {
	if asked, ok := q.asked[term]; ok {
		return asked
	}
	return askedTerm{times: 1}
}

// isMessage reports whether a query is so long that it is a message, passed on whole. What is
// in quotes there quotes somebody and selects nothing.
func (q *parsedQuery) isMessage() bool {
	const most = 24 // words that are no stop words
	said := 0.0
	for _, asked := range q.asked {
		said += asked.times
	}
	return said > most
}

// termsIn returns the terms of a part of the query, and counts them.
func (q *parsedQuery) termsIn(a *analysis.Analyzer, s string) []string {
	terms := a.Query(s)
	for _, t := range terms {
		asked, form := q.asked[t.Text], t.FormIn(s)
		if asked.times++; asked.times == 1 {
			asked.form, asked.name = words.Forms(form&^analysis.Name), words.Forms(form&analysis.Name)
		}
		q.asked[t.Text] = asked
	}
	return core.Distinct(terms)
}

func (q *parsedQuery) analyse(a *analysis.Analyzer) {
	q.asked = make(map[string]askedTerm)
	q.Terms = q.termsIn(a, q.Query.Words)
	q.Nothing = len(q.Terms) == 0 && strings.TrimSpace(q.Query.Words) != ""
	for _, p := range q.Query.Must.Phrases {
		if row := core.TermsOf(a.Terms(p)); len(row) > 0 {
			q.phrases = append(q.phrases, row)
			q.required = append(q.required, q.termsIn(a, p)...)
			q.Nothing = false
		}
	}
	for _, p := range q.Query.Not.Phrases {
		if row := core.TermsOf(a.Terms(p)); len(row) > 0 {
			q.excluded = append(q.excluded, row)
		}
	}
	q.Terms = append(q.Terms, q.required...)
	if q.isMessage() {
		q.relaxPhrases()
	}
	slices.Sort(q.Terms)
	q.Terms = slices.Compact(q.Terms)
	for _, t := range core.Distinct(a.Terms(q.Query.Words)) {
		if _, ok := slices.BinarySearch(q.Terms, t); !ok {
			q.weak = append(q.weak, t)
		}
	}
}

// relaxPhrases turns phrases into words, because users quote titles from memory. It returns
// false if there is no phrase.
func (q *parsedQuery) relaxPhrases() bool {
	had := len(q.phrases) > 0
	q.phrases, q.required, q.Query.Must.Phrases = nil, nil, nil
	return had
}

// holds reports whether a text contains the row of terms.
func holds(a *analysis.Analyzer, content string, row []string) bool {
	terms := core.TermsOf(a.Terms(content))
	for i := 0; i+len(row) <= len(terms); i++ {
		if slices.Equal(terms[i:i+len(row)], row) {
			return true
		}
	}
	return false
}

// docFrequencies are the frequencies of the query's terms in both tiers together, so that
// relevances can be compared.
type docFrequencies struct {
	memories, notes int   // notes with those of archived memories
	inMemories      []int // in the order of parsedQuery.Terms, followed by weak and corrections
	inNotes         map[string]int
	lengths         relevance.Lengths // of the memories that are indexed as such
	archived        relevance.Lengths // of the others
}

// DocFrequencies returns the document frequencies of the query's terms in both tiers.
func (e *Search) DocFrequencies(ctx context.Context, q *parsedQuery) (c docFrequencies, err error) {
	terms := slices.Concat(q.Terms, q.weak, q.corrections())
	c.memories, c.inMemories = q.set.Frequencies(terms)
	if e.Notes.Vault == nil {
		return c, nil
	}
	c.inNotes = make(map[string]int, len(terms))
	add := func(index *ltm.Index) error {
		docs, df, err := index.Frequencies(ctx, terms)
		c.notes += docs
		for t, n := range df {
			c.inNotes[t] += n
		}
		return err
	}
	if err = e.Notes.Vault.Ask(add); err != nil || !q.hasArchive(e) {
		return c, err
	}
	c.lengths = q.set.Lengths()
	return c, e.Notes.Vault.AskArchive(func(index *ltm.Index) error {
		c.archived = index.Lengths()
		return add(index)
	})
}

// known reports whether a text contains any of the terms, which are of the query.
func (q *parsedQuery) known(terms []analysis.Term, c docFrequencies) bool {
	return slices.ContainsFunc(terms, func(t analysis.Term) bool {
		i, found := slices.BinarySearch(q.Terms, t.Text)
		return found && c.inMemories[i]+c.inNotes[t.Text] > 0
	})
}

// asks reports whether a term is one of the query's.
func (q *parsedQuery) asks(term string) bool {
	_, found := slices.BinarySearch(q.Terms, term)
	return found
}

// StmQuery returns the query for the tier of memories.
func (e *Search) StmQuery(q *parsedQuery, c docFrequencies, limit int, explain bool, now time.Time) stm.Query {
	out := stm.Query{Others: c.notes, OtherLengths: c.archived, Near: q.Near.ofMemories(),
		Accept: q.acceptMemory(e), Limit: limit,
		Explain: explain,
		Most:    q.stm,
		Rank:    func(relevance float64, r *stm.Row) float64 { return Rank(e.weigh(relevance, r, now, q)) }}
	if len(q.Terms) == 0 && q.searchesArchive(e) {
		out.Accept = core.Only(out.Accept, func(r *stm.Row) bool { return !e.Archived(r) })
	}
	if id := q.only.id; id != "" {
		out.Accept = core.Only(out.Accept, func(r *stm.Row) bool { return r.ID() == id })
	}
	if q.Archive {
		out.Accept = core.Only(out.Accept, core.Cold)
		out.Rank = func(relevance float64, r *stm.Row) float64 {
			return unaged(e.weigh(relevance, r, now, q)).Relevance * q.stm
		}
	}
	q.dates.intoMemories(&out)
	for _, t := range q.Terms {
		asked := q.of(t)
		out.Terms = append(out.Terms, words.QueryTerm{Term: t, Weight: asked.times, Elsewhere: c.inNotes[t],
			Form: asked.form, Name: asked.name})
	}
	for _, t := range q.corrections() {
		out.Terms = append(out.Terms, words.QueryTerm{Term: t, Weight: correctedWeight, Elsewhere: c.inNotes[t]})
	}
	if g := q.begun; g.words != nil {
		out.Terms = append(out.Terms,
			words.QueryTerm{Term: g.name, Of: g.words, Weight: g.weight(&c), Elsewhere: g.notes})
	}
	out.All = q.required
	for _, row := range q.excluded {
		if len(row) == 1 {
			out.None = append(out.None, row[0])
		}
	}
	return out
}

// acceptMemory returns the conditions for a memory besides the terms, nil for none.
func (q *parsedQuery) acceptMemory(e *Search) func(*stm.Row) bool {
	base, rows, excluded := q.acceptRow(e), longer(q.phrases), longer(q.excluded)
	if len(rows)+len(excluded) == 0 {
		return base
	}
	return func(r *stm.Row) bool {
		if base != nil && !base(r) {
			return false
		}
		content := r.Text()
		in := func(row []string) bool { return holds(e.Text, content, row) }
		return !slices.ContainsFunc(rows, func(row []string) bool { return !in(row) }) &&
			!slices.ContainsFunc(excluded, in)
	}
}

// acceptRow returns the conditions for a memory besides the terms and phrases, nil for none.
func (q *parsedQuery) acceptRow(e *Search) func(*stm.Row) bool {
	base, p := q.Filter.Accept(), q.Query
	if len(p.Not.Tags) == 0 && p.After.IsZero() && p.Before.IsZero() && q.named == nil {
		return base
	}
	notTags, _ := memory.NormalizeTags(p.Not.Tags)
	return func(r *stm.Row) bool {
		switch {
		case base != nil && !base(r),
			!p.After.IsZero() && r.CreatedAt().Before(p.After),
			!p.Before.IsZero() && !r.CreatedAt().Before(p.Before),
			slices.ContainsFunc(notTags, r.HasTag),
			q.named != nil && !q.named.acceptsMemory(r, q.set == &e.Stm.MemorySet):
			return false
		}
		return true
	}
}

// longer returns the rows with more than one term; the index checks single terms.
func longer(rows [][]string) (out [][]string) {
	for _, row := range rows {
		if len(row) > 1 {
			out = append(out, row)
		}
	}
	return out
}

// ltmQuery returns the query for the tier of notes.
func (e *Search) ltmQuery(ctx context.Context, q *parsedQuery, c docFrequencies, limit int, explain bool) ltm.Query {
	out := ltm.Query{Docs: c.memories + c.notes, After: q.Query.After, Before: q.Query.Before,
		Must: ltmFilter(q.Query.Must), Not: ltmFilter(q.Query.Not), Modified: q.modified,
		Near: q.Near.ofNotes(), Limit: limit, Explain: explain,
		Text: func(path string) (string, bool) { return e.Notes.Vault.TextOf(ctx, path) }}
	q.dates.intoNotes(&out)
	out.Must.Tags = q.Filter.Tags
	if q.named != nil {
		out.Accept = q.named.acceptsNote
	}
	if q.only.path != "" {
		out.Must.Paths = append(slices.Clone(out.Must.Paths), q.only.path)
	}
	for i, t := range slices.Concat(q.Terms, q.weak) {
		term := ltm.Term{Text: t, Weight: q.of(t).times, DF: c.inMemories[i] + c.inNotes[t]}
		if i >= len(q.Terms) {
			term.Weight, term.Weak = ltm.WeakWeight, true
		}
		out.Terms = append(out.Terms, term)
	}
	q.addCorrections(&out, c)
	return out
}

// addCorrections adds the words that are searched for beside those of the query.
func (q *parsedQuery) addCorrections(out *ltm.Query, c docFrequencies) {
	for i, t := range q.corrections() {
		df := c.inMemories[len(q.Terms)+len(q.weak)+i] + c.inNotes[t]
		out.Terms = append(out.Terms, ltm.Term{Text: t, Weight: correctedWeight, DF: df})
	}
	if g := q.begun; g.words != nil {
		out.Terms = append(out.Terms, ltm.Term{Text: g.name, Of: g.words, Weight: g.weight(&c),
			DF: min(out.Docs, g.inMemories+g.notes)})
	}
}

func ltmFilter(f query.Filter) ltm.Filter {
	out := ltm.Filter{Phrases: f.Phrases, Tags: f.Tags, Paths: f.Paths, Files: f.Files}
	for _, p := range f.Properties {
		out.Properties = append(out.Properties, ltm.Property{Key: p.Key, Value: p.Value})
	}
	return out
}
