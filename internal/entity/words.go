package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// gap is what stands between a word and the one before it, by how much it parts them.
type gap uint8

const (
	joined gap = iota // nothing, as between two letters of a script without spaces
	space
	hyphen
	sign   // one of . _ / & ' + with no blank beside it
	loose  // a possessive, or a dash between blanks, as titles have them
	clause // a comma, a bracket and the like
	colon  // or an opening quotation mark: what follows may be a sentence of its own
	begins // a sentence, a line or the text
)

// shape is what the letters of a word look like.
type shape uint8

const (
	capital  shape = 1 << iota // the first letter is a capital
	acronym                    // API, APIs, EC2
	camel                      // TypeScript, getName
	digits                     // nothing but digits
	unspaced                   // one letter of a script that writes no spaces
	katakana                   // a run of them
)

// word is a run of letters and digits.
type word struct {
	start, end int // in the text, without a possessive
	from, to   int // in keys
	gap        gap
	shape      shape
	german     bool // in a line of German
	heading    bool // in a heading
	code       bool // in a line of a program
	listed     int  // how many words the longest listed name has that begins with this one, known once people looked
}

// scanned is a text cut into words, which markLines has yet to look at by the line.
// Keys holds them in lower case with a space
// between two that are not unspaced, so that a run of words is one substring of it.
type scanned struct {
	text  string
	keys  string
	words []word
}

func (s *scanned) key(i, j int) string { return s.keys[s.words[i].from:s.words[j-1].to] }

func scan(content string) *scanned {
	s := &scanned{text: content, words: make([]word, 0, len(content)/4)}
	var keys strings.Builder
	keys.Grow(len(content))
	last := 0 // where the word before ended, its possessive included
	ends := text.SentenceEnds(content)
	for at := 0; at < len(content); {
		end, sh := wordAt(content, at)
		if end == at {
			_, size := utf8.DecodeRuneInString(content[at:])
			at += size
			continue
		}
		w := word{start: at, end: withoutPossessive(content, at, end), shape: sh, gap: begins}
		if n := len(s.words); n > 0 {
			prev := s.words[n-1]
			if content[last:at] == "_" && folded(content[at:end]) == "s" {
				at, last = end, end // a possessive in the form that a memory stores
				continue
			}
			for ends[0] <= last && ends[0] < len(content) {
				ends = ends[1:]
			}
			w.gap = s.gapBetween(prev, last, at, last < ends[0] && ends[0] <= at)
			if w.gap != joined || prev.shape&w.shape&unspaced == 0 {
				keys.WriteByte(' ')
			}
		}
		w.from = keys.Len()
		keys.WriteString(folded(content[w.start:w.end]))
		w.to = keys.Len()
		s.words = append(s.words, w)
		at, last = end, end
	}
	s.keys = keys.String()
	return s
}

// folded returns lower case with a space for an apostrophe, which parts words in the form
// that a memory stores.
func folded(s string) string {
	if lowerEnd(s, 0) == len(s) {
		return s
	}
	s = strings.ToLower(s)
	if strings.ContainsFunc(s, isApostrophe) {
		s = strings.NewReplacer("'", " ", "’", " ").Replace(s)
	}
	return s
}

// wordAt returns where the word that begins at a byte of text ends, at itself if
// none does.
func wordAt(s string, at int) (end int, sh shape) {
	if end = lowerEnd(s, at); end > at && (end == len(s) || endsWord(s[end])) {
		return end, 0
	}
	first, size := utf8.DecodeRuneInString(s[at:])
	switch {
	case isKatakana(first) && unicode.IsLetter(first):
		return runEnd(s, at, isKatakana), katakana | unspaced
	case text.WritesNoSpaces(first):
		return at + size, unspaced
	case !text.IsWord(first) || unicode.IsMark(first):
		return at, 0
	}
	for end = at; end < len(s); {
		r, size := utf8.DecodeRuneInString(s[end:])
		if isApostrophe(r) && !elides(s[at:end]) {
			next, _ := utf8.DecodeRuneInString(s[end+size:])
			if !unicode.IsLetter(next) || text.WritesNoSpaces(next) {
				break
			}
		} else if !text.IsWord(r) || text.WritesNoSpaces(r) || isKatakana(r) {
			break
		}
		end += size
	}
	return end, shapeOf(s[at:end])
}

// lowerEnd returns where the run of small ASCII letters ends that begins at a byte of s, which may be empty.
func lowerEnd(s string, at int) int {
	for at < len(s) && 'a' <= s[at] && s[at] <= 'z' {
		at++
	}
	return at
}

// endsWord reports whether a byte is an ASCII character that no word has.
func endsWord(c byte) bool {
	return c < utf8.RuneSelf && c != '\'' && !text.IsWord(rune(c))
}

