package ltm

import (
	"math/bits"

	"emberd/internal/relevance"
	"emberd/internal/text/analysis"
	"emberd/internal/text/chunk"
)

// An index of memories (Options.Memories) has the same files as one of notes. It differs in three things: the text of
// a document is cut like a memory's (package chunk), a posting also has the forms in which the text has the term,
// and the relevance is that of package words. So a memory whose text is in a note and one whose text is in the log
// have the same relevance, but for one thing: what a term adds to the passages of a part of a note is their average.

// formBits is how many low bits of a posting are the forms of the term (analysis.Form).
const formBits = 6

// memoryMost bounds what a term of weight · idf = 1 gives to a memory.
const memoryMost = 1 + relevance.MemoryNameShare

// memory cuts the text of a memory into passages and counts its terms.
func (c *passageSplitter) memory(d *Doc) analyzedNote {
	n := analyzedNote{record: newRecord(d)}
	c.begin(place{line: 1})
	text := ""
	if len(d.Sections) > 0 {
		text = d.Sections[0].Text
	}
	c.terms = c.analyzer.AppendTerms(c.terms[:0], text)
	terms := c.terms
	starts := chunk.Passages(text, wordStarts(terms))
	for i := range max(1, len(starts)) {
		end := len(terms)
		for j := 0; i+1 < len(starts) && j < end; j++ {
			if terms[j].Start >= starts[i+1] {
				end = j
			}
		}
		if i > 0 && len(c.passages) < maxPassages {
			c.begin(place{line: 1})
		}
		c.body(terms[:end], len(wordStarts(terms[:end])))
		c.forms(text, terms[:end])
		terms = terms[end:]
	}
	c.row = rowOf(c.row[:0], c.terms)
	return c.finish(n)
}

// forms notes in which forms the last part has terms.
func (c *passageSplitter) forms(text string, terms []analysis.Term) {
	part, _ := c.last()
	for _, t := range terms {
		o := part[t.Text]
		o.forms |= uint8(t.FormIn(text))
		part[t.Text] = o
	}
}

// wordStarts is where the words begin that terms lie in.
func wordStarts(terms []analysis.Term) (starts []int) {
	for _, t := range terms {
		if !t.Inner() {
			starts = append(starts, t.Start)
		}
	}
	return starts
}

// packed encodes an occurrence as this index stores it.
func (x *sharedIndex) packed(o occurrence) uint64 {
	if x.memories {
		return uint64(o.pack())<<formBits | uint64(o.forms)
	}
	return uint64(o.pack())
}

// unpacked decodes an occurrence as this index stores it.
func (x *sharedIndex) unpacked(v uint64) occurrence {
	if !x.memories {
		return unpack(v)
	}
	o := unpack(v >> formBits)
	o.forms = uint8(v & (1<<formBits - 1))
	return o
}

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
		o := s.index.unpacked(p.packed)
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
	o, words := s.index.unpacked(p.packed), in.passages(first+uint32(p.part))
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
