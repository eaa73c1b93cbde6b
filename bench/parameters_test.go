package bench

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"emberd/internal/eval"
	"emberd/internal/text/analysis"
	"emberd/internal/text/chunk"
)

// ranker is the relevance of internal/words, written down a second time with what is fixed
// there left open. It is slow and short.
type ranker struct {
	b, bWhole       float64 // of passages, and of long texts as a whole
	far             float64 // typical lengths beyond which the length of a long text counts by its cube
	share           float64 // of the best passage of a long text
	form, name      float64
	average         bool // long texts are held against the average length, not the typical one
	once            bool // a word that is said twice counts once
	stopWords       bool // asked for too, instead of left out of queries
	unstemmed       bool // words as they are written, in lower case
	analyzer        *analysis.Analyzer
	texts           []rankedText
	holders         map[string][]int // documents that hold a term
	passage, length float64          // averages
	typical         float64
}

// rankedText is a document with its passages, none if it is short, and after them the whole.
type rankedText struct {
	name  string
	parts []rankedPart
}

type rankedPart struct {
	count map[string]float64
	forms map[string]analysis.Form
	words float64
}

func newRanker() *ranker {
	return &ranker{b: 0.3, bWhole: 0.9, far: 3, share: 0.4, form: 0.1, name: 0.1, analyzer: analysis.New(),
		holders: map[string][]int{}}
}

// add takes all documents of a set.
func (r *ranker) add(docs []eval.Doc) *ranker {
	parts, words, inverse := 0.0, 0.0, 0.0
	for _, doc := range docs {
		text := r.read(doc)
		whole := text.parts[len(text.parts)-1]
		for t := range whole.count {
			r.holders[t] = append(r.holders[t], len(r.texts))
		}
		r.texts = append(r.texts, text)
		parts, words = parts+float64(max(1, len(text.parts)-1)), words+whole.words
		inverse += 1 / max(whole.words, 10)
	}
	n := float64(len(docs))
	r.passage, r.length, r.typical = words/parts, words/n, n/inverse
	return r
}

func (r *ranker) read(doc eval.Doc) rankedText {
	s := doc.Content + "\n" + doc.Context
	terms := r.analyzer.Terms(s)
	var starts []int
	for _, t := range terms {
		if !t.Inner() {
			starts = append(starts, t.Start)
		}
	}
	out := rankedText{name: doc.Name}
	cuts := append(chunk.Passages(s, starts), len(s)+1)
	for i := range len(cuts) - 1 {
		out.parts = append(out.parts, r.part(s, slices.DeleteFunc(slices.Clone(terms), func(t analysis.Term) bool {
			return t.Start < cuts[i] || t.Start >= cuts[i+1]
		})))
	}
	out.parts = append(out.parts, r.part(s, terms))
	return out
}

func (r *ranker) part(s string, terms []analysis.Term) rankedPart {
	p := rankedPart{count: map[string]float64{}, forms: map[string]analysis.Form{}}
	for _, t := range terms {
		p.count[r.term(s, t)]++
		p.forms[r.term(s, t)] |= t.FormIn(s)
		if !t.Inner() {
			p.words++
		}
	}
	return p
}

func (r *ranker) term(s string, t analysis.Term) string {
	if r.unstemmed {
		return strings.ToLower(s[t.Start:t.End])
	}
	return t.Text
}

// search returns the names of the ten best.
func (r *ranker) search(query string) []string {
	found := r.analyzer.Query(query)
	if r.stopWords {
		found = r.analyzer.Terms(query)
	}
	asked := r.part(query, found)
	for t := range asked.count {
		if r.once {
			asked.count[t] = 1
		}
	}
	relevance := map[string]float64{}
	for t := range asked.count {
		for _, doc := range r.holders[t] {
			if text := r.texts[doc]; relevance[text.name] == 0 {
				relevance[text.name] = r.relevance(text, asked)
			}
		}
	}
	order := slices.Sorted(maps.Keys(relevance))
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(relevance[y], relevance[x]) })
	return order[:min(10, len(order))]
}

