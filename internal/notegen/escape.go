package notegen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/internal/text/invisible"
)

// says reports a character that is more than white space or a mark of Markdown.
func says(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.So) }

// inline shows a text within a line of Markdown: on one line, cut behind a word, without
// what is invisible, and with nothing in it that Obsidian, Dataview, Templater or emberd
// takes for more than text.
func inline(s string, max int) string {
	s = plain(text.FirstBytes(s, 16*max)) // what is far behind it is not looked at
	if first := text.FirstWords(s, max); len(first) < len(s) {
		s = first + "…"
	}
	return escape(s)
}

// plain has single blanks, and nothing that is hidden: a title has no room to show it.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.Map(private, invisible.Without(text))), " ")
}

// private leaves out characters that no font agrees on.
func private(r rune) rune {
	if unicode.Is(unicode.Co, r) {
		return -1
	}
	return r
}

// Where a number begins an ordered list, and what HTML takes for a character.
var (
	ordinal   = text.Pattern(`^\d{1,9}[.)]`)
	character = text.Pattern(`^&#?[A-Za-z0-9]{1,31};`)
)

// escape puts a backslash before each mark that would be more than a letter where it
// stands. Others stay as they are, for the note is read in its source, too.
func escape(s string) string {
	var b strings.Builder
	first := strings.IndexFunc(s, func(r rune) bool { return r != ' ' })
	numbered := len(ordinal().FindString(s)) - 1
	for i := range len(s) {
		if s[i] < utf8.RuneSelf && (i == first && opens(s[i]) || i == numbered || active(s, i)) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// opens reports what at the beginning of a line makes a block of it.
func opens(c byte) bool { return strings.IndexByte(">-+:=.^", c) >= 0 }

// active reports a mark with a meaning within a line, given what stands beside it.
func active(s string, i int) bool {
	before, after := at(s, i-1), at(s, i+1)
	switch c := s[i]; c {
	case '\\', '`', '*', '[', ']', '<', '|', '#', '$', '~', '^':
		return true
	case '_':
		return !joined(s, i)
	case '!':
		return before == '<' || after == '['
	case '%', '=':
		return before == c || after == c || before == '<' || before == '`' || before == '$' || before == '{' || after == '>'
	case '&':
		return character().MatchString(s[i:])
	case ':':
		return before == ':' || after == ':' || strings.HasPrefix(s[i:], "://") || strings.HasSuffix(s[:i], "emberd") ||
			strings.HasSuffix(strings.ToLower(s[:i]), "mailto")
	case '.':
		return strings.HasSuffix(strings.ToLower(s[:i]), "www")
	case '@':
		return before != ' ' && after != ' '
	case '{':
		return before == '{'
	}
	return false
}

// joined reports letters or numbers on both sides of an underscore, which then marks nothing.
// A symbol counts as punctuation there: CommonMark 0.31, "Emphasis and strong emphasis".
func joined(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	return wordy(before) && wordy(after)
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// at returns the byte at a place, a blank beyond either end.
func at(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

// Inline shows a text of a memory within a line of Markdown: on one line, of at most so
// many characters, with nothing in it that Obsidian, its plugins or emberd take for more
// than text.
func Inline(text string, longest int) string { return inline(text, longest) }

// Title shows the first words of a text like [Inline].
func Title(text string, longest int) string { return inline(firstWords(text), longest) }

// Link returns the target of a wiki link to a note, ok if its path can stand in one.
func Link(note string) (target string, ok bool) { return wikilink(note) }
