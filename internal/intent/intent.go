// Package intent judges from its wording whether a message says something worth
// keeping or asks for something kept earlier, and how strong a memory made of it is.
//
// # Phrases
//
// The wording that counts is in lists, ours in phrases.yaml, in which [Load] puts a
// user's lists in place of ours. Phrases match whole words, regardless of case and of
// how an apostrophe is written, so "keyboard" does not hold "key" and "dont forget" is
// "don't forget". Among phrases that save, recall and exclude, the earlier and then
// the longer one takes the words: "remind me to call" saves, "remind me" recalls. A
// phrase after a negation in the same clause does not count, and a negated command to
// save is a request not to. Asking for something kept is a question, and a question
// does not speak against a command in another sentence.
//
// # Confidence
//
// That a message is worth keeping is as sure as
//
//	1 / (1 + e^-(s − 2))
//
// where s adds 5 for a phrase that saves, 3 for one that says critical or else 2 for
// another that says it matters, 4 for a word of preference or decision, 0.8 for each
// entity up to 3.2, and takes off 5 for a phrase that asks or forbids and 3 for doubt.
// The weights are CortexGraph's. From [SaveAt] on a message should be saved, from
// [AskAt] on one may ask. That it asks for something kept is 0.9 with a phrase that
// recalls, 0.5 with two entities, else 0.2.
//
// A message is read once, so work is linear in it. An [Analyzer] may be shared by any
// number of goroutines; results belong to the caller.
package intent

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/decay"
	"emberd/internal/text"
)

// The bands of confidence.
const (
	SaveAt = 0.7 // save without asking
	AskAt  = 0.4 // ask whether to save
)

// The weights of the sum that makes the confidence.
const (
	bias             = -2.0
	saveWeight       = 5.0
	criticalWeight   = 3.0
	importanceWeight = 2.0
	preferenceWeight = 4.0
	entityWeight     = 0.8
	entityMost       = 3.2
	exclusionWeight  = -5.0
	doubtWeight      = -3.0
)

// The confidences of recall.
const (
	recallByPhrase   = 0.9
	recallByEntities = 0.5
	recallByNothing  = 0.2
)

// Save reports whether a message is worth keeping and as what.
type Save struct {
	ShouldSave bool
	Confidence float64 // 0 to 1, to four decimals
	Tags       []string
	Strength   float64 // 1, 1.5 or 2
	Reasoning  string  // what was found, for people
}

// Recall reports whether a message asks for something kept, and what to search for.
type Recall struct {
	ShouldSearch bool
	Confidence   float64
	Query        string // at most 200 characters
	Tags         []string
	Reasoning    string
}

// Save judges whether a message is worth keeping. The entities are those found in it.
func (a *Analyzer) Save(message string, entities []string) Save {
	if strings.TrimSpace(message) == "" {
		return Save{Strength: 1, Reasoning: "no message"}
	}
	s := a.signals(read(message))
	conf := logistic(s.sum(len(entities)) + bias)
	return Save{
		ShouldSave: conf >= SaveAt,
		Confidence: rounded(conf),
		Tags:       s.tags,
		Strength:   strengthFor(conf),
		Reasoning:  s.saveReasoning(len(entities)),
	}
}

func (s *signals) sum(entities int) float64 {
	sum := min(entityMost, entityWeight*float64(entities))
	if len(s.save) > 0 && !s.forbidden() {
		sum += saveWeight
	}
	switch {
	case s.critical:
		sum += criticalWeight
	case len(s.importance) > 0:
		sum += importanceWeight
	}
	if s.preference {
		sum += preferenceWeight
	}
	if len(s.exclusion) > 0 || s.forbidden() {
		sum += exclusionWeight
	}
	if len(s.doubt) > 0 {
		sum += doubtWeight
	}
	return sum
}

// rounded keeps the four decimals that a caller may compare.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func strengthFor(confidence float64) float64 {
	switch {
	case confidence >= 0.9:
		return 2
	case confidence >= SaveAt:
		return 1.5
	}
	return 1
}

// Recall judges whether a message asks for something kept. The entities are those
// found in it.
func (a *Analyzer) Recall(message string, entities []string) Recall {
	if strings.TrimSpace(message) == "" {
		return Recall{Reasoning: "no message"}
	}
	m := read(message)
	s := a.signals(m)
	r := Recall{Confidence: recallByNothing, Query: clip(message, 50), Tags: s.tags,
		Reasoning: s.recallReasoning(len(entities))}
	switch {
	case len(s.recall) > 0:
		r.ShouldSearch, r.Confidence = true, recallByPhrase
		r.Query = a.query(m, s.recallSpans)
	case len(entities) >= 2:
		r.ShouldSearch, r.Confidence = true, recallByEntities
		r.Query = clip(strings.Join(longest(entities, 3), " "), maxQuery)
	}
	return r
}

// maxQuery bounds a suggested query in characters.
const maxQuery = 200

// longest returns the n longest names, of equal ones the earlier.
func longest(names []string, n int) []string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return utf8.RuneCountInString(b) - utf8.RuneCountInString(a) })
	return names[:min(n, len(names))]
}

// Strength returns the strength of a memory whose save names none, to four decimals,
// as decay.InitialStrength makes it of the text and the number of its entities.
// Commands to save and words of importance mark a text, everyday ones such as "always"
// do not.
func (a *Analyzer) Strength(text string, entities int) float64 {
	return rounded(decay.InitialStrength(utf8.RuneCountInString(text), entities, a.Marked(text), asks(text)))
}

// Marked reports whether a text says itself that it matters.
func (a *Analyzer) Marked(text string) bool { return a.signals(read(text)).marked() }

// asks reports a question mark that ends a word, unlike the one in an address.
func asks(text string) bool {
	marked := false // the letter before is a question mark
	for _, r := range text {
		if marked && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return true
		}
		marked = r == '?' || r == '？' || r == '؟'
	}
	return marked
}

// clip returns the first n characters of s as one line.
func clip(s string, n int) string { return text.OneLine(text.First(strings.TrimSpace(s), n)) }
