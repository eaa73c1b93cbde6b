// Package invisible shows the characters of a text that a reader cannot see: those that carry words
// for machines alone, that turn the text around them, or that steer a terminal.
//
// What a script or an emoji needs passes: joiners within Persian, Hindi and family emoji,
// selectors of variants behind what has variants, the tags of the flags of England,
// Scotland and Wales, line ends and tabs. Letters of all scripts are left alone.
//
// Sources: Unicode 15 (https://www.unicode.org/reports/tr44/), of emoji UTS #51 (ED-16 to
// ED-20), of joiners UAX #31 section 2.3, of variants StandardizedVariants.txt. All
// functions are pure and may be called at the same time.
package invisible

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is what a hidden character does.
type Kind string

// The kinds of hidden characters.
const (
	Tags      Kind = "tag characters"            // letters that only machines read, U+E0000 to U+E007F
	Direction Kind = "marks of direction"        // turn around the text beside them
	Selectors Kind = "stray variation selectors" // of variants that there are not; bytes are smuggled in them
	Invisible Kind = "invisible characters"      // without width, soft hyphens, fillers, annotations, stray joiners
	Controls  Kind = "control characters"        // among them those that steer a terminal
)

// Kinds lists the kinds of hidden characters in a text, each once, in the order of the
// constants; nil for a text without any.
func Kinds(text string) []Kind {
	var found []Kind
	for w := (walker{text: text}); ; w.at += w.size {
		kind, more := w.step()
		if !more {
			break
		}
		if kind != "" && !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	order := []Kind{Tags, Direction, Selectors, Invisible, Controls}
	slices.SortFunc(found, func(a, b Kind) int { return slices.Index(order, a) - slices.Index(order, b) })
	return found
}

// Hidden reports whether a text has a hidden character.
func Hidden(text string) bool { return first(text) < len(text) }

// Deceives reports whether a text has characters that make it read as another to a person
// than to a machine: tags or marks of direction.
func Deceives(text string) bool {
	kinds := Kinds(text)
	return slices.Contains(kinds, Tags) || slices.Contains(kinds, Direction)
}

// Show has ⟨U+202E⟩ in the place of each hidden character, and U+FFFD in that of a byte that
// is not UTF-8. A text without any is returned as it is. Show of what Show returned is that.
func Show(text string) string {
	return replaced(text, func(b *strings.Builder, r rune) { fmt.Fprintf(b, "⟨U+%04X⟩", r) })
}

// EscapeJSON has the escape of JSON, such as \u202e, in the place of each hidden character of a JSON
// text, which then means the same.
func EscapeJSON(text string) string {
	return replaced(text, func(b *strings.Builder, r rune) {
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(b, "\\u%04x", unit)
		}
	})
}

// Without leaves hidden characters out, where there is no room to show them; a control is a
// space, and a byte that is not UTF-8 U+FFFD.
func Without(text string) string {
	return replaced(text, func(b *strings.Builder, r rune) {
		if unicode.IsControl(r) {
			b.WriteByte(' ')
		}
	})
}

func replaced(text string, put func(b *strings.Builder, r rune)) string {
	from := first(text)
	if from == len(text) {
		return text
	}
	var b strings.Builder
	for w := (walker{text: text}); ; w.at += w.size {
		kind, more := w.step()
		switch {
		case !more:
			return b.String()
		case kind == "":
			b.WriteString(text[w.at : w.at+w.size])
		case w.bad:
			b.WriteRune(utf8.RuneError)
		default:
			put(&b, w.now)
		}
	}
}

// first is where the first hidden character is, the length of the text if there is none.
func first(text string) int {
	for w := (walker{text: text}); ; w.at += w.size {
		if kind, more := w.step(); !more || kind != "" {
			return w.at
		}
	}
}

// walker goes over a text. What it remembers is of characters that are kept alone, so that a
// text in which the hidden ones were replaced is judged the same.
type walker struct {
	text string
	at   int
	size int  // of the character that step looked at, or of a flag's whole sequence
	now  rune // that character
	bad  bool // it is a byte that is not UTF-8
	last rune // the character kept before it, 0 if that was replaced
	base rune // the last one kept that is no mark, selector or joiner, 0 as above
}

// step looks at the character at this place: its kind, "" for one that is seen. more is false
// at the end.
func (w *walker) step() (kind Kind, more bool) {
	if w.at >= len(w.text) {
		w.size = 0
		return "", false
	}
	w.bad = false
	if c := w.text[w.at]; c >= 0x20 && c < 0x7f {
		w.size, w.last, w.base = 1, rune(c), rune(c)
		return "", true
	}
	w.now, w.size = utf8.DecodeRuneInString(w.text[w.at:])
	w.bad = w.now == utf8.RuneError && w.size == 1
	if kind = w.kind(); kind != "" {
		w.last, w.base = 0, 0
		return kind, true
	}
	w.last = w.now
	if !attached(w.now) {
		w.base = w.now
	}
	return "", true
}

