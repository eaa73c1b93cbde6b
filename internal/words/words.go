// Package words is an inverted index over texts that lives in memory and ranks by BM25,
// long texts as a whole and by their best passage. It is made for one writer and many
// readers.
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
// halves the memory of an index, nearly all of which is postings. Beside each posting is
// a byte that says in which forms the document has the term.
//
// A long text is added with its passages. Its document is followed by a number for each of
// them, which has postings too and is no document: it is never yielded, and counts in no
// frequency. A long document and its passages lie in one window of a search, so numbers
// before it may be left unused. Text that is one passage costs nothing of that.
//
// # Relevance
//
// Matches.All yields every live document that holds at least one query term, with
//
//	relevance(d) = Σ weight(t) · idf(t) · (0.9 · share(t, d) + form(t, d))
//	idf(t)       = ln(1 + (N - df + 0.5) / (df + 0.5))
//
// where N and df count live documents only. For a document of one passage
//
//	share(t, d) = tf / (tf + k1·(1 - b + b·len(d)/passage))
//
// where passage is the average length of a passage. A long document has
//
//	share(t, d) = 0.6 · tf / (tf + k1·(1 - c + c·x·max(1, x/3)²)) + 0.4 · share(t, best passage)
//	x           = len(d) / typical
//
// where the best passage is the one with the highest sum over all terms, and typical is the
// harmonic mean of the lengths of documents. It is near the short ones if some are short,
// so that ten thousand words do not bury one sentence, and near all if all are alike. A document
// many times as long as the typical one counts by its best passage alone.
//
// Package relevance has the formulas and the parameters, which notes share. form is 0.1 if the
// document has the term in the form of the query (QueryTerm.Form), and 0.2 if it is also
// written as a name in both. So a term adds at most its weight times its idf, a name a tenth
// more.
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
//	uint32    version, 2
//	uint32    documents D ever added
//	uint32    terms T
//	uint32    postings P
//	uint32    bytes of term text B
//	D uint32  length of each document in words; bit 31 for a passage, 30 for a long document
//	⌈D/8⌉     bit d%8 of byte d/8 is set when document d is removed
//	T uint32  end of each term in the text
//	T uint32  end of each term's postings
//	P uint32  postings, document<<8 | count, ascending within a term
//	P bytes   forms of each posting
//	B bytes   text of the terms, which are in ascending order
//
// Postings of removed documents and terms without postings are left out, so equal
// content gives equal bytes. There is no checksum: the file that holds the snapshot
// has one.
package words

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/internal/relevance"
)

// MaxDocs is how many documents one index can number in its life.
const MaxDocs = 1 << docBits

const (
	docBits = 24
	tfBits  = 32 - docBits
	maxTF   = 1<<tfBits - 1
)

// ErrFull is returned by Add when all document numbers have been used.
var ErrFull = errors.New("the word index has no free document numbers (limit 16,777,216)")

// Doc is the number of a document.
type Doc uint32

// Forms is a set of ways to write a term, one bit each; what they mean is up to the caller.
type Forms uint8

// TermCount is a term of a document, how often it occurs there, counted up to 255, and in
// which forms.
type TermCount struct {
	Term  string
	Count int
	Forms Forms
}

// Passage is a part of a long document.
type Passage struct {
	Terms  []TermCount
	Length int // in words
}

// posting is a document number above a count.
type posting uint32

func (p posting) doc() Doc { return Doc(p >> tfBits) }
func (p posting) tf() int  { return int(p & maxTF) }

// list is the postings of one term, ascending by document, with the forms of each.
type list struct {
	term     string
	postings []posting
	forms    []Forms
	docs     int // postings that are of no passage
}

// size is the length of a document in words, and what kind it is.
type size uint32

const (
	passageBit size = 1 << 31 // a passage of the long document before it
	longBit    size = 1 << 30 // a document whose passages follow it
)

func (s size) words() uint32   { return uint32(s &^ (passageBit | longBit)) }
func (s size) isPassage() bool { return s&passageBit != 0 }
func (s size) isLong() bool    { return s&longBit != 0 }

func sized(words int, kind size) size { return size(min(max(words, 0), int(longBit)-1)) | kind }

// count adds a document or passage to the lengths, or takes it out with sign -1.
func count(l *relevance.Lengths, s size, sign int) {
	if !s.isPassage() {
		l.AddText(uint64(s.words()), sign)
	}
	if !s.isLong() {
		l.AddPassage(uint64(s.words()), sign)
	}
}

// Index is the inverted index. Use New or Read to make one.
type Index struct {
	writer sync.Mutex // held by Add, Remove and Compact; taken before mu

	// mu guards the fields below. Elements that a reader may have captured are not
	// written again, except for the bits of dead.
	mu      sync.RWMutex
	terms   termTable
	lists   []list
	sizes   []size
	dead    []atomic.Uint64 // one bit a document, set when it is removed
	live    relevance.Lengths
	stale   int    // removed documents that lists may still hold
	removed uint64 // documents taken out, ever

	scratch sync.Pool // of *window
}

// New returns an empty index.
func New() *Index { return &Index{terms: newTermTable(0)} }

// Add numbers a document that holds terms and is length words long, and its passages if
// it is long: those of a document hold all that it holds. A term given more than once
// counts as often; counts below one are ignored. It fails with ErrFull only.
func (x *Index) Add(terms []TermCount, length int, passages ...Passage) (Doc, error) {
	if len(passages) >= windowSize {
		passages = passages[:windowSize-1]
	}
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	unused := 0
	if left := windowSize - len(x.sizes)%windowSize; left <= len(passages) {
		unused = left
	}
	if len(x.sizes)+unused+len(passages) >= MaxDocs {
		return 0, ErrFull
	}
	for range unused {
		x.bury(x.number(nil, sized(0, passageBit)))
	}
	kind := size(0)
	if len(passages) > 0 {
		kind = longBit
	}
	doc := x.number(terms, sized(length, kind))
	for _, p := range passages {
		x.number(p.Terms, sized(p.Length, passageBit))
	}
	return doc, nil
}

