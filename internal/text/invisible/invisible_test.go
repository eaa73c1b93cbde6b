package invisible

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What people write is left alone, to the byte.
func TestWhatPeopleWriteStays(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":          "",
		"ASCII":            "Use JWT tokens,\n\tnot sessions: ~{}|",
		"lines of Windows": "one\r\ntwo\r\n",
		"accents":          "Zoë e\u0301té naïve Ł",
		"family":           "👨\u200d👩\u200d👧\u200d👦",
		"heart on fire":    "❤️\u200d🔥",
		"rainbow flag":     "🏳️\u200d🌈",
		"pirate flag":      "🏴\u200d☠️",
		"flags":            "🇩🇪🇫🇷 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"keycaps":          "1️⃣ #️⃣ *️⃣",
		"skin tones":       "👋🏽 👩🏽\u200d💻 👩🏻\u200d🤝\u200d👨🏿",
		"gender":           "🤷\u200d♀️ 🕵️\u200d♂️ 🏋🏾\u200d♀️",
		"text style":       "☎︎ ©️ ↔︎ ⚠️",
		"Persian":          "می\u200cخواهم کتاب\u200cها را بخوانم، سال ۱۴۰۰ ه\u200d",
		"Hindi":            "क्\u200dष और र्\u200cक, श्रीमान्\u200cजी",
		"Bengali":          "র\u200d্যাব",
		"Sinhala":          "ශ්\u200dරී ලංකා",
		"Malayalam":        "ന്\u200d ര്\u200d",
		"Hebrew":           "שָׁלוֹם עולם",
		"Arabic":           "السَّلامُ عليكم \u06dd",
		"Japanese names":   "葛\U000e0100飾区 辻\U000e0101",
		"Mongolian":        "ᠨᠠ\u180bᠢ",
		"mathematics":      "a ∩︀ b ≤ ∑",
		"Hebrew marks":     "יְרוּשָׁלַ\u034f\u05b4ם",
		"braille":          "⠓⠊\u2800⠮⠗⠑",
		"private use":      "\ue0b0 ",
	} {
		if got := Show(text); got != text {
			t.Errorf("%s: Show(%q) is %q", name, text, got)
		}
		if Hidden(text) || Kinds(text) != nil || Deceives(text) || Without(text) != text {
			t.Errorf("%s: %q counts as hiding %v", name, text, Kinds(text))
		}
	}
}

func TestHiddenCharactersAreShown(t *testing.T) {
	for _, c := range []struct {
		text, want string
		kind       Kind
	}{
		{"abc\u202edcba", "abc⟨U+202E⟩dcba", Direction},
		{"\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩", Direction},
		{"שלום\u200f!", "שלום⟨U+200F⟩!", Direction},
		{"\u061cعربي", "⟨U+061C⟩عربي", Direction},
		{"hi\U000e0068\U000e0069", "hi⟨U+E0068⟩⟨U+E0069⟩", Tags},
		{"🏴\U000e0067\U000e0062\U000e0065", "🏴⟨U+E0067⟩⟨U+E0062⟩⟨U+E0065⟩", Tags},
		{"🏴\U000e0070\U000e0077\U000e006e\U000e007f", "🏴⟨U+E0070⟩⟨U+E0077⟩⟨U+E006E⟩⟨U+E007F⟩", Tags},
		{"pass\u200bword", "pass⟨U+200B⟩word", Invisible},
		{"\ufefftext", "⟨U+FEFF⟩text", Invisible},
		{"soft\u00adly", "soft⟨U+00AD⟩ly", Invisible},
		{"a\u2060b\u180ec", "a⟨U+2060⟩b⟨U+180E⟩c", Invisible},
		{"a\u200db \u200cc", "a⟨U+200D⟩b ⟨U+200C⟩c", Invisible},
		{"👩\u200d x", "👩⟨U+200D⟩ x", Invisible},
		{"می\u200c\u200cخ", "می⟨U+200C⟩⟨U+200C⟩خ", Invisible},
		{"\u3164\u115f\uffa0", "⟨U+3164⟩⟨U+115F⟩⟨U+FFA0⟩", Invisible},
		{"no\u2800pe ⠓⠊\u2800\u2800⠓", "no⟨U+2800⟩pe ⠓⠊⟨U+2800⟩⟨U+2800⟩⠓", Invisible},
		{"\ufff9a\ufffab\ufffb", "⟨U+FFF9⟩a⟨U+FFFA⟩b⟨U+FFFB⟩", Invisible},
		{"a\u2063b", "a⟨U+2063⟩b", Invisible},
		{"x\ufe0fy", "x⟨U+FE0F⟩y", Selectors},
		{"1\ufe0f", "1⟨U+FE0F⟩", Selectors},
		{"😀\ufe0f\ufe0f", "😀\ufe0f⟨U+FE0F⟩", Selectors},
		{"😀\ufe07\U000e0120", "😀⟨U+FE07⟩⟨U+E0120⟩", Selectors},
		{"漢\U000e0100\U000e0101", "漢\U000e0100⟨U+E0101⟩", Selectors},
		{"\x1b[31mred\x07", "⟨U+001B⟩[31mred⟨U+0007⟩", Controls},
		{"a\rb\x7f\u009b1m", "a⟨U+000D⟩b⟨U+007F⟩⟨U+009B⟩1m", Controls},
		{"a\xffb", "a\ufffdb", Controls},
	} {
		if got := Show(c.text); got != c.want {
			t.Errorf("Show(%q) is %q, want %q", c.text, got, c.want)
		}
		if got := Kinds(c.text); !slices.Equal(got, []Kind{c.kind}) || !Hidden(c.text) {
			t.Errorf("Kinds(%q) are %q, want %q", c.text, got, c.kind)
		}
		if got := Deceives(c.text); got != (c.kind == Tags || c.kind == Direction) {
			t.Errorf("Deceives(%q) is %v", c.text, got)
		}
	}
}

