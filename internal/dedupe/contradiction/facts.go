// Package contradiction reports whether two texts that are about one thing disagree, and in
// what.
//
// A statement is a sequence of parts: who or what, the relation, the value, and how they belong
// together. Two statements are compared part by part, for three questions. [Facts.Unknown] is for
// leaving out what is known: it requires that every part of a text stands in the other, in the
// same role. [Facts.Find] is for telling people: it finds where one text says something that
// cannot hold if the other does, and is hardly ever wrong. [Facts.Differ] is for merging: it finds
// any sign that two texts do not say the same, so that hardly any pair that contradicts each other
// passes.
//
// All go by words alone: the order of parts; numbers with their units, versions, dates and times;
// names; negation; words of opposite meaning, and relations with one value, from kept lists; and
// what goes up here and down there. They know few synonyms and draw no conclusions.
// [Facts.Doubt] is what only other texts can decide.
//
// Everything is a pure function. Facts may be shared once made. All work is linear in the
// texts but for the logarithm of sorting.
package contradiction

import (
	"strings"
	"unicode/utf8"

	"emberd/internal/text/analysis"
)

// Facts are a text taken apart for being held against others. Use [Of] to make them.
type Facts struct {
	text      string
	sentences []sentence
	foreign   bool             // it is not English
	index     map[string][]int // by stem, the sentences that have it; nil if there is one only
	words     map[string]bool  // stems of all words
	counts    map[string]int   // by stem, how many sentences have it; nil if there is one only
	topics    map[string]int   // the same by name, see countTopics
	values    []wordPosition   // numbers, versions, dates and times, in order
	names     []wordPosition   // capitalised within a sentence, or an identifier
	firsts    []wordPosition   // capitalised because a sentence begins, or because they are names
	compounds []wordPosition   // the first of two words that a hyphen joins
	formulas  []string         // operations and calls, see formulasOf
}

// maxValues bounds how many numbers of a text are held against those of another. What has
// more is a table or a log.
const maxValues = 512

// wordPosition is where a word stands.
type wordPosition struct{ sentence, word int }

func (s wordPosition) next() wordPosition { return wordPosition{s.sentence, s.word + 1} }

// Differ is why two texts do not say the same, see [Facts.Differ].
func Differ(a *analysis.Analyzer, s, t string) string { return Of(a, s).Differ(Of(a, t)) }

// Of takes a text apart. headings are those above it, outermost first, if it is a part of a note.
func Of(a *analysis.Analyzer, s string, headings ...string) *Facts {
	f := &Facts{text: s, sentences: sentencesOf(a, s, headings), words: make(map[string]bool),
		formulas: formulasOf(s)}
	f.index = indexOf(f.sentences)
	f.countTopics()
	f.foreign = isForeign(f.sentences)
	for i := range f.sentences {
		s := &f.sentences[i]
		s.parts = f.partsOf(s)
		s.active = active(s.parts)
		for j := range f.sentences[i].words {
			w := &f.sentences[i].words[j]
			f.words[w.stem] = true
			at := wordPosition{i, j}
			switch {
			case w.value != nil && len(f.values) < maxValues:
				f.values = append(f.values, at)
			case w.name:
				f.names = append(f.names, at)
			case w.first:
				f.firsts = append(f.firsts, at)
			}
			if f.joins(at) {
				f.compounds = append(f.compounds, at)
			}
		}
	}
	return f
}

// maxHolders is how many sentences a stem leads to: the first that have it.
const maxHolders = 64

func indexOf(sentences []sentence) map[string][]int {
	if len(sentences) < 2 {
		return nil
	}
	index := make(map[string][]int)
	for i := range sentences {
		for _, stem := range sentences[i].stems {
			if len(index[stem]) < maxHolders {
				index[stem] = append(index[stem], i)
			}
		}
	}
	return index
}

func (f *Facts) word(at wordPosition) *word { return &f.sentences[at.sentence].words[at.word] }

// joins reports a word that a hyphen joins to the next one, both of three letters or more.
func (f *Facts) joins(at wordPosition) bool {
	const minimum = 3
	words := f.sentences[at.sentence].words
	if at.word+1 >= len(words) {
		return false
	}
	w, v := &words[at.word], &words[at.word+1]
	return w.content && v.content && w.end-w.start >= minimum && v.end-v.start >= minimum && v.start == w.end+1 &&
		f.text[w.end] == '-'
}

// says is a word as it stands in the text.
func (f *Facts) says(at wordPosition) string { w := f.word(at); return f.text[w.start:w.end] }

// negates reports a word, in lower case, that denies something.
func negates(word string) bool {
	switch word {
	case "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot", "cant",
		"dont", "doesnt", "didnt", "isnt", "wasnt", "wont", "nicht", "kein", "keine", "keinen", "keinem", "keiner",
		"nie", "niemals",
		"pas", "jamais", "aucun", "aucune":
		return true
	}
	if strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t") {
		return true
	}
	return word[0] >= utf8.RuneSelf &&
		(strings.ContainsAny(word, "不没沒無无未") || strings.Contains(word, "ない") || strings.Contains(word, "ません"))
}

// isForeign reports a text in another language than English, as far as its small words show it.
func isForeign(sentences []sentence) bool {
	foreign, english := 0, 0
	for i := range sentences {
		for _, w := range sentences[i].words {
			switch {
			case vocabularyOf().foreign[w.lower]:
				foreign++
			case !w.content && w.value == nil && !w.negates && w.lower != "a" && w.lower != "an" && w.lower != "in":
				english++
			}
		}
	}
	return foreign > english
}
