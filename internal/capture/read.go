package capture

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/vault/lex"
	"emberd/vault/markdown"
)

// The bounds of a sentence, in characters, and of a message, in bytes: what is longer was pasted.
const (
	minSentence = 20
	maxSentence = 400
	maxMessage  = 256 << 10
)

// said is a sentence of a message.
type said struct {
	sentence
	heading string // above it
	place   int    // in the message, from 0
	small   bool   // the writer begins sentences with small letters
}

// logLine is a line that a program printed, or one of a diff or a stack trace.
var logLine = text.Pattern(`^\s*(\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\[?(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b[\]: ]` +
	`|level=|time=|goroutine \d|panic: |Traceback |at [\w.$]+\(|File "|@@ |\+\+\+ |--- |diff --git|index [0-9a-f]{7}|\$ |>>> |\+[^+\s]|-[^-\s\d])`)

// sentencesOf returns the sentences of a message outside code, quotes, tables, diffs and logs.
func sentencesOf(message string) []said {
	if len(message) > maxMessage {
		return nil
	}
	src, _ := lex.Normalize([]byte(message))
	var o markdown.Outline
	b := markdown.NewBuilder(&o, prose(src), 0)
	markdown.NewParser().Read(b)
	b.Finish()
	var all []said
	for _, section := range o.Sections {
		for s := range text.SplitSentences(section.Text) {
			all = append(all, said{sentence: sentenceOf(s), heading: section.Heading, place: len(all)})
		}
	}
	return all
}

// typedSentences returns the sentences of what a person typed, who may not write capital letters, without words in
// front that say nothing.
func typedSentences(message string) (all []said) {
	small := false
	for _, s := range sentencesOf(message) {
		for piece := range pieces(s.text) {
			first, _ := utf8.DecodeRuneInString(piece)
			small = small || unicode.IsLower(first)
			if piece = unfilled(piece); piece != "" {
				all = append(all, said{sentence: sentenceOf(piece), heading: s.heading, place: s.place})
			}
		}
	}
	for i := range all {
		all[i].small = small
	}
	return all
}

// pieces yields the parts of a sentence that end like one, though small letters follow.
func pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := softEnd(s)
			if !yield(strings.TrimSpace(s[:at])) || at == len(s) {
				return
			}
			s = s[at:]
		}
	}
}

// softEnd returns the length of the first part of s: what ends with a mark behind a word of at least three letters or
// a number, and white space.
func softEnd(s string) int {
	for _, m := range softMark().FindAllStringSubmatchIndex(s, -1) {
		if word := strings.ToLower(s[m[2]:m[3]]); !abbreviation[word] && !day().MatchString(word) {
			return m[1]
		}
	}
	return len(s)
}

var softMark = text.Pattern(`([\p{L}\d)"'%]{2,})[.!?]+\s+`)

// day is a number that a full stop may make an ordinal of, as in "15. Mai".
var day = text.Pattern(`^[1-3]?\d$`)

// abbreviation has words that end with a full stop, beyond those of one letter.
var abbreviation = map[string]bool{"etc": true, "approx": true, "vs": true, "incl": true, "max": true, "min": true,
	"no": true, "nr": true, "bzw": true, "usw": true, "ca": true, "evtl": true, "inkl": true, "dr": true, "mr": true,
	"mrs": true, "st": true, "fig": true, "resp": true, "ggf": true, "vgl": true}

// unfilled returns a sentence without words in front that only react.
func unfilled(s string) string {
	for {
		m := filler().FindStringIndex(s)
		if m == nil {
			return s
		}
		s = s[m[1]:]
	}
}

var filler = text.Pattern(`(?i)^((ok(ay)?|oh|ah|aha|hm+|yes|yeah|yep|so|and|but|btw|also|lol|haha|ja|ach|und|aber|sí|oui|alors)\s+` +
	`|(ok(ay)?|oh|ah|aha|ah wait|wait|hm+|hm ok|yes|yeah|yep|yup|right|good|great|nice|cool|sure|np|well|so|and|but|btw|also|lol|haha|thanks|` +
	`thank you|perfect|lovely|sounds good|sounds plausible|figures|next|ok back|morning|we( ha|')?ve changed our minds?|we changed our minds?|i( ha|')?ve changed my mind|i changed my mind|` +
	`change of plans?|on second thought|new plan|update|fyi|important|ja|ja bitte|gut|schön|super|ach|ach so|ach klar|stimmt|` +
	`genau|mega|danke|sí|vale|bueno|gracias|pues|oui|bon|alors|merci|parfait|👍|🙂)[,.!…:]+(\s+|$))`)

// prose returns the lines of a message that are text. Every item of a list stands apart, since
// each is a sentence.
func prose(src []byte) []byte {
	var out []byte
	var fence lex.Fence
	for line := range bytes.Lines(src) {
		rest, quotes, items := lex.Containers(line)
		if fence.InCode(line) || quotes > 0 || isTable(rest) || logLine().Match(line) {
			out = append(out, '\n')
			continue
		}
		if items > 0 {
			out = append(out, '\n')
			line = rest
		}
		out = append(out, line...)
	}
	return out
}

func isTable(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("|")) || bytes.Count(line, []byte(" | ")) > 1
}

// fits reports whether a sentence is neither too short nor too long.
func (s sentence) fits() bool {
	n := utf8.RuneCountInString(s.text)
	if strings.ContainsFunc(s.text, text.WritesNoSpaces) {
		n *= 2 // a character of these scripts says as much as two letters
	}
	return n >= minSentence && n <= maxSentence
}

// asks reports whether the sentence is a question or a request.
func (s sentence) asks() bool {
	return strings.ContainsAny(s.text, "?？¿") || s.is("asks") || s.is("request")
}
