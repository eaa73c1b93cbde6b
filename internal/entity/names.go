package entity

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRun is how many words a name has at most. More of them in capitals are a
// title or emphasis.
const maxRun = 6

// maxKnown is how many words the name of something known may have; notes have long
// names.
const maxKnown = 10

// knownNames finds what the store knows, the longest name first at each word.
func (f *finder) knownNames() {
	if f.Known == nil {
		return
	}
	for i := 0; i < len(f.words); {
		most := math.MaxInt
		if f.KnownLength != nil && f.words[i].shape&unspaced == 0 {
			most = f.KnownLength(FirstPart(f.key(i, i+1)))
		}
		if most == 0 {
			i++
			continue
		}
		i += max(1, f.longest(i, maxKnown, func(j int) bool {
			key := f.key(i, j)
			if len(key) > most {
				return false
			}
			_, ok := f.Known(key)
			return ok && !f.vague(i, j) && !f.partOfRun(i, j)
		}, stored, Other))
	}
}

// longest adds the longest run of words from i that is accepted and returns its
// length. Letters of scripts without spaces count three for a word.
func (f *finder) longest(i, most int, accept func(j int) bool, k kind, is Kind) int {
	if f.words[i].shape&unspaced != 0 {
		most *= 3
	}
	end := i + 1
	for end < len(f.words) && end-i < most && f.words[end].gap <= loose {
		end++
	}
	for j := end; j > i; j-- {
		if accept(j) {
			f.add(f.words[i].start, f.words[j-1].end, k, is, f.text[f.words[i].start:f.words[j-1].end])
			return j - i
		}
	}
	return 0
}

// partOfRun reports that a known name of one word which was only ever found stands beside another
// capital, as Ada does in Ada Lovelace: the run is the name.
func (f *finder) partOfRun(i, j int) bool {
	if j-i > 1 || f.Guessed == nil || f.words[i].shape&capital == 0 || !f.Guessed(f.key(i, j)) {
		return false
	}
	beside := func(k int) bool { return f.words[k].shape&capital != 0 && !f.everyday(k) }
	return j < len(f.words) && f.words[j].gap == space && beside(j) ||
		i > 0 && f.words[i].gap == space && beside(i-1)
}

// vague tells a stored name of one word that is an everyday word here: a note
// named "Ideas" is not meant by every idea. One that was only found, for its capital, may
// have been no name there, and is none in small letters.
func (f *finder) vague(i, j int) bool {
	w := f.words[i]
	if j-i > 1 {
		return false
	}
	if f.Guessed != nil && w.shape&(capital|camel) == 0 && unicode.IsLower(firstLetter(f.text[w.start:])) &&
		f.Guessed(f.key(i, j)) {
		return true
	}
	if f.Guessed != nil && f.Guessed(f.key(i, j)) &&
		(f.isCommon(i) || f.Small != nil && !f.isPerson(i, j) && f.Small(f.key(i, j))) {
		return true
	}
	return w.shape&digits != 0 || utf8.RuneCountInString(f.key(i, j)) < 2 || f.everyday(i) &&
		(w.shape&capital == 0 || w.gap >= colon)
}

