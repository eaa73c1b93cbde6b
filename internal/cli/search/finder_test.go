package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// found is a finder that was answered, without a terminal.
func foundScreen() *finder {
	saved := func(id memory.ID, age time.Duration, text string, tags ...string) *op.Memory {
		return &op.Memory{Memory: memory.Memory{ID: id, Content: text, CreatedAt: clitest.Midday().Add(-age),
			Stage: memory.Active, Tags: tags}, Score: 0.5}
	}
	const day = 24 * time.Hour
	hits := []op.Hit{
		{Tier: op.TierMemory, Rank: 4, Memory: saved("0192f3a1-b2c3-7000-8000-0123456789ab", 3*day,
			"Use JWT tokens for authentication in all new APIs,\nnever a token in a URL", "security", "api"),
			Snippet: op.Snippet{Text: "Use JWT tokens", Marks: [][2]int{{8, 14}}}},
		{Tier: op.TierNote, Rank: 3, Note: &op.Note{Title: "Authentication", Heading: []string{"Authentication",
			"Tokens"}, Path: "Projects/Platform/Authentication.md", Line: 8, Modified: clitest.Midday().Add(-day)},
			Snippet: op.Snippet{Text: "A token lives as long as the session."}},
		{Tier: op.TierMemory, Rank: 1, Memory: saved("0192f3a1-b2c3-7000-8000-0123456789cd", 90*day,
			"東京オフィスの会議は毎週火曜日の午前十時に始まり、トークンについて話します")},
		{Tier: op.TierMemory, Rank: 1, Memory: saved("0192f3a1-b2c3-7000-8000-0123456789ef", 0,
			"It says \x1b[2J and \u202etokens")},
	}
	d := &finder{s: finderAt(), fetch: func() {}, asking: func() {}, texts: make(chan preview)}
	d.s.Screen = cli.Screen{Width: 80}
	d.typed.insert("tokens")
	d.answered(context.Background(), foundHits{hits: hits, total: 62})
	return d
}

// The picker on large and small screens.
func TestFindScreens(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 16}, {80, 24}, {40, 10}, {20, 5}} {
		d := foundScreen()
		lines := d.lines(cli.Screen{Width: size[0]}, size[1])
		if len(lines) > size[1] {
			t.Errorf("%d lines on a screen of %d", len(lines), size[1])
		}
		clitest.Same(t, fmt.Sprintf("find-%dx%d", size[0], size[1]), clitest.Text(t, size[0], lines))
	}
	for width := 1; width <= 130; width += 3 {
		for height := 1; height <= 30; height++ { // a window may have any size
			d := foundScreen()
			lines := d.lines(cli.Screen{Width: width, Colour: true}, height)
			if width >= 20 {
				clitest.Text(t, width, lines)
			}
		}
	}
	d := foundScreen()
	d.choose(t.Context(), 3)
	clitest.Same(t, "find-hidden", clitest.Text(t, 80, d.lines(cli.Screen{Width: 80}, 12)))
	d.wanted++
	d.answered(t.Context(), foundHits{n: d.wanted, err: memory.Errorf(memory.Invalid, "the quote is not closed")})
	clitest.Same(t, "find-wrong", clitest.Text(t, 80, d.lines(cli.Screen{Width: 80}, 12)))
}

// What was found for other words than those that stand there now is not shown.
func TestFindDropsLateAnswers(t *testing.T) {
	t.Parallel()
	d := foundScreen()
	d.pause = time.NewTimer(time.Hour)
	d.changed()
	d.after = tcell.KeyEnter
	if done, _ := d.answered(t.Context(), foundHits{n: d.wanted - 1}); done || len(d.shown.hits) != 4 || !d.busy {
		t.Error("an answer to earlier words counts")
	}
	if done, c := d.answered(t.Context(), foundHits{n: d.wanted, hits: d.shown.hits[2:]}); !done ||
		c.hit.ID.Short() != "456789cd" {
		t.Errorf("enter before the answer picks %v", c)
	}
}

