package ltm

import (
	"math/bits"

	"emberd/internal/relevance"
)

// memoryMost bounds what a term of weight · idf = 1 gives to a memory.
const memoryMost = 1 + relevance.MemoryNameShare

// memoryGain is what a term of weight · idf = 1 gives to a memory: as a whole, form included, and to the passage that
// gets the most.
type memoryGain struct {
	relevanceParts
	most float64
}

// relevanceParts are the counts behind what a term gives to a memory.
type relevanceParts struct {
	tf          int
	norm        float64
	whole, form float64
}

// ofMemory works out what a term gives to the memory that begins at first, whose postings are run.
func (s *searcher) ofMemory(in *segmentBase, first uint32, w *queryTerm, run []posting) memoryGain {
	var g memoryGain
	forms, long := uint8(0), len(in.passages(first)) > 1
	for _, p := range run {
		o := s.index.layout.unpack(p.packed)
		g.tf += o.body
		forms |= o.forms
		if long {
			s.eachPassage(in, first, p, func(_ int, share, _ float64, _ int) { g.most = max(g.most, share) })
		}
	}
	words, part := float64(in.rows[first].size.body), relevance.MemoryTextShare
	if g.norm = s.norms.memory(words); long {
		g.norm = relevance.MemoryLongNorm(words / s.norms.typical)
		part *= 1 - relevance.MemoryPassageShare
	}
	g.whole = part * relevance.Share(float64(g.tf), g.norm)
	g.form = relevance.FormShare(forms&w.form != 0, forms&w.name != 0)
	return g
}

// memory returns the count at which a term has half of what it can give to a passage, or to a memory of one.
func (n *norms) memory(words float64) float64 { return relevance.MemoryNorm(words / n.passage) }

// eachPassage calls do for every passage of a long memory that a posting is of, with what it gives there.
func (s *searcher) eachPassage(in *segmentBase, first uint32, p posting,
	do func(passage int, share, norm float64, tf int)) {
	o, words := s.index.layout.unpack(p.packed), in.passages(first+uint32(p.part))
	tf := o.perPassage()
	for rest := o.bodyIn; rest != 0; rest &= rest - 1 {
		bit := bits.TrailingZeros16(rest)
		norm := s.norms.memory(float64(words[bit]))
		do(int(p.part)*partPassages+bit,
			relevance.MemoryTextShare*relevance.MemoryPassageShare*relevance.Share(tf, norm), norm, int(tf+0.5))
	}
}

// workMemory is work for a memory.
func (s *searcher) workMemory(c *candidate) {
	in, note := s.view.segments[c.segment].segmentBase, s.table.notes[c.number]
	s.extra = append(s.extra[:0], make([]float64, len(note.passages))...)
	sum := 0.0
	for i, run := range s.runs[:len(s.words)] {
		if len(run) == 0 {
			continue
		}
		w := &s.words[i]
		g := s.ofMemory(in, c.first, w, run)
		sum += w.full * (g.whole + g.form)
		c.held = true
		for _, p := range run {
			if len(note.passages) > 1 {
				s.eachPassage(in, c.first, p, func(at int, share, _ float64, _ int) { s.extra[at] += w.full * share })
			}
		}
	}
	for i, gain := range s.extra {
		if gain > s.extra[c.passage] {
			c.passage = i
		}
	}
	c.relevance = sum + s.extra[c.passage] + s.near[c.number].Score + s.bonus(c.number)
}

// memoryParts divides what a word gives to a memory between its text, its best passage and the form.
func (s *searcher) memoryParts(w *queryTerm, c candidate, run []posting) []Score {
	in := s.view.segments[c.segment].segmentBase
	g := s.ofMemory(in, c.first, w, run)
	passage := Score{Field: Passage}
	for _, p := range run {
		if len(s.table.notes[c.number].passages) == 1 {
			break
		}
		s.eachPassage(in, c.first, p, func(at int, share, norm float64, tf int) {
			if at == c.passage {
				passage.TF, passage.Norm, passage.Score = tf, norm, w.full*share
			}
		})
	}
	return nonZero(w, []Score{{Field: Body, TF: g.tf, Norm: g.norm, Score: w.full * g.whole}, passage,
		{Field: Form, TF: g.tf, Score: w.full * g.form}})
}

// Lengths returns the lengths of the memories in an index of memories.
func (x *Index) Lengths() relevance.Lengths {
	t := x.tables.Load().current
	if x.sees != nil {
		t = t.only(x.shows)
	}
	return t.lengths()
}

func (t *table) lengths() relevance.Lengths {
	return relevance.Lengths{Texts: t.count, Passages: t.passages, Words: uint64(t.body), Inverse: t.inverse}
}
