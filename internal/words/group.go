package words

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/text/spelling"
)

// Expand returns the terms that begin with prefix, with the number of documents that hold each,
// removed ones included until Compact. It looks at every term there is, a millisecond for 100,000
// of them, and holds the lock in the meantime.
func (x *Index) Expand(prefix string) []spelling.Near {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []spelling.Near
	for i := range x.lists {
		l := &x.lists[i]
		if strings.HasPrefix(l.term, prefix) && l.docs > 0 {
			found = append(found, spelling.Near{Word: l.term, Docs: l.docs})
		}
	}
	return found
}

// Together counts the documents that hold the first term of the query and any other.
func (m *Matches) Together() (n int) {
	beside := make(map[Doc]bool)
	for _, p := range m.terms[0].postings {
		beside[p.doc()] = !isDead(m.dead, p.doc()) && !m.sizes[p.doc()].isPassage()
	}
	for _, t := range m.terms[1:] {
		for _, p := range t.postings {
			if beside[p.doc()] {
				beside[p.doc()] = false
				n++
			}
		}
	}
	return n
}

// postingsOf returns the postings of a query term, their forms, and how many are of documents: -1 if
// that has to be counted. The caller holds mu.
func (x *Index) postingsOf(q *QueryTerm) ([]posting, []Forms, int) {
	if q.Of == nil {
		if id, ok := x.terms.find(x.lists, q.Term); ok {
			l := &x.lists[id]
			return l.postings, l.forms, l.docs
		}
		return nil, nil, 0
	}
	var all []posting
	for _, term := range q.Of {
		if id, ok := x.terms.find(x.lists, term); ok {
			all = append(all, x.lists[id].postings...)
		}
	}
	all = summed(all)
	return all, make([]Forms, len(all)), -1
}

// summed sorts postings by document, and adds up the counts of those of the same one.
func summed(all []posting) []posting {
	slices.SortFunc(all, func(a, b posting) int { return cmp.Compare(a, b) })
	kept := all[:0]
	for _, p := range all {
		if n := len(kept); n > 0 && kept[n-1].doc() == p.doc() {
			kept[n-1] = pack(p.doc(), min(kept[n-1].tf()+p.tf(), maxTF))
			continue
		}
		kept = append(kept, p)
	}
	return kept
}