func TestSeveralKindsComeInOrder(t *testing.T) {
	if got := Kinds("\x00 a\u200b \u202e \U000e0041 b\ufe0f \u200b"); !slices.Equal(got, []Kind{Tags, Direction, Selectors, Invisible, Controls}) {
		t.Errorf("the kinds are %q", got)
	}
}

func TestWithoutLeavesOut(t *testing.T) {
	if got := Without("a\u202eb\x1b[1mc\xff👩\u200d🚀"); got != "ab [1mc\ufffd👩\u200d🚀" {
		t.Errorf("what is left is %q", got)
	}
}

func TestCleanTextCostsNothing(t *testing.T) {
	text := strings.Repeat("Plain words, Zoë, 👩🏽\u200d💻 and می\u200cخواهم.\n", 100)
	if n := testing.AllocsPerRun(10, func() { Show(text) }); n != 0 {
		t.Errorf("a clean text costs %g allocations", n)
	}
}

// pieces are characters whose meaning hangs on those beside them.
func pieces() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{
		"a", "1", "👩", "🏽", "🏴", "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U000e0067", "\U000e007f", "\u200d", "\u200c", "\ufe0f", "\ufe00",
		"\U000e0100", "漢", "ی", "क", "्", "\u034f", "\u05b4", "\u20e3", "\u202e", "\r", "\n", "\x1b", "\xff", "\xe2\x80", "\u200b", "ᠠ", "\u180b", "⟨U+202E⟩",
	}), rapid.String())), func(all []string) string { return strings.Join(all, "") })
}

func TestShowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { holds(t, pieces().Draw(t, "text")) })
}

// holds checks what is true of every text.
func holds(t interface{ Fatalf(string, ...any) }, text string) {
	shown := Show(text)
	if again := Show(shown); again != shown {
		t.Fatalf("Show(%q) is %q, and of that %q", text, shown, again)
	}
	if Hidden(shown) || !utf8.ValidString(shown) {
		t.Fatalf("Show(%q) is %q, which hides %q", text, shown, Kinds(shown))
	}
	if (shown == text) == Hidden(text) {
		t.Fatalf("%q is shown as %q, and hides %q", text, shown, Kinds(text))
	}
	if left := Without(text); Hidden(left) && !strings.ContainsRune(left, utf8.RuneError) && stray(left) {
		t.Fatalf("Without(%q) is %q, which hides %q", text, left, Kinds(left))
	}
	for i, r := range shown {
		if never(r) {
			t.Fatalf("%U passes at %d of %q", r, i, shown)
		}
	}
}

// never reports what passes nowhere, whatever stands beside it.
func never(r rune) bool {
	return unicode.Is(unicode.Bidi_Control, r) || r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r) ||
		slices.Contains([]rune{0x200b, 0x2060, 0xfeff, 0xad, 0x180e, 0xfff9, 0x3164}, r)
}

func stray(left string) bool { return strings.ContainsFunc(left, never) }

func FuzzShow(f *testing.F) {
	for _, seed := range []string{"plain", "👩\u200d🚀\u202e", "🏴\U000e0067\U000e0062", "می\u200cخ\u200c", "\x1b[0m\xff", "葛\U000e0100\U000e0101", "\u0300\u034f\ufe0f", "ی\u200c\u180b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, text) })
}
