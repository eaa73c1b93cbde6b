package quality

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords bounds the words of a text that are examined. A longer text is not junk.
const maxWords = 2000

// word is a word of a text, in lower case and without the marks around it.
type word struct {
	lower string
	kinds kind
	// concrete: a number, a name, a piece of code, an address.
	concrete bool
	number   bool // a short one of digits alone
	mash     bool
	weight   float64 // of what it says: 1, or more in scripts without spaces; 0 for what holds sentences together
}

// wordsOf takes a text apart.
func wordsOf(s string) []word {
	var out []word
	shouts := shouting(s)
	begins := true // a sentence, so that a capital says nothing
	for field := range strings.FieldsSeq(strings.ReplaceAll(s, "’", "'")) {
		bare := strings.TrimFunc(field, mark)
		if bare == "" {
			begins = begins || strings.ContainsAny(field, ".!?:|>-*•#")
			continue
		}
		w := word{lower: strings.ToLower(bare)}
		w.kinds = kindsOf(w.lower)
		plain := strings.TrimPrefix(bare, "#")
		w.number = len(plain) <= 4 && plain != "" && digits(plain)
		w.mash = isMash(bare)
		w.concrete = w.kinds&probe == 0 && coded(field, bare) || !shouts && named(bare, begins) && w.kinds == 0
		w.weight = weightOf(&w)
		if out = append(out, w); len(out) == maxWords {
			break
		}
		begins = strings.ContainsAny(field[len(field)-1:], ".!?:")
	}
	return out
}

// kindsOf returns what the lists say of a word. A trial may be numbered: test1.
func kindsOf(lower string) kind {
	if k, ok := lists().kinds[lower]; ok {
		return k
	}
	stem := strings.TrimRight(lower, "0123456789")
	return lists().kinds[stem] & probe
}

// mark reports what may stand around a word and is none of it.
func mark(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("%$€£°+#@/~_", r)
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// shouting reports a text in capitals, in which they name nothing.
func shouting(s string) bool {
	upper, letters := 0, 0
	for _, r := range s {
		if unicode.IsLower(r) || unicode.IsUpper(r) {
			letters++
		}
		if unicode.IsUpper(r) {
			upper++
		}
	}
	return 2*upper > letters && letters > 12
}

// coded reports a number, an address, a path or an identifier.
func coded(field, bare string) bool {
	if strings.ContainsFunc(bare, unicode.IsDigit) || strings.Contains(field, "`") || strings.Contains(bare, "://") {
		return true
	}
	if strings.ContainsAny(bare, "_/@\\") && utf8.RuneCountInString(bare) > 3 && !strings.EqualFold(bare, "and/or") {
		return true
	}
	inner := bare[1:]
	if strings.ContainsAny(inner, ".=(") && !strings.HasSuffix(bare, ".") &&
		strings.IndexFunc(bare, unicode.IsLetter) >= 0 && len(bare) > 4 && !strings.Contains(bare, "..") {
		return true
	}
	return strings.ContainsFunc(inner, unicode.IsUpper) && strings.ContainsFunc(bare, unicode.IsLower) // camelCase
}

// named reports a word with a capital that says something.
func named(bare string, begins bool) bool {
	first, size := utf8.DecodeRuneInString(bare)
	if !unicode.IsUpper(first) {
		return false
	}
	acronym := len(bare) > size && !strings.ContainsFunc(bare, unicode.IsLower)
	return acronym || !begins
}

// weightOf returns what a word says: nothing if it is in a list, one if it is not, and in a script
// without spaces one for every two letters.
func weightOf(w *word) float64 {
	if w.kinds&(function|generic) != 0 || w.mash || strings.IndexFunc(w.lower, unicode.IsLetter) < 0 {
		return 0
	}
	dense := 0
	for _, r := range w.lower {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar) {
			dense++
		}
	}
	return max(1, float64(dense)/2)
}

// isMash reports what fingers leave on a keyboard: a row of it, one or two letters again and
// again, or more consonants than a word has. Acronyms are none.
func isMash(bare string) bool {
	s := strings.ToLower(bare)
	if len(s) < 3 || s == strings.ToUpper(s) ||
		strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return false
	}
	run := keyRun(s)
	if run >= 4 && 2*run >= len(s) || distinct(s) == 1 || distinct(s) == 2 && len(s) > 4 {
		return true
	}
	if bare == strings.ToUpper(bare) {
		return false
	}
	consonants := consonantRun(s)
	return consonants >= 5 && (run >= 3 || strings.ContainsAny(s, "jqxz")) || consonants == len(s) && len(s) > 6
}

// keyRun returns how many letters of a word stand beside each other in a row of a keyboard, at most.
func keyRun(s string) int {
	most := 1
	for _, row := range [...]string{"qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa", "mnbvcxz"} {
		for i := range len(s) {
			n := 1
			for i+n < len(s) && strings.Contains(row, s[i:i+n+1]) {
				n++
			}
			most = max(most, n)
		}
	}
	return most
}

func distinct(s string) int {
	letters := []byte(s)
	slices.Sort(letters)
	return len(slices.Compact(letters))
}

func consonantRun(s string) (most int) {
	n := 0
	for i := range len(s) {
		if strings.IndexByte("aeiouy", s[i]) >= 0 {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// Says reports whether a word has a meaning of its own: it is in none of the lists of function
// words, generic words and small talk.
func Says(word string) bool { return kindsOf(strings.ToLower(word))&(function|generic|chat) == 0 }
