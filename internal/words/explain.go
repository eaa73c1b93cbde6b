package words

import "slices"

// Explanation takes the relevance of one document apart.
type Explanation struct {
	Relevance float64 // the sum of the terms' scores
	Length    int     // words in the document
	Passage   float64 // words in the average passage
	Typical   float64 // the harmonic mean of the documents' words
	Docs      int     // live documents, with those elsewhere
	Best      int     // the best passage of a long document, from 1; 0 for any other
	Terms     []TermScore
}

// TermScore is what one query term gives to a document: 0.9 · Weight · IDF · TF / (TF + Norm),
// of a long one 0.6 of that and 0.4 of the same with BestTF and BestNorm, and what the form gives.
type TermScore struct {
	Term     string
	Weight   float64
	TF       int // in the document, at most 255
	DF       int // of Docs, those that hold the term
	IDF      float64
	Norm     float64
	BestTF   int     // in the best passage of a long document
	BestNorm float64 // of that passage, 0 for a document that is not long
	Score    float64
	// BestScore and FormScore are parts of Score: what the best passage gives, and the form.
	BestScore, FormScore float64
}

// Explain reports where the relevance of doc comes from, with one entry for each query
// term that it holds, in the order of the query. It is false for a document that All
// does not yield.
func (m *Matches) Explain(doc Doc) (Explanation, bool) {
	if int64(doc) >= int64(len(m.sizes)) || m.sizes[doc].isPassage() || isDead(m.dead, doc) {
		return Explanation{}, false
	}
	best := m.bestOf(doc)
	e := Explanation{Length: int(m.sizes[doc].words()), Passage: m.passage, Typical: m.typical, Docs: m.docs,
		Best: int(best)}
	for i := range m.terms {
		if t, ok := m.explainTerm(&m.terms[i], doc, best); ok {
			e.Relevance += t.Score
			e.Terms = append(e.Terms, t)
		}
	}
	return e, len(e.Terms) > 0
}

// bestOf returns which of the passages of a long document is the best, 0 for any other
// document.
func (m *Matches) bestOf(doc Doc) (best Doc) {
	if !m.sizes[doc].isLong() {
		return 0
	}
	highest := -1.0
	for p := doc + 1; int(p) < len(m.sizes) && m.sizes[p].isPassage(); p++ {
		sum := 0.0
		for i := range m.terms {
			t := &m.terms[i]
			if tf, _ := t.at(p); tf > 0 {
				sum += contribution(t.Weight*t.idf, tf, m.norm(m.sizes[p]))
			}
		}
		if sum > highest {
			best, highest = p-doc, sum
		}
	}
	return best
}

func (m *Matches) explainTerm(t *scoredTerm, doc, best Doc) (TermScore, bool) {
	tf, forms := t.at(doc)
	if tf == 0 {
		return TermScore{}, false
	}
	full, s := t.Weight*t.idf, m.sizes[doc]
	out := TermScore{Term: t.Term, Weight: t.Weight, TF: tf, DF: t.df, IDF: t.idf, Norm: m.norm(s),
		FormScore: full * t.formShare(forms)}
	out.Score = shareOf(s)*contribution(full, tf, out.Norm) + out.FormScore
	if best > 0 {
		p := m.sizes[doc+best]
		out.BestTF, _ = t.at(doc + best)
		out.BestNorm = m.norm(p)
		out.BestScore = shareOf(p) * contribution(full, out.BestTF, out.BestNorm)
		out.Score += out.BestScore
	}
	return out, true
}

// at returns how often a document or passage holds the term, 0 for not, and in which forms.
func (t *scoredTerm) at(doc Doc) (tf int, forms Forms) {
	i, _ := slices.BinarySearch(t.postings, pack(doc, 0))
	if i == len(t.postings) || t.postings[i].doc() != doc {
		return 0, 0
	}
	return t.postings[i].tf(), t.forms[i]
}
