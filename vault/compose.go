package vault

import (
	"bytes"
	"strings"
)

// Compose makes a new note: always the same bytes from the same properties and body,
// and read again its [Carried] has the Body that Body makes of this one. Keys are
// words, each there once.
func Compose(properties []Field, body string) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range properties {
		b.WriteString(f.Key + ":" + f.Value.render("", "", "\n"))
	}
	b.WriteString("---\n")
	if body = Body(body); body != "" {
		b.WriteString(body + "\n")
	}
	return []byte(b.String())
}

// Body is the form that a text has as the body of a note: [Bare], and with nothing in it
// that Obsidian or a plugin would run, load or hide. Characters are put in for that, mostly
// backslashes, so that it reads nearly the same, and none is taken away:
//
//   - a command of Templater: <% is <\%, in code, too
//   - raw HTML: <b> is \<b>, <!-- is \<!--
//   - an image from elsewhere: ![a](u) is \![a](u); one of the vault stays
//   - a formula's command that may load or lead elsewhere: \style is \\style
//   - a hidden comment: %% is %\%
//   - code of plugins within a line (Dataview, Meta Bind, Buttons, Dice Roller, React): `= x` is `\= x`
//   - a block of code in anything but a common language: ```dataviewjs is ```text dataviewjs
//   - what would begin properties: --- in the first line is \---
//   - a mark of a region of emberd, <!-- emberd:x -->, which has a space before its colon
//
// Code is left alone otherwise, where CommonMark and Obsidian agree that it is code. Body of
// a Body is that Body.
func Body(text string) string { return inert(Bare(text)) }

// Bare is a text as notes are read: lines end in LF, control characters are spaces, and there
// are no empty lines at either end.
func Bare(text string) string { return trimBody(string(plain([]byte(text)))) }

// Holds reports whether the body of a note says a text: it is that text, bare, and has been
// made inert in some places, in all that need it or in none, as a human left it.
func Holds(body, text string) bool {
	bare := Bare(text)
	if body == bare {
		return true
	}
	_, within := insertions(body, bare)
	return within && inert(Bare(body)) == inert(bare)
}

// Insertions tells where in a body that [Holds] a text, and nowhere else, characters were put
// into it: offsets in bytes, in order, which [WithoutInsertions] takes back.
func Insertions(body, text string) (at []int, ok bool) {
	if !Holds(body, text) {
		return nil, false
	}
	return insertions(body, Bare(text))
}

// insertions are the bytes of body that bare lacks. ok is false if it lacks none of its own.
func insertions(body, bare string) (at []int, ok bool) {
	for i := range len(body) {
		if bare != "" && body[i] == bare[0] {
			bare = bare[1:]
			continue
		}
		at = append(at, i)
	}
	return at, bare == ""
}

// WithoutInsertions is a body without the bytes at these offsets, which are in order. Those
// beyond its end are passed over.
func WithoutInsertions(body string, at []int) string {
	var b strings.Builder
	from := 0
	for _, i := range at {
		if i < from || i >= len(body) {
			continue
		}
		b.WriteString(body[from:i])
		from = i + 1
	}
	return b.String() + body[from:]
}

// plain gives a text line ends and characters as notes are read with.
func plain(text []byte) []byte {
	out, _ := normalize(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	return out
}
