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
)

// ranker is BM25 as internal/words has it, written down a second time with what
// is fixed there left open. It is slow and short.
type ranker struct {
	b         float64
	stopWords bool // asked for too, instead of left out of queries
	unstemmed bool // words as they are written, in lower case
	analyzer  *analysis.Analyzer

	names    []string
	lengths  []float64                  // in words
	postings map[string]map[int]float64 // documents that hold a term, and how often
}

func newRanker(b float64) *ranker {
	return &ranker{b: b, analyzer: analysis.New(), postings: make(map[string]map[int]float64)}
}

// add takes all documents of a set.
func (r *ranker) add(docs []eval.Doc) *ranker {
	for i, doc := range docs {
		content := doc.Content + " " + doc.Context
		_, length := r.analyzer.Counts(content)
		r.names, r.lengths = append(r.names, doc.Name), append(r.lengths, float64(length))
		for _, t := range r.terms(content, r.analyzer.Terms(content)) {
			if r.postings[t] == nil {
				r.postings[t] = make(map[int]float64)
			}
			r.postings[t][i]++
		}
	}
	return r
}

func (r *ranker) terms(s string, found []analysis.Term) []string {
	all := make([]string, len(found))
	for i, t := range found {
		all[i] = t.Text
		if r.unstemmed {
			all[i] = strings.ToLower(s[t.Start:t.End])
		}
	}
	return all
}

// search returns the names of the ten best.
func (r *ranker) search(query string) []string {
	found := r.analyzer.Query(query)
	if r.stopWords {
		found = r.analyzer.Terms(query)
	}
	relevance := r.relevance(r.terms(query, found))
	order := slices.Sorted(maps.Keys(relevance))
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(relevance[y], relevance[x]) })
	names := make([]string, 0, 10)
	for _, doc := range order[:min(10, len(order))] {
		names = append(names, r.names[doc])
	}
	return names
}

// relevance of every document that holds one of the terms.
func (r *ranker) relevance(terms []string) map[int]float64 {
	const k1 = 1.2
	n, average := float64(len(r.names)), 0.0
	for _, length := range r.lengths {
		average += length / n
	}
	sum := make(map[int]float64)
	for _, t := range terms {
		df := float64(len(r.postings[t]))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for doc, tf := range r.postings[t] {
			sum[doc] += idf * tf / (tf + k1*(1-r.b+r.b*r.lengths[doc]/average))
		}
	}
	return sum
}

// Every parameter that was chosen, beside its neighbours.
func TestEvalParameters(t *testing.T) {
	for _, j := range judgedSets() {
		t.Run(j.name, func(t *testing.T) {
			set := j.read(t)
			measure := func(what string, r *ranker) {
				r.add(set.Docs)
				t.Logf("%-28s %v", what, evaluate(set, set.Questions, func(q eval.Question) []string { return r.search(q.Text) }))
			}
			measure("b 0", newRanker(0))
			measure("b 0.15", newRanker(0.15))
			measure("b 0.3, as shipped", newRanker(0.3))
			measure("b 0.45", newRanker(0.45))
			measure("b 0.6", newRanker(0.6))
			measure("b 0.75", newRanker(0.75))
			measure("b 1", newRanker(1))
			kept := newRanker(0.3)
			kept.stopWords = true
			measure("b 0.3, stop words asked for", kept)
			plain := newRanker(0.3)
			plain.unstemmed = true
			measure("b 0.3, no stemming", plain)
		})
	}
}
