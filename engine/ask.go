package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"emberd/internal/query"
	"emberd/internal/text"
	"emberd/internal/words"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Scopes of a search.
const (
	scopeAll      = "all"
	scopeMemories = "memories"
	scopeNotes    = "notes"
	scopeArchive  = "archive"
)

// longestPrefix is how many words the beginning of a word may stand for.
const longestPrefix = 16

// question is a search request, analysed once for both tiers.
type question struct {
	query  query.Query
	filter *filter
	// terms are what is ranked by, words of the phrases included.
	terms []string
	// weak are its stop words: they rank notes a little and find nothing.
	weak []string
	// guesses are words that the last one may be the beginning of.
	guesses  []string
	prefix   string     // the last word as typed, when nothing holds it whole
	required []string   // terms of the phrases that a text must hold
	phrases  [][]string // and in which row it must hold them
	excluded [][]string // rows that it must not hold
	named    *naming    // entities that a text must name or must not, nil for any
	nothing  bool       // words were asked for that have no term
	in       *stm.Memories
	memories bool // which tiers are asked
	notes    bool
	archive  bool // cold memories alone, by relevance alone
	scope    string
	modified time.Time // of notes, the earliest that counts
	sole     sole      // looked at alone
	// stm and ltm are the factors on what the tiers find, floor what no age takes away.
	stm, ltm, floor float64
	// trust is what the order trusts vectors, 0 not at all.
	trust float64
	sense func() sensing // waits for the meaning of the question; nil until it is asked for
	near  closeness
	dates dating
}

// sole is the only memory, or the only notes, that a question is put to; the zero sole
// is everything.
type sole struct {
	id   memory.ID
	path string // beginning of their paths
}

// question parses and analyses a request.
func (e *Engine) question(req *op.SearchRequest, now time.Time) (*question, error) {
	if err := checkQuery(req.Query); err != nil {
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
		q.keepNotes(e.notes != nil)
	}
	return q, q.weigh(req)
}

// questionOf analyses a request whose query is parsed.
func (e *Engine) questionOf(parsed query.Query, scope string, f op.Filter, now time.Time) (*question, error) {
	q := &question{query: parsed, in: &e.stm.Memories, stm: e.opt.STMWeight, ltm: e.opt.LTMWeight, floor: e.opt.DecayFloor, trust: e.meaning.weight()}
	var err error
	if q.filter, err = e.filter(f, now); err != nil {
		return nil, err
	}
	if q.filter.Tags, err = addTags(q.filter.Tags, parsed.Must.Tags); err != nil {
		return nil, err
	}
	q.scope, q.modified = scope, q.filter.since
	if err := q.chooseTiers(scope, e.notes != nil); err != nil {
		return nil, err
	}
	q.analyse(e.text)
	q.named = e.naming(&parsed)
	return q, nil
}

func addTags(have, more []string) ([]string, error) {
	extra, err := memory.NormalizeTags(more)
	return append(have, extra...), err
}

// chooseTiers says where to look. Filters that only one tier knows leave the
// other out.
func (q *question) chooseTiers(scope string, vault bool) error {
	f := q.filter
	onlyMemories := f.Project != "" || f.Collection != "" || f.Category != "" || f.Section != "" || len(f.Stages) > 0 || len(f.statuses) > 0 || f.MinScore > 0 || f.MinConfidence > 0
	switch scope {
	case "", scopeAll:
		q.memories, q.notes = !q.query.NotesOnly(), vault && !onlyMemories
	case scopeMemories:
		q.memories = !q.query.NotesOnly()
	case scopeArchive:
		q.memories, q.archive = !q.query.NotesOnly(), true
	case scopeNotes:
		if !vault {
			return memory.Errorf(memory.Invalid, "there is no vault; name one with vaults: in the config or emberd serve --vault").At("scope")
		}
		q.notes = !onlyMemories
	default:
		return memory.Errorf(memory.Invalid, "scope %.40q is unknown; use all, memories, notes or archive", scope).At("scope")
	}
	return nil
}

