package contradiction

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// vocabulary are the lists of parts.txt.
type vocabulary struct {
	links     map[string]string // by word or phrase, the first of its group
	unspaced  []string          // links in scripts without spaces, the longest first
	synonyms  map[string]string // by stem, the first of its group
	ends      map[string]bool   // words that phrases end with
	kept      map[string]bool
	empty     map[string]bool
	foreign   map[string]bool
	greetings map[string]bool
	mutual    map[string]bool
	// participles do not end in -ed
	participles map[string]bool

	places, choice, holding, definite, once, states                  map[string]bool
	pronouns, apart, broad, deciding, told, longer, conditions, sums map[string]bool
	preambles, replies                                               map[string]bool
	opposed, excluding, stances                                      map[string]bool // "from/to"
	unspacedRelations, unspacedLimits                                []string        // the longest first
	scopes, opinions, writers, accordingTo                           map[string]bool
	owners, limits                                                   map[string]string
}

var vocabularyOf = sync.OnceValue(func() *vocabulary {
	lists := partsLists()
	v := &vocabulary{links: groups(lists["links"]), synonyms: groups(lists["synonyms"]), kept: set(lists["kept"]),
		empty: set(lists["empty"]), foreign: set(lists["foreign"]), greetings: set(lists["greetings"]),
		mutual:      set(strings.ReplaceAll(lists["mutual"], "/", " ")),
		participles: set(lists["participles"]), places: set(lists["places"]),
		pronouns: set(lists["pronouns"]), apart: set(lists["apart"]), broad: set(lists["broad"]),
		deciding: set(lists["deciding"]), told: set(lists["told"]), longer: set(lists["longer"]),
		conditions: set(lists["conditions"]), sums: set(lists["sums"]),
		preambles: set(lists["preambles"]), replies: set(lists["replies"]),
		choice: set(lists["choice"]), holding: set(lists["holding"]),
		definite: set(lists["definite"]), once: set(lists["once"]), states: set(lists["states"]),
		unspacedRelations: strings.Fields(lists["unspaced"]), scopes: set(lists["scopes"]),
		opinions: set(lists["opinions"]), writers: set(lists["writers"]), accordingTo: set(lists["according"]),
		owners: groups(lists["owners"]),
		limits: groups(lists["limits"])}
	v.opposed, v.excluding, v.stances = either(lists["opposed"]), either(lists["excluding"]), either(lists["stances"])
	v.ends = make(map[string]bool)
	for word := range v.links {
		if i := strings.LastIndexByte(word, '_'); i > 0 {
			v.ends[word[i+1:]] = true
		}
		if first := []rune(word)[0]; isUnspaced(first) {
			v.unspaced = append(v.unspaced, word)
		}
	}
	for phrase := range v.limits {
		if first := []rune(phrase)[0]; isUnspaced(first) {
			v.unspacedLimits = append(v.unspacedLimits, phrase)
		}
	}
	for _, list := range [...][]string{v.unspaced, v.unspacedLimits} {
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	}
	return v
})

// either returns each two words of groups of words between strokes, either way, as "from/to".
func either(list string) map[string]bool {
	out := make(map[string]bool)
	exclusive(list, func(a, b string) { out[a+"/"+b] = true })
	return out
}

// linkOf is the link that a word or a phrase stands for, "" if it is none.
func linkOf(lower string) string { return vocabularyOf().links[lower] }

// linkAt is the link that a text without spaces begins with, and its length in bytes.
func linkAt(s string) (key string, size int) {
	for _, word := range vocabularyOf().unspaced {
		if strings.HasPrefix(s, word) {
			return linkOf(word), len(word)
		}
	}
	return "", 0
}

func isEmptyWord(lower string) bool { return vocabularyOf().empty[lower] }

func isKept(lower string) bool { return vocabularyOf().kept[lower] }

func isGreeting(lower string) bool { return vocabularyOf().greetings[lower] }

func isSynonym(stem string) bool { return vocabularyOf().synonyms[stem] != "" }

// canonical is the word that stands for all of the same meaning, by stem.
func canonical(stem string) string {
	if c := vocabularyOf().synonyms[stem]; c != "" {
		return c
	}
	return stem
}

func isUnspaced(r rune) bool {
	return r >= 0x3000 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
