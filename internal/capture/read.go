package capture

import (
	"bytes"
	"strings"
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
