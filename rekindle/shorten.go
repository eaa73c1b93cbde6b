package rekindle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// openings are words that people begin a sentence with and do not mean.
var openings = text.Pattern(`^(?i:(?:(?:oh|ah|wow|whoa|haha|lol|yeah|yep|yes|yup|well|anyway|hey|hi|hello|ok|okay|sure|thanks|thank you|btw|by the way|actually|honestly|basically|totally|absolutely|definitely|exactly|gosh|cool|nice|great|awesome|so),\s+|(?:so|and|well)\s+)+)`)

// openers are the words that openings begin with: most sentences begin with none.
var openers = listed("openers")

// parenthesis is an aside.
var parenthesis = text.Pattern(`\s*(?:\([^()]*\)|（[^（）]*）)`)

// opened drops such words, behind the label as well if the sentence is the first
// of its block.
func (s *Summarizer) opened(part string, first bool) string {
	label := ""
	if first {
		if l := s.labelOf(block{text: part}); l != "" {
			label = l + ": "
		}
	}
	rest := strings.TrimSpace(part[len(label):])
	word, _, _ := strings.Cut(rest, " ")
	if !openers().has(strings.ToLower(strings.TrimRight(word, ","))) {
		return strings.TrimSpace(part)
	}
	short := openings().ReplaceAllString(rest, "")
	if short == "" || short == rest {
		return strings.TrimSpace(part)
	}
	return label + capitalized(short)
}

func capitalized(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// shortened returns the sentence in at most room characters, if it can do with
// less: without asides, or else without words that only colour it, or else
// without articles, as headlines are.
func (s *Summarizer) shortened(d *document, one *sentence, room int) *sentence {
	short := one.text
	if strings.ContainsAny(short, "(（") {
		short = clean(parenthesis().ReplaceAllString(short, ""))
	}
	if strings.Trim(short, ".!? ") == "" {
		short = one.text
	}
	for _, words := range []list{colours(), articles()} {
		if utf8.RuneCountInString(short) > room {
			short = without(short, words)
		}
	}
	if short == one.text {
		return one
	}
	c := *one
	c.text, c.reading = short, s.reading(d, short)
	return &c
}

// without drops words from a line, but not all of them.
func without(line string, words list) string {
	var kept []string
	for w := range strings.FieldsSeq(line) {
		if !words.has(w) && (len(kept) > 0 || !words.has(strings.ToLower(w))) {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return line
	}
	return capitalized(strings.Join(kept, " "))
}

// cut returns the first characters of a line, at most bound of them.
func cut(line string, bound int) string {
	if utf8.RuneCountInString(line) <= bound {
		return line
	}
	return text.Truncate(line, bound-1)
}

// isCombining reports whether a rune belongs to the one before it or joins two.
func isCombining(r rune) bool {
	return unicode.Is(unicode.M, r) || r == '\u200c' || r == '\u200d' || 0x1F3FB <= r && r <= 0x1F3FF
}
