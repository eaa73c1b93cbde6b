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
	is          func(s string) bool
}

// pairs returns the marks around names, in the order in which they are tried.
func pairs() []pair {
	return []pair{
		{"[[", "]]", func(string) bool { return true }},
		{"`", "`", isToken},
		{"「", "」", isTitle}, {"『", "』", isTitle}, {"《", "》", isTitle},
		{"“", "”", isQuotedName}, {"„", "“", isQuotedName}, {"„", "”", isQuotedName},
		{"«", "»", isQuotedName}, {"»", "«", isQuotedName}, {"\"", "\"", isQuotedName},
	}
}

// markedNames finds what the text itself sets off as a name.
func (f *finder) markedNames() {
	all := pairs()
	for at := 0; at < len(f.text); {
		n := strings.IndexAny(f.text[at:], "[`「『《“„«»\"")
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
					f.add(at, end, marked, linkTarget(p, name))
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
	inside, _, ok := strings.Cut(rest[:min(len(rest), 4*maxMarked)], p.close)
	if !ok || inside == "" || strings.Contains(inside, "\n") || utf8.RuneCountInString(inside) > maxMarked {
		return "", false
	}
	return inside, true
}

// linkTarget returns the note that a wikilink names, and other names as they are.
func linkTarget(p pair, name string) string {
	if p.open != "[[" {
		return name
	}
	name, _, _ = strings.Cut(name, "|")
	name, _, _ = strings.Cut(name, "#")
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.TrimSuffix(name, ".md")
}

// isToken tells one identifier or command from a piece of code.
func isToken(s string) bool {
	return !strings.ContainsFunc(s,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(){}=<>;$\"'|", r) }) &&
		strings.ContainsFunc(s, unicode.IsLetter)
}

// isTitle is for brackets that quote speech as well.
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
		case w.shape&(capital|camel|unspaced|digits) != 0 && (len(inner.words) > 1 || !lists().openers[key]):
			capitals++
		}
	}
	return capitals > 0 && capitals+function == len(inner.words)
}
