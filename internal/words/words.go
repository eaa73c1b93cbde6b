// Package words is an inverted index over short texts that lives in memory and
// ranks by BM25. It is made for one writer and many readers.
//
// # Documents and terms
//
// A text is added as its terms with their counts and gets the next number, counted
// from zero. Numbers are never used again, not even after Compact; an index takes
// MaxDocs of them in its life and then refuses. One that has used them up has
// numbered a thousand texts a day for 45 years; its owner starts a new one.
//
// A posting packs document and count into 32 bits: 24 for the number, which is what
// MaxDocs comes from, and 8 for the count, which stops at 255. With k1 at 1.2 a
// count above 255 could add less than half a percent to a term's score. The packing
// halves the memory of an index, nearly all of which is postings.
//
// # Relevance
//
// Matches.All yields every live document that holds at least one query term, with
//
//	relevance(d) = Σ weight(t) · idf(t) · tf / (tf + k1·(1 - b + b·len(d)/avg))
//	idf(t)       = ln(1 + (N - df + 0.5) / (df + 0.5))
//
// where N, df and avg count live documents only. This is BM25 (Robertson and
// Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) in the
// form Lucene has used since version 8: the idf cannot be negative, and the constant
// factor k1+1, which changes no order, is left out. A term adds at most its weight
// times its idf.
//
// # Sharing
//
// All methods of Index may be called from many goroutines. Writers wait for one
// another; a reader holds a lock only while it looks the terms of its query up, and
// a writer holds that lock while it adds one document. What a reader has captured
// never changes under it: postings, lengths and term strings are only ever appended
// behind what it can see, or replaced as a whole. Removal is one atomic bit, so a
// search that runs in the meantime may or may not still see the document.
//
// Slices passed in are not kept. A Matches may be shared like any other value.
//
// # Snapshot
//
// WriteTo writes the live state, little-endian, without gaps:
//
//	8 bytes   "emberwrd"
//	uint32    version, 1
//	uint32    documents D ever added
//	uint32    terms T
//	uint32    postings P
//	uint32    bytes of term text B
//	D uint32  length of each document in words
//	⌈D/8⌉     bit d%8 of byte d/8 is set when document d is removed
//	T uint32  end of each term in the text
//	T uint32  end of each term's postings
//	P uint32  postings, document<<8 | count, ascending within a term
//	B bytes   text of the terms, which are in ascending order
//
// Postings of removed documents and terms without postings are left out, so equal
// content gives equal bytes. There is no checksum: the file that holds the snapshot
// has one.
package words

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxDocs is how many documents one index can number in its life.
const MaxDocs = 1 << docBits

const (
	docBits = 24
	tfBits  = 32 - docBits
	maxTF   = 1<<tfBits - 1
)

// ErrFull is returned by Add when all document numbers have been used.
var ErrFull = errors.New("word index has used all of its 16777216 document numbers; rebuild it from its texts")

// Doc is the number of a document.
type Doc uint32

// TermCount is a term of a document and how often it occurs there, counted up to 255.
type TermCount struct {
	Term  string
	Count int
}

// posting is a document number above a count.
type posting uint32

func (p posting) doc() Doc { return Doc(p >> tfBits) }
func (p posting) tf() int  { return int(p & maxTF) }

// list is the postings of one term, ascending by document.
type list struct {
	term     string
	postings []posting
}

// Index is the inverted index. Use New or Read to make one.
type Index struct {
	writer sync.Mutex // held by Add, Remove and Compact; taken before mu

	// mu guards the fields below. Elements that a reader may have captured are not
	// written again, except for the bits of dead.
	mu      sync.RWMutex
	terms   map[string]uint32 // term to its place in lists
	lists   []list
	lengths []uint32
	dead    []atomic.Uint64 // one bit a document, set when it is removed
	live    int             // documents that are not removed
	words   uint64          // sum of their lengths
	stale   int             // removed documents that lists may still hold
	removed uint64          // documents taken out, ever

	scratch sync.Pool // of *window
}

// New returns an empty index.
func New() *Index { return &Index{terms: make(map[string]uint32)} }

// Add numbers a document that holds terms and is length words long. A term given
// more than once counts as often; counts below one are ignored. It fails with
// ErrFull only.
func (x *Index) Add(terms []TermCount, length int) (Doc, error) {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.lengths) == MaxDocs {
		return 0, ErrFull
	}
	doc := Doc(len(x.lengths))
	words := uint32(min(max(length, 0), math.MaxUint32))
	x.lengths = append(x.lengths, words)
	if len(x.dead)*64 < len(x.lengths) {
		x.dead = grown(x.dead)
	}
	x.live++
	x.words += uint64(words)
	for _, t := range terms {
		if t.Count > 0 {
			x.list(t.Term).add(doc, t.Count)
		}
	}
	return doc, nil
}

