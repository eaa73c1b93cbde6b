package conflict

import (
	"slices"
	"strings"
	"sync"
)

// lexicon is what is known of words, by stem.
type lexicon struct {
	opposites  map[string][]string
	neutral    map[string]bool
	functional map[string]bool
}

var known = sync.OnceValue(func() lexicon {
	l := lexicon{opposites: make(map[string][]string), neutral: make(map[string]bool), functional: make(map[string]bool)}
	for p := range strings.FieldsSeq(opposites) {
		a, b, _ := strings.Cut(p, "/")
		l.opposites[a], l.opposites[b] = append(l.opposites[a], b), append(l.opposites[b], a)
	}
	for w := range strings.FieldsSeq(neutralWords) {
		l.neutral[w] = true
	}
	for w := range strings.FieldsSeq(functionalWords) {
		l.functional[w] = true
	}
	return l
})

// neutralWords say nothing of what a value is about.
const neutralWords = "set rais lower increas decreas reduc move chang updat measur current default total exactli tune bump adjust switch start take took becom new old"

// functionalWords are verbs with one object: who says another contradicts.
const functionalWords = "is ar wa were be us live work run prefer host call name lead manag own deploi store base locat written handl maintain report belong move default assign"

func neutral(stem string) bool    { return known().neutral[stem] }
func functional(stem string) bool { return known().functional[stem] }

// opposed reports two stems of opposite meaning: a pair of the list, or a word and the
// same one behind un-, dis-, non-, in- or de-.
func opposed(a, b string) bool {
	if slices.Contains(known().opposites[a], b) {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 5 || !strings.HasSuffix(b, a) {
		return false
	}
	switch b[:len(b)-len(a)] {
	case "un", "dis", "non", "in", "im", "ir", "de":
		return true
	}
	return false
}
