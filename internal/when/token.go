package when

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a piece of text between spaces, without the punctuation around it.
type token struct {
	text       string // in lower case
	start, end int
	capital    bool
	stop       bool // a clause ends behind it
	number     int  // up to four digits, -1 for none
	ordinal    bool // as in 3rd, 3. and 1er
}

const (
	opening = "([{\"'“„«‘*_¿¡"
	closing = ")]}\"'”“»’*_.,;:!?…"
)

// tokens takes a text apart at spaces, and a field without spaces at elided articles and
// at the dash of a range.
func tokens(text string) []token {
	var all []token
	at := 0
	for field := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], field)
		for end := at + len(field); at < end; {
			size := pieceOf(text[at:end])
			if t := tokenOf(text, at, at+size); t.start < t.end {
				all = append(all, t)
			} else if len(all) > 0 {
				all[len(all)-1].stop = true // it is nothing but punctuation
			}
			at += size
		}
	}
	return all
}

// pieceOf is the length of the first piece of a field.
func pieceOf(field string) int {
	const maxLen = 40 // of ranges and of what an article is elided from
	if len(field) > maxLen {
		return len(field)
	}
	for i, r := range field {
		size := utf8.RuneLen(r)
		switch {
		case r == '–' || r == '—' || r == '-' && ranges(field, i):
			if i == 0 {
				return size
			}
			return i
		case (r == '\'' || r == '’') && elided()[strings.ToLower(strings.TrimLeft(field[:i], opening))]:
			return i + size
		}
	}
	return len(field)
}

// ranges reports whether the hyphen at i stands between two months or two years.
func ranges(field string, i int) bool {
	a := strings.ToLower(strings.TrimLeft(field[:i], opening))
	b := strings.ToLower(strings.TrimRight(field[i+1:], closing))
	if _, month := months()[b]; month {
		_, also := months()[a]
		return a == "" || also || a == "mid"
	}
	return len(b) == 4 && numberOf(b) >= 0 && (a == "" || len(a) == 4 && numberOf(a) >= 0)
}

// tokenOf is the token of a piece of text, empty if that is punctuation.
func tokenOf(text string, start, end int) token {
	piece := text[start:end]
	inner := strings.TrimLeft(piece, opening)
	start += len(piece) - len(inner)
	inner = strings.TrimRight(inner, closing)
	behind := text[start+len(inner) : end]
	for _, s := range []string{"'s", "’s"} {
		inner = strings.TrimSuffix(inner, s)
	}
	first, _ := utf8.DecodeRuneInString(inner)
	t := token{text: strings.ToLower(inner), start: start, end: start + len(inner), capital: unicode.IsUpper(first),
		stop: strings.ContainsAny(behind, ".;:!?…)]}"), number: -1}
	digits := strings.TrimRight(t.text, "abcdefghijklmnopqrstuvwxyz")
	switch suffix := t.text[len(digits):]; {
	case suffix == "":
		t.number = numberOf(digits)
		if behind == "." && t.number > 0 && t.number <= 31 {
			t.ordinal, t.stop = true, false
		}
	case ordinals()[suffix]:
		t.number = numberOf(digits)
		t.ordinal = t.number >= 0
	}
	return t
}

// numberOf is the number that up to four digits make, -1 for anything else.
func numberOf(digits string) int {
	if len(digits) == 0 || len(digits) > 4 || strings.Trim(digits, "0123456789") != "" {
		return -1
	}
	n, _ := strconv.Atoi(digits)
	return n
}
