package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"emberd/memory"
	"emberd/op"
)

// sameAs compares a screen with a file in testdata/screens, and writes that with -update.
func sameAs(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// screenText is what lines look like, none of which may be wider than the screen.
func screenText(t *testing.T, width int, lines []string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		line = uncoloured(line)
		if n := uniseg.StringWidth(line); n > width {
			t.Errorf("%d columns on a screen of %d: %s", n, width, line)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// midday is when the screens of these tests are looked at.
func midday() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func stateAtMidday() *state {
	s := newState()
	s.zone, s.now, s.screen = time.UTC, midday, screen{width: 80}
	return s
}

// busyStatus is a daemon with everything that a screen can tell of.
func busyStatus() (*op.StatusResult, *op.StatsResult) {
	status := &op.StatusResult{
		Health: "degraded", Version: op.VersionResult{Version: "1.4.0", PID: 4711}, Started: midday().Add(-3 * time.Hour),
		Data: "/home/ann/.local/share/emberd", Memories: 12345, Trash: 12,
		Loading:  &op.Loading{Indexed: 4000, Total: 12345},
		Log:      op.LogStatus{Segments: 5, Bytes: 13_000_000, Dead: 1_400_000, Durability: "full", Compaction: &op.Compaction{At: midday().Add(-2 * time.Hour)}},
		MCP:      &op.MCPStatus{URL: "http://127.0.0.1:7777/mcp"},
		Tokens:   &op.TokenStatus{Valid: 3, Expiring: 1},
		Sandbox:  &op.SandboxStatus{On: true, ABI: 6},
		Meaning:  &op.Meaning{Covered: 9000, Total: 13549},
		Warnings: []string{"the vault /home/ann/Notes is polled every 30 seconds, since its file system tells of no changes; a search may miss what was saved in the last half minute"},
		Vaults: []op.VaultStatus{{Path: "/home/ann/Documents/Notes/All of them", Mode: "polling", Notes: 1204, Absent: 5, Waiting: 3, Skipped: 4, Pending: 1,
			Lists: []op.ListStatus{{Path: "Memories/Inbox.md", State: op.ListWritten, Open: 2}}}},
		Devices: []op.DeviceStatus{{Device: "abc", Here: true}, {Device: "k7q2mzxa", Name: "phone", Seen: midday().Add(-50 * time.Hour)}},
	}
	stats := &op.StatsResult{Total: 12345, Stages: map[memory.Stage]int{memory.Active: 8123, memory.Demoted: 4200, memory.Archived: 22}}
	return status, stats
}

// A status fits its screen, whatever its width, and has what is wrong first.
func TestGlance(t *testing.T) {
	t.Parallel()
	s := stateAtMidday()
	for width := 40; width <= 200; width++ {
		status, stats := busyStatus()
		lines := s.glance(screen{width: width, colour: width%2 == 0}, status, stats)
		text := screenText(t, width, lines)
		if width >= 80 && len(lines) > 23 { // and a line of its own for what watches it
			t.Errorf("at width %d it takes %d lines", width, len(lines))
		}
		if width == 40 || width == 80 || width == 120 {
			sameAs(t, fmt.Sprintf("status-%d", width), text)
		}
	}
	status := &op.StatusResult{Health: "read-only", Version: op.VersionResult{Version: "1.4.0", PID: 4711}, Started: midday(), Memories: 7,
		Log: op.LogStatus{ReadOnly: "the disk is full"}, Vaults: []op.VaultStatus{{Name: "Notes", Notes: 12}}}
	sameAs(t, "status-token", screenText(t, 80, s.glance(screen{width: 80}, status, nil)))
}

// Without colours nothing but text is on the screen; with them, what is wrong is in colour.
func TestGlanceColours(t *testing.T) {
	t.Parallel()
	status, stats := busyStatus()
	plain := strings.Join(stateAtMidday().glance(screen{width: 80}, status, stats), "\n")
	if strings.Contains(plain, "\x1b") {
		t.Error("a screen without colours has escape sequences")
	}
	coloured := strings.Join(stateAtMidday().glance(screen{width: 80, colour: true}, status, stats), "\n")
	if !strings.Contains(coloured, "\x1b[33m● degraded") || !strings.Contains(coloured, "\x1b[33mthe vault") {
		t.Errorf("no warning is yellow: %q", coloured)
	}
}

// A watched status that got no answer says since when, above what it was.
func TestWatchWithoutAnswer(t *testing.T) {
	t.Parallel()
	status, stats := busyStatus()
	w := &watching{s: stateAtMidday(), every: 2 * time.Second}
	sameAs(t, "watch-first", screenText(t, 80, w.lines(screen{width: 80}, 4)))
	w.take(seenStatus{at: midday(), res: status, stats: stats})
	w.take(seenStatus{at: midday().Add(2 * time.Second), err: memory.Errorf(memory.Unavailable, "no emberd is listening")})
	w.take(seenStatus{at: midday().Add(4 * time.Second), err: memory.Errorf(memory.Unavailable, "no emberd is listening")})
	sameAs(t, "watch-gone", screenText(t, 80, w.lines(screen{width: 80}, 12)))
	w.take(seenStatus{at: midday().Add(6 * time.Second), res: status, stats: stats})
	if text := screenText(t, 80, w.lines(screen{width: 80}, 24)); strings.Contains(text, "no answer") || !strings.Contains(text, "12:00:06") {
		t.Errorf("it is back, and the screen is\n%s", text)
	}
}

// found is a finder that was answered, without a terminal.
func foundScreen() *finder {
	saved := func(id memory.ID, age time.Duration, text string, tags ...string) *op.Memory {
		return &op.Memory{Memory: memory.Memory{ID: id, Content: text, CreatedAt: midday().Add(-age), Stage: memory.Active, Tags: tags}, Score: 0.5}
	}
	const day = 24 * time.Hour
	hits := []op.Hit{
		{Tier: op.TierMemory, Rank: 4, Memory: saved("0192f3a1-b2c3-7000-8000-0123456789ab", 3*day, "Use JWT tokens for authentication in all new APIs,\nnever a token in a URL", "security", "api"),
			Snippet: op.Snippet{Text: "Use JWT tokens", Marks: [][2]int{{8, 14}}}},
		{Tier: op.TierNote, Rank: 3, Note: &op.Note{Title: "Authentication", Heading: []string{"Authentication", "Tokens"}, Path: "Projects/Platform/Authentication.md", Line: 8, Modified: midday().Add(-day)},
			Snippet: op.Snippet{Text: "A token lives as long as the session."}},
		{Tier: op.TierMemory, Rank: 1, Memory: saved("0192f3a1-b2c3-7000-8000-0123456789cd", 90*day, "東京オフィスの会議は毎週火曜日の午前十時に始まり、トークンについて話します")},
		{Tier: op.TierMemory, Rank: 1, Memory: saved("0192f3a1-b2c3-7000-8000-0123456789ef", 0, "It says \x1b[2J and \u202etokens")},
	}
	d := &finder{s: stateAtMidday(), fetch: func() {}, asking: func() {}, texts: make(chan preview)}
	d.s.screen = screen{width: 80}
	d.typed.insert("tokens")
	d.answered(context.Background(), foundHits{hits: hits, total: 62})
	return d
}

// The picker on large and small screens.
func TestFindScreens(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 16}, {80, 24}, {40, 10}, {20, 5}} {
		d := foundScreen()
		lines := d.lines(screen{width: size[0]}, size[1])
		if len(lines) > size[1] {
			t.Errorf("%d lines on a screen of %d", len(lines), size[1])
		}
		sameAs(t, fmt.Sprintf("find-%dx%d", size[0], size[1]), screenText(t, size[0], lines))
	}
	for width := 1; width <= 130; width += 3 {
		for height := 1; height <= 30; height++ { // a window may have any size
			d := foundScreen()
			lines := d.lines(screen{width: width, colour: true}, height)
			if width >= 20 {
				screenText(t, width, lines)
			}
		}
	}
	d := foundScreen()
	d.choose(t.Context(), 3)
	sameAs(t, "find-hidden", screenText(t, 80, d.lines(screen{width: 80}, 12)))
	d.wanted++
	d.answered(t.Context(), foundHits{n: d.wanted, err: memory.Errorf(memory.Invalid, "the quote is not closed")})
	sameAs(t, "find-wrong", screenText(t, 80, d.lines(screen{width: 80}, 12)))
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
	if done, c := d.answered(t.Context(), foundHits{n: d.wanted, hits: d.shown.hits[2:]}); !done || c.hit.ID.Short() != "456789cd" {
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
		{"beyond both ends", "é", keys{tcell.KeyRight, tcell.KeyDelete, tcell.KeyHome, tcell.KeyLeft, tcell.KeyBackspace}, "|é"},
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
			got += c.text[at:m.from] + "[" + c.text[m.from:m.to] + "]"
			at = m.to
		}
		if got += c.text[at:]; got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.words, c.text, got, c.want)
		}
	}
}
