package ltm

import (
	"math"
	"math/bits"
)

// The constants of relevance. They were chosen over all judged sets at once (chat
// sessions as notes, abstracts, link texts and titles of two vaults in English and
// Chinese) for lying on a plateau: none changes a result by more than a point when it
// is moved by a third.
const (
	noteK1    = 1.6 // in a whole note words repeat more before they say less than in a memory
	passageK1 = 1.2
	bodyB     = 0.7 // of notes and passages
	headB     = 0.3 // of names, tags and other

	weightNames    = 2.0
	weightHeadings = 3.0
	weightTags     = 1.0
	weightOther    = 1.0

	passageShare = 0.6  // λ: the best passage against the whole note
	nameShare    = 0.25 // ε: a query that is a name of the note
)

// norms are the averages that lengths are compared with.
type norms struct{ body, passage, names, tags, other float64 }

// saturation is how much one term contributes to a text: the weighted counts of its fields, which
// are parts of sum, bounded by k1.
type saturation struct {
	names, tags, other, headings, body float64
}

func (s saturation) sum() float64 { return s.names + s.tags + s.other + s.headings + s.body }

// value is between 0 and 1.
func (s saturation) value(k1 float64) float64 {
	sum := s.sum()
	return sum / (k1 + sum)
}

// head weighs the fields that a note has once.
func (n *norms) head(of *size, o inNote) saturation {
	weigh := func(weight float64, tf int, length uint32, average float64) float64 {
		if tf == 0 {
			return 0
		}
		return weight * float64(tf) / (1 - headB + headB*float64(length)/average)
	}
	return saturation{
		names: weigh(weightNames, o.names, of.names, n.names),
		tags:  weigh(weightTags, o.tags, of.tags, n.tags),
		other: weigh(weightOther, o.other, of.other, n.other),
	}
}

// whole adds the fields of a whole note: the length of its body, and of headings those
// above one passage.
func (n *norms) whole(head saturation, words uint32, o inNote) saturation {
	head.body = float64(o.body) / (1 - bodyB + bodyB*float64(words)/n.body)
	head.headings = weightHeadings * float64(o.headings)
	return head
}

// part adds the fields of one passage: its length, tf in its body, and headings above it.
func (n *norms) part(head saturation, words uint16, body float64, headings int) saturation {
	head.body = body / (1 - bodyB + bodyB*float64(words)/n.passage)
	head.headings = weightHeadings * float64(headings)
	return head
}

// wholeBody is the value of whole for a term that stands in the body alone.
func (n *norms) wholeBody(words uint32, tf float64) float64 {
	s := tf / (1 - bodyB + bodyB*float64(words)/n.body)
	return s / (noteK1 + s)
}

// partBody is the value of part for a term that stands in the body alone.
func (n *norms) partBody(words uint16, tf float64) float64 {
	s := tf / (1 - bodyB + bodyB*float64(words)/n.passage)
	return s / (passageK1 + s)
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
	most := (1-passageShare)*g.whole + passageShare*g.most
	if g.named {
		most += nameShare
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
	g := gain{whole: n.whole(head, of.body, o).value(noteK1), most: head.value(passageK1), named: o.names > 0}
	for _, p := range run {
		o, words := unpack(p.packed), in.passages(first+uint32(p.part))
		tf := o.perPassage()
		for rest := o.bodyIn | o.headingsIn; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros16(rest)
			body, headings := o.at(bit, tf)
			g.most = max(g.most, n.part(head, words[bit], body, headings).value(passageK1))
		}
	}
	return g
}
