package maintain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// busyStatus is a daemon with everything that a screen can tell of.
func busyStatus() (*op.StatusResult, *op.StatsResult) {
	status := &op.StatusResult{
		Health: "degraded", Version: op.VersionResult{Version: "1.4.0", PID: 4711},
		Started: clitest.Midday().Add(-3 * time.Hour),
		Data:    "/home/ann/.local/share/emberd", Memories: 12345, Trash: 12,
		Loading: &op.Loading{Indexed: 4000, Total: 12345},
		Log: op.LogStatus{Segments: 5, Bytes: 13_000_000, Dead: 1_400_000, Durability: "full",
			Compaction: &op.Compaction{At: clitest.Midday().Add(-2 * time.Hour)}},
		Tokens:  &op.TokenStatus{Valid: 3, Expiring: 1},
		Sandbox: &op.SandboxStatus{On: true, ABI: 6},
		Meaning: &op.Meaning{Covered: 9000, Total: 13549},
		Warnings: []string{"the vault /home/ann/Notes is polled every 30 seconds, since its file system tells of no " +
			"changes; a search may miss what was saved in the last half minute",
			"vault Work: you released the vault; to open it again: emberd vault reopen"},
		Waits: []op.Waiting{{Code: op.WaitsReleased, Count: 1, Text: "vault Work is released", Command: "emberd vault reopen",
			Warning: "vault Work: you released the vault; to open it again: emberd vault reopen"}},
		Vaults: []op.VaultStatus{{Path: "/home/ann/Documents/Notes/All of them", Mode: "polling", Notes: 1204,
			Absent: 5, Waiting: 3, Skipped: 4, Pending: 1,
			Lists: []op.ListStatus{{Path: "Memories/Inbox.md", State: op.ListWritten, Open: 2}}}},
		Devices: []op.DeviceStatus{{Device: "abc", Here: true}, {Device: "k7q2mzxa", Name: "phone",
			Seen: clitest.Midday().Add(-50 * time.Hour)}},
	}
	stats := &op.StatsResult{Total: 12345, Stages: map[memory.Stage]int{memory.Active: 8123, memory.Demoted: 4200,
		memory.Archived: 22}}
	return status, stats
}

// A status fits its screen, whatever its width, and has what is wrong first.
func TestGlance(t *testing.T) {
	t.Parallel()
	s := statusAt()
	for width := 40; width <= 200; width++ {
		status, stats := busyStatus()
		lines := drawSummary(s, cli.Screen{Width: width, Colour: width%2 == 0}, status, stats)
		text := clitest.Text(t, width, lines)
		if width >= 80 && len(lines) > 23 { // and a line of its own for what watches it
			t.Errorf("at width %d it takes %d lines", width, len(lines))
		}
		if width == 40 || width == 80 || width == 120 {
			clitest.Same(t, fmt.Sprintf("status-%d", width), text)
		}
	}
	status := &op.StatusResult{Health: "read-only", Version: op.VersionResult{Version: "1.4.0", PID: 4711},
		Started: clitest.Midday(), Memories: 7,
		Log: op.LogStatus{ReadOnly: "the disk is full"}, Vaults: []op.VaultStatus{{Name: "Notes", Notes: 12}}}
	clitest.Same(t, "status-token", clitest.Text(t, 80, drawSummary(s, cli.Screen{Width: 80}, status, nil)))
}

// Without colours nothing but text is on the screen; with them, what is wrong is in colour.
func TestGlanceColours(t *testing.T) {
	t.Parallel()
	status, stats := busyStatus()
	plain := strings.Join(drawSummary(statusAt(), cli.Screen{Width: 80}, status, stats), "\n")
	if strings.Contains(plain, "\x1b") {
		t.Error("a screen without colours has escape sequences")
	}
	coloured := strings.Join(drawSummary(statusAt(), cli.Screen{Width: 80, Colour: true}, status, stats), "\n")
	if !strings.Contains(coloured, "\x1b[33m● degraded") || !strings.Contains(coloured, "\x1b[33mthe vault") {
		t.Errorf("no warning is yellow: %q", coloured)
	}
}

// A watched status that got no answer says since when, above what it was.
func TestWatchWithoutAnswer(t *testing.T) {
	t.Parallel()
	status, stats := busyStatus()
	w := &watching{s: statusAt(), every: 2 * time.Second}
	clitest.Same(t, "watch-first", clitest.Text(t, 80, w.lines(cli.Screen{Width: 80}, 4)))
	w.take(seenStatus{at: clitest.Midday(), res: status, stats: stats})
	w.take(seenStatus{at: clitest.Midday().Add(2 * time.Second), err: memory.Errorf(memory.Unavailable,
		"no emberd is listening")})
	w.take(seenStatus{at: clitest.Midday().Add(4 * time.Second), err: memory.Errorf(memory.Unavailable,
		"no emberd is listening")})
	clitest.Same(t, "watch-gone", clitest.Text(t, 80, w.lines(cli.Screen{Width: 80}, 12)))
	w.take(seenStatus{at: clitest.Midday().Add(6 * time.Second), res: status, stats: stats})
	if text := clitest.Text(t, 80, w.lines(cli.Screen{Width: 80}, 24)); strings.Contains(text, "no answer") ||
		!strings.Contains(text, "12:00:06") {
		t.Errorf("it is back, and the screen is\n%s", text)
	}
}

// A timer runs once after a change, so "every" would be wrong.
func TestWakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timers map[string]string
		want   string
	}{
		{nil, "nothing"},
		{map[string]string{"snapshot": "1m0s"}, "snapshot within 1m"},
		{map[string]string{"snapshot": "1m0s", "agents": "1h0m0s"}, "agents within 1h0m, snapshot within 1m"},
		{map[string]string{"compaction": "9m6.421615703s"}, "compaction within 9m6s"},
	} {
		if got := wakes(c.timers); got != c.want {
			t.Errorf("wakes(%v) = %q, want %q", c.timers, got, c.want)
		}
	}
}

// statusAt returns what commands share, at clitest.Midday.
func statusAt() *cli.App {
	s := cli.New()
	s.Zone, s.Now, s.Screen = time.UTC, clitest.Midday, cli.Screen{Width: 80}
	return s
}
