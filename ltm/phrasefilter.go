package ltm

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"emberd/internal/text/analysis"
)

// phraseFilter shows of most phrases that a text does not have them. It is a Bloom filter of the
// pairs and triples of terms that follow one another in the text.
type phraseFilter []uint64

// filterBits is the size of a filter, for each term of the text. Of the pairs that a text
// lacks it misses one in seven, and of the triples one in forty.
const filterBits = 12

// rows are hashes of the pairs and triples of terms in a row: two of a triple, since all
// notes have the pairs of a phrase that is made of common words.
func rows(list []uint64, seed maphash.Seed, n int, term func(i int) string) []uint64 {
	const odd1, odd2 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	var last, pair uint64
	for i := range n {
		h := maphash.String(seed, term(i))
		if i > 1 {
			triple := bits.RotateLeft64(pair*odd1, 29) ^ h*odd2
			list = append(list, triple, triple*odd1)
		}
		if i > 0 {
			pair = bits.RotateLeft64(last*odd1, 31) ^ h
			list = append(list, pair*odd2)
		}
		last = h
	}
	return list
}

// newPhraseFilter makes the filter of a text with so many terms and these rows.
func newPhraseFilter(terms int, rows []uint64) phraseFilter {
	s := make(phraseFilter, terms*filterBits/64+1)
	for _, row := range rows {
		a, b := s.places(row)
		s[a/64] |= bitOf(a)
		s[b/64] |= bitOf(b)
	}
	return s
}

// places returns the two bits of a row.
func (s phraseFilter) places(row uint64) (a, b uint64) {
	size := uint64(len(s)) * 64
	return (row >> 32) * size >> 32, (row & (1<<32 - 1)) * size >> 32
}

func bitOf(place uint64) uint64 { return 1 << (place % 64) }

// may reports false for rows of which the text lacks one.
func (s phraseFilter) may(rows []uint64) bool {
	for _, row := range rows {
		a, b := s.places(row)
		if s[a/64]&bitOf(a) == 0 || s[b/64]&bitOf(b) == 0 {
			return false
		}
	}
	return true
}

// maxPhraseFilters bounds in bytes the filters that an index keeps: a sixth of a vault of
// 100 MB.
const maxPhraseFilters = 16 << 20

// phraseFilters are the filters of the texts that were read last. When the index updates a note,
// it drops that note's.
type phraseFilters struct {
	seed maphash.Seed
	mu   sync.RWMutex
	of   map[uint32]knownFilter // by note number
	size int                    // bytes
}

// knownFilter is a filter and the state of the note that it was made of.
type knownFilter struct {
	note   *note
	filter phraseFilter
}

func newPhraseFilters() *phraseFilters {
	return &phraseFilters{seed: maphash.MakeSeed(), of: make(map[uint32]knownFilter)}
}

// rows returns the rows of a text.
func (s *phraseFilters) rows(list []uint64, terms []analysis.Term) []uint64 {
	return rows(list, s.seed, len(terms), func(i int) string { return terms[i].Text })
}

// find returns the filter of a note, nil if there is none.
func (s *phraseFilters) find(number uint32, n *note) phraseFilter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if known := s.of[number]; known.note == n {
		return known.filter
	}
	return nil
}

// knownFilterSize is what one takes beside its bits.
const knownFilterSize = 64

// add keeps a filter and drops others, whichever they are, when there are too many.
func (s *phraseFilters) add(number uint32, made knownFilter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(number)
	s.of[number] = made
	s.size += made.size()
	for other := range s.of {
		if s.size <= maxPhraseFilters {
			break
		}
		s.forget(other)
	}
}

func (s *phraseFilters) forget(number uint32) {
	if known, ok := s.of[number]; ok {
		s.size -= known.size()
		delete(s.of, number)
	}
}

func (s knownFilter) size() int { return 8*len(s.filter) + knownFilterSize }
