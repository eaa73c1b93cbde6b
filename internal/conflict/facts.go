// Package conflict tells whether two texts that are about one thing disagree, and in
// what.
//
// It has two answers, for two questions. [Facts.Differ] is for merging: it finds any sign
// that two texts do not say the same, so that hardly any pair that contradicts each other
// passes. [Facts.Find] is for telling people: it finds where one text says something that
// cannot hold if the other does, and is hardly ever wrong.
//
// Both go by words alone: numbers with their units, versions, dates and times; names;
// negation; words of opposite meaning, from a kept list; and what goes up here and down
// there. They know no synonyms and draw no conclusions.
//
// Everything is a pure function. Facts may be shared once made. All work is linear in the
// texts but for the logarithm of sorting.
package conflict

import (
	"strings"
	"unicode/utf8"

	"emberd/internal/text"
)

// Facts are a text taken apart for being held against others. Use [Of] to make them.
type Facts struct {
	text      string
	sentences []sentence
	index     map[string][]int // by stem, the sentences that have it; nil if there is one only
	words     map[string]bool  // stems of all words
	values    []spot           // numbers, versions, dates and times, in order
	names     []spot           // capitalised within a sentence, or an identifier
	firsts    []spot           // capitalised because a sentence begins, or because they are names
	compounds []spot           // the first of two words that a hyphen joins
}

// mostValues bounds how many numbers of a text are held against those of another. What has
// more is a table or a log.
const mostValues = 512

// spot is where a word stands.
type spot struct{ sentence, word int }

func (s spot) next() spot { return spot{s.sentence, s.word + 1} }

// Differ is why two texts do not say the same, see [Facts.Differ].
func Differ(a *text.Analyzer, s, t string) string { return Of(a, s).Differ(Of(a, t)) }

// Of takes a text apart.
func Of(a *text.Analyzer, s string) *Facts {
	f := &Facts{text: s, sentences: sentencesOf(a, s), words: make(map[string]bool)}
	f.index = indexOf(f.sentences)
	for i := range f.sentences {
		for j := range f.sentences[i].words {
			w := &f.sentences[i].words[j]
			f.words[w.stem] = true
			at := spot{i, j}
			switch {
			case w.value != nil && len(f.values) < mostValues:
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

func (f *Facts) word(at spot) *word { return &f.sentences[at.sentence].words[at.word] }

// joins reports a word that a hyphen joins to the next one, both of three letters or more.
func (f *Facts) joins(at spot) bool {
	const least = 3
	words := f.sentences[at.sentence].words
	if at.word+1 >= len(words) {
		return false
	}
	w, v := &words[at.word], &words[at.word+1]
	return w.content && v.content && w.end-w.start >= least && v.end-v.start >= least && v.start == w.end+1 && f.text[w.end] == '-'
}

// says is a word as it stands in the text.
func (f *Facts) says(at spot) string { w := f.word(at); return f.text[w.start:w.end] }

// negates reports a word, in lower case, that denies something.
func negates(word string) bool {
	switch word {
	case "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot", "cant", "dont",
		"doesnt", "didnt", "isnt", "wasnt", "wont", "nicht", "kein", "keine", "keinen", "keinem", "keiner", "nie", "niemals",
		"pas", "jamais", "aucun", "aucune":
		return true
	}
	if strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t") {
		return true
	}
	return word[0] >= utf8.RuneSelf && (strings.ContainsAny(word, "不没沒無无未") || strings.Contains(word, "ない") || strings.Contains(word, "ません"))
}
