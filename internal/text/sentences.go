package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sentences returns the sentences of s without the white space around them.
//
// A sentence ends with a mark of its script. A full stop is one only if white space follows
// it and no abbreviation, initial or ordinal number stands before it. The marks of scripts
// that write no spaces end a sentence anywhere. Closing quotes and brackets belong to the
// sentence. A blank line ends a sentence, and so does a line break before a list item, a
// heading, a quote or a table row, and a line break behind a short line. The line break of a
// wrapped paragraph does not.
func Sentences(s string) []string {
	var out []string
	for piece := range SplitSentences(s) {
		if piece = strings.TrimSpace(piece); piece != "" {
			out = append(out, piece)
		}
	}
	return out
}

// SplitSentences yields the sentences of s, each with the white space behind it. The pieces
// add up to s, and no piece ends within a grapheme cluster.
func SplitSentences(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			n := sentenceEnd(s)
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

// SentenceEnds returns the offsets at which the pieces of [SplitSentences] end.
func SentenceEnds(s string) []int {
	var ends []int
	at := 0
	for piece := range SplitSentences(s) {
		at += len(piece)
		ends = append(ends, at)
	}
	return ends
}

// EndsSentence reports whether s ends with a mark that can end a sentence.
func EndsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, IsCloser))
	return isTerminator(r)
}

// sentenceEnd returns the length of the first sentence of s and the white space behind it.
func sentenceEnd(s string) int {
	line := 0 // where the line starts
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && c != '\n' && c != '.' && c != '!' && c != '?' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		end, next := i+size, 0
		switch {
		case isLineBreak(r):
			next = end + spaceLen(s[end:])
			if strings.TrimSpace(s[:i]) != "" && breaksSentence(s[line:i], s[i:next], s[next:]) && isBoundary(s, next) {
				return next
			}
			end, line = next, next
		case isTerminator(r):
			end = afterMarks(s, i)
			next = end + spaceLen(s[end:])
			if endsSentence(s[:i], s[i:end], s[end:next], s[next:]) && isBoundary(s, next) {
				return next
			}
		}
		i = end
	}
	return len(s)
}

// isBoundary reports whether a grapheme cluster starts at offset at of s.
func isBoundary(s string, at int) bool {
	if at == len(s) || s[at] < utf8.RuneSelf {
		return true
	}
	_, size := utf8.DecodeLastRuneInString(s[:at])
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s[at-size:], -1)
	return len(cluster) == size
}

// isTerminator reports whether r can end a sentence.
func isTerminator(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '.' || r == '!' || r == '?'
	case r == '…', r == tibetanShad:
		return true
	}
	return unicode.Is(unicode.Sentence_Terminal, r)
}

const tibetanShad = '།' // which Unicode leaves out, since it ends phrases too

// endsAnywhere reports whether a terminator ends a sentence without white space behind it.
func endsAnywhere(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '‼', '‽', '⁇', '⁈', '⁉':
		return false
	}
	return true
}

// afterMarks returns the end of the terminators and closing marks that start at offset i.
func afterMarks(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isTerminator(r) && !IsCloser(r) && r != variationSelector {
			return i + spacedQuote(s[i:])
		}
		i += size
	}
	return i
}

// spacedQuote returns the length of the closing quote of French that s starts with, and of
// the space before it. In German the same mark opens a quote if a letter follows it.
func spacedQuote(s string) int {
	rest, found := strings.CutPrefix(strings.TrimLeft(s, " \u00a0\u202f"), "»")
	if next, _ := utf8.DecodeRuneInString(rest); !found || unicode.IsLetter(next) || unicode.IsNumber(next) {
		return 0
	}
	return len(s) - len(rest)
}

const variationSelector = 0xfe0f // shows ‼ as an emoji

// IsCloser reports whether r closes a quote or a bracket.
func IsCloser(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf)
}

func isOpener(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Ps, unicode.Pi)
}

// endsSentence reports whether marks end the sentence that starts with before. The white
// space gap and the text after follow the marks.
func endsSentence(before, marks, gap, after string) bool {
	first, size := utf8.DecodeRuneInString(marks)
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, isOpener))
	switch {
	case first == '．' && isDigitAround(before, after):
		return false
	case endsAnywhere(first), after == "":
		return true
	case gap == "":
		return IsWide(next) && first != '.'
	}
	last, _ := utf8.DecodeLastRuneInString(marks)
	quoted := len(marks) > size && IsCloser(last)
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

func isDigitAround(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.IsDigit(last) && unicode.IsDigit(next)
}

// stops reports whether a single full stop between before and after ends a sentence. The
// rune next is the first of after that is no opening mark.
func stops(before, after string, next rune) bool {
	word := strings.TrimLeftFunc(before[strings.LastIndexFunc(before, unicode.IsSpace)+1:], isOpener)
	lower := strings.ToLower(word)
	switch {
	case abbreviations[lower], numbered[lower] && unicode.IsDigit(next):
		return false
	case closing[lower]:
		return unicode.IsUpper(next)
	case isDotted(lower), isInitial(word):
		return false
	case isOrdinal(word):
		return !startsLine(before, word) && !startsWithMonth(after) && !unicode.IsLower(next)
	}
	return !unicode.IsLower(next) || utf8.RuneCountInString(word) > 3
}

