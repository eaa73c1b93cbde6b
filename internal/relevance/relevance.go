// Package relevance is the model by which memories and notes are ranked. Both are ranked together, with one inverse
// document frequency over all of them, and each has
//
//	relevance(d) = Σ weight(t) · idf(t) · ((1 - λ) · share(t, d) + λ · share(t, best passage of d)) + names
//	share(t, x)  = n / (n + k1),  n = Σ over fields of w · tf(t) / (1 - b + b · length / average length)
//
// where the best passage is the one with the highest sum over all terms. This is BM25F (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework: BM25 and Beyond", 2009) for a text and for its best passage. Lucene's form of
// the idf cannot be negative, and the factor k1 + 1, which changes no order, is left out.
//
// A memory has one field and one passage, if it is short: then there is no best passage. What names add for notes is
// the share of a name that the query has, and for memories the form in which a word is written.
//
// What is here are the formulas and every parameter. Packages words and ltm keep the counts, each as fits what they
// hold. The parameters were chosen on one half of each judged set, and docs/internals/evaluation.md has the other.
package relevance

import "math"

// Parameters of memories.
const (
	MemoryK1           = 1.2
	MemoryB            = 0.3 // of a text of one passage, and of passages
	MemoryLongB        = 0.9 // of a long text as a whole
	MemoryFar          = 3   // typical lengths, beyond which the length of a long text counts by its cube
	MemoryPassageShare = 0.4 // λ

	MemoryTextShare = 0.9 // of how often a term is in a text; the rest is for its form
	MemoryNameShare = 0.1 // more for a name written as one
)

// Parameters of notes. None changes a result by more than a point when it is moved by a third.
const (
	NoteK1           = 1.6 // in a whole note words repeat more before they say less than in a memory
	NotePassageK1    = 1.2
	NoteBodyB        = 0.7 // of notes and passages
	NoteHeadB        = 0.3 // of names, tags and other properties
	NotePassageShare = 0.6 // λ

	NoteNames    = 2.0 // weights of fields; that of the body is 1
	NoteHeadings = 3.0
	NoteTags     = 1.0
	NoteOther    = 1.0

	NoteNameShare = 0.25 // of a query that is a name of the note
)

// IDF returns the inverse document frequency of a term that df of docs documents contain:
// ln(1 + (docs - df + 0.5) / (df + 0.5)), which is never negative.
func IDF(docs, df int) float64 {
	return math.Log1p((float64(max(docs-df, 0)) + 0.5) / (float64(df) + 0.5))
}

// Share returns how much of its weight · idf a term gives to a text that has it count times: from 0 to below 1, and
// a half at half times.
func Share(count, half float64) float64 { return count / (count + half) }

// Length returns what counts are divided by in a text so many average lengths long. With b = 0 all texts count alike,
// and with b = 1 a text of twice the length needs twice the count.
func Length(b, lengths float64) float64 { return 1 - b + b*lengths }

// Far returns the length of a long memory, in multiples of the typical one, as [Length] is to take it.
func Far(lengths float64) float64 {
	more := max(1, lengths/MemoryFar)
	return lengths * more * more
}

// MemoryNorm returns the count at which a term has half of what it can give to a passage of a memory, or to a memory
// of one passage, so many average lengths long.
func MemoryNorm(lengths float64) float64 { return MemoryK1 * Length(MemoryB, lengths) }

// MemoryLongNorm is MemoryNorm for a long memory as a whole, so many typical lengths long.
func MemoryLongNorm(lengths float64) float64 { return MemoryK1 * Length(MemoryLongB, Far(lengths)) }

// FormShare returns how much of its weight · idf a term adds to a memory that has it in the form of the query, and
// more if both have it as a name.
func FormShare(same, named bool) float64 {
	switch {
	case !same:
		return 0
	case !named:
		return 1 - MemoryTextShare
	}
	return 1 - MemoryTextShare + MemoryNameShare
}

// Lengths are sums over the memories of one store, or of several that are ranked together.
type Lengths struct {
	Texts    int
	Passages int    // with memories of one passage
	Words    uint64 // in them
	Inverse  uint64 // of inverse lengths
}

// inverseUnit is the inverse of a length of 1. What is shorter than shortest counts as
// that: a few texts of one word do not say what is typical.
const (
	inverseUnit = 1 << 40
	shortest    = 10
)

// AddText counts a text of so many words, or takes it out with sign -1.
func (l *Lengths) AddText(words uint64, sign int) {
	l.Texts += sign
	l.Inverse += uint64(sign) * (inverseUnit / max(words, shortest))
}

// AddPassage counts a passage, or a text of one, or takes it out with sign -1.
func (l *Lengths) AddPassage(words uint64, sign int) {
	l.Passages += sign
	l.Words += uint64(sign) * words
}

// Plus returns the sums over the memories of both.
func (l Lengths) Plus(m Lengths) Lengths {
	return Lengths{l.Texts + m.Texts, l.Passages + m.Passages, l.Words + m.Words, l.Inverse + m.Inverse}
}

// Passage returns the average length of a passage in words, 0 without any.
func (l Lengths) Passage() float64 { return float64(l.Words) / float64(max(l.Passages, 1)) }

// Typical returns the harmonic mean of the lengths of texts.
func (l Lengths) Typical() float64 {
	return inverseUnit * float64(l.Texts) / float64(max(l.Inverse, 1))
}
