package cleanup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
)

// wordsOfQuery is how many of the rarest words of a text ask for it.
const wordsOfQuery = 5

// Query is a question with what is to be found.
type Query struct {
	Text     string
	Want     []memory.ID
	Critical bool // Want has to be found
}

// Queries makes questions from entries: the rarest words of each fixed one, which is
// critical, and of a sample of the other manual ones, spread evenly by id. It makes at most
// so many, of which the critical ones come first. What is away or has no words has none.
func Queries(a *analysis.Analyzer, entries []Entry, most int) []Query {
	common := make(map[string]int) // in how many texts
	var critical, others []*Entry
	for i := range entries {
		e := &entries[i]
		counts, _ := a.Counts(e.Text)
		for _, c := range counts {
			common[c.Text]++
		}
		switch {
		case e.Away != "":
		case e.Fixed != "":
			critical = append(critical, e)
		case e.Manual:
			others = append(others, e)
		}
	}
	var out []Query
	for _, e := range append(spread(critical, most), spread(others, max(0, most-len(critical)))...) {
		if words, telling := rarest(a, e.Text, common); telling {
			out = append(out, Query{Text: words, Want: ids(e.ID), Critical: e.Fixed != ""})
		}
	}
	return out
}

// spread returns so many of the entries, evenly by id.
func spread(all []*Entry, most int) []*Entry {
	slices.SortFunc(all, func(a, b *Entry) int { return cmp.Compare(a.ID, b.ID) })
	if len(all) <= most {
		return all
	}
	out := make([]*Entry, 0, most)
	for k := range most {
		out = append(out, all[k*len(all)/most])
	}
	return out
}

// maxHolders is of how many texts a word still tells one. Which ten of more come first is
// chance, and a search that is only of such words would find a fault where there is none.
const maxHolders = 10

// rarest returns the words of a text that the fewest texts have, as they stand, in their order,
// and whether they are enough to find it by: one of them is rare, or there are several.
func rarest(a *analysis.Analyzer, s string, common map[string]int) (query string, telling bool) {
	var terms []analysis.Term
	end := 0
	seen := make(map[string]bool)
	for _, t := range a.Terms(s) {
		if t.Stop() || t.Start < end || seen[t.Text] {
			continue
		}
		end = t.End
		seen[t.Text] = true
		terms = append(terms, t)
	}
	slices.SortStableFunc(terms, func(x, y analysis.Term) int {
		return cmp.Or(cmp.Compare(common[x.Text], common[y.Text]), cmp.Compare(x.Start, y.Start))
	})
	terms = terms[:min(len(terms), wordsOfQuery)]
	telling = len(terms) > 2 || len(terms) > 0 && common[terms[0].Text] <= maxHolders
	slices.SortFunc(terms, func(x, y analysis.Term) int { return cmp.Compare(x.Start, y.Start) })
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = s[t.Start:t.End]
	}
	return strings.Join(words, " "), telling
}

// Evaluate holds the answers to queries, best first and at their places, against what is
// wanted. A memory that became another, as moved says, is found if either is; what moved to
// "" is not wanted any more, unless it is critical. So the same moved, given to what was found
// before and after, makes the two comparable. Precision is that of as many of the first as
// are wanted, recall that of the whole answer, both as means over the queries that want
// anything; they are 1 if none does.
func Evaluate(queries []Query, answers [][]memory.ID, moved map[memory.ID]memory.ID) op.CleanupAccuracy {
	var acc op.CleanupAccuracy
	for i, q := range queries {
		var answer []memory.ID
		if i < len(answers) {
			answer = answers[i]
		}
		wanted, top, found := 0, 0, 0
		for _, id := range q.Want {
			to, went := moved[id]
			if went && to == "" && !q.Critical {
				continue
			}
			wanted++
			at := slices.IndexFunc(answer,
				func(got memory.ID) bool { return got == id || went && to != "" && got == to })
			if at >= 0 {
				found++
			} else if q.Critical {
				acc.Missing = append(acc.Missing, id)
			}
			if at >= 0 && at < len(q.Want) {
				top++
			}
		}
		if wanted > 0 {
			acc.Queries++
			acc.Precision += float64(top) / float64(wanted)
			acc.Recall += float64(found) / float64(wanted)
		}
	}
	acc.Missing = slices.Compact(ids(acc.Missing...))
	if acc.Queries == 0 {
		acc.Precision, acc.Recall = 1, 1
		return acc
	}
	acc.Precision /= float64(acc.Queries)
	acc.Recall /= float64(acc.Queries)
	return acc
}

// Worse returns why a run is to be rolled back, "" if it is not: precision or recall fell by more
// than a part of what it was (the specification says 0.2), or a critical memory is missing
// that was found before.
func Worse(before, after *op.CleanupAccuracy, most float64) string {
	for _, m := range []struct {
		name     string
		was, now float64
	}{{"precision", before.Precision, after.Precision}, {"recall", before.Recall, after.Recall}} {
		if m.was-m.now > most*m.was+1e-9 {
			return fmt.Sprintf("the %s of searches fell from %.2f to %.2f, by more than %.0f %%", m.name, m.was, m.now,
				100*most)
		}
	}
	for _, id := range after.Missing {
		if !slices.Contains(before.Missing, id) {
			return fmt.Sprintf("searches no longer return the critical memory %s", id)
		}
	}
	return ""
}
