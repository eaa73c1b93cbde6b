package ltm

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	index "github.com/blevesearch/bleve_index_api"

	"emberd/internal/text/spelling"
)

const (
	maxPrefixTerms = 32   // that a prefix stands for
	maxPrefixSeen  = 2000 // that are looked at for the commonest
	maxSimilar     = 64   // the nearest, whose notes are counted
	minPrefix      = 2    // letters
)

// prefixTerms returns the commonest terms that begin with the query's prefix. Terms are stemmed,
// so the prefix of a word can be longer than its term. If nothing begins with the prefix,
// prefixTerms returns the longest term that the prefix begins with and that lacks no more than a
// usual ending.
func (s *searcher) prefixTerms() ([]string, error) {
	prefix := s.index.analyzer.Prefix(s.query.Prefix)
	if utf8.RuneCountInString(prefix) < minPrefix {
		return nil, nil
	}
	dictionary, err := s.view.snapshot.FieldDictPrefix(termField, []byte(prefix))
	if err != nil {
		return nil, err
	}
	entries, err := read(dictionary, maxPrefixSeen)
	if err != nil {
		return nil, err
	}
	if entries, err = s.seen(entries); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return s.stemOf(prefix)
	}
	slices.SortFunc(entries, func(a, b index.DictEntry) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Term, b.Term))
	})
	return terms(entries, maxPrefixTerms), nil
}

// stemOf returns the longest term of the index that the prefix begins with.
func (s *searcher) stemOf(prefix string) ([]string, error) {
	const ending, least = 5, 4
	for n := len(prefix) - 1; n >= max(least, len(prefix)-ending); n-- {
		if !utf8.RuneStart(prefix[n]) {
			continue
		}
		df, err := s.notesWith(prefix[:n])
		if err != nil {
			return nil, err
		}
		if df > 0 {
			return []string{prefix[:n]}, nil
		}
	}
	return nil, nil
}

// Similar returns terms that are at most so many edits from term, as
// spelling.Distance counts them, one or two, with how many notes hold each.
func (x *Index) Similar(term string, edits int) ([]spelling.Near, error) {
	done, err := x.use()
	if err != nil {
		return nil, err
	}
	defer done()
	s, err := x.searcher(&Query{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	dictionary, err := s.view.snapshot.FieldDictFuzzy(termField, term, edits, "")
	if err != nil {
		return nil, err
	}
	entries, err := read(dictionary, maxPrefixSeen)
	if err != nil {
		return nil, err
	}
	if entries, err = s.seen(entries); err != nil {
		return nil, err
	}
	near := make([]spelling.Near, 0, len(entries))
	distance := spelling.From(term, edits)
	for _, e := range entries {
		if n, ok := distance(e.Term); ok {
			near = append(near, spelling.Near{Word: e.Term, Edits: n})
		}
	}
	slices.SortFunc(near,
		func(a, b spelling.Near) int { return cmp.Or(a.Edits-b.Edits, strings.Compare(a.Word, b.Word)) })
	near = near[:min(len(near), maxSimilar)]
	for i := range near {
		if near[i].Docs, err = s.notesWith(near[i].Word); err != nil {
			return nil, err
		}
	}
	return near, nil
}

// read reads up to limit entries of a dictionary and closes it.
func read(d index.FieldDict, limit int) (entries []index.DictEntry, err error) {
	defer d.Close()
	for range limit {
		e, err := d.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		entries = append(entries, *e)
	}
	return entries, nil
}

func terms(entries []index.DictEntry, limit int) []string {
	var list []string
	for _, e := range entries[:min(len(entries), limit)] {
		list = append(list, e.Term)
	}
	return list
}