// number gives the next number to a document or passage. The caller holds mu.
func (x *Index) number(terms []TermCount, s size) Doc {
	doc := Doc(len(x.sizes))
	x.sizes = append(x.sizes, s)
	if len(x.dead)*64 < len(x.sizes) {
		x.dead = grown(x.dead)
	}
	count(&x.live, s, 1)
	for _, t := range terms {
		if t.Count > 0 {
			x.list(t.Term).add(doc, t, !s.isPassage())
		}
	}
	return doc
}

// bury takes one number out. The caller holds mu.
func (x *Index) bury(doc Doc) {
	x.dead[doc/64].Or(1 << (doc % 64))
	count(&x.live, x.sizes[doc], -1)
}

// list returns the list of term, which it makes when there is none. The caller
// holds mu.
func (x *Index) list(term string) *list {
	id, ok := x.terms.find(x.lists, term)
	if !ok {
		// The term is usually cut from a whole text, which must not be kept alive.
		term = strings.Clone(term)
		id = uint32(len(x.lists))
		x.lists = append(x.lists, list{term: term})
		x.terms.add(x.lists, id)
	}
	return &x.lists[id]
}

// add appends doc, or raises its count when it is the last already, which happens
// only within one Add and so before any reader can see it.
func (l *list) add(doc Doc, t TermCount, whole bool) {
	n := len(l.postings)
	if n > 0 && l.postings[n-1].doc() == doc {
		tf := min(l.postings[n-1].tf()+min(t.Count, maxTF), maxTF)
		l.postings[n-1] = pack(doc, tf)
		l.forms[n-1] |= t.Forms
		return
	}
	if whole {
		l.docs++
	}
	l.postings = append(roomy(l.postings), pack(doc, min(t.Count, maxTF)))
	l.forms = append(roomy(l.forms), t.Forms)
}

// roomy returns a slice with room for one more. Growing by an eighth instead of append's
// doubling keeps the slack small; most lists are short and stay so.
func roomy[T any](s []T) []T {
	if n := len(s); n == cap(s) {
		return append(make([]T, 0, n+1+n/8), s...)
	}
	return s
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
	if !x.holds(doc) {
		return false
	}
	x.bury(doc)
	for p := doc + 1; x.sizes[doc].isLong() && int(p) < len(x.sizes) && x.sizes[p].isPassage(); p++ {
		if !isDead(x.dead, p) {
			x.bury(p)
		}
	}
	x.stale++
	x.removed++
	return true
}

// holds reports whether doc is a live document. The caller holds mu.
func (x *Index) holds(doc Doc) bool {
	return int64(doc) < int64(len(x.sizes)) && !x.sizes[doc].isPassage() && !isDead(x.dead, doc)
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
	return x.live.Texts
}

// Lengths returns the lengths of the live documents.
func (x *Index) Lengths() relevance.Lengths {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.live
}

// Docs returns how many numbers have been given out, removed documents, passages and
// unused ones included.
func (x *Index) Docs() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.sizes)
}

// Live reports whether doc was added and not removed.
func (x *Index) Live(doc Doc) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.holds(doc)
}

// Compact drops the postings of removed documents once those are more than a
// quarter of all that have postings, and reports whether it did. It is cheap to
// call after every removal. Numbers stay as they are. Readers are not held up;
// writers wait, some 20 ms for each million postings.
func (x *Index) Compact() bool {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.stale*4 <= x.stale+x.live.Texts {
		return false
	}
	// Only writers change these fields, so they may be read without mu.
	lists := liveLists(x.lists, x.dead, x.sizes)
	terms := newTermTable(len(lists))
	for i := range lists {
		lists[i].term = strings.Clone(lists[i].term) // terms of a snapshot share one string
		terms.add(lists, uint32(i))
	}
	x.mu.Lock()
	x.terms, x.lists, x.stale = terms, lists, 0
	x.mu.Unlock()
	return true
}

// liveLists returns copies of the lists without dead documents, and without the
// lists that hold no other.
func liveLists(lists []list, dead []atomic.Uint64, sizes []size) []list {
	kept := make([]list, 0, len(lists))
	for i := range lists {
		if l := lists[i].living(dead, sizes); len(l.postings) > 0 {
			kept = append(kept, l)
		}
	}
	return slices.Clip(kept)
}

// living returns a copy of the list without dead documents.
func (l *list) living(dead []atomic.Uint64, sizes []size) list {
	n := 0
	for _, p := range l.postings {
		if !isDead(dead, p.doc()) {
			n++
		}
	}
	out := list{term: l.term, postings: make([]posting, 0, n), forms: make([]Forms, 0, n)}
	for i, p := range l.postings {
		if isDead(dead, p.doc()) {
			continue
		}
		out.postings, out.forms = append(out.postings, p), append(out.forms, l.forms[i])
		if !sizes[p.doc()].isPassage() {
			out.docs++
		}
	}
	return out
}

// liveCount returns how many of the postings are of documents not in dead.
func liveCount(postings []posting, dead []atomic.Uint64, sizes []size) int {
	n := 0
	for _, p := range postings {
		if !isDead(dead, p.doc()) && !sizes[p.doc()].isPassage() {
			n++
		}
	}
	return n
}
