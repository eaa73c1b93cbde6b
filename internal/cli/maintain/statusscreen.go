package maintain

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/memory"
	"emberd/op"
)

// statusSummary puts what a person wants to know of a daemon on one screen, what is wrong first.
type statusSummary struct {
	s     *cli.App
	p     cli.Screen // whose width is not 0
	lines []string
}

// Columns of the screen: the names, and the most that a bar takes.
const (
	glanceName = 15
	glanceBar  = 20
)

// drawSummary lays a status out in lines no wider than the screen. The counts by stage are left
// out where stats is nil.
func drawSummary(s *cli.App, p cli.Screen, r *op.StatusResult, stats *op.StatsResult) []string {
	g := &statusSummary{s: s, p: p}
	g.waits(r.Waits)
	g.health(r)
	g.gap()
	g.memories(r, stats)
	g.gap()
	if toldAll(r) {
		g.log(&r.Log)
	}
	if l := r.Loading; l != nil {
		g.bar("index", cli.Yellow, l.Indexed, l.Total, fmt.Sprintf("%s of %s memories loaded", cli.Grouped(l.Indexed),
			cli.Grouped(l.Total)))
	}
	for i := range r.Vaults {
		g.vault(&r.Vaults[i])
	}
	if m := r.Meaning; m != nil {
		g.bar("vectors", cli.Green, m.Covered, m.Total, fmt.Sprintf("%s of %s", cli.Grouped(m.Covered),
			cli.Count(m.Total, "memory or note", "memories and notes")))
		g.wrap("", "", cli.Clean(m.Without))
	}
	g.gap()
	g.around(r)
	for len(g.lines) > 0 && g.lines[len(g.lines)-1] == "" {
		g.lines = g.lines[:len(g.lines)-1]
	}
	return g.lines
}

// say adds a name with a text that is cut to what is left of the line.
func (g *statusSummary) say(name string, st cli.Style, text string) {
	text = cli.Cut(text, max(1, g.p.Width-glanceName))
	g.lines = append(g.lines, g.p.Paint(cli.Faint, cli.Pad(name, glanceName))+g.p.Paint(st, text))
}

// wrap adds a text on as many lines as it takes, none if it is empty.
func (g *statusSummary) wrap(name string, st cli.Style, text string) {
	if text == "" {
		return
	}
	for _, l := range cli.Lines(text, max(1, g.p.Width-glanceName)) {
		g.say(name, st, text[l.From:l.To])
		name = ""
	}
}

// gap parts two blocks, unless there is nothing to part.
func (g *statusSummary) gap() {
	if n := len(g.lines); n > 0 && g.lines[n-1] != "" {
		g.lines = append(g.lines, "")
	}
}

// bar adds how much of something is so, as a bar and in words, which get a line of their
// own where one is too short for both.
func (g *statusSummary) bar(name string, st cli.Style, n, of int, words string) {
	cells := min(glanceBar, max(4, (g.p.Width-glanceName)/3))
	share := 1.0
	if of > 0 {
		share = float64(n) / float64(of)
	}
	if n > 0 && n < of { // what is not nothing does not look so, nor what is not all
		share = min(max(share, 1/float64(8*cells)), 1-1/float64(cells))
	}
	full := strings.TrimRight(cli.Bar(share, cells), " ")
	rest := strings.Repeat("·", cells-utf8.RuneCountInString(full))
	line := g.p.Paint(cli.Faint, cli.Pad(name, glanceName)) + g.p.Paint(st, full) + g.p.Paint(cli.Faint, rest)
	if glanceName+cells+2+uniseg.StringWidth(words) <= g.p.Width {
		g.lines = append(g.lines, line+"  "+words)
		return
	}
	g.lines = append(g.lines, line)
	g.wrap("", "", words)
}

// health is the headline, and below it what is not as it should be.
func (g *statusSummary) health(r *op.StatusResult) {
	st := cli.Green
	switch {
	case r.Log.ReadOnly != "":
		st = cli.Red
	case r.Health != "ok":
		st = cli.Yellow
	}
	up := fmt.Sprintf("%s, running for %s, PID %d", cli.Flat(r.Version.Version), cli.Lasted(g.s.Now().Sub(r.Started)),
		r.Version.PID)
	g.lines = append(g.lines, g.p.Paint(cli.Faint, cli.Pad("emberd", glanceName))+g.p.Paint(st, "● "+r.Health)+"  "+
		g.p.Paint(cli.Faint, cli.Cut(up, max(1, g.p.Width-glanceName-len("  ")-len("  ")-len(r.Health)))))
	if r.Log.ReadOnly != "" {
		g.wrap("not writable", cli.Red, cli.Clean(r.Log.ReadOnly))
	}
	g.wrap("disk", cli.Red, cli.Clean(r.Log.LowSpace))
	for _, w := range otherWarnings(r) {
		g.wrap("warning", cli.Yellow, cli.Clean(w))
	}
}

