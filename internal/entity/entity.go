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

// Revision is that of what is found: it grows when equal texts get other entities, so that a store can find
// those of its memories again.
const Revision = 3

// DefaultLimit is how many entities Find returns unless Options say otherwise.
const DefaultLimit = 10

// Options say what is known and how many to find. The zero value works.
type Options struct {
	// Known returns the stored spelling of a name given its Key. It is called for every
	// run of up to ten words, or thirty letters where no spaces are written, so it
	// must be quick. Nil knows nothing.
	Known func(key string) (name string, ok bool)
	// KnownLength returns how many bytes the longest key has that Known knows and whose first part (see
	// [FirstPart]) this is, or more; 0 if there is none. Nil tells nothing.
	KnownLength func(first string) int
	// Guessed says of a known name whether it was only ever found in a text. If it is of
	// one word, small letters do not mean it. Nil says no.
	Guessed func(key string) bool
	// Small reports of a word that nothing but its capital shows to be a name whether other texts
	// have it mostly in small letters. Nil knows no other texts.
	Small func(key string) bool
	// Limit is the most entities to return, DefaultLimit if zero, at most
	// memory.MaxEntities.
	Limit int
}

// Find returns the entities of a text: those known to the store first, then the
// others, each in order of their first mention. When there are more than the limit
// it keeps the known, then those mentioned most often, then names before nouns of
// the dictionary, then the earlier.
func Find(text string, opt Options) []string {
	var names []string
	for _, e := range Entities(text, opt) {
		names = append(names, e.Name)
	}
	return names
}

// Kind is what an entity is, as far as the text and the lists tell.
type Kind string

const (
	Person       Kind = "person"
	Place        Kind = "place" // also a street
	Organisation Kind = "org"
	Product      Kind = "product" // also a technology or a company in the list of products
	Topic        Kind = "topic"   // a noun of lists/terms.txt
	Other        Kind = "other"
)

// Entity is a name in a text, in the form that a memory stores.
type Entity struct {
	Name string
	Kind Kind
}

// Entities returns what [Find] does, with the kind of each.
func Entities(text string, opt Options) []Entity {
	if !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	f := finder{scanned: scan(text), Options: opt}
	f.markLines()
	f.addresses()
	f.markedNames()
	f.knownNames()
	f.people()
	f.names()
	f.listed()
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

// FirstPart returns what of a key is in front of the first blank in it.
func FirstPart(key string) string {
	first, _, _ := strings.Cut(key, " ")
	return first
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
	name       string // not yet normalised; empty if the words are no entity
	is         Kind
}

// finder is the state of one call of Find.
type finder struct {
	*scanned
	Options
	mentions []mention
}

func (f *finder) add(start, end int, k kind, is Kind, name string) {
	f.mentions = append(f.mentions, mention{start, end, k, name, is})
}

// found is an entity with all its mentions.
type found struct {
	name  string
	kind  kind
	is    Kind
	count int
	first int
}

// choose resolves overlaps, joins mentions of the same thing and applies the limit.
func (f *finder) choose(limit int) []Entity {
	all := f.merge()
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(boolCompare(a.kind == stored, b.kind == stored), b.count-a.count,
			boolCompare(a.kind != noun, b.kind != noun), a.first-b.first)
	})
	all = all[:min(limit, len(all))]
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(boolCompare(a.kind == stored, b.kind == stored), a.first-b.first)
	})
	var out []Entity
	for _, e := range all {
		out = append(out, Entity{e.name, e.is})
	}
	return out
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
		if all[i].is == Other {
			all[i].is = e.is
		}
	}
	return all
}

// entity gives a mention the form that is stored; ok is false if it has none.
func (f *finder) entity(m mention) (e found, ok bool) {
	e = found{name: strings.ToLower(m.name), kind: m.kind, is: m.is, first: m.start}
	if f.Known != nil && m.name != "" {
		if spelling, ok := f.Known(Key(m.name)); ok {
			e.name, e.kind = spelling, stored
		}
	}
	var err error
	e.name, err = memory.NormalizeEntity(e.name)
	if err != nil || utf8.RuneCountInString(e.name) < 2 {
		return e, false
	}
	if e.kind == stored {
		return e, true
	}
	if listed, ok := lists().name(Key(m.name)); ok && (m.kind == code || e.is == Other) {
		e.is = listed.kind
	} else if m.kind == code {
		return e, false
	}
	return e, strings.ContainsFunc(e.name, unicode.IsLetter)
}
