package main

import (
	"bufio"
	"io"
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
		if got := clean(c.in); got != c.want {
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
		if got := cut(c.in, c.width); got != c.want {
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
		if got := (screen{width: c.width}).paragraph(c.in, nil, ""); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Wrapping loses nothing but white space and keeps to the width.
func TestLinesKeepTextAndWidth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := clean(rapid.StringOf(rapid.RuneFrom([]rune("ab  \n-日本語é👩💻"))).Draw(t, "text"))
		width := rapid.IntRange(4, 20).Draw(t, "width")
		var joined strings.Builder
		for _, l := range lines(text, width) {
			line := text[l.from:l.to]
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

func TestMarksAreBoldOnATerminalOnly(t *testing.T) {
	t.Parallel()
	sn := op.Snippet{Text: "Use JWT\u200b tokens", Marks: [][2]int{{4, 7}, {11, 17}}}
	text, marks := cleanSnippet(sn)
	terminal := screen{width: 80, colour: true}
	if got, want := terminal.paragraph(text, marks, "  "), "  Use \x1b[1mJWT\x1b[0m⟨U+200B⟩ \x1b[1mtokens\x1b[0m\n"; got != want {
		t.Errorf("on a terminal: got %q, want %q", got, want)
	}
	if got, want := (screen{}).paragraph(text, marks, "  "), "  Use JWT⟨U+200B⟩ tokens\n"; got != want {
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
		if got := age(now, now.Add(-c.since)); got != c.want {
			t.Errorf("age of %v = %q, want %q", c.since, got, c.want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{grouped(7), "7"}, {grouped(1000), "1,000"}, {grouped(-1234567), "-1,234,567"},
		{count(1, "memory", "memories"), "1 memory"}, {count(0, "memory", "memories"), "0 memories"},
		{size(1023), "1023 B"}, {size(1536), "1.5 KiB"}, {size(3 << 30), "3.0 GiB"},
		{bar(0, 3), "   "}, {bar(0.5, 3), "█▌ "}, {bar(1, 3), "███"}, {bar(2, 3), "███"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A timer runs once after a change, so "every" would be wrong.
func TestWakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timers map[string]string
		want   string
	}{
		{nil, "nothing; no timer runs"},
		{map[string]string{"snapshot": "1m0s"}, "snapshot within 1m"},
		{map[string]string{"snapshot": "1m0s", "agents": "1h0m0s"}, "agents within 1h0m, snapshot within 1m"},
		{map[string]string{"compaction": "9m6.421615703s"}, "compaction within 9m6s"},
	} {
		if got := wakes(c.timers); got != c.want {
			t.Errorf("wakes(%v) = %q, want %q", c.timers, got, c.want)
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
		if got := cutFront(c.text, c.width); got != c.want {
			t.Errorf("the last %d columns of %q are %q, want %q", c.width, c.text, got, c.want)
		}
	}
}

func TestTrail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		titles []string
		room   int
		want   string
	}{
		{[]string{"Garden", "Soil"}, 0, "Garden › Soil"},
		{[]string{"Garden", "Soil"}, 13, "Garden › Soil"},
		{[]string{"Garden", "Beds", "Soil"}, 13, "Garden › Soil"},
		{[]string{"Garden of mine", "Beds", "Soil"}, 13, "Garde… › Soil"},
		{[]string{"Garden", "Beds", "Soil and water"}, 15, "Gar… › Soil an…"},
		{[]string{"Garden of mine"}, 7, "Garden…"},
		{[]string{"one\nline"}, 20, "one line"},
	} {
		if got := trail(c.titles, c.room); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.titles, c.room, got, c.want)
		}
	}
}

// The line of a note fits a terminal, with its path on a line of its own, and is
// one line on a pipe.
func TestNoteLine(t *testing.T) {
	t.Parallel()
	s := newState()
	s.zone = time.UTC
	h := &op.Hit{Tier: op.TierNote, Rank: 0.5, Note: &op.Note{
		Title: strings.Repeat("long title ", 9), Heading: []string{"Section"}, Line: 7,
		Path: strings.Repeat("long folder/", 9) + "Note.md", Modified: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}
	s.screen = screen{width: 80}
	lines := strings.Split(s.hitLine(h, 1), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], " › Section") || !strings.HasSuffix(lines[1], "/Note.md:7") {
		t.Errorf("on a terminal %q", lines)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	s.screen = screen{}
	if got := s.hitLine(h, 1); strings.Contains(got, "\n") || strings.Contains(got, "…") {
		t.Errorf("on a pipe %q", got)
	}
	h.Memory = &op.Memory{Memory: memory.Memory{ID: "0192f3a1-b2c3-7000-8000-0123456789ab", Stage: memory.Active}}
	if got := s.hitLine(h, 1); !strings.HasPrefix(got, "456789ab ") {
		t.Errorf("a note with its memory is %q, want the memory's id", got)
	}
	h.Tier = op.TierMemory
	if got := s.hitLine(h, 1); !strings.HasSuffix(got, "Note.md:7") {
		t.Errorf("a memory with its note is %q, want the note's path", got)
	}
}

// What is said beside the answer breaks between words on a terminal, and not on a
// pipe, where a program reads it by lines.
func TestSentencesBreakBetweenWords(t *testing.T) {
	t.Parallel()
	err := memory.Errorf(memory.Busy, "the note %q is not written now; try again in 10s", "Tea.md")
	for width, want := range map[int]string{
		0:  "its note stays; delete it in the vault\nemberd: the note \"Tea.md\" is not written now; try again in 10s\n",
		30: "its note stays; delete it in\nthe vault\nemberd: the note \"Tea.md\" is\nnot written now; try again in\n10s\n",
	} {
		var said strings.Builder
		s := newState()
		s.stderr, s.side = &said, screen{width: width}
		s.note("its note stays; delete it in the %s", "vault")
		s.report(err)
		if got := said.String(); got != want {
			t.Errorf("at width %d it says %q, want %q", width, got, want)
		}
	}
}

// A finding has its note on a line of its own on a terminal, and is one line on a pipe.
func TestFindingsFitATerminal(t *testing.T) {
	t.Parallel()
	res := &op.VaultCheckResult{Findings: []op.Finding{{Path: "Tea.md", Line: 5, Text: strings.Repeat("word ", 20) + "end"}}, Total: 1}
	for width, want := range map[int]string{
		0:  "Tea.md:5: " + strings.Repeat("word ", 20) + "end\n",
		60: "Tea.md:5\n  " + strings.Repeat("word ", 10) + "word\n  " + strings.Repeat("word ", 9) + "end\n",
	} {
		var out strings.Builder
		s := newState()
		s.stdout, s.stderr, s.screen = bufio.NewWriter(&out), io.Discard, screen{width: width}
		s.printVaultCheck(res)
		s.stdout.Flush()
		if got := out.String(); got != want {
			t.Errorf("at width %d: %q, want %q", width, got, want)
		}
	}
}

// A version's entry stays whole on a terminal, and what emberd keeps for itself is not
// listed.
func TestVersionFitsATerminal(t *testing.T) {
	t.Parallel()
	v := &op.HistoryVersion{Action: "changed", Verb: "note", Tx: "01a1fd0c6c0d-0000-k7q2mzxa", At: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Fields: []op.FieldChange{{Name: "note_seen", To: []byte(`{"content":"1"}`)}}}
	for width, want := range map[int]string{
		0:  "2026-01-02 00:00:00 (just now)  changed by note, emberd vault  " + v.Tx + "\n        its note and the memory agree\n",
		80: "2026-01-02 00:00:00 (just now)  changed by note, emberd vault\n        " + v.Tx + "\n        its note and the memory agree\n",
	} {
		var out strings.Builder
		s := newState()
		s.stdout, s.screen, s.zone, s.now = bufio.NewWriter(&out), screen{width: width}, time.UTC, func() time.Time { return v.At }
		s.printVersion(v, ", emberd vault")
		s.stdout.Flush()
		if got := out.String(); got != want {
			t.Errorf("at width %d: %q, want %q", width, got, want)
		}
	}
}
