package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form is a set of the forms in which a text has a term. English words have the one that
// their ending says, so "bills" and "billing" differ in form and not in term. Letters that
// are taken in pairs have none.
type Form uint8

// The forms. Name is no ending: it marks a word that begins with a capital letter, as
// names do.
const (
	Plain   Form = 1 << iota // as the stem is, or with a last e or y
	Plural                   // or the third person: a last s
	Past                     // a last ed
	Ing                      // a last ing
	Derived                  // any other ending
	Name
)

// formOf returns the form of a folded word by what its term is short of.
func formOf(word, term string) Form {
	switch {
	case len(word)-len(term) < 1:
		return Plain
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return Plural
	case strings.HasSuffix(word, "ed"):
		return Past
	case strings.HasSuffix(word, "ing"):
		return Ing
	case len(word)-len(term) == 1:
		return Plain // a last e
	}
	return Derived
}

// FormIn returns the form of a term in the text that it was made of.
func (t Term) FormIn(s string) Form {
	if t.form == 0 {
		return 0
	}
	if first, _ := utf8.DecodeRuneInString(s[t.Start:]); unicode.IsUpper(first) {
		return t.form | Name
	}
	return t.form
}
