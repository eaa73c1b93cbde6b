package words

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// model is the index written without any thought of speed: texts, whose passages bars part.
type model struct{ docs map[Doc]string }

// holds counts a term in a text, and says in which forms it is there.
func holds(text, term string) (tf float64, forms Forms) {
	terms, _ := counted(text)
	for _, t := range terms {
		if t.Term == term {
			tf++
			forms |= t.Forms
		}
	}
	return tf, forms
}

func lengthOf(text string) float64 {
	_, n := counted(text)
	return float64(n)
}

// averages are of the passages, and the harmonic one of the documents.
func (m model) averages() (passage, typical float64) {
	words, count, inverse := 0.0, 0.0, 0.0
	for _, text := range m.docs {
		words += lengthOf(text)
		count += float64(strings.Count(text, "|") + 1)
		inverse += 1 / max(lengthOf(text), 10)
	}
	return words / count, float64(len(m.docs)) / inverse
}

// relevance computes it from scratch for every matching document.
func (m model) relevance(terms []QueryTerm) map[Doc]float64 {
	passage, typical := m.averages()
	scores := make(map[Doc]float64)
	for d, text := range m.docs {
		best, whole, bonus, found := 0.0, 0.0, 0.0, false
		for part := range strings.SplitSeq(text, "|") {
			sum := 0.0
			for _, q := range terms {
				if tf, _ := holds(part, q.Term); tf > 0 {
					sum += q.Weight * m.idf(q.Term) * tf / (tf + 1.2*(0.7+0.3*lengthOf(part)/passage))
				}
			}
			best = max(best, sum)
		}
		x := lengthOf(text) / typical
		for _, q := range terms {
			tf, forms := holds(text, q.Term)
			if tf == 0 {
				continue
			}
			found = true
			whole += q.Weight * m.idf(q.Term) * tf / (tf + 1.2*(0.1+0.9*x*math.Pow(max(1, x/3), 2)))
			if forms&q.Form != 0 {
				bonus += 0.1 * q.Weight * m.idf(q.Term)
				if forms&q.Name != 0 {
					bonus += 0.1 * q.Weight * m.idf(q.Term)
				}
			}
		}
		switch {
		case found && strings.Contains(text, "|"):
			scores[d] = 0.54*whole + 0.36*best + bonus
		case found:
			scores[d] = 0.9*best + bonus
		}
	}
	return scores
}

func (m model) idf(term string) float64 {
	n, df := float64(len(m.docs)), 0.0
	for _, text := range m.docs {
		if tf, _ := holds(text, term); tf > 0 {
			df++
		}
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// TestIndexAgainstModel runs random operations on the index and on the model.
func TestIndexAgainstModel(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("a A b B c d e f g h ä 京都"))
	rapid.Check(t, func(t *rapid.T) {
		x, m := New(), model{docs: make(map[Doc]string)}
		next := Doc(0)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				var text strings.Builder
				text.WriteString(strings.Join(rapid.SliceOfN(word, 1, 12).Draw(t, "words"), " "))
				for range rapid.IntRange(0, 2).Draw(t, "more passages") {
					text.WriteString(" | " + strings.Join(rapid.SliceOfN(word, 1, 12).Draw(t, "words"), " "))
				}
				terms, length := counted(text.String())
				doc, err := x.Add(terms, length, passages(text.String())...)
				if err != nil || doc != next {
					t.Fatalf("Add = %d, %v, want %d", doc, err, next)
				}
				next = Doc(x.Docs())
				m.docs[doc] = text.String()
			},
			"remove": func(t *rapid.T) {
				doc := Doc(rapid.Uint32Range(0, uint32(next)).Draw(t, "doc"))
				_, there := m.docs[doc]
				if got := x.Remove(doc); got != there {
					t.Fatalf("Remove(%d) = %v, want %v", doc, got, there)
				}
				delete(m.docs, doc)
			},
			"compact": func(*rapid.T) { x.Compact() },
			"snapshot": func(t *rapid.T) {
				var out bytes.Buffer
				if n, err := x.WriteTo(&out); err != nil || n != int64(out.Len()) {
					t.Fatalf("WriteTo = %d, %v with %d bytes written", n, err, out.Len())
				}
				var err error
				if x, err = Read(out.Bytes()); err != nil {
					t.Fatalf("Read: %v", err)
				}
			},
			"": func(t *rapid.T) { compare(t, x, m, rapid.SliceOfN(word, 1, 5).Draw(t, "query")) },
		})
	})
}

// compare checks one query against the model, with explanations.
func compare(t *rapid.T, x *Index, m model, words []string) {
	var terms []QueryTerm
	for i, w := range words {
		q := QueryTerm{Term: strings.ToLower(w), Weight: 1 + float64(i)/2}
		if q.Form = Forms(i % 3); q.Term != w {
			q.Form, q.Name = upper, upper
		}
		terms = append(terms, q)
	}
	want := m.relevance(terms)
	matches := x.Search(terms)
	last := Doc(0)
	n := 0
	for doc, relevance := range matches.All() {
		if n > 0 && doc <= last {
			t.Fatalf("document %d comes after %d, want ascending order", doc, last)
		}
		n, last = n+1, doc
		if math.Abs(relevance-want[doc]) > 1e-9 {
			t.Fatalf("relevance of %d for %v = %v, want %v", doc, words, relevance, want[doc])
		}
		if e, ok := matches.Explain(doc); !ok || math.Abs(e.Relevance-relevance) > 1e-9 {
			t.Fatalf("explained relevance of %d = %v, want %v", doc, e.Relevance, relevance)
		}
	}
	if n != len(want) || x.Len() != len(m.docs) {
		t.Fatalf("found %d of %d documents for %v, want %d of %d", n, x.Len(), words, len(want), len(m.docs))
	}
}