func (r *ranker) relevance(text rankedText, asked rankedPart) float64 {
	whole := text.parts[len(text.parts)-1]
	if len(text.parts) == 1 {
		return 0.9*r.sum(whole, asked, r.b, r.passage) + r.written(whole, asked)
	}
	best, length := 0.0, r.typical
	for _, p := range text.parts[:len(text.parts)-1] {
		best = max(best, r.sum(p, asked, r.b, r.passage))
	}
	if r.average {
		length = r.length
	}
	long := whole
	long.words *= math.Pow(max(1, whole.words/length/r.far), 2)
	return 0.9*((1-r.share)*r.sum(long, asked, r.bWhole, length)+r.share*best) + r.written(whole, asked)
}

func (r *ranker) idf(term string) float64 {
	n, df := float64(len(r.texts)), float64(len(r.holders[term]))
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

func (r *ranker) sum(p, asked rankedPart, b, average float64) (sum float64) {
	for t, times := range asked.count {
		if tf := p.count[t]; tf > 0 {
			sum += times * r.idf(t) * tf / (tf + 1.2*(1-b+b*p.words/average))
		}
	}
	return sum
}

// written is what counts for the forms that a text has words in.
func (r *ranker) written(p, asked rankedPart) (sum float64) {
	for t, times := range asked.count {
		common := p.forms[t] & asked.forms[t]
		if common&^analysis.Name == 0 {
			continue
		}
		sum += times * r.idf(t) * r.form
		if common&analysis.Name != 0 {
			sum += times * r.idf(t) * r.name
		}
	}
	return sum
}

// Every parameter that was chosen, beside its neighbours, on both halves of the questions.
func TestEvalParameters(t *testing.T) {
	sets := append(judgedSets(), judged{"BEAM", "beam/dev", eval.Turns}, judged{"CISI", "ir/cisi", eval.Docs})
	for _, j := range sets {
		t.Run(j.name, func(t *testing.T) {
			set := j.read(t)
			odd, even := *set, *set
			odd.Half(true)
			even.Half(false)
			for _, v := range rankerVariants() {
				r := newRanker()
				v.change(r)
				r.add(set.Docs)
				run := eval.Run{}
				for _, q := range set.Questions {
					run[q.ID] = r.search(q.Text)
				}
				j := set.Judgements[0]
				t.Logf("%-28s %v  odd %.3f  even %.3f", v.name, j.Measure(set.Questions, run),
					j.Measure(odd.Questions, run).NDCG10, j.Measure(even.Questions, run).NDCG10)
			}
		})
	}
}

type rankerVariant struct {
	name   string
	change func(*ranker)
}

func rankerVariants() []rankerVariant {
	return []rankerVariant{
		{"as shipped", func(*ranker) {}},
		{"whole only", func(r *ranker) { r.share = 0 }},
		{"passage's share 0.2", func(r *ranker) { r.share = 0.2 }},
		{"passage's share 0.6", func(r *ranker) { r.share = 0.6 }},
		{"best passage only", func(r *ranker) { r.share = 1 }},
		{"against the average length", func(r *ranker) { r.average = true }},
		{"length counts by its cube beyond 2", func(r *ranker) { r.far = 2 }},
		{"beyond 4", func(r *ranker) { r.far = 4 }},
		{"nowhere", func(r *ranker) { r.far = math.Inf(1) }},
		{"b of the whole 0.6", func(r *ranker) { r.bWhole = 0.6 }},
		{"b of the whole 1", func(r *ranker) { r.bWhole = 1 }},
		{"b 0", func(r *ranker) { r.b = 0 }},
		{"b 0.6", func(r *ranker) { r.b = 0.6 }},
		{"no forms", func(r *ranker) { r.form, r.name = 0, 0 }},
		{"no names", func(r *ranker) { r.name = 0 }},
		{"forms 0.2, names 0.2", func(r *ranker) { r.form, r.name = 0.2, 0.2 }},
		{"a word counts once", func(r *ranker) { r.once = true }},
		{"stop words asked for", func(r *ranker) { r.stopWords = true }},
		{"no stemming", func(r *ranker) { r.unstemmed = true }},
	}
}
