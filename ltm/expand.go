package ltm

import (
	"cmp"
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"emberd/internal/text/spelling"
)

const (
	maxPrefixSeen = 5000 // terms with the beginning of a word that are looked at
	maxSimilar    = 64   // the nearest, whose notes are counted
)

// Expand returns terms that begin with prefix, at most 5,000, with about how many notes hold each.
func (x *Index) Expand(prefix string) ([]spelling.Near, error) {
	return x.terms(func(s *searcher) ([]spelling.Near, error) { return s.expand(prefix) })
}

// terms calls do with a search that has no query.
func (x *Index) terms(do func(s *searcher) ([]spelling.Near, error)) (found []spelling.Near, err error) {
	err = x.search(&Query{}, func(s *searcher) error {
		found, err = do(s)
		return err
	})
	return found, err
}

func (s *searcher) expand(prefix string) ([]spelling.Near, error) {
	dictionary, err := s.view.snapshot.FieldDictPrefix(termField, []byte(prefix))
	if err != nil {
		return nil, err
	}
	entries, err := read(dictionary, maxPrefixSeen)
	if err != nil {
		return nil, err
	}
	entries = s.seen(entries)
	found := make([]spelling.Near, len(entries))
	for i, e := range entries {
		found[i] = spelling.Near{Word: e.Term, Docs: int(e.Count)}
	}
	return found, nil
}

// Similar returns terms that are at most so many edits from term, as
// spelling.Distance counts them, one or two, with how many notes hold each.
func (x *Index) Similar(term string, edits int) ([]spelling.Near, error) {
	return x.terms(func(s *searcher) ([]spelling.Near, error) { return s.similar(term, edits) })
}

func (s *searcher) similar(term string, edits int) ([]spelling.Near, error) {
	dictionary, err := s.view.snapshot.FieldDictFuzzy(termField, term, edits, "")
	if err != nil {
		return nil, err
	}
	entries, err := read(dictionary, maxPrefixSeen)
	if err != nil {
		return nil, err
	}
	entries = s.seen(entries)
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
		near[i].Docs = s.notesWith(near[i].Word)
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
