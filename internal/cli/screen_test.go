package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/op"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain text", "a\tb\nc", "a\tb\nc"},
		{"terminal escape", "\x1b[2Jgone", "⟨U+001B⟩[2Jgone"},
		{"delete", "a\x7f", "a⟨U+007F⟩"},
		{"C1 control", "a\u009b31m", "a⟨U+009B⟩31m"},
		{"right-to-left override", "exe\u202egpj", "exe⟨U+202E⟩gpj"},
		{"zero-width space", "pass\u200bword", "pass⟨U+200B⟩word"},
		{"tag characters", "hi\U000e0041\U000e007f", "hi⟨U+E0041⟩⟨U+E007F⟩"},
		{"emoji joined of several", "👩\u200d💻", "👩\u200d💻"},
		{"not UTF-8", "a\xffb", "a�b"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"hello", 5, "hello"},
		{"hello", 4, "hel…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"on a pipe nothing is cut", 0, "on a pipe nothing is cut"},
	} {
		if got := Cut(c.in, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestParagraphWraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"words", "Use JWT tokens for authentication", 18, "Use JWT tokens for\nauthentication\n"},
		{"a word too long for a line", "abcdefghijklmnop", 10, "abcdefghi\njklmnop\n"},
		{"no spaces in Japanese", "認証にはトークンを使う", 10, "認証には\nトークンを\n使う\n"},
		{"breaks of the text", "one\n\nthree", 10, "one\n\nthree\n"},
		{"a pipe", strings.Repeat("long ", 50) + "line", 0, strings.Repeat("long ", 50) + "line\n"},
		{"no text", "", 10, "\n"},
	} {
		if got := (Screen{Width: c.width}).Paragraph(c.in, nil, ""); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Wrapping loses nothing but white space and keeps to the width.
func TestLinesKeepTextAndWidth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := Clean(rapid.StringOf(rapid.RuneFrom([]rune("ab  \n-日本語é👩💻"))).Draw(t, "text"))
		width := rapid.IntRange(4, 20).Draw(t, "width")
		var joined strings.Builder
		for _, l := range Lines(text, width) {
			line := text[l.From:l.To]
			joined.WriteString(line)
			if w := uniseg.StringWidth(line); w > width {
				t.Fatalf("line %q has %d columns, want at most %d", line, w, width)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(joined.String()); got != squeeze(text) {
			t.Fatalf("lines hold %q, want %q", got, squeeze(text))
		}
	})
}

func TestLinesKeepAPathInOnePiece(t *testing.T) {
	t.Parallel()
	text := "set systemd=true in /etc/wsl.conf"
	if got := Lines(text, 24); len(got) != 2 || text[got[1].From:got[1].To] != "in /etc/wsl.conf" {
		t.Errorf("the lines are %v", got)
	}
}

func TestMarksAreBoldOnATerminalOnly(t *testing.T) {
	t.Parallel()
	sn := op.Snippet{Text: "Use JWT\u200b tokens", Marks: [][2]int{{4, 7}, {11, 17}}}
	text, marks := CleanSnippet(sn)
	terminal := Screen{Width: 80, Colour: true}
	if got, want := terminal.Paragraph(text, marks, "  "),
		"  Use \x1b[1mJWT\x1b[0m⟨U+200B⟩ \x1b[1mtokens\x1b[0m\n"; got != want {
		t.Errorf("on a terminal: got %q, want %q", got, want)
	}
	if got, want := (Screen{}).Paragraph(text, marks, "  "), "  Use JWT⟨U+200B⟩ tokens\n"; got != want {
		t.Errorf("on a pipe: got %q, want %q", got, want)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, c := range []struct {
		since time.Duration
		want  string
	}{
		{-time.Hour, "now"}, {59 * time.Second, "now"}, {time.Minute, "1 min"}, {119 * time.Minute, "119 min"},
		{2 * time.Hour, "2 h"}, {47 * time.Hour, "47 h"}, {3 * day, "3 d"}, {14 * day, "2 w"},
		{60 * day, "2 mo"}, {729 * day, "24 mo"}, {730 * day, "2 y"},
	} {
		if got := Age(now, now.Add(-c.since)); got != c.want {
			t.Errorf("age of %v = %q, want %q", c.since, got, c.want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Grouped(7), "7"}, {Grouped(1000), "1,000"}, {Grouped(-1234567), "-1,234,567"},
		{Count(1, "memory", "memories"), "1 memory"}, {Count(0, "memory", "memories"), "0 memories"},
		{Size(1023), "1023 B"}, {Size(1536), "1.5 KiB"}, {Size(3 << 30), "3.0 GiB"},
		{Bar(0, 3), "   "}, {Bar(0.5, 3), "█▌ "}, {Bar(1, 3), "███"}, {Bar(2, 3), "███"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCutFront(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"a/b/Note.md:12", 14, "a/b/Note.md:12"},
		{"a/b/Note.md:12", 11, "…Note.md:12"},
		{"a/b/Note.md:12", 0, "a/b/Note.md:12"},
		{"東京/都.md:1", 8, "…都.md:1"},
		{"👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "…👩‍👩‍👧‍👦"},
	} {
		if got := CutFront(c.text, c.width); got != c.want {
			t.Errorf("the last %d columns of %q are %q, want %q", c.width, c.text, got, c.want)
		}
	}
}

// What is said beside the answer breaks between words on a terminal, and not on a
// pipe, where a program reads it by lines.
func TestSentencesBreakBetweenWords(t *testing.T) {
	t.Parallel()
	err := memory.Errorf(memory.Busy, "the note %q is not written now; try again in 10s", "Tea.md")
	for width, want := range map[int]string{
		0: "its note stays; delete it in the vault\nemberd: the note \"Tea.md\" is not written now; try again in 10s\n",
		30: "its note stays; delete it in\nthe vault\nemberd: the note \"Tea.md\" is\nnot written now; try again " +
			"in\n10s\n",
	} {
		var said strings.Builder
		s := New()
		s.Stderr, s.side = &said, Screen{Width: width}
		s.Note("its note stays; delete it in the %s", "vault")
		s.report(err)
		if got := said.String(); got != want {
			t.Errorf("at width %d it says %q, want %q", width, got, want)
		}
	}
}
