package ltm

import "math/bits"

// A document of the scorch index is a part of a note: as many passages as a mask has
// bits. Nearly all notes are one part.
const partPassages = 16

// occurrence says where and how often a term stands in a part of a note. It is stored
// as the frequency of a posting, which is a uvarint less one bit, in one of three
// layouts, from the lowest bit up. Most postings are of the first kind and take one
// byte. Counts stop at what fits; with k1 near 1 more would hardly add to a score.
//
//	0, passage (4 bits), body (the rest)              in the body of one passage
//	1 0, bodyIn (16), body (the rest)                 in the bodies of several
//	1 1, body (6), headings (3), names (3), tags (3),
//	     other (4), bodyIn (16), headingsIn (16)      anything else
//
// The layouts are on disk: change them only together with format.
type occurrence struct {
	body       int    // in all passages together
	headings   int    // above one passage, the most
	names      int    // of the note; in its first part only, as the next two
	tags       int    //
	other      int    //
	bodyIn     uint16 // passages of the part, by bit
	headingsIn uint16
	forms      uint8 // in an index of memories; not part of pack
}

const (
	bodyBits, headingsBits, namesBits, tagsBits, otherBits = 6, 3, 3, 3, 4

	maxBody     = 1<<bodyBits - 1
	maxHeadings = 1<<headingsBits - 1
	maxNames    = 1<<namesBits - 1
	maxTags     = 1<<tagsBits - 1
	maxOther    = 1<<otherBits - 1
)

// capped stops the counts at what can be stored.
func (o occurrence) capped() occurrence {
	o.body, o.headings = min(o.body, maxBody), min(o.headings, maxHeadings)
	o.names, o.tags, o.other = min(o.names, maxNames), min(o.tags, maxTags), min(o.other, maxOther)
	return o
}

// pack encodes a capped occurrence. The result is never zero if there is any count.
func (o occurrence) pack() int {
	bodyOnly := o.headings+o.names+o.tags+o.other == 0
	switch {
	case bodyOnly && bits.OnesCount16(o.bodyIn) == 1:
		return o.body<<5 | bits.TrailingZeros16(o.bodyIn)<<1
	case bodyOnly:
		return o.body<<18 | int(o.bodyIn)<<2 | 1
	}
	v := int(o.headingsIn)<<partPassages | int(o.bodyIn)
	v = v<<otherBits | o.other
	v = v<<tagsBits | o.tags
	v = v<<namesBits | o.names
	v = v<<headingsBits | o.headings
	v = v<<bodyBits | o.body
	return v<<2 | 3
}

// unpack decodes what pack made.
func unpack(v uint64) occurrence {
	switch {
	case v&1 == 0:
		return occurrence{body: int(v >> 5), bodyIn: 1 << (v >> 1 & 15)}
	case v&2 == 0:
		return occurrence{body: int(v >> 18), bodyIn: uint16(v >> 2)}
	}
	v >>= 2
	take := func(width uint) uint64 {
		field := v & (1<<width - 1)
		v >>= width
		return field
	}
	var o occurrence
	o.body, o.headings = int(take(bodyBits)), int(take(headingsBits))
	o.names, o.tags, o.other = int(take(namesBits)), int(take(tagsBits)), int(take(otherBits))
	o.bodyIn, o.headingsIn = uint16(take(partPassages)), uint16(take(partPassages))
	return o
}

// inBodies decodes what pack made of a term that stands in bodies alone: how often, and in
// which passages. ok is false for any other.
func inBodies(v uint64) (body int, passages uint16, ok bool) {
	switch {
	case v&1 == 0:
		return int(v >> 5), 1 << (v >> 1 & 15), true
	case v&2 == 0:
		return int(v >> 18), uint16(v >> 2), true
	}
	return 0, 0, false
}

// plus adds up the occurrences of two terms that count as one.
func (o occurrence) plus(p occurrence) occurrence {
	return occurrence{
		body: o.body + p.body, headings: max(o.headings, p.headings),
		names: o.names + p.names, tags: o.tags + p.tags, other: o.other + p.other,
		bodyIn: o.bodyIn | p.bodyIn, headingsIn: o.headingsIn | p.headingsIn,
	}
}

// perPassage returns how often the term is in the body of each passage that has it. Stored is
// their sum.
func (o occurrence) perPassage() float64 {
	return float64(o.body) / float64(max(bits.OnesCount16(o.bodyIn), 1))
}

// at returns what a passage has of it, with tf from perPassage.
func (o occurrence) at(bit int, tf float64) (body float64, headings int) {
	if o.bodyIn>>bit&1 == 1 {
		body = tf
	}
	if o.headingsIn>>bit&1 == 1 {
		headings = o.headings
	}
	return body, headings
}

// posting is a word in a part of a note.
type posting struct {
	packed uint64 // occurrence
	part   uint16
}

// inNote is a word in a whole note.
type inNote struct {
	occurrence // body and what is in the first part are those of the note
}

// inWhole sums up the postings of one note.
func inWhole(run []posting) inNote {
	o := inNote{occurrence: unpack(run[0].packed)}
	for _, p := range run[1:] {
		q := unpack(p.packed)
		o.body += q.body
		o.headings = max(o.headings, q.headings)
		o.names, o.tags, o.other = o.names+q.names, o.tags+q.tags, o.other+q.other
	}
	return o
}

// formBits is how many low bits of a posting are the forms of the term (analysis.Form).
const formBits = 6

// layout says how an index stores occurrences.
type layout struct{ forms bool } // with the forms of terms

// pack encodes a capped occurrence.
func (l layout) pack(o occurrence) uint64 {
	if l.forms {
		return uint64(o.pack())<<formBits | uint64(o.forms)
	}
	return uint64(o.pack())
}

// unpack decodes what pack made.
func (l layout) unpack(v uint64) occurrence {
	if !l.forms {
		return unpack(v)
	}
	o := unpack(v >> formBits)
	o.forms = uint8(v & (1<<formBits - 1))
	return o
}
