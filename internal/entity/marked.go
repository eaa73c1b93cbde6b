package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarked is how long a name between marks may be, in characters.
const maxMarked = 60

// pair is a way to set a name off.
type pair struct {
	open, close string
	kind        Kind // of a name in these marks
	is          func(s string) bool
}

// pairs returns the marks around names, in the order in which they are tried.
func pairs() []pair {
	return []pair{
		{"[[", "]]", Other, func(string) bool { return true }},
		{"`", "`", Product, func(string) bool { return true }},
		{"《", "》", Product, isTitle},
		{"“", "”", Product, isQuotedName}, {"„", "“", Product, isQuotedName}, {"„", "”", Product, isQuotedName},
		{"«", "»", Product, isQuotedName}, {"»", "«", Product, isQuotedName},
		{"\"", "\"", Product, isQuotedName}, {"'", "'", Product, isQuotedName},
	}
}

// markedNames finds what the text itself sets off as a name.
func (f *finder) markedNames() {
	all := pairs()
	for at := 0; at < len(f.text); {
		n := strings.IndexAny(f.text[at:], "[`《“„«»\"'")
		if n < 0 {
			return
		}
		at += n
		_, size := utf8.DecodeRuneInString(f.text[at:])
		next := at + size
		for _, p := range all {
			if name, ok := p.at(f.text, at); ok {
				end := at + len(p.open) + len(name) + len(p.close)
				if p.is(name) {
					f.add(at, end, marked, p.kind, p.names(name))
				}
				next = end
				break
			}
		}
		at = next
	}
}

// at returns what stands between the marks of p that open at a byte of text, if
// they close soon and in the same line.
func (p pair) at(text string, at int) (string, bool) {
	rest, ok := strings.CutPrefix(text[at:], p.open)
	if !ok {
		return "", false
	}
	inside, after, ok := strings.Cut(rest[:min(len(rest), 4*maxMarked)], p.close)
	if p.open == "'" && ok && (!parts(lastRune(text[:at])) || !parts(firstRune(after))) {
		return "", false // an apostrophe
	}
	if !ok || inside == "" || strings.Contains(inside, "\n") || utf8.RuneCountInString(inside) > maxMarked {
		return "", false
	}
	return inside, true
}

// parts reports whether a character beside a quotation mark belongs to no word.
func parts(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// names returns what the marks name: the note that a wikilink leads to, a product in code or
// nothing, and other names as they are.
func (p pair) names(name string) string {
	switch p.open {
	case "`":
		if e, ok := lists().names[Key(name)]; ok && e.kind == Product || isUpperCamel(name) {
			return name
		}
		return ""
	case "[[":
		name, _, _ = strings.Cut(name, "|")
		name, _, _ = strings.Cut(name, "#")
		name = name[strings.LastIndexByte(name, '/')+1:]
		return strings.TrimSuffix(name, ".md")
	}
	return name
}

// isUpperCamel reports a word such as ImageOptim.
func isUpperCamel(s string) bool {
	sh := shapeOf(s)
	return sh&capital != 0 && sh&camel != 0 &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isTitle is for brackets of titles, in which a whole sentence may stand.
func isTitle(s string) bool {
	return utf8.RuneCountInString(s) <= 20 && !strings.ContainsAny(s, "。！？、，.!?")
}

// isQuotedName is for marks that mostly quote speech: a name has few words, begins
// with a capital and is not a sentence.
func isQuotedName(s string) bool {
	s = strings.TrimRight(s, ",.")
	inner := scan(s)
	if len(inner.words) == 0 || len(inner.words) > maxRun || strings.ContainsAny(s, "!?;:…") ||
		strings.Contains(s, ". ") {
		return false
	}
	capitals, function := 0, 0
	for i, w := range inner.words {
		key := inner.key(i, i+1)
		switch {
		case lists().function[key]:
			function++
		case w.shape&unspaced != 0:
			return false
		case w.shape&(capital|camel|digits) != 0 &&
			(len(inner.words) > 1 || !lists().openers[key] && !lists().common[key]):
			capitals++
		}
	}
	return capitals > 0 && capitals+function == len(inner.words)
}
