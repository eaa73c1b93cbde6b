package contradiction

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"emberd/internal/text"
)

//go:embed lexicon.txt
var lexiconFile string

// entry is what is known of a word, by stem.
type entry struct {
	opposites  []string  // what it excludes
	kinds      []string  // what else one thing is of its kind
	direction  direction // which way it says that something goes
	lacks      bool      // it says that something is not there
	neutral    bool      // it says nothing of what a value is about
	functional bool      // it is a verb with one object only
	coloured   bool      // it is a colour
	abstains   []string  // classes of what somebody who is so does not take
	class      string    // the class that it is of, or that it names
	taking     bool      // it is a verb of eating, drinking or liking
	limited    bool      // it is functional, unless a phrase says for what
	many       bool      // it is a verb of what there can be several of
	modal      bool      // it says that something may, must or should be
}

var known = sync.OnceValue(func() map[string]*entry {
	lexicon, lists := make(map[string]*entry), text.Lists(lexiconFile)
	of := func(stem string) *entry {
		stem = canonical(stem)
		if lexicon[stem] == nil {
			lexicon[stem] = new(entry)
		}
		return lexicon[stem]
	}
	each := func(words string, note func(*entry)) {
		for w := range strings.FieldsSeq(words) {
			note(of(w))
		}
	}
	exclusive(lists["opposites"], func(a, b string) { of(a).opposites = append(of(a).opposites, canonical(b)) })
	exclusive(lists["kinds"], func(a, b string) { of(a).kinds = append(of(a).kinds, canonical(b)) })
	exclusive(lists["abstains"], func(a, b string) { of(a).abstains = append(of(a).abstains, b) })
	for group := range strings.FieldsSeq(lists["class"]) {
		class, members, _ := strings.Cut(group, ":")
		for w := range strings.SplitSeq(class+"/"+members, "/") {
			of(w).class = class
		}
	}
	each(lists["taking"], func(e *entry) { e.taking = true })
	each(lists["limited"], func(e *entry) { e.limited = true })
	each(lists["many"], func(e *entry) { e.many = true })
	each(lists["modal"], func(e *entry) { e.modal = true })
	for i, words := range [...]string{lists["up"], lists["down"], lists["link"], lists["none"]} {
		each(words, func(e *entry) { e.direction = direction(i + 1) })
	}
	each(lists["lack"], func(e *entry) { e.lacks = true })
	each(lists["neutral"], func(e *entry) { e.neutral = true })
	each(lists["functional"], func(e *entry) { e.functional = true })
	each(strings.ReplaceAll(lists["colors"], "/", " "), func(e *entry) { e.coloured = true })
	exclusive(lists["colors"], func(a, b string) { of(a).opposites = append(of(a).opposites, b) })
	return lexicon
})

// excludedBy returns, by class, the stems that are of it and those of who takes nothing of it.
var excludedBy = sync.OnceValue(func() map[string][]string {
	out := make(map[string][]string)
	for stem, e := range known() {
		for _, class := range slices.Concat(e.abstains, []string{e.class}) {
			if class != "" {
				out[class] = append(out[class], stem)
			}
		}
	}
	return out
})

// lookup is what is known of a stem, all zero if that is nothing.
func lookup(stem string) *entry {
	if e := known()[stem]; e != nil {
		return e
	}
	return &entry{}
}

// prefixes make a word its opposite.
func prefixes() []string { return []string{"un", "dis", "non", "in", "im", "ir", "de"} }

// turnedBy reports whether the longer of two stems is the shorter one behind a prefix that
// makes it its opposite.
func turnedBy(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) < 2 || len(b)-len(a) > 3 || len(a) < 4 || !strings.HasSuffix(b, a) {
		return false
	}
	prefix := b[:len(b)-len(a)]
	return prefix == "un" || len(a) > 4 && slices.Contains(prefixes(), prefix)
}

// opposed reports two words of opposite meaning: a pair of the list, or a word and the
// same one behind a prefix.
func (w *word) opposed(v *word) bool {
	return slices.Contains(w.known.opposites, v.stem) || turnedBy(w.stem, v.stem)
}
