package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
)

// folded is a text in the form terms are compared in.
type folded struct {
	text []byte
	// at holds the source offset of every byte of text and of its end; nil means
	// that the offsets are the same.
	at   []int32
	room []int32 // of an earlier at
	// only are the first bytes of the words whose terms are asked for, nil for all.
	only *[256]bool
}

// source returns the span of the source that text[start:end] was folded from.
func (f *folded) source(start, end int) (from, to int) {
	if f.at == nil {
		return start, end
	}
	return int(f.at[start]), int(f.at[end])
}

// fold returns s in lower case, without accents and in one width. ASCII text keeps
// its offsets and costs one copy. Give what it returns to release.
func (a *Analyzer) fold(s string) *folded {
	f, _ := a.folds.Get().(*folded)
	if f == nil {
		f = new(folded)
	}
	f.text, f.at, f.only = append(f.text[:0], s...), nil, nil
	for i, c := range f.text {
		if c >= utf8.RuneSelf {
			a.foldFrom(f, s, i)
			return f
		}
		f.text[i] = lower(c)
	}
	return f
}

// maxKept bounds in bytes the room that waits for the next text.
const maxKept = 64 << 10

// release keeps the room of f for the next text; f must not be used any more.
func (a *Analyzer) release(f *folded) {
	if cap(f.text) <= maxKept {
		a.folds.Put(f)
	}
}

// lower is for ASCII.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// foldFrom folds s[i:], which begins with the first rune that is not ASCII, and
// starts keeping offsets.
func (a *Analyzer) foldFrom(f *folded, s string, i int) {
	f.text = f.text[:i]
	f.at = slices.Grow(f.room[:0], len(s)+8)[:i]
	for k := range f.at {
		f.at[k] = int32(k)
	}
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			f.text, f.at = append(f.text, lower(c)), append(f.at, int32(i))
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError, isPunctuation(r):
			f.add(i, ' ')
		case f.compose(r), isMark(r):
			// Now part of the rune before it, or dropped.
		default:
			a.foldRune(f, i, r)
		}
		i += n
	}
	f.at = append(f.at, int32(len(s)))
	f.room = f.at
}

// isPunctuation reports the commonest marks that end a word and are nothing else to
// the analysis, whose place a space can take: no-break space, guillemets, dashes,
// double quotes, bullet, ellipsis.
func isPunctuation(r rune) bool {
	switch r {
	case 0xA0, '«', '»', '–', '—', '“', '”', '„', '•', '…':
		return true
	}
	return false
}

// foldRune adds what the rune r at offset i folds to.
func (a *Analyzer) foldRune(f *folded, i int, r rune) {
	switch {
	case firstLatin <= r && r <= lastLatin:
		for _, p := range a.latin[r-firstLatin] {
			f.add(i, p)
		}
	case 0xFF01 <= r && r <= 0xFF5E: // full-width ASCII
		f.add(i, unicode.ToLower(r-0xFEE0))
	case 0xFF66 <= r && r <= 0xFF9D: // half-width katakana
		f.add(i, widened(r)...)
	case r == '’' || r == 'ʼ':
		f.add(i, '\'')
	case r == 0x3000: // ideographic space
		f.add(i, ' ')
	case unicode.Is(unicode.Latin, r):
		for _, p := range plain(r) {
			f.add(i, p)
		}
	default:
		f.add(i, bare(unicode.ToLower(r)))
	}
}

// The Latin letters with accents of most languages, looked up in a table: Latin-1,
// Latin Extended-A and B.
const firstLatin, lastLatin = 0xC0, 0x24F

// plain returns a Latin letter in lower case without its accent, which may be several
// letters, and anything else in lower case.
func plain(r rune) string {
	if !unicode.Is(unicode.Latin, r) {
		return string(bare(unicode.ToLower(r)))
	}
	return strings.Map(unicode.ToLower, string(asciifolding.New().Filter(utf8.AppendRune(nil, r))))
}

// add appends runes that all stand for the source rune at offset i.
func (f *folded) add(i int, runes ...rune) {
	for _, r := range runes {
		before := len(f.text)
		f.text = utf8.AppendRune(f.text, r)
		for range len(f.text) - before {
			f.at = append(f.at, int32(i))
		}
	}
}

