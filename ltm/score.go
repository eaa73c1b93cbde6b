package ltm

import (
	"math"
	"math/bits"

	"emberd/internal/relevance"
)

// norms are the averages that lengths are compared with.
type norms struct {
	body, passage, names, tags, other float64
	typical                           float64 // of memories
}

// saturation is how much one term contributes to a text: the weighted counts of its fields, which
// are parts of sum, bounded by k1.
type saturation struct {
	names, tags, other, headings, body float64
}

func (s saturation) sum() float64 { return s.names + s.tags + s.other + s.headings + s.body }

// value is between 0 and 1.
func (s saturation) value(k1 float64) float64 {
	return relevance.Share(s.sum(), k1)
}

// head weighs the fields that a note has once.
func (n *norms) head(of *size, o inNote) saturation {
	weigh := func(weight float64, tf int, length uint32, average float64) float64 {
		if tf == 0 {
			return 0
		}
		return weight * float64(tf) / relevance.Length(relevance.NoteHeadB, float64(length)/average)
	}
	return saturation{
		names: weigh(relevance.NoteNames, o.names, of.names, n.names),
		tags:  weigh(relevance.NoteTags, o.tags, of.tags, n.tags),
		other: weigh(relevance.NoteOther, o.other, of.other, n.other),
	}
}

// whole adds the fields of a whole note: the length of its body, and of headings those
// above one passage.
func (n *norms) whole(head saturation, words uint32, o inNote) saturation {
	head.body = float64(o.body) / relevance.Length(relevance.NoteBodyB, float64(words)/n.body)
	head.headings = relevance.NoteHeadings * float64(o.headings)
	return head
}

// part adds the fields of one passage: its length, tf in its body, and headings above it.
func (n *norms) part(head saturation, words uint16, body float64, headings int) saturation {
	head.body = body / relevance.Length(relevance.NoteBodyB, float64(words)/n.passage)
	head.headings = relevance.NoteHeadings * float64(headings)
	return head
}

// wholeBody is the value of whole for a term that stands in the body alone.
func (n *norms) wholeBody(words uint32, tf float64) float64 {
	return relevance.Share(tf/relevance.Length(relevance.NoteBodyB, float64(words)/n.body), relevance.NoteK1)
}

// partBody is the value of part for a term that stands in the body alone.
func (n *norms) partBody(words uint16, tf float64) float64 {
	return relevance.Share(tf/relevance.Length(relevance.NoteBodyB, float64(words)/n.passage), relevance.NotePassageK1)
}

// size is what scoring needs of every note.
type size struct {
	body, names, tags, other uint32 // words
}

// gain is what a word of weight · idf = 1 gives to a note.
type gain struct {
	whole float64 // to the note as a whole
	most  float64 // the most that a passage gets
	named bool    // it is in the names
}

// limit bounds the part of a note's relevance.
func (g *gain) limit() float64 {
	most := (1-relevance.NotePassageShare)*g.whole + relevance.NotePassageShare*g.most
	if g.named {
		most += relevance.NoteNameShare
	}
	return most
}

// gain works out what a word gives to the note that begins at first, whose postings are run.
func (n *norms) gain(in *segmentBase, first uint32, run []posting) gain {
	of := &in.rows[first].size
	if body, passages, ok := inBodies(run[0].packed); ok && len(run) == 1 {
		// Nearly all postings: the sums below, without what is zero in them.
		shortest, words := uint16(math.MaxUint16), in.passages(first+uint32(run[0].part))
		for rest := passages; rest != 0; rest &= rest - 1 {
			shortest = min(shortest, words[bits.TrailingZeros16(rest)])
		}
		return gain{whole: n.wholeBody(of.body, float64(body)),
			most: n.partBody(shortest, float64(body)/float64(max(bits.OnesCount16(passages), 1)))}
	}
	o := inWhole(run)
	head := n.head(of, o)
	g := gain{whole: n.whole(head, of.body, o).value(relevance.NoteK1),
		most: head.value(relevance.NotePassageK1), named: o.names > 0}
	for _, p := range run {
		o, words := unpack(p.packed), in.passages(first+uint32(p.part))
		tf := o.perPassage()
		for rest := o.bodyIn | o.headingsIn; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros16(rest)
			body, headings := o.at(bit, tf)
			g.most = max(g.most, n.part(head, words[bit], body, headings).value(relevance.NotePassageK1))
		}
	}
	return g
}
