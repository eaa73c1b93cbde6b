// Package entity finds what a text is about by name: people, places, products,
// code, files, addresses, tags. It knows no language model and reads nothing but
// the text and the lists embedded here, so equal texts give equal entities.
//
// # What counts
//
// In this order, where an earlier kind keeps the words it stands on:
//
//  1. addresses and marks: URLs without their scheme, query and fragment, e-mail
//     addresses, @mentions, #tags, paths
//  2. names that the text itself sets off: [[wikilinks]], `code`, "quoted names"
//     with a capital, 「names」 and 《titles》
//  3. names that the store or the vault knows already, in their spelling; a word that was
//     only found before needs its capital
//  4. identifiers: camelCase, snake_case, dotted and file names, calls(), versions
//  5. capitalised runs, acronyms, runs of three katakana or more
//  6. technical nouns of lists/terms.txt and their plurals
//
// A capital at the beginning of a sentence, also of one after a colon, says nothing, so such a word counts
// only if it stands capitalised within a sentence too, or begins a run and is not
// one of the openers (lists/openers.txt). Function words, days and months
// (lists/function.txt) are never part of a name. A line of German, told by its
// function words, capitalises every noun: there only runs of two or more count.
// Headings capitalise at will and give no names of kind 5 but acronyms.
//
// # Form
//
// Entities are in the form a memory stores (memory.NormalizeEntity changes nothing),
// in lower case unless the store spells them otherwise, and at least two characters
// long. The names of lists/terms.txt are as written: "databases" is not made singular.
//
// All work is linear in the text, but for sorting what was found. Everything here is safe for concurrent use, and
// results belong to the caller.
package entity

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"emberd/memory"
)

// DefaultLimit is how many entities Find returns unless Options say otherwise.
const DefaultLimit = 10

// Options say what is known and how many to find. The zero value works.
type Options struct {
	// Known returns the stored spelling of a name given its Key. It is called for every
	// run of up to ten words, or thirty letters where no spaces are written, so it
	// must be quick. Nil knows nothing.
	Known func(key string) (name string, ok bool)
	// Guessed says of a known name whether it was only ever found in a text. If it is of
	// one word, small letters do not mean it. Nil says no.
	Guessed func(key string) bool
	// Limit is the most entities to return, DefaultLimit if zero, at most
	// memory.MaxEntities.
	Limit int
}

// Find returns the entities of a text: those known to the store first, then the
// others, each in order of their first mention. When there are more than the limit
// it keeps the known, then those mentioned most often, then names before nouns of
// the dictionary, then the earlier.
func Find(text string, opt Options) []string {
	if !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	f := finder{scanned: scan(text), known: opt.Known, guessed: opt.Guessed}
	f.markLines()
	f.addresses()
	f.markedNames()
	f.knownNames()
	f.names()
	f.terms()
	limit := opt.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return f.choose(min(limit, memory.MaxEntities))
}

// Key returns the form in which names are compared: their words in lower case with
// one space between, whatever separated them. "Node.js" and "node-js" have one key.
// It is empty for a name without letters and digits.
func Key(name string) string {
	if isPlain(name) {
		return strings.ToLower(name)
	}
	if !norm.NFC.IsNormalString(name) {
		name = norm.NFC.String(name)
	}
	return scan(name).keys
}

// isPlain reports a name that is its own key but for its case: words of ASCII letters
// and digits with one space between, as most names are.
func isPlain(name string) bool {
	spaced := true // nothing but a word may follow
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			spaced = false
		case c != ' ' || spaced:
			return false
		default:
			spaced = true
		}
	}
	return !spaced
}

// kind orders what claims the same words; a lower one wins.
type kind uint8

const (
	address kind = iota
	marked
	stored
	code
	proper
	noun
)

// mention is one place that may be an entity.
type mention struct {
	start, end int // in the text
	kind       kind
	name       string // not yet normalised
}

// finder is the state of one call of Find.
type finder struct {
	*scanned
	known    func(key string) (string, bool)
	guessed  func(key string) bool
	mentions []mention
}

func (f *finder) add(start, end int, k kind, name string) {
	f.mentions = append(f.mentions, mention{start, end, k, name})
}

// found is an entity with all its mentions.
type found struct {
	name  string
	kind  kind
	count int
	first int
}

// choose resolves overlaps, joins mentions of the same thing and applies the limit.
func (f *finder) choose(limit int) []string {
	all := f.merge()
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(boolCompare(a.kind == stored, b.kind == stored), b.count-a.count,
			boolCompare(a.kind != noun, b.kind != noun), a.first-b.first)
	})
	all = all[:min(limit, len(all))]
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(boolCompare(a.kind == stored, b.kind == stored), a.first-b.first)
	})
	var names []string
	for _, e := range all {
		names = append(names, e.name)
	}
	return names
}

// boolCompare sorts true first.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (f *finder) merge() []found {
	slices.SortStableFunc(f.mentions, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), a.start-b.start, b.end-a.end)
	})
	var all []found
	at := map[string]int{}
	taken := make([]bool, len(f.text))
	for _, m := range f.mentions {
		if slices.Contains(taken[m.start:m.end], true) {
			continue
		}
		for i := range taken[m.start:m.end] {
			taken[m.start+i] = true
		}
		e, ok := f.entity(m)
		if !ok {
			continue
		}
		key := Key(e.name)
		i, again := at[key]
		if !again {
			i = len(all)
			at[key] = i
			all = append(all, e)
		}
		all[i].count++
		all[i].first = min(all[i].first, m.start)
		all[i].kind = min(all[i].kind, e.kind)
	}
	return all
}

// entity gives a mention the form that is stored; ok is false if it has none.
func (f *finder) entity(m mention) (e found, ok bool) {
	e = found{name: strings.ToLower(m.name), kind: m.kind, first: m.start}
	if f.known != nil {
		if spelling, ok := f.known(Key(m.name)); ok {
			e.name, e.kind = spelling, stored
		}
	}
	var err error
	e.name, err = memory.NormalizeEntity(e.name)
	if err != nil || utf8.RuneCountInString(e.name) < 2 {
		return e, false
	}
	return e, e.kind == stored || m.kind == code || strings.ContainsFunc(e.name, unicode.IsLetter)
}
