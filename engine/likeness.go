package engine

import (
	"strings"

	"emberd/internal/similarity"
	"emberd/rekindle"
)

const (
	// mostTerms bounds the terms of a text that others are looked up by, the rarest, and
	// mostHolders how many memories hold these, each counted once for each.
	mostTerms   = 64
	mostHolders = 100_000
	// comparedBytes bounds what is taken apart of all texts that are compared with one,
	// and comparedPart of each one that is beyond that.
	comparedBytes = 128 << 10
	comparedPart  = 2 << 10
	// mostSentences is up to how many sentences of a text are looked for in longer ones.
	mostSentences = 8
)

// likeness says how alike other texts are to one text: by their words, and memories and notes
// by their vectors where there is a sense.
type likeness struct {
	corpus    *similarity.Corpus
	bag       similarity.Bag
	vector    similarity.Vector
	sentences int
	room      int    // bytes that are taken apart yet
	sense     *sense // nil to compare by words alone
}

// like makes the likeness to a text by words. How rare a word is the memories say.
func (e *Engine) like(text string) *likeness {
	l := &likeness{corpus: similarity.NewCorpusOf(e.text, e.stm.Frequencies), room: comparedBytes}
	l.bag = l.corpus.Add(text)
	l.vector, l.sentences = l.corpus.Vector(l.bag), len(sentencesOf(text))
	return l
}

// alike says how alike other texts are to one text, each as far as there would be time for
// if it were the only one.
func (e *Engine) alike(text string) func(other string) float64 {
	var l *likeness
	return func(other string) float64 {
		if l == nil {
			l = e.like(text)
		}
		l.room = comparedBytes
		alike, _ := l.to(other)
		return alike
	}
}

// terms are those to look for texts by that may be alike.
func (l *likeness) terms() []string { return l.corpus.Rarest(l.bag, mostTerms, mostHolders) }

// to is how alike a text is, 0 to 1, as a whole or in as many of its sentences as the
// text has that it is compared with. The part is the nearest sentences of a longer text,
// and all of a short one.
func (l *likeness) to(text string) (alike float64, part string) {
	if text = l.within(text); text == "" {
		return 0, ""
	}
	sentences := sentencesOf(text)
	if len(sentences) <= l.sentences+1 || l.sentences > mostSentences {
		return l.of(l.corpus.Add(text)), text
	}
	bags := make([]similarity.Bag, len(sentences))
	for i, s := range sentences {
		bags[i] = l.corpus.Add(s)
	}
	best, at := -1.0, 0
	for i := range len(bags) - l.sentences + 1 {
		if got := l.of(similarity.Join(bags[i : i+l.sentences]...)); got > best {
			best, at = got, i
		}
	}
	return max(best, l.of(similarity.Join(bags...))), strings.Join(sentences[at:at+l.sentences], " ")
}

func (l *likeness) of(b similarity.Bag) float64 {
	return similarity.Calibrate(l.vector.Cosine(l.corpus.Vector(b)))
}

// within is the part of a text that there is time for.
func (l *likeness) within(text string) string {
	most := max(l.room, comparedPart)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	l.room -= len(text)
	return text
}

// sentencesOf are the sentences of a text of several lines. A line ends a sentence.
func sentencesOf(text string) (all []string) {
	for line := range strings.Lines(text) {
		all = append(all, rekindle.Sentences(line)...)
	}
	return all
}
