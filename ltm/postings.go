package ltm

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"
)

// A list of postings is divided into blocks, so that a search can pass over blocks whose notes
// cannot be among the best. It lies in a segment as
//
//	count, how many of them are not the first of their note      uvarints
//	of more than one block: its last document, where it ends     4 bytes little-endian each
//	the blocks: documents less the one before, then occurrences  uvarints
//
// The layout is on disk: change it only together with format.
const blockPostings = 128

// pastEnd is the document of a cursor that has no more postings.
const pastEnd = math.MaxUint32

// postingList is the postings of a word in one segment, ascending by document.
type postingList struct {
	count, notes int
	table        []byte // of the blocks
	blocks       []byte
	limits       *atomic.Pointer[limits] // nil for a short list
	plain        *plainPostings          // instead of table and blocks
}

// plainPostings are postings that are not encoded.
type plainPostings struct {
	docs   []uint32
	packed []uint64 // occurrences
}

// readList reads the head of a list.
func readList(b []byte) (l postingList) {
	count, n := binary.Uvarint(b)
	doubles, m := binary.Uvarint(b[n:])
	b = b[n+m:]
	l.count, l.notes, l.blocks = int(count), int(count-doubles), b
	if count > blockPostings {
		size := 8 * l.blockCount()
		l.table, l.blocks = b[:size], b[size:]
	}
	return l
}

// appendList encodes postings, of which doubles are not the first of their note.
func appendList(b []byte, p *plainPostings, doubles int) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.docs)))
	b = binary.AppendUvarint(b, uint64(doubles))
	table := len(b)
	if len(p.docs) > blockPostings {
		b = append(b, make([]byte, 8*((len(p.docs)+blockPostings-1)/blockPostings))...)
	}
	begin, before := len(b), uint32(0)
	for at := 0; at < len(p.docs); at += blockPostings {
		end := min(at+blockPostings, len(p.docs))
		for _, doc := range p.docs[at:end] {
			b = binary.AppendUvarint(b, uint64(doc-before))
			before = doc
		}
		for _, packed := range p.packed[at:end] {
			b = binary.AppendUvarint(b, packed)
		}
		if begin > table {
			binary.LittleEndian.PutUint32(b[table:], before)
			binary.LittleEndian.PutUint32(b[table+4:], uint32(len(b)-begin))
			table += 8
		}
	}
	return b
}

func (l *postingList) blockCount() int { return (l.count + blockPostings - 1) / blockPostings }

// last returns the last document of a block, or more where that is not known.
func (l *postingList) last(block int) uint32 {
	switch {
	case l.plain != nil:
		return l.plain.docs[min((block+1)*blockPostings, l.count)-1]
	case l.table == nil:
		return pastEnd - 1
	}
	return binary.LittleEndian.Uint32(l.table[8*block:])
}

// encoded returns the bytes of a block, and the document before it.
func (l *postingList) encoded(block int) (b []byte, before uint32) {
	if block == 0 {
		return l.blocks, 0
	}
	entry := l.table[8*(block-1):]
	return l.blocks[binary.LittleEndian.Uint32(entry[4:]):], binary.LittleEndian.Uint32(entry)
}

// cursor goes over a list. It points at a posting from reset to the end.
type cursor struct {
	list    *postingList
	block   int
	at      int      // in docs
	docs    []uint32 // of the block
	packed  []uint64 // of the block, nil until they are asked for
	rest    []byte   // encodes packed
	docRoom [blockPostings]uint32
	room    [blockPostings]uint64
}

// reset has the cursor point at the first posting.
func (c *cursor) reset(l *postingList) {
	c.list = l
	c.load(0)
}

// load points at the first posting of a block, or past the end.
func (c *cursor) load(block int) {
	c.block, c.at, c.packed = block, 0, nil
	n := min(blockPostings, c.list.count-block*blockPostings)
	if n <= 0 {
		c.docs = nil
		return
	}
	if p := c.list.plain; p != nil {
		at := block * blockPostings
		c.docs, c.packed = p.docs[at:at+n], p.packed[at:at+n]
		return
	}
	b, doc := c.list.encoded(block)
	c.docs = c.docRoom[:n]
	for i := range c.docs {
		gap := uint64(b[0])
		if gap < 0x80 {
			b = b[1:]
		} else {
			var size int
			gap, size = binary.Uvarint(b)
			b = b[size:]
		}
		doc += uint32(gap)
		c.docs[i] = doc
	}
	c.rest = b
}

// doc returns the document of the posting.
func (c *cursor) doc() uint32 {
	if c.at < len(c.docs) {
		return c.docs[c.at]
	}
	return pastEnd
}

// occurrence returns the packed occurrence of the posting.
func (c *cursor) occurrence() uint64 {
	if c.packed == nil {
		c.packed = c.room[:len(c.docs)]
		b := c.rest
		for i := range c.packed {
			v := uint64(b[0])
			if v < 0x80 {
				b = b[1:]
			} else {
				var size int
				v, size = binary.Uvarint(b)
				b = b[size:]
			}
			c.packed[i] = v
		}
	}
	return c.packed[c.at]
}

// next goes to the next posting.
func (c *cursor) next() {
	if c.at++; c.at == len(c.docs) {
		c.load(c.block + 1)
	}
}

// seek goes on to the first posting at or after a document.
func (c *cursor) seek(doc uint32) {
	if len(c.docs) == 0 || c.docs[c.at] >= doc {
		return
	}
	if c.docs[len(c.docs)-1] < doc {
		if c.load(c.blockOf(doc)); len(c.docs) == 0 || c.docs[len(c.docs)-1] < doc {
			c.load(c.list.blockCount()) // a block whose end was not known
			return
		}
	}
	found, _ := slices.BinarySearch(c.docs[c.at:], doc)
	c.at += found
}

// blockOf returns the first block from the current one on that may contain a document or one
// after it.
func (c *cursor) blockOf(doc uint32) int {
	block, count := c.block, c.list.blockCount()
	for block < count && c.list.last(block) < doc {
		block++
	}
	return block
}

// all appends all postings of a list. c is room for it.
func (p *plainPostings) all(l *postingList, c *cursor) {
	for c.reset(l); len(c.docs) > 0; c.load(c.block + 1) {
		c.occurrence()
		p.docs, p.packed = append(p.docs, c.docs...), append(p.packed, c.packed...)
	}
}
