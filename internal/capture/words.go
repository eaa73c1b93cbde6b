package capture

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

//go:embed words/*.txt
var files embed.FS

// words returns the tables of all languages: phrases by the name of their list.
var words = sync.OnceValue(func() map[string][]phrase {
	all := map[string][]phrase{}
	names, err := fs.Glob(files, "words/*.txt")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		file, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		for list, line := range text.Lists(string(file)) {
			for p := range strings.SplitSeq(line, "|") {
				all[list] = append(all[list], phraseOf(strings.TrimSpace(p)))
			}
		}
	}
	return all
})

// phrase is one entry of a table.
type phrase struct {
	parts []string // found one behind the other
	first bool     // at the beginning of the sentence
	exact bool     // in the case that it is written in
}

func phraseOf(s string) phrase {
	rest, first := strings.CutPrefix(s, "^")
	return phrase{parts: strings.Split(rest, " .. "), first: first, exact: strings.ToLower(rest) != rest}
}

// sentence is a sentence in the forms that it is compared in.
type sentence struct{ text, lower string }

func sentenceOf(s string) sentence {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "’", "'")), " ")
	lower := strings.ToLower(s)
	return sentence{text: s, lower: bare().ReplaceAllStringFunc(lower, apostrophed)}
}

// bare are contractions without their apostrophe, as people type them.
var bare = text.Pattern(`\b(do|does|did|ca|wo|is|are|was|should|must|could|would|have|has)nt\b|\b(that|what|there)s\b|\bim\b|\bive\b`)

func apostrophed(s string) string {
	switch n := len(s); {
	case s == "im" || s == "ive":
		return "i'" + s[1:]
	case s[n-1] == 's':
		return s[:n-1] + "'s"
	default:
		return s[:n-1] + "'t"
	}
}

// says returns the end of the first phrase of a list that the sentence has.
func (s sentence) says(list string) (end int, ok bool) {
	for _, p := range words()[list] {
		if end, ok = s.has(p); ok {
			return end, true
		}
	}
	return 0, false
}

func (s sentence) is(list string) bool {
	_, ok := s.says(list)
	return ok
}

// begins reports whether the sentence begins with a phrase of a list.
func (s sentence) begins(list string) bool {
	for _, p := range words()[list] {
		p.first = true
		if _, ok := s.has(p); ok {
			return true
		}
	}
	return false
}

func (s sentence) has(p phrase) (end int, ok bool) {
	in := s.lower
	if p.exact {
		in = s.text
	}
	for i, part := range p.parts {
		at := find(in, part, end, p.first && i == 0)
		if at < 0 {
			return 0, false
		}
		end = at + len(part)
	}
	return end, true
}

// find returns where a part stands between borders of words behind an offset, or -1.
func find(s, part string, from int, first bool) int {
	if part == "" {
		return -1
	}
	for at := from; ; at++ {
		n := strings.Index(s[at:], part)
		if n < 0 || first && at+n > 0 {
			return -1
		}
		at += n
		if border(s, at, part) {
			return at
		}
		if first {
			return -1
		}
	}
}

// border reports whether part, which stands in s at an offset, is no piece of a longer word.
func border(s string, at int, part string) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at+len(part):])
	head, _ := utf8.DecodeRuneInString(part)
	tail, _ := utf8.DecodeLastRuneInString(part)
	return !joins(before, head) && !joins(tail, after)
}

// joins reports whether two letters in a row belong to one word.
func joins(a, b rune) bool {
	return isLetter(a) && isLetter(b) && !text.WritesNoSpaces(a) && !text.WritesNoSpaces(b)
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '\'' }

// exact is what names one thing: an address, a path, a host with a port, a version, a date.
var exact = text.Pattern(`https?://\S|[a-z0-9_]+://\S|[\w.-]+:\d{2,5}\b|(^|\s)[~.]?/[\w.-]+/[\w./-]+` +
	`|\b[\w-]+/[\w./-]+\.\w+|\b[\w-]+\.(go|py|rs|kt|ts|tsx|js|java|ya?ml|toml|json|sql|tf|sh|md|xml|ron|c|h|cpp)\b(:\d+)?` +
	`|\bv?\d+\.\d+(\.\d+)+\b|\b\d{4}-\d{2}-\d{2}\b|\b[\w-]+(\.[\w-]+)+\.(internal|local|corp|com|net|org|io|dev|example)\b` +
	`|\b[\w-]+\.(internal|local|corp)\b|\b\d+/\d+ \* \* |(^|\s)#[a-z][\w-]{3,}`)

// number is a number with what it counts, a version behind a name, or a day of a month.
var number = text.Pattern(`\d`)