func firstLetter(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// names finds capitalised runs, acronyms and runs of katakana.
func (f *finder) names() {
	seen := f.spellings()
	for i := 0; i < len(f.words); {
		switch {
		case f.words[i].shape&katakana != 0:
			f.addKatakana(f.words[i])
			i++
		case f.begins(i):
			end := f.run(i)
			f.addRun(i, end, seen)
			i = end
		case f.isNumberedStreet(i):
			f.addName(i, i+2, Place)
			i += 2
		case f.leadsStreet(i) > 0:
			end := f.run(f.leadsStreet(i))
			f.addName(i, end, Place)
			i = end
		default:
			i++
		}
	}
}

// addKatakana takes the name without the middle dots at its ends.
func (f *finder) addKatakana(w word) {
	name := strings.Trim(f.text[w.start:w.end], "・")
	if utf8.RuneCountInString(name) >= 3 {
		f.add(w.start, w.end, proper, Other, name)
	}
}

// spelling says how a word is written elsewhere in the text.
type spelling struct{ small, within bool }

// spellings notes of the words with a capital, which alone are asked about, which occur
// in small letters too, and which with a capital within a sentence.
func (f *finder) spellings() map[string]spelling {
	seen := map[string]spelling{}
	for i, w := range f.words {
		if w.shape&capital != 0 {
			key := f.key(i, i+1)
			seen[key] = spelling{within: seen[key].within || w.gap < colon}
		}
	}
	if len(seen) == 0 {
		return seen
	}
	for i, w := range f.words {
		if w.shape&(capital|unspaced) != 0 {
			continue
		}
		key := f.key(i, i+1)
		if s, asked := seen[key]; asked && !s.small {
			seen[key] = spelling{small: true, within: s.within}
		}
	}
	return seen
}

// begins reports whether a name may begin with word i.
func (s *scanned) begins(i int) bool {
	return s.strong(i) || s.words[i].shape&capital != 0 && !s.isIdentifier(i) &&
		(!lists().function.Has(s.key(i, i+1)) || s.isDoubted(i))
}

// strong tells words that are names whatever stands before them.
func (s *scanned) strong(i int) bool {
	w := s.words[i]
	if w.shape&camel != 0 {
		return w.shape&capital != 0 && !w.code && !s.isIdentifier(i)
	}
	return w.shape&acronym != 0 && !s.everyday(i) && !s.shouted(i)
}

// shouted reports whether a word in capitals stands with an everyday word in
// capitals, as in "DO NOT TOUCH".
func (s *scanned) shouted(i int) bool {
	for j := i; j > 0 && j > i-maxRun && s.words[j].gap <= hyphen && s.isLoud(j-1); j-- {
		if s.everyday(j - 1) {
			return true
		}
	}
	for j := i + 1; j < len(s.words) && j < i+maxRun && s.words[j].gap <= hyphen && s.isLoud(j); j++ {
		if s.everyday(j) {
			return true
		}
	}
	return false
}

func (s *scanned) isLoud(i int) bool {
	word := s.text[s.words[i].start:s.words[i].end]
	return s.words[i].shape&capital != 0 && word == strings.ToUpper(word)
}

// everyday reports a word of the lists that make no names. A single letter can
// be an initial.
func (s *scanned) everyday(i int) bool {
	key := s.key(i, i+1)
	return len(key) > 1 && (lists().function.Has(key) || lists().openers.Has(key))
}

// leadsStreet returns where the capital is that follows a word for street in small letters, as in "rue
// de la Paix", 0 if none does.
func (f *finder) leadsStreet(i int) int {
	switch f.key(i, i+1) {
	case "rue", "calle", "avenida", "plaza", "piazza", "via", "viale":
	default:
		return 0
	}
	for j := i + 1; j < len(f.words) && j < i+4 && f.words[j].gap == space; j++ {
		switch {
		case f.begins(j):
			return j
		case !strings.Contains(" de del della du des la las los le ", " "+f.key(j, j+1)+" "):
			return 0
		}
	}
	return 0
}

// run returns where the name that begins with word i ends.
func (s *scanned) run(i int) int {
	end := i + 1
	for end < len(s.words) {
		w := s.words[end]
		small := s.connection(end)
		switch {
		case w.gap == hyphen && w.shape&digits != 0, w.gap <= hyphen && w.gap != joined && s.begins(end):
			end++
		case small > 0:
			end += small + 1
		case s.continues(i, end):
			end++
		default:
			return end
		}
	}
	return end
}

// connection returns how many small words at i tie two capitalised ones into one
// name, 0 if none do: Bank of America, Ludwig van Beethoven, Rise of the Robots.
func (s *scanned) connection(i int) int {
	n := 0
	switch s.key(i, i+1) {
	case "of", "von":
		if s.words[i].german {
			return 0 // parts two nouns like any other preposition
		}
		n = 1
	case "de", "da", "di", "del", "van", "la", "le", "bin", "al":
		n = 1
	default:
		return 0
	}
	if i+n < len(s.words) {
		switch s.key(i+n, i+n+1) {
		case "the", "der", "den", "la", "las", "los":
			n++
		}
	}
	for j := i; j <= i+n; j++ {
		if j >= len(s.words) || s.words[j].gap != space {
			return 0
		}
	}
	if s.words[i+n].shape&capital == 0 || !s.begins(i+n) {
		return 0
	}
	return n
}

// addRun adds what of the run is a name.
func (f *finder) addRun(i, end int, seen map[string]spelling) {
	first := f.words[i]
	if f.opens(i, end, seen) {
		i = f.afterOpening(i, end)
	}
	if f.isWhat(i, end) {
		i++
	}
	end = f.withoutAcronym(i, end)
	begin := i
	for i+1 < end && (f.isTitle(i) || f.isRole(i) && f.isPerson(i+1, end)) {
		i++
	}
	switch {
	case i == end || end-i > maxRun:
	case f.isCalledSo(i) && !first.code:
		f.addName(i, end, f.kindOf(i, end))
		return
	case i > begin, end == i+1 && (f.speaks(i) || f.isCalled(i)):
		f.addName(i, end, Person)
		return
	case f.isPerson(i, end):
		f.addName(i, end, f.personOr(i, end))
		return
	case !first.heading && !first.code && !f.loud(i, end) && !f.plain(i, end, seen) &&
		(f.isListed(i, end) || !f.isPartOfProgram(i, end)):
		f.addName(i, end, f.kindOf(i, end))
		return
	}
	f.addStrong(i, end)
}

// personOr returns what a run is that begins with a given name: a person but for Jordan River.
func (s *scanned) personOr(i, end int) Kind {
	if is := s.kindOf(i, end); end > i+1 && (is == Place || is == Organisation) {
		return is
	}
	return Person
}

func (f *finder) addName(i, end int, is Kind) {
	start, stop := f.words[i].start, f.words[end-1].end
	f.add(start, stop, proper, is, strings.ReplaceAll(f.text[start:stop], ". ", " "))
}

// opens reports whether the first word of a run may be a capital for beginning a
// sentence only.
func (s *scanned) opens(i, end int, seen map[string]spelling) bool {
	if s.words[i].gap < colon || s.strong(i) || s.isPerson(i, end) || s.isTitle(i) || s.speaks(i) {
		return false
	}
	if s.everyday(i) || end > i+1 && s.isCommon(i) && s.isPerson(i+1, end) {
		return true
	}
	name := end > i+1 && s.words[i+1].shape&capital != 0 && (!s.strong(i+1) || s.kindOf(i, end) == Organisation)
	return (s.words[i].gap == begins || s.saying(i)) && !name && !seen[s.key(i, i+1)].within
}

// saying tells the sentence that begins after a colon, as in "Ada: Sounds good", from the
// name there, as in "Author: Ada": it continues in small letters.
func (s *scanned) saying(i int) bool {
	if s.words[i].gap != colon || i+1 == len(s.words) || s.words[i+1].gap > hyphen {
		return false
	}
	return s.words[i+1].shape&(capital|digits|unspaced) == 0
}

// afterOpening returns the next word of a run that is capitalised, or its end.
func (s *scanned) afterOpening(i, end int) int {
	for i++; i < end && !s.begins(i); i++ {
	}
	return i
}

// plain reports capitalised words that are nevertheless not a name.
func (f *finder) plain(i, end int, seen map[string]spelling) bool {
	w, key := f.words[i], f.key(i, i+1)
	switch {
	case end > i+1:
		return f.allCommon(i, end) && f.kindOf(i, end) == Other
	case w.shape&camel != 0:
		return false
	case w.shape&acronym != 0:
		return !f.isNumbered(i)
	case w.german, seen[key].small, isSymbol(f.text[w.start:w.end]) && !f.isAddressed(i):
		return true
	}
	if f.hasVersion(i) {
		return false
	}
	_, role := lists().roles[key]
	return role || f.isCommon(i) || f.everyday(i) || f.Small != nil && f.Small(key)
}

// isSymbol tells words of two letters, such as Au, and of some letters and a number, such as Kx3, which are
// elements, genes and the like more often than names.
func isSymbol(s string) bool {
	const short, letters = 3, 4
	stem := strings.TrimRight(s, "0123456789")
	return utf8.RuneCountInString(s) < short || len(stem) < len(s) && utf8.RuneCountInString(stem) <= letters
}

// allCommon reports a run of everyday words, and single letters and digits as in Vitamin C.
func (s *scanned) allCommon(i, end int) bool {
	for ; i < end; i++ {
		if s.words[i].to-s.words[i].from > 1 && !s.isCommon(i) && !s.everyday(i) {
			return false
		}
	}
	return true
}

// hasVersion reports whether a version of three numbers stands behind word i, or one such as v2.
func (s *scanned) hasVersion(i int) bool {
	if i+1 < len(s.words) && s.words[i+1].gap == space {
		if number, ok := strings.CutPrefix(s.key(i+1, i+2), "v"); ok && number != "" && isNumber(number) {
			return true
		}
	}
	if i+3 >= len(s.words) || s.words[i+1].gap != space {
		return false
	}
	for j := i + 1; j <= i+3; j++ {
		if s.words[j].shape&digits == 0 || j > i+1 && s.words[j].gap != sign {
			return false
		}
	}
	return true
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// isNumbered tells EC2 from API: the digits make it a name. One letter does not, as in Q4, nor an everyday
// acronym, as in HTML5.
func (s *scanned) isNumbered(i int) bool {
	key := s.key(i, i+1)
	return strings.ContainsFunc(key, unicode.IsDigit) && len(key) > 2 && unicode.IsLetter(rune(key[1])) &&
		!lists().common.Has(strings.TrimRight(key, "0123456789"))
}

// isCommon reports an everyday word of English, or a form of one.
func (s *scanned) isCommon(i int) bool {
	key, common := s.key(i, i+1), lists().common
	if common.Has(key) {
		return true
	}
	known := func(stem string) bool { return common.Has(stem) || lists().openers.Has(stem) }
	for _, ending := range []string{"s", "es", "ed", "ing", "d", "ly"} {
		if stem, ok := strings.CutSuffix(key, ending); ok && len(stem) > 2 && (known(stem) || known(stem+"e")) {
			return true
		}
	}
	for _, ending := range []string{"ies", "ied"} {
		if stem, ok := strings.CutSuffix(key, ending); ok && known(stem+"y") {
			return true
		}
	}
	return false
}

// loud reports a run all in capitals: acronyms such as "REST API", which are two
// entities, or emphasis.
func (s *scanned) loud(i, end int) bool {
	for ; i < end; i++ {
		if s.words[i].gap == hyphen || s.words[i].shape&acronym == 0 && !s.isLoud(i) {
			return false
		}
	}
	return true
}

// addStrong adds the words of a run that stand for themselves, one by one.
func (f *finder) addStrong(i, end int) {
	for ; i < end; i++ {
		w := f.words[i]
		if f.strong(i) && (w.shape&camel != 0 || f.isNumbered(i)) {
			f.addName(i, i+1, f.kindOf(i, i+1))
		}
	}
}
