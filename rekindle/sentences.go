package rekindle

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences cuts a line of text into its sentences, without the space around
// them: together they hold everything that is not space, in order.
//
// A sentence ends with one of the marks of its script. A full stop is one only
// when space follows it and neither an abbreviation, an initial nor an ordinal
// number stands before it; marks of scripts without spaces end a sentence
// wherever they stand. Closing quotes and brackets belong to it.
func Sentences(line string) []string {
	var out []string
	start := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !isTerminator(r) {
			i += size
			continue
		}
		end := afterMarks(line, i)
		if ends(line[start:i], line[i:end], line[end:]) {
			out = appendTrimmed(out, line[start:end])
			start = end
		}
		i = end
	}
	return appendTrimmed(out, line[start:])
}

func appendTrimmed(out []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		out = append(out, s)
	}
	return out
}

// isTerminator reports the marks that may end a sentence.
func isTerminator(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '‼', '⁇', '⁈', '⁉':
		return true
	}
	return endsAnywhere(r)
}

// endsAnywhere reports the marks that end a sentence with or without space: those
// of Chinese and Japanese, Devanagari, Arabic, Urdu, Armenian, Ethiopic, Burmese,
// Khmer and Tibetan.
func endsAnywhere(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '．', '।', '॥', '؟', '۔', '։', '።', '፧', '။', '។', '།':
		return true
	}
	return false
}

// afterMarks returns where the run of marks and closing quotes ends that begins at i.
func afterMarks(line string, i int) int {
	for i < len(line) {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !isTerminator(r) && !isCloser(r) {
			break
		}
		i += size
	}
	return i
}

func isCloser(r rune) bool {
	switch r {
	case '"', '\'', '”', '’', '»', '）', '」', '』', '】', '》':
		return true
	}
	return r == ')' || r == ']' || unicode.Is(unicode.Pf, r)
}

// ends reports whether the marks between before and after end a sentence.
func ends(before, marks, after string) bool {
	first := firstRune(marks)
	if endsAnywhere(first) {
		return true
	}
	if after == "" || !unicode.IsSpace(firstRune(after)) {
		return after == "" || isWide(firstRune(after)) && first != '.'
	}
	next := firstRune(strings.TrimLeftFunc(after, isOpening))
	quoted := len(marks) > utf8.RuneLen(first) && isCloser(lastRune(marks))
	switch {
	case first == '…', strings.HasPrefix(marks, ".."):
		return !unicode.IsLower(next)
	case first != '.':
		return !quoted || !unicode.IsLower(next)
	case quoted && unicode.IsLower(next):
		return false
	}
	return stops(before, after, next)
}

// stops reports whether a single full stop between before and after, which begins
// with the letter next, ends a sentence.
func stops(before, after string, next rune) bool {
	word := strings.TrimLeftFunc(before[strings.LastIndexFunc(before, unicode.IsSpace)+1:], isOpening)
	lower := strings.ToLower(word)
	first := word == strings.TrimSpace(before)
	switch {
	case abbreviations.has(lower), counted.has(lower) && unicode.IsDigit(next):
		return false
	case closers.has(lower):
		return unicode.IsUpper(next)
	case dotted(lower):
		return false
	case isInitial(word):
		return false
	case isNumber(word):
		return !first && !month(after) && !unicode.IsLower(next)
	}
	return !unicode.IsLower(next) || utf8.RuneCountInString(word) > 3
}

// dotted reports letters with full stops between them, as in e.g. and U.S.
func dotted(word string) bool {
	letters := strings.Split(word, ".")
	for _, l := range letters {
		if utf8.RuneCountInString(l) > 2 {
			return false
		}
	}
	return len(letters) > 1
}

// isInitial reports a single capital letter, as in J. R. R. Tolkien. The word I is
// none.
func isInitial(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.IsUpper(r) && r != 'I'
}

func isNumber(word string) bool {
	return word != "" && len(word) <= 3 && strings.Trim(word, "0123456789") == ""
}

// month reports whether a text begins with the name of a month as it stands after
// an ordinal number, which German and its neighbours write with a full stop.
func month(after string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return months.has(strings.ToLower(strings.Trim(word, ".,;:!?")))
}

func isOpening(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi) || r == '"' || r == '\''
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func startsLower(s string) bool { return unicode.IsLower(firstRune(s)) }

// endsSentence reports whether a line ends with a mark that may end a sentence.
func endsSentence(s string) bool {
	return isTerminator(lastRune(strings.TrimRightFunc(s, isCloser)))
}

// isWide reports the letters of scripts that are written without spaces, and their
// punctuation.
func isWide(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		0x3000 <= r && r <= 0x30FF || 0xFF00 <= r && r <= 0xFFEF)
}
