package vectors

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Whatever became of the documents, and of the rows that they share, each want of one search gets
// what comparing all vectors with the query gives: the nearest of those whose names begin so, that
// are near enough and accepted.
func TestWantsOfOneSearch(t *testing.T) {
	s, disk := newStore(t)
	rng := rand.New(rand.NewPCG(5, 5))
	docs := map[string]Doc{}
	for round := range 120 {
		var texts []string
		for range rng.IntN(4) {
			texts = append(texts, fmt.Sprint(rng.IntN(40)))
		}
		name := []string{"m/", "n/", "n/in/"}[rng.IntN(3)] + fmt.Sprint(rng.IntN(25))
		switch rng.IntN(12) {
		case 0:
			must(t, s.Place(nil, []string{name}))
			delete(docs, name)
		case 1:
			must(t, s.Purge(t.Context()))
		case 2:
			must(t, s.Close())
			s = open1(t, disk)
		default: // of some texts the vectors come later, of some before
			docs[name] = doc(name, texts...)
			must(t, s.Place([]Doc{docs[name]}, nil))
			must(t, s.Put(words(fmt.Sprint(rng.IntN(40)), fmt.Sprint(rng.IntN(40)))))
		}
		q := word(fmt.Sprint(rng.IntN(40))).Vector
		endsIn1 := func(doc string) bool { return strings.HasSuffix(doc, "1") }
		listed := Query{Prefix: "n/", N: 3, Least: float64(rng.IntN(2)) / 10, Accept: endsIn1, Only: []string{"n/gone1", "m/1"}}
		for name := range docs {
			if endsIn1(name) || rng.IntN(4) == 0 {
				listed.Only = append(listed.Only, name)
			}
		}
		wants := []Query{listed}
		if round%2 == 0 { // together with those that need a look at all rows
			wants = append(wants, []Query{
				{Prefix: "m/", N: 5}, {Prefix: "n/", N: 3, Least: 0.1}, {N: 4}, {Prefix: "n/in/", N: 2},
				{Prefix: "n/", N: 50, Accept: endsIn1}, {Prefix: "m/"},
				{Prefix: "m/", N: 5, Least: 0.9999}, {N: 2, Only: []string{}, Accept: func(string) bool { return false }},
			}...)
		}
		got, err := s.Nearest(t.Context(), q, wants...)
		must(t, err)
		for i, w := range wants {
			if want := allCompared(s, docs, q, w); !slices.Equal(namesIn(got[i]), want) {
				t.Fatalf("round %d: want %d: near are %v, want %v", round, i, namesIn(got[i]), want)
			}
		}
	}
}

func namesIn(matches []Match) (names []string) {
	for _, m := range matches {
		names = append(names, m.Doc)
	}
	return names
}

// allCompared answers a want by comparing every chunk.
func allCompared(s *Store, docs map[string]Doc, q []float32, w Query) (names []string) {
	best := map[string]float64{}
	for name, d := range docs {
		if !strings.HasPrefix(name, w.Prefix) || w.Accept != nil && !w.Accept(name) {
			continue
		}
		for _, c := range d.Chunks {
			v, ok := s.Vector(c.Key)
			if !ok {
				continue
			}
			cosine := 0.0
			for i, x := range v {
				cosine += float64(x) * float64(q[i])
			}
			if was, is := best[name]; (!is || cosine > was) && (w.Least <= 0 || cosine >= w.Least-1e-6) {
				best[name] = cosine
				if !is {
					names = append(names, name)
				}
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := best[b] - best[a]; d > 1e-6 || d < -1e-6 {
			return cmp.Compare(d, 0)
		}
		return strings.Compare(a, b)
	})
	return names[:min(w.N, len(names))]
}

// A search passes over the rows of documents of another kind, whichever came first: the document,
// its vectors, or another document with the same text.
func TestRowsAreMarked(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Place([]Doc{doc("m/1", "apple", "banana")}, nil))
	must(t, s.Put(words("apple", "cherry", "damson")))
	must(t, s.Place([]Doc{doc("n/1", "cherry", "apple")}, nil))
	must(t, s.Put(words("banana")))
	memory, note := kindsOf("m/"), kindsOf("n/")
	for text, want := range map[string]kinds{"apple": memory | note, "banana": memory, "cherry": note, "damson": 0} {
		row := int(s.index.slots.get(KeyOf(text)).row)
		if got := s.index.table.slabs[0].kinds[row]; got != want {
			t.Errorf("the row of %s is marked %b, want %b", text, got, want)
		}
	}
}