func TestEntry(t *testing.T) {
	t.Parallel()
	type keys = []tcell.Key
	for _, c := range []struct {
		name, typed string
		keys        keys
		want        string // with the cursor
	}{
		{"as typed", "garden", nil, "garden|"},
		{"no lines", "one\ntwo\tthree", nil, "one two three|"},
		{"a character of several runes", "a👩‍💻b", keys{tcell.KeyLeft, tcell.KeyBackspace}, "a|b"},
		{"a word", "one two  ", keys{tcell.KeyCtrlW}, "one |"},
		{"a word of several bytes", "größe 東京", keys{tcell.KeyCtrlW, tcell.KeyCtrlW}, "|"},
		{"to the beginning", "one two", keys{tcell.KeyLeft, tcell.KeyCtrlU}, "|o"},
		{"to the end", "one two", keys{tcell.KeyHome, tcell.KeyRight, tcell.KeyCtrlK}, "o|"},
		{"beyond both ends", "é", keys{tcell.KeyRight, tcell.KeyDelete, tcell.KeyHome, tcell.KeyLeft,
			tcell.KeyBackspace}, "|é"},
	} {
		var e entry
		e.insert(c.typed)
		for _, k := range c.keys {
			e.key(tcell.NewEventKey(k, 0, tcell.ModNone))
		}
		if got := e.text[:e.at] + "|" + e.text[e.at:]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"no heading\n# One\n", "no heading\n# One\n"},
		{"## One\ntext\n### Below\nmore\n## Two\n", "## One\ntext\n### Below\nmore\n"},
		{"## One\ntext\n# Above\n", "## One\ntext\n"},
		{"## One\n```\n## no heading\n```\n#tag\n", "## One\n```\n## no heading\n```\n#tag\n"},
		{"", ""},
	} {
		if got := section(c.text); got != c.want {
			t.Errorf("the section of %q is %q, want %q", c.text, got, c.want)
		}
	}
}

func TestOccurrences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		words []string
		want  string
	}{
		{"Tokens and tokens.", []string{"tokens"}, "[Tokens] and [tokens]."},
		{"token, tokens", []string{"tokens", "token"}, "[token], [tokens]"},
		{"subtoken tokenize", []string{"token"}, "subtoken tokenize"},
		{"東京の天気", []string{"天気"}, "東京の[天気]"},
		{"a+b (c)", []string{"a+b"}, "[a+b] (c)"},
		{"nothing", nil, "nothing"},
	} {
		got, at := "", 0
		for _, m := range occurrences(c.text, c.words) {
			got += c.text[at:m.From] + "[" + c.text[m.From:m.To] + "]"
			at = m.To
		}
		if got += c.text[at:]; got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.words, c.text, got, c.want)
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
	s := cli.New()
	s.Zone = time.UTC
	h := &op.Hit{Tier: op.TierNote, Rank: 0.5, Note: &op.Note{
		Title: strings.Repeat("long title ", 9), Heading: []string{"Section"}, Line: 7,
		Path: strings.Repeat("long folder/", 9) + "Note.md", Modified: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}
	s.Screen = cli.Screen{Width: 80}
	lines := strings.Split(hitLine(s, h, 1), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], " › Section") || !strings.HasSuffix(lines[1], "/Note.md:7") {
		t.Errorf("on a terminal %q", lines)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	s.Screen = cli.Screen{}
	if got := hitLine(s, h, 1); strings.Contains(got, "\n") || strings.Contains(got, "…") {
		t.Errorf("on a pipe %q", got)
	}
	h.Memory = &op.Memory{Memory: memory.Memory{ID: "0192f3a1-b2c3-7000-8000-0123456789ab", Stage: memory.Active}}
	if got := hitLine(s, h, 1); !strings.HasPrefix(got, "456789ab ") {
		t.Errorf("a note with its memory is %q, want the memory's id", got)
	}
	h.Tier = op.TierMemory
	if got := hitLine(s, h, 1); !strings.HasSuffix(got, "Note.md:7") {
		t.Errorf("a memory with its note is %q, want the note's path", got)
	}
}

// finderAt returns what commands share, at clitest.Midday.
func finderAt() *cli.App {
	s := cli.New()
	s.Zone, s.Now, s.Screen = time.UTC, clitest.Midday, cli.Screen{Width: 80}
	return s
}
