package entity

import (
	"slices"
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
	quotes      bool // speech too
}

// pairs returns the marks around names, in the order in which they are tried.
func pairs() []pair {
	return []pair{
		{"[[", "]]", Other, func(string) bool { return true }, false},
		{"`", "`", Product, func(string) bool { return true }, false},
		{"《", "》", Product, isTitle, false},
		{"“", "”", Product, isQuotedName, true}, {"„", "“", Product, isQuotedName, true},
		{"„", "”", Product, isQuotedName, true},
		{"«", "»", Product, isQuotedName, true}, {"»", "«", Product, isQuotedName, true},
		{"\"", "\"", Product, isQuotedName, true}, {"'", "'", Product, isQuotedName, true},
	}
}

// markedNames finds what the text itself sets off as a name.
func (f *finder) markedNames() {
	all := pairs()
	for at := 0; at < len(f.text); {
		n := strings.IndexFunc(f.text[at:], opensName)
		if n < 0 {
			return
		}
		at += n
		_, size := utf8.DecodeRuneInString(f.text[at:])
		next := at + size
		for _, p := range all {
			if name, ok := p.at(f.text, at); ok {
				end := at + len(p.open) + len(name) + len(p.close)
				f.addMarked(at, end, &p, name)
				next = end
				break
			}
		}
		at = next
	}
}

// opensName reports a character that a pair of marks begins with.
func opensName(r rune) bool {
	switch r {
	case '[', '`', '《', '“', '„', '«', '»', '"', '\'':
		return true
	}
	return false
}

// addMarked adds the name that stands between the marks of p, if it is one.
func (f *finder) addMarked(start, end int, p *pair, name string) {
	switch {
	case p.open == "[[" && !f.isLinked(target(name)), p.quotes && f.isLabel(start, end):
		f.head(start, end)
	case p.is(name), p.quotes && f.isWork(start, end, name):
		f.add(start, end, marked, p.kind, p.names(name))
	}
}

// isLinked reports whether a link leads to a name: one that is known, or capitalised words
// that are not all everyday ones. Other notes are named by what they say.
func (f *finder) isLinked(to string) bool {
	if f.Known != nil {
		if _, ok := f.Known(Key(to)); ok {
			return true
		}
	}
	inner := scan(to)
	return isQuotedName(to) && !inner.allCommon(0, len(inner.words))
}

// head marks the words of a stretch of text as those of a heading.
func (s *scanned) head(start, end int) {
	for i := s.firstFrom(start); i < len(s.words) && s.words[i].end <= end; i++ {
		s.words[i].heading = true
	}
}

// isLabel reports whether a quotation is what a program shows: the words beside it say so, as in
// the "Save As" button.
func (s *scanned) isLabel(start, end int) bool {
	before, after := s.beside(start, end)
	return lists().labels.Has(after) || among(before, "click press select tap choose hit klicke wähle drücke") ||
		startsWithAny(s.text[end:], chineseLabels)
}

// isWork reports whether a quotation of capitalised words is the title of a work, as behind "the song" or a
// possessive, or in front of "by Ada".
func (s *scanned) isWork(start, end int, name string) bool {
	inner := scan(withoutSubtitle(strings.TrimRight(name, ",.")))
	if inner.titled() == 0 {
		return false
	}
	before, after := s.beside(start, end)
	if among(before, "book novel song movie film series show album game track poem play painting podcast documentary "+
		"buch roman lied serie spiel gemälde") {
		return true
	}
	i := s.firstFrom(end)
	if after == "by" && i+1 < len(s.words) && s.words[i+1].gap == space && s.words[i+1].shape&capital != 0 {
		return !s.everyday(i + 1)
	}
	i = s.firstFrom(start) - 1
	if i < 0 || s.words[i].shape&capital == 0 {
		return false
	}
	return among(s.text[s.words[i].end:max(start-1, s.words[i].end)], "'s ’s")
}

// beside returns the keys of the words before and behind a quotation, "" where there is more than a blank between.
func (s *scanned) beside(start, end int) (before, after string) {
	if i := s.firstFrom(start) - 1; i >= 0 && s.words[i].end == start-1 && s.text[start-1] == ' ' {
		before = s.key(i, i+1)
	}
	if i := s.firstFrom(end); i < len(s.words) && s.text[end:s.words[i].start] == " " {
		after = s.key(i, i+1)
	}
	return before, after
}

// firstFrom returns the first word that begins at a byte of the text or later.
func (s *scanned) firstFrom(at int) int {
	i, _ := slices.BinarySearchFunc(s.words, at, func(w word, at int) int { return w.start - at })
	return i
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
func parts(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

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
		if e, ok := lists().name(Key(name)); ok && e.kind == Product {
			return name
		}
		return ""
	case "[[":
		return target(name)
	}
	return name
}

// target returns the name of the note that a link leads to.
func target(link string) string {
	link, _, _ = strings.Cut(link, "|")
	link, _, _ = strings.Cut(link, "#")
	return strings.TrimSuffix(link[strings.LastIndexByte(link, '/')+1:], ".md")
}

// isTitle is for brackets of titles, in which a whole sentence may stand.
func isTitle(s string) bool {
	return utf8.RuneCountInString(s) <= 20 && !strings.ContainsAny(s, "。！？、，.!?")
}

// isQuotedName is for marks that mostly quote speech: a name has few words, begins with a capital and is not a
// sentence. One everyday word that begins with its only capital is none.
func isQuotedName(s string) bool {
	f := scan(withoutSubtitle(strings.TrimRight(s, ",.")))
	n := f.titled()
	return n > 1 || n == 1 && (f.words[0].shape&capital == 0 || lists().function.Has(f.key(0, 1)) ||
		!f.isCommon(0) && !f.everyday(0))
}

// titled returns how many words a title has but function words, 0 if it is none.
func (s *scanned) titled() (n int) {
	if len(s.words) > maxRun || strings.ContainsAny(s.text, "!?;:…") || strings.Contains(s.text, ". ") {
		return 0
	}
	for i, w := range s.words {
		switch {
		case lists().function.Has(s.key(i, i+1)):
		case w.shape&unspaced != 0 || w.shape&(capital|camel|digits) == 0:
			return 0
		default:
			n++
		}
	}
	return n
}

// withoutSubtitle joins the two parts of a title such as "The Long Valley: Nightfall". A single everyday word in front
// of a colon says what follows.
func withoutSubtitle(s string) string {
	title, sub, ok := strings.Cut(s, ": ")
	if !ok {
		return s
	}
	first := scan(title)
	if len(first.words) == 0 || len(first.words) == 1 && (first.isCommon(0) || first.everyday(0)) {
		return s
	}
	return title + " " + sub
}
