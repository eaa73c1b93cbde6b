package text

import (
	"hash/maphash"
	"iter"
	"slices"
)

// Dictionary is a set of words with a number for each, in a fraction of the memory of a map: about twelve bytes a word
// beside its letters. It never changes and may be used by any number of goroutines.
type Dictionary struct {
	letters []byte   // of all words, one after the other
	ends    []uint32 // where each word ends
	slots   []uint32 // a hash table with linear probing: the number of a word plus one, 0 for none
	seed    maphash.Seed
}

// NewDictionary numbers words from 0 in the order in which they come. A word that comes again has the later number.
// All letters together must be less than 4 GB.
func NewDictionary(all iter.Seq[string]) *Dictionary {
	d := &Dictionary{seed: maphash.MakeSeed()}
	for word := range all {
		d.letters = append(d.letters, word...)
		d.ends = append(d.ends, uint32(len(d.letters)))
	}
	d.letters, d.ends = slices.Clip(d.letters), slices.Clip(d.ends)
	d.slots = make([]uint32, 2*len(d.ends)+1) // half empty, so that most words that are not there end at once
	for i := range d.ends {
		d.slots[slotOf(d, d.word(i))] = uint32(i) + 1
	}
	return d
}

// word returns the word of a number.
func (d *Dictionary) word(number int) []byte {
	start := uint32(0)
	if number > 0 {
		start = d.ends[number-1]
	}
	return d.letters[start:d.ends[number]]
}

// slotOf returns the slot that a word is in, or the empty one in which it would be.
func slotOf[T string | []byte](d *Dictionary, word T) int {
	// The high half of a product spreads a hash over any number of slots (D. Lemire, "Fast random integer
	// generation in an interval", 2019).
	slot := int(uint64(uint32(hashOf(d.seed, word))) * uint64(len(d.slots)) >> 32)
	for d.slots[slot] != 0 && string(d.word(int(d.slots[slot])-1)) != string(word) {
		if slot++; slot == len(d.slots) {
			slot = 0
		}
	}
	return slot
}

func hashOf[T string | []byte](seed maphash.Seed, word T) uint64 {
	switch word := any(word).(type) {
	case string:
		return maphash.String(seed, word)
	case []byte:
		return maphash.Bytes(seed, word)
	}
	return 0
}

// Has reports whether a word is in the dictionary.
func (d *Dictionary) Has(word string) bool { return d.slots[slotOf(d, word)] != 0 }

// Number returns the number of a word, false if it is not in the dictionary.
func (d *Dictionary) Number(word string) (int, bool) {
	n := d.slots[slotOf(d, word)]
	return int(n) - 1, n != 0
}

// NumberOf is Number for the bytes of a word.
func (d *Dictionary) NumberOf(word []byte) (int, bool) {
	n := d.slots[slotOf(d, word)]
	return int(n) - 1, n != 0
}

// Words yields the words by their numbers, each as often as it was given.
func (d *Dictionary) Words() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range d.ends {
			if !yield(i, string(d.word(i))) {
				return
			}
		}
	}
}
