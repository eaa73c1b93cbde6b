package text

import (
	"slices"
	"strconv"
	"testing"
)

// A dictionary finds its words by their last numbers, and no others.
func TestDictionary(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 1000} {
		var all []string
		want := map[string]int{}
		for i := range size {
			for _, word := range []string{strconv.Itoa(i), "", "w" + strconv.Itoa(i%7)} {
				want[word] = len(all)
				all = append(all, word)
			}
		}
		d := NewDictionary(slices.Values(all))
		for word, number := range want {
			n, ok := d.Number(word)
			m, okToo := d.NumberOf([]byte(word))
			if !ok || !okToo || n != number || m != number || !d.Has(word) {
				t.Errorf("of %d: %q is %d, %v and %d, %v, want %d", size, word, n, ok, m, okToo, number)
			}
		}
		for i, word := range d.Words() {
			if word != all[i] {
				t.Errorf("of %d: word %d is %q, want %q", size, i, word, all[i])
			}
		}
		for _, word := range []string{"-1", "w", "w7", "00", strconv.Itoa(size)} {
			if n, ok := d.Number(word); ok || n != -1 || d.Has(word) {
				t.Errorf("of %d: %q is number %d", size, word, n)
			}
		}
	}
}
