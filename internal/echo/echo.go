// Package echo knows again what was given out a while ago: an agent that saves what it has
// just recalled tells nothing new.
//
// A text is an echo of another that says the same words in the same order, whatever their
// case, white space and punctuation marks; of one that it is a part of, eight words long or
// more; and of one that it leaves a few words out of, as long as no number, no name and no
// word that denies is among those. A text with a word that the other lacks never is. What
// decorates answers, such as "> " and "[id] memory, 3d", does not count. Numbers, the signs
// around them and question marks do, always. Of Chinese and Japanese each character counts
// as a word, and a part has to be of whole sentences.
//
// Of what was given out only fingerprints are kept, as many as 4,096 texts and half a
// million words have, for a while. They are hashes under a key of this process: the
// words cannot be read back, and nothing of them outlives it. Which passages are looked
// at is chosen by winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms
// for document fingerprinting", 2003), so that any eight words in a row are met.
//
// A [Recent] may be used by any number of goroutines.
package echo

import (
	"cmp"
	"container/list"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"emberd/memory"
)

// What is kept at most: about 15 MiB.
const (
	maxTexts = 4096
	maxWords = 500_000
	longest  = 16_000 // words of one text; what follows is not known
)

// Source is where a text came from: a memory, a note, or the note of a memory.
type Source struct {
	Memory   memory.ID
	Path     string    // of the note
	Modified time.Time // the note, when the text was read
}

// Match is a text that a search returned.
type Match struct {
	Source
	At         time.Time
	Similarity float64 // 1 unless a few words are left out
}

// ReturnedTexts are the texts that searches returned lately.
type ReturnedTexts struct {
	window time.Duration
	seed   maphash.Seed

	mu     sync.Mutex
	order  list.List // of *given, the one that was given out longest ago first
	known  map[uint64]*list.Element
	prints map[uint64]*given // the latest that has a passage
	words  int               // of all
}

// given is one text that was given out.
type given struct {
	Source
	key    uint64 // of source and text
	at     time.Time
	words  []word
	prints []uint64
	hidden bool // a later one has some of its passages
}

// New remembers for as long as window; nothing if that is 0.
func New(window time.Duration) *ReturnedTexts {
	r := &ReturnedTexts{window: window, seed: maphash.MakeSeed()}
	r.Forget()
	return r
}

// Forget lets go of everything.
func (r *ReturnedTexts) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order.Init()
	r.known, r.prints, r.words = make(map[uint64]*list.Element), make(map[uint64]*given), 0
}

// Size is how many texts are known, and the words of all of them.
func (r *ReturnedTexts) Size() (texts, words int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.Len(), r.words
}

// Add records that a search returned a text.
func (r *ReturnedTexts) Add(from Source, text string, at time.Time) {
	if r.window <= 0 || text == "" {
		return
	}
	key := r.keyOf(from, text)
	if r.again(key, at) {
		return
	}
	g := &given{Source: from, key: key, at: at}
	for _, p := range Parts(text) {
		g.words = r.appendWords(g.words, p.Text)
	}
	if g.words = g.words[:min(len(g.words), longest)]; len(g.words) == 0 {
		return
	}
	g.prints = fingerprints(g.words)
	r.add(g)
}

func (r *ReturnedTexts) keyOf(from Source, text string) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, s := range []string{string(from.Memory), from.Path, from.Modified.UTC().Format(time.RFC3339Nano), text} {
		h.WriteString(s)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// again notes that a text which is known was given out once more.
func (r *ReturnedTexts) again(key uint64, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.known[key]
	if e == nil {
		return false
	}
	g := e.Value.(*given)
	g.at = at
	r.order.MoveToBack(e)
	if g.hidden {
		r.show(g)
	}
	return true
}

// show lets a text be found by its passages, and not those that have them too.
func (r *ReturnedTexts) show(g *given) {
	for _, p := range g.prints {
		if other := r.prints[p]; other != nil && other != g {
			other.hidden = true
		}
		r.prints[p] = g
	}
	g.hidden = false
}

func (r *ReturnedTexts) add(g *given) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[g.key] != nil { // in the meantime
		return
	}
	r.known[g.key] = r.order.PushBack(g)
	r.words += len(g.words)
	r.show(g)
	r.trim(g.at)
}

// trim lets go of what was given out too long ago, and of more than is kept.
func (r *ReturnedTexts) trim(now time.Time) {
	for e := r.order.Front(); e != nil; e = r.order.Front() {
		g := e.Value.(*given)
		if r.order.Len() <= maxTexts && r.words <= maxWords && now.Sub(g.at) <= r.window {
			return
		}
		r.order.Remove(e)
		delete(r.known, g.key)
		r.words -= len(g.words)
		for _, p := range g.prints {
			if r.prints[p] == g {
				delete(r.prints, p)
			}
		}
	}
}

// Find lists what a text is an echo of, the most similar first and of these what was given
// out last.
func (r *ReturnedTexts) Find(text string, now time.Time) []Match {
	if r.window <= 0 {
		return nil
	}
	words := r.appendWords(nil, text)
	if !tellsEnough(words, text) {
		return nil
	}
	var out []Match
	for _, g := range r.candidates(fingerprints(words), now) {
		if s := likeness(words, g.words); s > 0 {
			out = append(out, Match{Source: g.Source, At: g.at, Similarity: s})
		}
	}
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), b.At.Compare(a.At))
	})
	return out
}

// candidates copies what shares a passage, so that nothing is compared under the lock.
func (r *ReturnedTexts) candidates(prints []uint64, now time.Time) []given {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trim(now)
	seen := make(map[*given]bool)
	var out []given
	for _, p := range prints {
		if g := r.prints[p]; g != nil && !seen[g] {
			seen[g] = true
			out = append(out, *g)
		}
	}
	return out
}

// Similarity returns how much of a text is from another: 1 if it is contained, 0 if nothing is.
func (r *ReturnedTexts) Similarity(text, known string) float64 {
	words := r.appendWords(nil, text)
	if !tellsEnough(words, text) {
		return 0
	}
	var of []word
	for _, p := range Parts(known) {
		of = r.appendWords(of, p.Text)
	}
	return likeness(words, of)
}
