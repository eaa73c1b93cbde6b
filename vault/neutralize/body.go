// Package neutralize makes a text safe as the body of a note: Obsidian and its plugins run, load
// and hide nothing in it. It only inserts characters, so that the text can be recognized in the
// note and restored: [Insertions] returns the offsets, [RemoveInsertions] undoes them.
//
// Neutralizing twice changes nothing. Code that a user wrote into a note stays as it is
// ([Changed]). Each function takes time linear in its text.
package neutralize

import (
	"strings"

	"emberd/vault/lex"
)

// Body returns the form that a text has as the body of a note: [lex.Bare], and with nothing in
// it that Obsidian or a plugin would run, load or hide. It inserts characters for that, mostly
// backslashes, so that the text reads nearly the same, and removes none:
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
// Other code stays as it is, where CommonMark and Obsidian agree that it is code. The Body of
// a Body is that Body.
func Body(text string) string { return neutralizeMarkup(lex.Bare(text)) }

// Matches reports whether a text is the body of a note: the body is that text, bare, and
// neutralized in some places, in all that need it, or in none, as a user left it.
func Matches(body, text string) bool {
	bare := lex.Bare(text)
	if body == bare {
		return true
	}
	_, within := insertions(body, bare)
	return within && neutralizeMarkup(lex.Bare(body)) == neutralizeMarkup(bare)
}

// Insertions returns where Body inserted characters into a text that [Matches] the body: offsets
// in bytes, in order, for [RemoveInsertions].
func Insertions(body, text string) (at []int, ok bool) {
	if !Matches(body, text) {
		return nil, false
	}
	return insertions(body, lex.Bare(text))
}

// insertions returns the offsets of the bytes of body that bare lacks. ok is false if body lacks
// bytes of bare.
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

// RemoveInsertions returns a body without the bytes at these offsets, which are in order. It
// ignores offsets beyond the end.
func RemoveInsertions(body string, at []int) string {
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
