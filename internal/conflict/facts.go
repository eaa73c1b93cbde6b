// Package conflict tells whether two texts that are about one thing disagree, and in
// what.
//
// It has two answers, for two questions. [Facts.Differ] is for merging: it finds any sign
// that two texts do not say the same, so that hardly any pair that contradicts each other
// passes. [Facts.Find] is for telling people: it finds where one text says something that
// cannot hold if the other does, and is hardly ever wrong.
//
// Everything is a pure function. Facts may be shared once made.
package conflict

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// Facts are what two texts must have alike to say the same, however many words they
// share: measured on labelled pairs, contradictions share more of them than paraphrases.
type Facts struct {
	text      string
	sentences []sentence
	index     map[string][]int // by stem, the sentences that have it; nil if there is one only
	words     map[string]bool  // stems of all words
	numbers   []string         // in order: digits, versions, dates, times; "two" is 2
	names     []string         // capitalised within a sentence, or with a capital inside
	maybe     []string         // capitalised because a sentence begins, or because they are names
	negated   []string         // the words behind "not", "never", …
	negators  int
}

// Differ is why two texts do not say the same, however similar they are: they differ in
// numbers, dates or versions, in what they deny, in names, in opposites, or in the order
// of names and numbers. It is "" if nothing shows that they do, and the same whichever
// comes first but for the order of the words that it names.
func Differ(a *text.Analyzer, s, t string) string { return Of(a, s).Differ(Of(a, t)) }

// Of takes a text apart.
func Of(a *text.Analyzer, s string) *Facts {
	f := &Facts{text: s, sentences: sentencesOf(a, s), words: make(map[string]bool)}
	f.index = indexOf(f.sentences)
	begins, negates := true, false
	for token := range strings.FieldsSeq(s) {
		word := strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		ends := strings.ContainsAny(token[len(token)-1:], ".!?:;")
		if word == "" {
			begins = begins || ends || strings.HasPrefix(token, "#")
			continue
		}
		stem := f.add(a, word, begins)
		if negates && stem != "" {
			f.negated, negates = append(f.negated, stem), false
		}
		if n := negations(word); n > 0 {
			f.negators, negates = f.negators+n, true
		}
		begins = ends
	}
	return f
}

// add notes one word and returns its stem, "" for a stop word.
func (f *Facts) add(a *text.Analyzer, word string, begins bool) (stem string) {
	terms := a.Terms(word)
	for _, t := range terms {
		f.words[t.Text] = true
		if stem == "" && !t.Stop() {
			stem = t.Text
		}
	}
	lower := strings.ToLower(word)
	if n := numberOf(lower); n != "" {
		f.numbers = append(f.numbers, n)
		return stem
	}
	first, size := utf8.DecodeRuneInString(word)
	inside := strings.ContainsFunc(word[size:], unicode.IsUpper)
	switch {
	case stem == "" || !unicode.IsUpper(first) && !inside:
	case inside || !begins:
		f.names = append(f.names, stem)
	default:
		f.maybe = append(f.maybe, stem)
	}
	return stem
}

// numberOf is the form in which a number, version, date or time is compared, "" for what
// is none.
func numberOf(word string) string {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return strings.TrimPrefix(strings.ReplaceAll(word, ",", ""), "v")
	}
	if i := slices.Index(strings.Fields(numberWords), word); i >= 0 {
		return fmt.Sprint(i + 2)
	}
	if slices.Contains(strings.Fields(dateWords), word) {
		return word
	}
	return ""
}

// negations counts how often a word denies something.
func negations(word string) (n int) {
	lower := strings.ToLower(strings.ReplaceAll(word, "’", "'"))
	if strings.HasSuffix(lower, "n't") || slices.Contains(strings.Fields(negatingWords), lower) {
		n++
	}
	return n + strings.Count(lower, "ない") + strings.Count(lower, "ません") +
		len(strings.FieldsFunc(lower, func(r rune) bool { return !strings.ContainsRune("不没沒無无未", r) }))
}