// compose merges r into the last folded rune when the two are one letter: a kana
// and its voicing mark, or the parts of a Hangul syllable. It reports whether it did.
func (f *folded) compose(r rune) bool {
	if r < 0x1100 {
		return false
	}
	last, n := utf8.DecodeLastRune(f.text)
	joined := voiced(last, r)
	if joined == 0 {
		joined = syllable(last, r)
	}
	if joined == 0 {
		return false
	}
	i := f.at[len(f.text)-n]
	f.text, f.at = f.text[:len(f.text)-n], f.at[:len(f.text)-n]
	f.add(int(i), joined)
	return true
}

// voiced returns the kana that last becomes with the (half-)voicing mark r, or 0.
// The table is that of Bleve's width filter, which knows katakana only; hiragana
// are laid out alike 0x60 below.
func voiced(last, r rune) rune {
	var mark rune
	switch r {
	case 0x3099, 0x309B, 0xFF9E:
		mark = 0xFF9E
	case 0x309A, 0x309C, 0xFF9F:
		mark = 0xFF9F
	default:
		return 0
	}
	shift := rune(0)
	if 0x3041 <= last && last <= 0x3096 {
		shift = 0x60
	}
	if joined := widened(last+shift, mark); len(joined) == 1 {
		return joined[0] - shift
	}
	return 0
}

// widened applies Bleve's width filter to one letter.
func widened(letter ...rune) []rune {
	token := analysis.Token{Term: []byte(string(letter))}
	cjk.NewCJKWidthFilter().Filter(analysis.TokenStream{&token})
	return []rune(string(token.Term))
}

// syllable composes Hangul by the arithmetic of The Unicode Standard, section 3.12:
// a leading consonant with a vowel, or that syllable with a trailing consonant. It
// returns 0 when the two do not compose.
func syllable(last, r rune) rune {
	const first, leads, vowels, trails = 0xAC00, 19, 21, 28
	lead, vowel, trail := last-0x1100, r-0x1161, r-0x11A7
	switch {
	case 0 <= lead && lead < leads && 0 <= vowel && vowel < vowels:
		return first + (lead*vowels+vowel)*trails
	case 0 < trail && trail < trails && first <= last && last < first+leads*vowels*trails && (last-first)%trails == 0:
		return last + trail
	}
	return 0
}

// isMark reports whether r only decorates or formats the letter before it, in
// scripts that are also written without: accents, Hebrew points, Arabic vowel
// signs and tatweel, variation selectors, soft hyphens, joiners. The zero-width
// space stays, since it ends a word.
func isMark(r rune) bool {
	switch {
	case 0x0300 <= r && r <= 0x036F, 0x0591 <= r && r <= 0x05C7, 0x064B <= r && r <= 0x065F, r == 0x0670, r == 0x0640,
		0xFE00 <= r && r <= 0xFE0F:
		return true
	}
	return r != 0x200B && unicode.Is(unicode.Cf, r)
}

// bare returns a Cyrillic, Greek or Arabic small letter without its diacritic, as
// isMark leaves it when it comes decomposed, the usual form of a final sigma, and
// the one form of the Arabic letters that are often typed for one another.
func bare(r rune) rune {
	switch r {
	case 'ё', 'ѐ':
		return 'е'
	case 'й', 'ѝ':
		return 'и'
	case 'ї':
		return 'і'
	case 'ў':
		return 'у'
	case 'ѓ':
		return 'г'
	case 'ќ':
		return 'к'
	case 'ά':
		return 'α'
	case 'έ':
		return 'ε'
	case 'ή':
		return 'η'
	case 'ί', 'ϊ', 'ΐ':
		return 'ι'
	case 'ό':
		return 'ο'
	case 'ύ', 'ϋ', 'ΰ':
		return 'υ'
	case 'ώ':
		return 'ω'
	case 'ς':
		return 'σ'
	case 'آ', 'أ', 'إ':
		return 'ا'
	case 'ى':
		return 'ي'
	case 'ة':
		return 'ه'
	}
	return r
}