func (g *statusSummary) memories(r *op.StatusResult, stats *op.StatsResult) {
	text := cli.Grouped(r.Memories)
	if r.Trash > 0 {
		text += fmt.Sprintf(", and %s in the trash", cli.Grouped(r.Trash))
	}
	g.wrap("memories", cli.Bold, text)
	if stats == nil || stats.Total == 0 {
		return
	}
	for _, st := range memory.Stages() {
		n := stats.Stages[st]
		if n == 0 && st == memory.Rehydratable { // most have none, and the screen is short
			continue
		}
		words := fmt.Sprintf("%*s", len(cli.Grouped(stats.Total)), cli.Grouped(n))
		if n > 0 {
			words += fmt.Sprintf("  %5s", cli.Percent(float64(n)/float64(stats.Total)))
		}
		g.bar("  "+string(st), cli.Cyan, n, stats.Total, words)
	}
}

func (g *statusSummary) log(l *op.LogStatus) {
	words := cli.Size(l.Bytes)
	if l.Dead > 0 {
		words += fmt.Sprintf(", %s superseded", cli.Size(l.Dead))
	}
	g.bar("log", cli.Green, int(max(0, l.Bytes-l.Dead)), int(l.Bytes), words)
	after := cli.Count(l.Segments, "segment", "segments") + ", durability " + l.Durability
	if c := l.Compaction; c != nil {
		after += "; compacted " + cli.Ago(g.s.Now(), c.At)
	}
	g.wrap("", cli.Faint, after)
}

func (g *statusSummary) vault(v *op.VaultStatus) {
	words := cli.Count(v.Notes, "note", "notes")
	if v.Waiting > 0 {
		words = fmt.Sprintf("%s of %s", cli.Grouped(v.Notes), cli.Count(v.Notes+v.Waiting, "note", "notes"))
	}
	if v.Absent > 0 {
		words += fmt.Sprintf(", %s missing", cli.Grouped(v.Absent))
	}
	g.bar("vault", cli.Green, v.Notes, v.Notes+v.Waiting, words)
	g.lines = append(g.lines, strings.Repeat(" ", glanceName)+g.p.Paint(cli.Faint,
		cli.CutFront(cli.Flat(cmp.Or(v.Path, v.Name)), max(1, g.p.Width-glanceName))))
	var open []string
	if v.Skipped > 0 {
		open = append(open, cli.Grouped(v.Skipped)+" not read")
	}
	if v.Pending > 0 {
		open = append(open, cli.Count(v.Pending, "change", "changes")+" to write")
	}
	for _, l := range v.Lists {
		if l.Open > 0 {
			open = append(open, fmt.Sprintf("%s to review in %s", cli.Grouped(l.Open), cli.Flat(l.Path)))
		}
	}
	g.wrap("", cli.Yellow, strings.Join(open, ", "))
}

// around is how the daemon is reached and where it keeps things. That it is confined is
// what it should be, and not told.
func (g *statusSummary) around(r *op.StatusResult) {
	if a := r.Author; a != nil {
		g.wrap("summaries", "", "written by "+cli.Flat(a.Endpoint))
		g.wrap("", cli.Yellow, cli.Clean(daemon.Abroad(a)))
	}
	if r.Tokens != nil {
		g.wrap("tokens", "", tokensTold(r.Tokens))
	}
	if b := r.Sandbox; b != nil && !b.On {
		g.wrap("sandbox", "", "none: "+cli.Clean(b.Why))
	}
	for i := range r.Devices {
		if d := &r.Devices[i]; !d.Here {
			g.wrap("device", "", otherDevice(g.s, d))
		}
	}
	if r.Data != "" {
		g.lines = append(g.lines, g.p.Paint(cli.Faint, cli.Pad("data", glanceName))+cli.CutFront(cli.Flat(r.Data),
			max(1, g.p.Width-glanceName)))
	}
}