const (
	numberWords   = "two three four five six seven eight nine ten eleven twelve"
	dateWords     = "monday tuesday wednesday thursday friday saturday sunday january february april june july august september october november december today tomorrow yesterday"
	negatingWords = "not no never none nobody nothing nowhere neither nor without cannot cant dont doesnt didnt isnt wasnt wont nicht kein keine nie"
)

// opposites are pairs of stems of which a text has the one where another has the other.
const opposites = `on/off in/out up/down before/after above/below true/fals ye/no alwai/never with/without
more/less most/least first/last left/right start/stop open/close begin/end add/remov accept/reject allow/deni allow/forbid
enabl/disabl like/dislik love/hate agre/disagre buy/sell increas/decreas rise/fall grow/shrink win/lose push/pull
insid/outsid earli/late old/new young/old hot/cold warm/cold wet/dry full/empti high/low long/short big/small
larg/small fast/slow good/bad right/wrong safe/unsaf public/privat async/sync min/max light/dark man/woman boi/girl
male/femal prefer/avoid keep/delet sit/stand sleep/awak alive/dead success/failur succe/fail pass/fail connect/disconnect
empti/fill interior/exterior upper/lower activ/inact valid/invalid stabl/unstabl support/unsupport`

// Differ is why two texts do not say the same although they share most words, "" if
// nothing shows that they do not.
func (f *Facts) Differ(g *Facts) string {
	if a, b := only(f.numbers, g.numbers), only(g.numbers, f.numbers); a != "" || b != "" {
		return "different numbers or dates: " + pairOf(a, b)
	}
	if f.negators != g.negators || only(f.negated, g.negated)+only(g.negated, f.negated) != "" {
		return "one denies what the other does not"
	}
	if a, b := f.missing(g, f.names), g.missing(f, g.names); a != "" || b != "" {
		return "different names: " + pairOf(a, b)
	}
	if a, b := f.missing(g, f.maybe), g.missing(f, g.maybe); a != "" && b != "" {
		return "different names, or first words: " + pairOf(a, b)
	}
	if a, b := f.opposite(g); a != "" {
		return "opposites: " + pairOf(a, b)
	}
	if !sameOrder(f.numbers, g.numbers) || !sameOrder(f.names, g.names) {
		return "the same names or numbers in another order"
	}
	return ""
}

// only is the first of the words that the others do not have.
func only(words, others []string) string {
	for _, w := range words {
		if !slices.Contains(others, w) {
			return w
		}
	}
	return ""
}

// missing is the first of the words of f that g does not have in any case or form.
func (f *Facts) missing(g *Facts, words []string) string {
	for _, w := range words {
		if !g.words[w] {
			return w
		}
	}
	return ""
}

func pairOf(a, b string) string {
	switch {
	case a == "":
		return b + " in one of them only"
	case b == "":
		return a + " in one of them only"
	}
	return a + " and " + b
}

// opposite finds a word of f and its opposite in g, neither of which is in both.
func (f *Facts) opposite(g *Facts) (mine, other string) {
	for pair := range strings.FieldsSeq(opposites) {
		a, b, _ := strings.Cut(pair, "/")
		for _, p := range [][2]string{{a, b}, {b, a}} {
			if f.words[p[0]] && !g.words[p[0]] && g.words[p[1]] && !f.words[p[1]] {
				return p[0], p[1]
			}
		}
	}
	return "", ""
}

// sameOrder reports whether what both lists have comes in one order.
func sameOrder(a, b []string) bool {
	shared := func(list, other []string) []string {
		var out []string
		for _, w := range list {
			if slices.Contains(other, w) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		return out
	}
	return slices.Equal(shared(a, b), shared(b, a))
}

// mostHolders is how many sentences a stem leads to: the first that have it.
const mostHolders = 64

func indexOf(sentences []sentence) map[string][]int {
	if len(sentences) < 2 {
		return nil
	}
	index := make(map[string][]int)
	for i := range sentences {
		for _, stem := range sentences[i].stems {
			if len(index[stem]) < mostHolders {
				index[stem] = append(index[stem], i)
			}
		}
	}
	return index
}