// keepNotes looks at notes, too, unless memories alone are wanted.
func (q *question) keepNotes(vault bool) {
	q.modified = time.Time{}
	if q.scope == "" || q.scope == scopeAll || q.scope == scopeNotes {
		q.notes = vault
	}
}

// weigh gives the tiers the weights of a request.
func (q *question) weigh(req *op.SearchRequest) error {
	for _, w := range []struct {
		name string
		from *float64
		to   *float64
		most float64
	}{
		{"stm_weight", req.STMWeight, &q.stm, 2}, {"ltm_weight", req.LTMWeight, &q.ltm, 2},
		{"decay_floor", req.DecayFloor, &q.floor, 1}, {"meaning_weight", req.MeaningWeight, &q.trust, 1},
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

func (q *question) analyse(a *text.Analyzer) {
	q.terms = distinct(a.Query(q.query.Words))
	q.nothing = len(q.terms) == 0 && strings.TrimSpace(q.query.Words) != ""
	for _, p := range q.query.Must.Phrases {
		if row := termsOf(a.Terms(p)); len(row) > 0 {
			q.phrases = append(q.phrases, row)
			q.required = append(q.required, distinct(a.Query(p))...)
			q.nothing = false
		}
	}
	for _, p := range q.query.Not.Phrases {
		if row := termsOf(a.Terms(p)); len(row) > 0 {
			q.excluded = append(q.excluded, row)
		}
	}
	q.terms = append(q.terms, q.required...)
	slices.Sort(q.terms)
	q.terms = slices.Compact(q.terms)
	for _, t := range distinct(a.Terms(q.query.Words)) {
		if _, ok := slices.BinarySearch(q.terms, t); !ok {
			q.weak = append(q.weak, t)
		}
	}
}

// loosen lets the words of phrases that nothing holds count as words, since people
// quote titles from memory. It is false when there is no phrase.
func (q *question) loosen() bool {
	had := len(q.phrases) > 0
	q.phrases, q.required, q.query.Must.Phrases = nil, nil, nil
	return had
}

func termsOf(terms []text.Term) []string {
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = t.Text
	}
	return out
}

func distinct(terms []text.Term) []string {
	out := termsOf(terms)
	slices.Sort(out)
	return slices.Compact(out)
}

// holds reports whether the row of terms stands in the text.
func holds(a *text.Analyzer, content string, row []string) bool {
	terms := termsOf(a.Terms(content))
	for i := 0; i+len(row) <= len(terms); i++ {
		if slices.Equal(terms[i:i+len(row)], row) {
			return true
		}
	}
	return false
}

// corpus is how often the question's terms occur in both tiers together, so that
// their relevances can be compared.
type corpus struct {
	memories, notes int
	inMemories      []int // by place in question.terms, and then in weak
	inNotes         map[string]int
}

func (e *Engine) corpus(ctx context.Context, q *question) (c corpus, err error) {
	terms := slices.Concat(q.terms, q.weak)
	c.memories, c.inMemories = q.in.Frequencies(terms)
	if e.notes != nil {
		err = e.notes.ask(func(index *ltm.Index) (err error) {
			c.notes, c.inNotes, err = index.Frequencies(ctx, terms)
			return err
		})
	}
	return c, err
}

// guess lets the last word stand for those that begin with it, when it is none
// itself.
func (e *Engine) guess(q *question, c corpus) {
	last := e.text.Query(lastWord(q.query.Words))
	if !q.query.Prefix || len(last) != 1 {
		return
	}
	i, found := slices.BinarySearch(q.terms, last[0].Text)
	if !found || c.inMemories[i] > 0 || c.inNotes[q.terms[i]] > 0 {
		return
	}
	q.prefix = lastWord(q.query.Words)
	if prefix := e.text.Prefix(q.prefix); prefix != "" {
		q.guesses = q.in.Expand(prefix, longestPrefix)
	}
}

func lastWord(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// stmQuery is the question as the short-term tier takes it.
func (e *Engine) stmQuery(q *question, c corpus, limit int, explain bool, now time.Time) stm.Query {
	out := stm.Query{Others: c.notes, Near: q.near.ofMemories(), Accept: q.acceptMemory(e), Limit: limit, Explain: explain,
		Most: q.stm * e.opt.StageFactor.most(),
		Rank: func(relevance float64, r *stm.Row) float64 { return rank(e.weigh(relevance, r, now, q)) }}
	if id := q.sole.id; id != "" {
		out.Accept = only(out.Accept, func(r *stm.Row) bool { return r.ID() == id })
	}
	if q.archive {
		out.Accept = only(out.Accept, cold)
		out.Rank = func(relevance float64, r *stm.Row) float64 { return rank(e.unfaded(e.weigh(relevance, r, now, q))) }
	}
	q.dates.intoMemories(&out)
	for _, t := range q.terms {
		out.Terms = append(out.Terms, words.QueryTerm{Term: t, Weight: 1, Elsewhere: c.inNotes[t]})
	}
	for _, t := range q.guesses {
		out.Terms = append(out.Terms, words.QueryTerm{Term: t, Weight: 1})
	}
	out.All = q.required
	for _, row := range q.excluded {
		if len(row) == 1 {
			out.None = append(out.None, row[0])
		}
	}
	return out
}

// acceptMemory is what the question asks of a memory beside its words, nil when
// that is nothing.
func (q *question) acceptMemory(e *Engine) func(*stm.Row) bool {
	base := q.filter.accept()
	rows, excluded := longer(q.phrases), longer(q.excluded)
	p := q.query
	if len(rows)+len(excluded)+len(p.Not.Tags) == 0 && p.After.IsZero() && p.Before.IsZero() && q.named == nil {
		return base
	}
	notTags, _ := memory.NormalizeTags(p.Not.Tags)
	return func(r *stm.Row) bool {
		switch {
		case base != nil && !base(r),
			!p.After.IsZero() && r.CreatedAt().Before(p.After),
			!p.Before.IsZero() && !r.CreatedAt().Before(p.Before),
			slices.ContainsFunc(notTags, r.HasTag),
			q.named != nil && !q.named.acceptsMemory(r, q.in == &e.stm.Memories):
			return false
		}
		if len(rows)+len(excluded) == 0 {
			return true
		}
		content := r.Text()
		in := func(row []string) bool { return holds(e.text, content, row) }
		return !slices.ContainsFunc(rows, func(row []string) bool { return !in(row) }) && !slices.ContainsFunc(excluded, in)
	}
}

// longer returns the rows of more than one term; single ones the index decides.
func longer(rows [][]string) (out [][]string) {
	for _, row := range rows {
		if len(row) > 1 {
			out = append(out, row)
		}
	}
	return out
}

// ltmQuery is the question as the long-term tier takes it.
func (e *Engine) ltmQuery(ctx context.Context, q *question, c corpus, limit int, explain bool) ltm.Query {
	out := ltm.Query{Docs: c.memories + c.notes, Prefix: q.prefix, After: q.query.After, Before: q.query.Before,
		Must: ltmFilter(q.query.Must), Not: ltmFilter(q.query.Not), Modified: q.modified,
		Near: q.near.ofNotes(), Limit: limit, Explain: explain,
		Text: func(path string) (string, bool) { return e.notes.textOf(ctx, path) }}
	q.dates.intoNotes(&out)
	out.Must.Tags = q.filter.Tags
	if q.named != nil {
		out.Accept = q.named.acceptsNote
	}
	if q.sole.path != "" {
		out.Must.Paths = append(slices.Clone(out.Must.Paths), q.sole.path)
	}
	for i, t := range slices.Concat(q.terms, q.weak) {
		term := ltm.Term{Text: t, Weight: 1, DF: c.inMemories[i] + c.inNotes[t]}
		if i >= len(q.terms) {
			term.Weight, term.Weak = ltm.WeakWeight, true
		}
		out.Terms = append(out.Terms, term)
	}
	return out
}

func ltmFilter(f query.Filter) ltm.Filter {
	out := ltm.Filter{Phrases: f.Phrases, Tags: f.Tags, Paths: f.Paths, Files: f.Files}
	for _, p := range f.Properties {
		out.Properties = append(out.Properties, ltm.Property{Key: p.Key, Value: p.Value})
	}
	return out
}
