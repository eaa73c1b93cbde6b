package analysis

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2/analysis"
)

// The table of finished words: how many there are at most, and how long they are. With
// the terms that takes 3 MB at most; half of it for a vault of 10,000 notes.
const (
	maxFinished     = 1 << 14
	maxFinishedWord = 32
)

// finished remembers the terms of folded words: the last two met for each pair of places
// in a table. It may be shared by goroutines; that it remembers changes no term.
type finished struct {
	seed  maphash.Seed
	words *[maxFinished]atomic.Pointer[finishedWord]
}

// finishedWord never changes. Its word is in place, so that comparing it needs no other line of the processor's cache.
type finishedWord struct {
	letters [maxFinishedWord]byte
	size    uint8
	stop    bool
	form    Form
	term    string
}

func (w *finishedWord) is(word []byte) bool {
	return int(w.size) == len(word) && string(w.letters[:w.size]) == string(word)
}

func newFinished() finished {
	return finished{seed: maphash.MakeSeed(), words: new([maxFinished]atomic.Pointer[finishedWord])}
}

// finished returns the term of a folded word, whether it is a stop word, and its form.
func (a *Analyzer) finished(word []byte) (term string, stop bool, form Form) {
	if len(word) > maxFinishedWord {
		return a.stemmed(word), false, Plain
	}
	place := maphash.Bytes(a.known.seed, word) % maxFinished &^ 1
	first, second := &a.known.words[place], &a.known.words[place+1]
	if w := first.Load(); w != nil && w.is(word) {
		return w.term, w.stop, w.form
	}
	if w := second.Load(); w != nil && w.is(word) {
		return w.term, w.stop, w.form
	}
	w := &finishedWord{size: uint8(len(word)), term: a.stemmed(word)}
	copy(w.letters[:], word)
	w.stop, w.form = a.stopWords[string(word)], formOf(string(word), w.term)
	second.Store(first.Load())
	first.Store(w)
	return w.term, w.stop, w.form
}

// stemmed makes the term of a folded word: stemmed when it is made of plain letters,
// since the stemmer would bite the ends off identifiers.
func (a *Analyzer) stemmed(word []byte) string {
	token := analysis.Token{Term: bytes.ReplaceAll(word, []byte("'"), nil)}
	if bytes.IndexFunc(token.Term, isNotLetter) < 0 {
		a.stem.Filter(analysis.TokenStream{&token})
		keepY(token.Term, word)
	}
	return bounded(token.Term)
}

// keepY writes the y again that the stemmer made an i of after a vowel, so that deploy and deployed have
// the term of deployment. Snowball's English stemmer does the same.
func keepY(term, word []byte) {
	last := len(term) - 1
	if last > 0 && term[last] == 'i' && word[last] == 'y' && bytes.IndexByte([]byte("aeiou"), term[last-1]) >= 0 {
		term[last] = 'y'
	}
}

// isNotLetter reports whether r is anything but a folded Latin letter.
func isNotLetter(r rune) bool { return r < 'a' || r > 'z' }

// Forget drops the terms that the analyzer remembers of words that it has met. They are found again when they are
// needed, in a microsecond each. Other goroutines may use the analyzer in the meantime.
func (a *Analyzer) Forget() {
	for i := range a.known.words {
		a.known.words[i].Store(nil)
	}
}