// list returns the list of term, which it makes when there is none. The caller
// holds mu.
func (x *Index) list(term string) *list {
	id, ok := x.terms[term]
	if !ok {
		// The term is usually cut from a whole text, which must not be kept alive.
		term = strings.Clone(term)
		id = uint32(len(x.lists))
		x.terms[term] = id
		x.lists = append(x.lists, list{term: term})
	}
	return &x.lists[id]
}

// add appends doc, or raises its count when it is the last already, which happens
// only within one Add and so before any reader can see it.
func (l *list) add(doc Doc, count int) {
	n := len(l.postings)
	if n > 0 && l.postings[n-1].doc() == doc {
		tf := min(l.postings[n-1].tf()+min(count, maxTF), maxTF)
		l.postings[n-1] = pack(doc, tf)
		return
	}
	if n == cap(l.postings) {
		// Growing by an eighth instead of append's doubling keeps the slack small;
		// most lists are short and stay so.
		more := make([]posting, n, n+1+n/8)
		copy(more, l.postings)
		l.postings = more
	}
	l.postings = append(l.postings, pack(doc, min(count, maxTF)))
}

func pack(doc Doc, tf int) posting { return posting(doc)<<tfBits | posting(tf) }

// grown returns a copy of the bits with room for more. Readers may continue with the
// old one.
func grown(bits []atomic.Uint64) []atomic.Uint64 {
	more := make([]atomic.Uint64, len(bits)+len(bits)/4+1)
	for i := range bits {
		more[i].Store(bits[i].Load())
	}
	return more
}

// Remove takes doc out of all later searches and statistics. It reports whether the
// document was there. Its postings stay until Compact.
func (x *Index) Remove(doc Doc) bool {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if int64(doc) >= int64(len(x.lengths)) || isDead(x.dead, doc) {
		return false
	}
	x.dead[doc/64].Or(1 << (doc % 64))
	x.live--
	x.stale++
	x.removed++
	x.words -= uint64(x.lengths[doc])
	return true
}

func isDead(bits []atomic.Uint64, doc Doc) bool {
	return bits[doc/64].Load()&(1<<(doc%64)) != 0
}

// Removed returns how often a document was taken out. A search during which that
// changed may have missed a document that took another's place.
func (x *Index) Removed() uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.removed
}

// Len returns the number of live documents.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.live
}

// Docs returns how many document numbers have been given out, removed ones included.
func (x *Index) Docs() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.lengths)
}

// Live reports whether doc was added and not removed.
func (x *Index) Live(doc Doc) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return int64(doc) < int64(len(x.lengths)) && !isDead(x.dead, doc)
}

// Compact drops the postings of removed documents once those are more than a
// quarter of all that have postings, and reports whether it did. It is cheap to
// call after every removal. Numbers stay as they are. Readers are not held up;
// writers wait, some 20 ms for each million postings.
func (x *Index) Compact() bool {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.stale*4 <= x.stale+x.live {
		return false
	}
	// Only writers change these fields, so they may be read without mu.
	lists := liveLists(x.lists, x.dead)
	terms := make(map[string]uint32, len(lists))
	for i := range lists {
		lists[i].term = strings.Clone(lists[i].term) // terms of a snapshot share one string
		terms[lists[i].term] = uint32(i)
	}
	x.mu.Lock()
	x.terms, x.lists, x.stale = terms, lists, 0
	x.mu.Unlock()
	return true
}

// liveLists returns copies of the lists without dead documents, and without the
// lists that hold no other.
func liveLists(lists []list, dead []atomic.Uint64) []list {
	kept := make([]list, 0, len(lists))
	for _, l := range lists {
		n := liveCount(l.postings, dead)
		if n == 0 {
			continue
		}
		postings := make([]posting, 0, n)
		for _, p := range l.postings {
			if !isDead(dead, p.doc()) {
				postings = append(postings, p)
			}
		}
		kept = append(kept, list{term: l.term, postings: postings})
	}
	return slices.Clip(kept)
}

// liveCount returns how many of the postings are of documents not in dead.
func liveCount(postings []posting, dead []atomic.Uint64) int {
	n := 0
	for _, p := range postings {
		if !isDead(dead, p.doc()) {
			n++
		}
	}
	return n
}
