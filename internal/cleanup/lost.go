package cleanup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/cleanup/quality"
	"emberd/internal/dedupe/contradiction"
	"emberd/internal/text"
	"emberd/internal/text/analysis"
)

// Lost returns why one text does not say all that another says, or says more, "" if nothing
// shows that: every number, date, name and denial of either is in the other, and so is what
// each sentence says, one word in six given away. It holds no words of either.
func Lost(a *analysis.Analyzer, before, after string) string {
	f, g := contradiction.Of(a, before), contradiction.Of(a, after)
	if f.Differ(g) != "" {
		return "the texts differ in a number, date, name or negation"
	}
	if why := missing(a, before, after, 6); why != "" {
		return why + " is missing"
	}
	if why := missing(a, after, before, 6); why != "" {
		return why + " is new"
	}
	return ""
}

// missing returns what of one text is not in another, "" if nothing is. Of each sentence one word
// in so many may be missing, none if that is 0.
func missing(a *analysis.Analyzer, from, in string, oneIn int) string {
	if contradiction.Of(a, from).Adds(contradiction.Of(a, in)) != "" {
		return "a number, date, name or negation"
	}
	if there := numbersOf(in); !all(numbersOf(from), there) {
		return "a number"
	}
	stems := make(map[string]bool)
	for _, t := range a.Terms(in) {
		stems[t.Text] = true
	}
	for s := range text.SplitSentences(from) {
		if why := absent(a, s, stems, oneIn); why != "" {
			return why
		}
	}
	return ""
}

func all(some, there map[string]bool) bool {
	for n := range some {
		if !there[n] {
			return false
		}
	}
	return true
}

// numbersOf are the runs of digits of a text, without the commas and leading zeros of thousands and dates.
func numbersOf(s string) map[string]bool {
	out := make(map[string]bool)
	for run := range strings.FieldsFuncSeq(strings.ReplaceAll(s, ",", ""),
		func(r rune) bool { return !unicode.IsDigit(r) }) {
		out[strings.TrimLeft(run, "0")] = true
	}
	return out
}

// absent returns what a sentence says that stems do not hold, "" if they do: a name, also one
// that begins it, or more than its part of the words that say something.
func absent(a *analysis.Analyzer, sentence string, stems map[string]bool, oneIn int) string {
	words, gone := 0, 0
	end := 0
	for _, t := range a.Terms(sentence) {
		if t.Stop() || t.Start < end || !quality.Says(sentence[t.Start:t.End]) {
			continue // or it is part of a word before
		}
		end = t.End
		words++
		first, _ := utf8.DecodeRuneInString(sentence[t.Start:])
		if stems[t.Text] || unicode.IsDigit(first) {
			continue // numbers are compared in all their forms elsewhere
		}
		if unicode.IsUpper(first) {
			return "a name"
		}
		gone++
	}
	if oneIn == 0 && gone > 0 || oneIn > 0 && gone > words/oneIn {
		return "the content of a sentence"
	}
	return ""
}
