package ltm

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	index "github.com/blevesearch/bleve_index_api"
)

const (
	maxPrefixTerms  = 32   // that a prefix stands for
	maxPrefixSeen   = 2000 // that are looked at for the commonest
	maxFuzzyTerms   = 8    // that a misspelt term stands for
	maxFuzzyCounted = 64   // of the nearest terms, that are looked at for the commonest
	minPrefix       = 2    // letters
	minFuzzy        = 4    // letters; below, everything resembles everything
	farFuzzy        = 8    // letters from which on two edits are a misspelling
	fuzzyWeight     = 0.5  // of what only resembles a term
)

// prefixTerms returns the commonest terms that begin with the query's prefix. Terms are
// stemmed, so the prefix of a word can be longer than its term; if nothing begins
// with it, the longest term that it begins with, and that lacks no more than a usual
// ending, is taken.
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
		df, err := s.frequency(prefix[:n])
		if err != nil {
			return nil, err
		}
		if df > 0 {
			return []string{prefix[:n]}, nil
		}
	}
	return nil, nil
}

// fuzzyTerms returns the words to score when none of the query's is there: for each the
// terms that differ from it least.
func (s *searcher) fuzzyTerms() ([]weighed, error) {
	var words []weighed
	for _, t := range s.query.Terms {
		letters := utf8.RuneCountInString(t.Text)
		if t.Weight <= 0 || t.Weak || letters < minFuzzy {
			continue
		}
		edits := 1
		if letters >= farFuzzy {
			edits = 2
		}
		dictionary, err := s.view.snapshot.FieldDictFuzzy(termField, t.Text, edits, "")
		if err != nil {
			return nil, err
		}
		entries, err := read(dictionary, maxPrefixSeen)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			continue
		}
		near, err := s.nearest(entries)
		if err != nil {
			return nil, err
		}
		words = append(words, weighed{text: t.Text + "~", of: near, weight: t.Weight * fuzzyWeight})
	}
	return words, nil
}

// nearest returns the commonest of the terms with the fewest edits. What only deleted
// notes hold is left out.
func (s *searcher) nearest(entries []index.DictEntry) ([]string, error) {
	slices.SortFunc(entries, func(a, b index.DictEntry) int {
		return cmp.Or(cmp.Compare(a.EditDistance, b.EditDistance), strings.Compare(a.Term, b.Term))
	})
	entries = entries[:min(len(entries), maxFuzzyCounted)]
	for i := range entries {
		documents, err := s.view.documentsWith(entries[i].Term)
		if err != nil {
			return nil, err
		}
		entries[i].Count = uint64(documents)
	}
	entries = slices.DeleteFunc(entries, func(e index.DictEntry) bool { return e.Count == 0 })
	slices.SortStableFunc(entries, func(a, b index.DictEntry) int {
		return cmp.Or(cmp.Compare(a.EditDistance, b.EditDistance), cmp.Compare(b.Count, a.Count))
	})
	return terms(entries, maxFuzzyTerms), nil
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
