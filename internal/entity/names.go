package entity

import (
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
	if f.known == nil {
		return
	}
	for i := 0; i < len(f.words); {
		i += max(1, f.longest(i, maxKnown, func(j int) bool {
			_, ok := f.known(f.key(i, j))
			return ok && !f.vague(i, j)
		}, stored))
	}
}

// terms finds the nouns of the dictionary.
func (f *finder) terms() {
	for i := 0; i < len(f.words); {
		i += max(1, f.longest(i, 3, func(j int) bool { return lists().terms[f.key(i, j)] }, noun))
	}
}

// longest adds the longest run of words from i that is accepted and returns its
// length. Letters of scripts without spaces count three for a word.
func (f *finder) longest(i, most int, accept func(j int) bool, k kind) int {
	if f.words[i].shape&unspaced != 0 {
		most *= 3
	}
	end := i + 1
	for end < len(f.words) && end-i < most && f.words[end].gap <= loose {
		end++
	}
	for j := end; j > i; j-- {
		if accept(j) {
			f.add(f.words[i].start, f.words[j-1].end, k, f.text[f.words[i].start:f.words[j-1].end])
			return j - i
		}
	}
	return 0
}

// vague tells a stored name of one word that is an everyday word here: a note
// named "Ideas" is not meant by every idea. One that was only found, for its capital, may
// have been no name there, and is none in small letters.
func (f *finder) vague(i, j int) bool {
	w := f.words[i]
	if j-i > 1 {
		return false
	}
	if f.guessed != nil && w.shape&(capital|camel) == 0 && unicode.IsLower(firstLetter(f.text[w.start:])) &&
		f.guessed(f.key(i, j)) {
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
		default:
			i++
		}
	}
}

// addKatakana takes the name without the middle dots at its ends.
func (f *finder) addKatakana(w word) {
	name := strings.Trim(f.text[w.start:w.end], "・")
	if utf8.RuneCountInString(name) >= 3 {
		f.add(w.start, w.end, proper, name)
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
func (f *finder) begins(i int) bool {
	return f.strong(i) || f.words[i].shape&capital != 0 && !lists().function[f.key(i, i+1)]
}

// strong tells words that are names whatever stands before them.
func (f *finder) strong(i int) bool {
	w := f.words[i]
	if w.shape&camel != 0 {
		return true
	}
	return w.shape&acronym != 0 && !f.everyday(i) && !f.shouted(i)
}

// shouted reports whether a word in capitals stands with an everyday word in
// capitals, as in "DO NOT TOUCH".
func (f *finder) shouted(i int) bool {
	for j := i; j > 0 && j > i-maxRun && f.words[j].gap <= hyphen && f.isLoud(j-1); j-- {
		if f.everyday(j - 1) {
			return true
		}
	}
	for j := i + 1; j < len(f.words) && j < i+maxRun && f.words[j].gap <= hyphen && f.isLoud(j); j++ {
		if f.everyday(j) {
			return true
		}
	}
	return false
}

func (f *finder) isLoud(i int) bool {
	word := f.text[f.words[i].start:f.words[i].end]
	return f.words[i].shape&capital != 0 && word == strings.ToUpper(word)
}

// everyday reports a word of the lists that make no names. A single letter can
// be an initial.
func (f *finder) everyday(i int) bool {
	key := f.key(i, i+1)
	return len(key) > 1 && (lists().function[key] || lists().openers[key])
}

// run returns where the name that begins with word i ends.
func (f *finder) run(i int) int {
	end := i + 1
	for end < len(f.words) {
		w := f.words[end]
		small := f.connection(end)
		switch {
		case w.gap == hyphen && w.shape&digits != 0, w.gap <= hyphen && w.gap != joined && f.begins(end):
			end++
		case small > 0:
			end += small + 1
		default:
			return end
		}
	}
	return end
}

// connection returns how many small words at i tie two capitalised ones into one
// name, 0 if none do: Bank of America, Ludwig van Beethoven, Rise of the Robots.
func (f *finder) connection(i int) int {
	n := 0
	switch f.key(i, i+1) {
	case "of", "von":
		if f.words[i].german {
			return 0 // parts two nouns like any other preposition
		}
		n = 1
	case "de", "da", "di", "del", "van", "la", "le", "bin", "al":
		n = 1
	default:
		return 0
	}
	if i+n < len(f.words) {
		switch f.key(i+n, i+n+1) {
		case "the", "der", "den", "la", "las", "los":
			n++
		}
	}
	for j := i; j <= i+n; j++ {
		if j >= len(f.words) || f.words[j].gap != space {
			return 0
		}
	}
	if f.words[i+n].shape&capital == 0 || !f.begins(i+n) {
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
	if i == end || end-i > maxRun || first.heading || f.loud(i, end) || end == i+1 && f.plain(i, seen) {
		f.addStrong(i, end)
		return
	}
	start, stop := f.words[i].start, f.words[end-1].end
	f.add(start, stop, proper, strings.ReplaceAll(f.text[start:stop], ". ", " "))
}

// opens reports whether the first word of a run may be a capital for beginning a
// sentence only.
func (f *finder) opens(i, end int, seen map[string]spelling) bool {
	if f.words[i].gap < colon || f.strong(i) {
		return false
	}
	if f.everyday(i) {
		return true
	}
	name := end > i+1 && !f.strong(i+1) && f.words[i+1].shape&capital != 0
	return (f.words[i].gap == begins || f.saying(i)) && !name && !seen[f.key(i, i+1)].within
}

// saying tells the sentence that begins after a colon, as in "Ada: Sounds good", from the
// name there, as in "Author: Ada": it continues in small letters.
func (f *finder) saying(i int) bool {
	if f.words[i].gap != colon || i+1 == len(f.words) || f.words[i+1].gap > hyphen {
		return false
	}
	return f.words[i+1].shape&(capital|digits|unspaced) == 0
}

// afterOpening returns the next word of a run that is capitalised, or its end.
func (f *finder) afterOpening(i, end int) int {
	for i++; i < end && !f.begins(i); i++ {
	}
	return i
}

// plain reports a capitalized word that is nevertheless not a name.
func (f *finder) plain(i int, seen map[string]spelling) bool {
	w := f.words[i]
	return !f.strong(i) && (w.german || seen[f.key(i, i+1)].small || utf8.RuneCountInString(f.text[w.start:w.end]) < 2)
}

// loud reports a run all in capitals: acronyms such as "REST API", which are two
// entities, or emphasis.
func (f *finder) loud(i, end int) bool {
	for ; i < end; i++ {
		if f.words[i].gap == hyphen || f.words[i].shape&acronym == 0 && !f.isLoud(i) {
			return false
		}
	}
	return true
}

// addStrong adds the words of a run that stand for themselves, one by one.
func (f *finder) addStrong(i, end int) {
	for ; i < end; i++ {
		if w := f.words[i]; f.strong(i) {
			f.add(w.start, w.end, proper, f.text[w.start:w.end])
		}
	}
}