// startsLine reports whether word, which ends before, is the first on its line.
func startsLine(before, word string) bool {
	lead := strings.TrimRight(before[:len(before)-len(word)], " \t")
	return lead == "" || lead[len(lead)-1] == '\n'
}

// isDotted reports whether word is letters with full stops between them, as e.g and U.S are.
func isDotted(word string) bool {
	letters := 0
	dotted := false
	for _, r := range word {
		if letters++; r == '.' {
			dotted, letters = true, 0
		}
		if letters > 2 || unicode.IsDigit(r) {
			return false
		}
	}
	return dotted
}

// isInitial reports whether word is a single capital letter, as in J. R. R. Tolkien. The
// word I is not one.
func isInitial(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.IsUpper(r) && r != 'I'
}

// isOrdinal reports whether word is a number that can be a day or the number of an item.
func isOrdinal(word string) bool {
	return word != "" && len(word) <= 3 && strings.Trim(word, "0123456789") == ""
}

// startsWithMonth reports whether s starts with the name of a month, as it does after the
// ordinal number of a day.
func startsWithMonth(s string) bool {
	s = s[:min(len(s), 24)]
	if end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		s = s[:end]
	}
	return months[strings.ToLower(s)]
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\u2028' || r == '\u2029' }

func spaceLen(s string) int { return len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)) }

// maxShortLine is the length in bytes below which a line that ends without a mark is
// complete. A longer line can be part of a wrapped paragraph.
const maxShortLine = 50

// breaksSentence reports whether the white space gap, which contains a line break, ends the
// sentence between line and next.
func breaksSentence(line, gap, next string) bool {
	if strings.Count(gap, "\n") > 1 || strings.Contains(gap, "\u2029") || startsBlock(next) {
		return true
	}
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "|") || strings.HasPrefix(strings.TrimLeft(line, "#"), " ") { // a row or a heading
		return true
	}
	first, _ := utf8.DecodeRuneInString(next)
	return len(line) < maxShortLine && !unicode.IsLower(first)
}

// startsBlock reports whether a line starts with a mark of Markdown for a list item, a
// heading, a quote, a table row or a fence.
func startsBlock(line string) bool {
	if line == "" {
		return false
	}
	mark := strings.IndexFunc(line, unicode.IsSpace)
	if mark < 0 {
		mark = len(line)
	}
	switch c := line[0]; {
	case c == '>', c == '|', strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		return true
	case c == '-', c == '*', c == '+', strings.HasPrefix(line, "•"):
		return mark == 1 || strings.HasPrefix(line, "•")
	case c == '#':
		return strings.Trim(line[:mark], "#") == ""
	}
	number := strings.TrimRight(line[:mark], ".)")
	return len(number) == mark-1 && number != "" && len(number) <= 9 && strings.Trim(number, "0123456789") == ""
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// abbreviations have a full stop that does not end a sentence, since something follows
// them: titles, references, units. English, German, French, Spanish, Italian, Dutch.
var abbreviations = setOf(`
adm al approx ave blvd brig bros ca capt cdr cf cfr chap cmdr col comdr cpt dept dr ed eds eg esp est exp feb fr ft gen
gov hon ibid ie incl jan jul jun lt maj messrs misc mr mrs ms msgr mt mts mx oct pres prof pt ref refs rep rev sen
sep sept sgt sr st ste tel temp univ viz vs
abb abs abt allg anm aufl ausg bspw bzgl bzw dipl evtl ext frl geb ggf ggfs hr hrn hrsg inkl insb jh kap mio mrd nr
str std tägl ungef vgl vllt zzgl
av boul mgr mlle mlles mme mmes qqch qqn suiv
admón atte avda dña drª excmo gral ilmo lic pág págs prov sra sras srta
avv dott dssa ecc egr gent sigg spett
bijv blz dhr drs hfst jl mej mevr nl resp
`)

// numbered are abbreviations before a number, and words or names before anything else.
var numbered = setOf(`apr art aug bd ch col ex fig figs mar max min no nos nov dec p par pp sec secs sp sq vol vols`)

// closing are abbreviations that often are the last word of a sentence.
var closing = setOf(`a.m p.m etc inc ltd co corp jr usw usf u.a o.ä enz dgl`)

// months follow ordinal numbers that are written with a full stop. English writes those
// seldom, but its speakers in other countries do.
var months = setOf(`
january february march may june july october december
januar jänner februar feber märz april mai juni juli august september oktober november dezember
jan feb mär apr jun jul aug sep sept okt nov dez januari februari maart mei augustus oktober december januar marts maj
`)