// attached reports what belongs to the character before it.
func attached(r rune) bool {
	return unicode.In(r, unicode.M, unicode.Variation_Selector) || r == joiner || r == nonJoiner || skinTone(r)
}

const (
	nonJoiner = 0x200c
	joiner    = 0x200d
	blackFlag = 0x1f3f4
	cancelTag = 0xe007f
	keycap    = 0x20e3

	emptyBraille = 0x2800 // a cell without dots
)

// kind judges the character, given what is around it.
func (w *walker) kind() Kind {
	r := w.now
	switch {
	case w.bad, unicode.IsControl(r) && r != '\n' && r != '\t' && !(r == '\r' && w.next() == '\n'):
		return Controls
	case r < 0xad:
		return ""
	case r == blackFlag:
		w.size += len(flagTags(w.text[w.at+w.size:]))
		return ""
	case r >= 0xe0000 && r <= cancelTag:
		return Tags
	case unicode.Is(unicode.Bidi_Control, r):
		return Direction
	case unicode.Is(unicode.Variation_Selector, r):
		return unless(w.varies(), Selectors)
	case r == joiner || r == nonJoiner:
		return unless(w.joins(), Invisible)
	case r == 0x34f: // the grapheme joiner, which keeps marks in order
		return unless(unicode.Is(unicode.M, w.last) && unicode.Is(unicode.M, w.next()) && lasting(w.next()), Invisible)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return ""
	case r == emptyBraille: // a space between the words of braille
		return unless(braille(w.last) && braille(w.next()), Invisible)
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point):
		return Invisible
	}
	return ""
}

func unless(fine bool, kind Kind) Kind {
	if fine {
		return ""
	}
	return kind
}

// next is the character behind this one.
func (w *walker) next() rune {
	r, _ := utf8.DecodeRuneInString(w.text[w.at+w.size:])
	return r
}

// flagTags is what follows a black flag and makes it one of those that Unicode recommends
// for interchange. Others would hold any five letters.
func flagTags(rest string) string {
	for _, region := range [...]string{"gbeng", "gbsct", "gbwls"} {
		at := 0
		for i := range len(region) + 1 {
			want := rune(cancelTag)
			if i < len(region) {
				want = 0xe0000 + rune(region[i])
			}
			r, size := utf8.DecodeRuneInString(rest[at:])
			if r != want {
				at = -1
				break
			}
			at += size
		}
		if at > 0 {
			return rest[:at]
		}
	}
	return ""
}

// joins reports a joiner that has something to join: two emoji, or the letters of a script
// that are written in one stroke. The last letter of a word may be drawn as if one followed.
func (w *walker) joins() bool {
	if w.last == joiner || w.last == nonJoiner {
		return false
	}
	next := w.next()
	if w.now == joiner && pictographic(w.base) {
		return pictographic(next)
	}
	return joining(w.base) && (w.now == joiner || lasting(next) && (joining(next) || unicode.Is(unicode.M, next)))
}

// lasting reports a character that is seen wherever it stands, so that what is kept for its
// sake is kept when the text is judged again.
func lasting(r rune) bool {
	return !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf)
}

func joining(r rune) bool {
	return r >= 0x600 &&
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa,
			unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
			unicode.Gujarati,
			unicode.Oriya,
			unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
			unicode.Myanmar,
			unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Limbu, unicode.Tirhuta, unicode.Grantha,
			unicode.Newa)
}

// varies reports a selector behind a character that has such variants.
func (w *walker) varies() bool {
	r, of := w.now, w.last
	switch {
	case r == 0xfe0e || r == 0xfe0f:
		return pictographic(of) || strings.ContainsRune("0123456789#*", of) && of != 0 && w.next() == keycap
	case r >= 0xfe00 && r <= 0xfe02:
		return unicode.In(of, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa)
	case r >= 0xe0100 && r <= 0xe011f:
		return unicode.Is(unicode.Han, of)
	case r >= 0x180b && r <= 0x180f:
		return unicode.Is(unicode.Mongolian, of) && unicode.IsLetter(of)
	}
	return false
}

// pictographic reports a character that may be shown as an emoji, or is a symbol beside
// those: about the property Extended_Pictographic.
func pictographic(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff && !skinTone(r) || r >= 0x2190 && r <= 0x2bff ||
		slices.Contains([]rune{0xa9, 0xae, 0x203c, 0x2049, 0x2122, 0x2139, 0x3030, 0x303d, 0x3297, 0x3299}, r)
}

func braille(r rune) bool { return r > emptyBraille && r <= 0x28ff }

func skinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }
