package analysis

import (
	"slices"
	"strings"
)

// endings are what the stemmer takes off English words or writes again, joined: found on 23,000
// words of chats, abstracts and instructions.
var endings = strings.Fields(`s es ed d ing ings er ers or ors y ys ies ied ying
ic ics ical icals ically icity icities al als ally ality alities alism alisms
alize alized alizes alizing alization alizations ate ated ates ating ately ation ations ational
ative atives atively ativity ator ators ion ions ioned ioning ional ity ities
ive ively ives iveness ivity ivities
able ables ably ability abilities ible ibles ibly ibility ibilities ent ents ently ence ences ency encies
ented enting entative ant ants ance ances ancy ancies ement ements ment ments menting
ous ously ousness ness nesses nessed
ize ized izes izing izer izers ization izations icate icated icates icating ication ications icator icative iced icing
ism isms ful fulness eful efulness ly ely eal eally eous eously eic eity eable eably eate eated eates eating eation
ered ering erative eratively eer eers eered eering le les l ls ler lers ling led ility ilities ou`)

// doubled are the letters that English writes twice before an ending: planning, stopped.
const doubled = "bdfgklmnprtz"

// longestEnding bounds what of a beginning may be ending.
const longestEnding = 10

// Stems returns the terms of words that begin with prefix, as Prefix folds it, where the term
// itself does not: "authent" for "authentica". Every term for a longer beginning of the same word is
// among those for a shorter one, or begins with it.
func (a *Analyzer) Stems(prefix string) []string {
	if strings.ContainsFunc(prefix, isNotLetter) {
		return nil
	}
	var found []string
	for n := max(2, len(prefix)-longestEnding); n < len(prefix); n++ {
		for _, ending := range endingsFor(prefix[n-1], prefix[n:]) {
			term := a.stemmed([]byte(prefix[:n] + ending))
			if !strings.HasPrefix(term, prefix) && !slices.Contains(found, term) {
				found = append(found, term)
			}
		}
	}
	return found
}

// endingsFor returns the endings that begin with rest, with a letter that is written twice before it.
func endingsFor(last byte, rest string) (out []string) {
	twice := ""
	if rest[0] == last && strings.IndexByte(doubled, last) >= 0 {
		twice = rest[:1]
	}
	for _, ending := range endings {
		if strings.HasPrefix(ending, rest) {
			out = append(out, ending)
		} else if twice != "" && strings.HasPrefix(ending, rest[1:]) {
			out = append(out, twice+ending)
		}
	}
	return out
}

// StopTerm reports whether a term is that of an English stop word.
func (a *Analyzer) StopTerm(term string) bool { return a.stopTerms()[term] }

// stopTermsOf returns the terms of all stop words.
func (a *Analyzer) stopTermsOf() map[string]bool {
	terms := make(map[string]bool, len(a.stopWords))
	for word := range a.stopWords {
		terms[a.stemmed([]byte(word))] = true
	}
	return terms
}