// elides tells the articles and pronouns that French writes onto the next word. They
// belong to no name.
func elides(s string) bool {
	if len(s) > 2 {
		return false
	}
	switch strings.ToLower(s) {
	case "c", "d", "j", "l", "m", "n", "qu", "s", "t":
		return true
	}
	return false
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func isKatakana(r rune) bool {
	return r >= 0x3000 && (unicode.Is(unicode.Katakana, r) || r == 'ー' || r == '・')
}

func runEnd(text string, at int, in func(rune) bool) int {
	n := strings.IndexFunc(text[at:], func(r rune) bool { return !in(r) })
	if n < 0 {
		return len(text)
	}
	return at + n
}

// withoutPossessive cuts the 's of "Alice's".
func withoutPossessive(text string, start, end int) int {
	for _, s := range []string{"'s", "’s", "'S", "’S"} {
		if cut := end - len(s); cut > start && text[cut:end] == s {
			return cut
		}
	}
	return end
}

// shapeOf looks at the letters of one word.
func shapeOf(s string) shape {
	var upper, lower, number, humps int
	var sh shape
	var before rune
	for i, r := range s {
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			upper++
			if unicode.IsLower(before) {
				humps++
			}
			if i == 0 {
				sh |= capital
			}
		case unicode.IsDigit(r):
			number++
		case unicode.IsLower(r):
			lower++
		}
		before = r
	}
	plural := lower == 1 && before == 's' && upper > 1
	switch {
	case upper+lower+number > shortest && (humps > 0 || upper > 1 && lower > 1 && startsUpper(s, 2)):
		sh |= camel
	case sh&capital != 0 && upper+number > 1 && upper <= maxAcronym &&
		(lower == 0 || plural || upper > 1 && upper+lower+number <= shortest):
		sh |= acronym
	case number > 0 && upper+lower == 0:
		sh |= digits
	}
	return sh
}

// maxAcronym is how many letters an acronym has at most; longer words in capitals
// are loud more often than they are names.
const maxAcronym = 6

// shortest is how many letters are too few for camel case: PhD and IoT are acronyms.
const shortest = 3

// startsUpper reports whether the first n letters are capitals, as in JSONLines.
func startsUpper(s string, n int) bool {
	for _, r := range s {
		if n--; !unicode.IsUpper(r) {
			return false
		} else if n == 0 {
			return true
		}
	}
	return false
}

// gapBetween classifies text[last:at], which has no letter but can have a mark. The
// sentence of prev ends there if ends is set.
func (s *scanned) gapBetween(prev word, last, at int, ends bool) gap {
	g := s.text[last:at]
	switch {
	case prev.end != last:
		return max(loose, partedBy(g, ends))
	case g == " ": // as most are
		return space
	case g == "":
		return joined
	case g == "-" || g == "‐" || g == "‑":
		return hyphen
	case len(g) == 1 && strings.Contains("._/&'+", g):
		return sign
	}
	return partedBy(g, ends)
}

// partedBy classifies what is between two words by the strongest sign in it. The full stop
// of an abbreviation parts nothing.
func partedBy(g string, ends bool) gap {
	switch {
	case ends, strings.ContainsAny(g, "\n\r\u2028\u2029"):
		return begins
	case g == " - " || g == " – ":
		return loose
	}
	widest := space
	for i, r := range g {
		switch {
		case i == 0 && r == '.' && strings.ContainsFunc(g, unicode.IsSpace):
		case strings.ContainsRune(":：\"“„«‹「『", r):
			widest = colon
		case !unicode.IsSpace(r):
			widest = max(widest, clause)
		}
	}
	return widest
}

// markLines tells the words of each line whether it is German or a heading. A line
// that shows no language speaks that of the line before.
func (s *scanned) markLines() {
	german, fenced := false, false
	for i := 0; i < len(s.words); {
		from := s.words[i].start
		end := len(s.text)
		if n := strings.IndexByte(s.text[from:], '\n'); n >= 0 {
			end = from + n
		}
		begin := 1 + strings.LastIndexByte(s.text[:from], '\n')
		heading := strings.HasPrefix(s.text[begin:from], "#") && strings.Contains(s.text[begin:from], " ")
		bold := s.bold(begin, from, end)
		if i > 0 && strings.Count(s.text[s.words[i-1].end:begin], "```")%2 == 1 {
			fenced = !fenced
		}
		if strings.Contains(s.text[begin:from], "```") {
			fenced = !fenced
		}
		line := strings.TrimRightFunc(s.text[from:end], unicode.IsSpace)
		program := fenced || strings.HasSuffix(line, ";") || strings.HasSuffix(line, "{")
		j, de, en := i, 0, 0
		for ; j < len(s.words) && s.words[j].start < end; j++ {
			switch lists().markers[s.key(j, j+1)] {
			case "de":
				de++
			case "en":
				en++
			}
		}
		if de != en {
			german = de > en
		}
		for ; i < j; i++ {
			s.words[i].code = program
			s.words[i].german, s.words[i].heading = german, heading || s.words[i].start < bold
		}
	}
}

// bold returns where the bold words end that begin a line and head it, as in "- **Next Steps:** …".
func (s *scanned) bold(begin, from, end int) int {
	if !strings.Contains(s.text[begin:from], "**") {
		return 0
	}
	n := strings.Index(s.text[from:end], "**")
	if n < 0 {
		return 0
	}
	head, rest := strings.TrimRight(s.text[from:from+n], " "), strings.TrimLeft(s.text[from+n+2:end], " ")
	if rest == "" || strings.HasSuffix(head, ":") || strings.HasPrefix(rest, ":") {
		return from + n
	}
	return 0
}
