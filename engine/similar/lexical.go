package similar

import (
	"strings"

	"emberd/engine/semantic"
	"emberd/internal/dedupe/similarity"
	"emberd/internal/text"
)

const (
	// maxTerms is how many of a text's rarest terms are searched for, and maxHolders how many
	// memories may contain them, counted once for each term.
	maxTerms   = 64
	maxHolders = 100_000
	// comparedBytes is how much of all texts together is analyzed for one comparison, and
	// comparedPart how much of each text beyond that.
	comparedBytes = 128 << 10
	comparedPart  = 2 << 10
	// maxSentences is up to how many sentences of a text are searched for in longer texts.
	maxSentences = 8
)

// lexicalSimilarity compares texts with one text: by words, and memories and notes by
// embeddings if Sense is set.
type lexicalSimilarity struct {
	corpus    *similarity.Corpus
	bag       similarity.TermVector
	vector    similarity.Vector
	sentences int
	room      int                      // bytes that may still be analyzed
	Sense     *semantic.QueryEmbedding // nil to compare by words only
}

// NewSimilarity returns the comparison with a text by words. The memories determine how rare a
// word is.
func (e *Similar) NewSimilarity(content string) *lexicalSimilarity {
	l := &lexicalSimilarity{corpus: similarity.NewCorpusOf(e.Text, e.Stm.Frequencies), room: comparedBytes}
	l.bag = l.corpus.Add(content)
	l.vector, l.sentences = l.corpus.Vector(l.bag), len(text.Sentences(content))
	return l
}

// Similarities returns a function that compares a text with others, each with the full limit
// of bytes.
func (e *Similar) Similarities(text string) func(other string) float64 {
	var l *lexicalSimilarity
	return func(other string) float64 {
		if l == nil {
			l = e.NewSimilarity(text)
		}
		l.room = comparedBytes
		alike, _ := l.To(other)
		return alike
	}
}

// Terms returns the terms to search for similar texts by.
func (l *lexicalSimilarity) Terms() []string { return l.corpus.Rarest(l.bag, maxTerms, maxHolders) }

// To returns the similarity of a text, 0 to 1, and the part that was compared: the whole of a
// short text, or the nearest sentences of a longer one, as many as the first text has.
func (l *lexicalSimilarity) To(content string) (alike float64, part string) {
	if content = l.within(content); content == "" {
		return 0, ""
	}
	sentences := text.Sentences(content)
	if len(sentences) <= l.sentences+1 || l.sentences > maxSentences {
		return l.of(l.corpus.Add(content)), content
	}
	bags := make([]similarity.TermVector, len(sentences))
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

func (l *lexicalSimilarity) of(b similarity.TermVector) float64 {
	return similarity.Calibrate(l.vector.Cosine(l.corpus.Vector(b)))
}

// within returns the part of a text within the limit.
func (l *lexicalSimilarity) within(content string) string {
	content = text.FirstBytes(content, max(l.room, comparedPart))
	l.room -= len(content)
	return content
}
