package words

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// corpus makes documents of about 300 bytes of English, by its statistics: 55 words,
// by Zipf's law over a vocabulary that grows with the corpus as in real text.
type corpus struct{ zipf *rand.Zipf }

func newCorpus(docs int) corpus {
	return corpus{rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.07, 2.7, uint64(2000+docs))}
}

// word returns the name of a rank, the longer the rarer.
func word(rank uint64) string { return fmt.Sprintf("%s%x", "qwzx"[:rank%5], rank) }

func (c corpus) document() (terms []TermCount, length int) {
	seen := make(map[uint64]int)
	for range 55 {
		rank := c.zipf.Uint64()
		at, ok := seen[rank]
		if !ok {
			at = len(terms)
			seen[rank] = at
			terms = append(terms, TermCount{Term: word(rank)})
		}
		terms[at].Count++
	}
	return terms, 55
}

// question returns eight words as documents use them, less the fifty most frequent,
// which are stop words.
func (c corpus) question() []QueryTerm {
	var terms []QueryTerm
	for len(terms) < 8 {
		if rank := c.zipf.Uint64(); rank >= 50 {
			terms = append(terms, QueryTerm{Term: word(rank), Weight: 1})
		}
	}
	return terms
}

func filled(b *testing.B, c corpus, docs int) *Index {
	x := New()
	for range docs {
		if _, err := x.Add(c.document()); err != nil {
			b.Fatal(err)
		}
	}
	return x
}

var sizes = []int{1_000, 10_000, 100_000}

func BenchmarkAdd(b *testing.B) {
	for _, docs := range sizes {
		b.Run(fmt.Sprint(docs), func(b *testing.B) {
			c := newCorpus(docs)
			before := heap()
			x := filled(b, c, docs)
			perDoc := float64(heap()-before) / float64(docs)
			var texts [256][]TermCount
			for i := range texts {
				texts[i], _ = c.document()
			}
			i := 0
			for b.Loop() {
				if _, err := x.Add(texts[i%len(texts)], 55); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(perDoc, "heap-B/doc")
		})
	}
}

// heap returns the bytes of live objects.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkSearch(b *testing.B) {
	for _, docs := range sizes {
		c := newCorpus(docs)
		x := filled(b, c, docs)
		var questions [64][]QueryTerm
		for i := range questions {
			questions[i] = c.question()
		}
		b.Run(fmt.Sprint(docs), func(b *testing.B) { searchAll(b, x, questions[:]) })
		for doc := range Doc(docs / 5) {
			x.Remove(doc * 5)
		}
		b.Run(fmt.Sprint(docs, "-fifth-removed"), func(b *testing.B) { searchAll(b, x, questions[:]) })
	}
}

func searchAll(b *testing.B, x *Index, questions [][]QueryTerm) {
	b.ReportAllocs()
	matches, i := 0, 0
	for b.Loop() {
		for _, relevance := range x.Search(questions[i%len(questions)]).All() {
			if relevance > 0 {
				matches++
			}
		}
		i++
	}
	b.ReportMetric(float64(matches)/float64(i), "matches/op")
}

func BenchmarkSimilar(b *testing.B) {
	x := filled(b, newCorpus(100_000), 100_000)
	for b.Loop() {
		x.Similar("qwz1f3a0", 2)
	}
	b.ReportMetric(float64(len(x.lists)), "terms")
}

func BenchmarkSnapshot(b *testing.B) {
	x := filled(b, newCorpus(100_000), 100_000)
	var out bytes.Buffer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			if _, err := x.WriteTo(&out); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(out.Len()))
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Read(out.Bytes()); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(out.Len()))
	})
}

func BenchmarkCompact(b *testing.B) {
	x := filled(b, newCorpus(100_000), 100_000)
	for doc := range Doc(30_000) {
		x.Remove(doc)
	}
	for b.Loop() {
		x.stale = 30_000 // as before the first round; the work is nearly the same
		x.Compact()
	}
}
