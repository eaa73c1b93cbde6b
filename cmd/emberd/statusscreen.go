package main

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"emberd/memory"
	"emberd/op"
)

// glance puts what a person wants to know of a daemon on one screen, what is wrong first.
type glance struct {
	s     *state
	p     screen // whose width is not 0
	lines []string
}

// Columns of the screen: the names, and the most that a bar takes.
const (
	glanceName = 15
	glanceBar  = 20
)

// glance lays a status out in lines no wider than the screen. The counts by stage are left
// out where stats is nil.
func (s *state) glance(p screen, r *op.StatusResult, stats *op.StatsResult) []string {
	g := &glance{s: s, p: p}
	g.health(r)
	g.gap()
	g.memories(r, stats)
	g.gap()
	if toldAll(r) {
		g.log(&r.Log)
	}
	if l := r.Loading; l != nil {
		g.bar("index", yellow, l.Indexed, l.Total, fmt.Sprintf("%s of %s memories read", grouped(l.Indexed), grouped(l.Total)))
	}
	for i := range r.Vaults {
		g.vault(&r.Vaults[i])
	}
	if m := r.Meaning; m != nil {
		g.bar("vectors", green, m.Covered, m.Total, fmt.Sprintf("%s of %s", grouped(m.Covered), count(m.Total, "memory or note", "memories and notes")))
		g.wrap("", "", clean(m.Without))
	}
	g.gap()
	g.around(r)
	for len(g.lines) > 0 && g.lines[len(g.lines)-1] == "" {
		g.lines = g.lines[:len(g.lines)-1]
	}
	return g.lines
}

// say adds a name with a text that is cut to what is left of the line.
func (g *glance) say(name string, st style, text string) {
	text = cut(text, max(1, g.p.width-glanceName))
	g.lines = append(g.lines, g.p.paint(faint, pad(name, glanceName))+g.p.paint(st, text))
}

// wrap adds a text on as many lines as it takes, none if it is empty.
func (g *glance) wrap(name string, st style, text string) {
	if text == "" {
		return
	}
	for _, l := range lines(text, max(1, g.p.width-glanceName)) {
		g.say(name, st, text[l.from:l.to])
		name = ""
	}
}

// gap parts two blocks, unless there is nothing to part.
func (g *glance) gap() {
	if n := len(g.lines); n > 0 && g.lines[n-1] != "" {
		g.lines = append(g.lines, "")
	}
}

// bar adds how much of something is so, as a bar and in words, which get a line of their
// own where one is too short for both.
func (g *glance) bar(name string, st style, n, of int, words string) {
	cells := min(glanceBar, max(4, (g.p.width-glanceName)/3))
	share := 1.0
	if of > 0 {
		share = float64(n) / float64(of)
	}
	if n > 0 && n < of { // what is not nothing does not look so, nor what is not all
		share = min(max(share, 1/float64(8*cells)), 1-1/float64(cells))
	}
	full := strings.TrimRight(bar(share, cells), " ")
	rest := strings.Repeat("·", cells-utf8.RuneCountInString(full))
	line := g.p.paint(faint, pad(name, glanceName)) + g.p.paint(st, full) + g.p.paint(faint, rest)
	if glanceName+cells+2+uniseg.StringWidth(words) <= g.p.width {
		g.lines = append(g.lines, line+"  "+words)
		return
	}
	g.lines = append(g.lines, line)
	g.wrap("", "", words)
}

// health is the headline, and below it what is not as it should be.
func (g *glance) health(r *op.StatusResult) {
	st := green
	switch {
	case r.Log.ReadOnly != "":
		st = red
	case r.Health != "ok":
		st = yellow
	}
	up := fmt.Sprintf("%s, up for %s, process %d", flat(r.Version.Version), lasted(g.s.now().Sub(r.Started)), r.Version.PID)
	g.lines = append(g.lines, g.p.paint(faint, pad("emberd", glanceName))+g.p.paint(st, "● "+r.Health)+"  "+
		g.p.paint(faint, cut(up, max(1, g.p.width-glanceName-len("  ")-len("  ")-len(r.Health)))))
	if r.Log.ReadOnly != "" {
		g.wrap("not writable", red, clean(r.Log.ReadOnly))
	}
	g.wrap("disk", red, clean(r.Log.LowSpace))
	for _, w := range r.Warnings {
		g.wrap("warning", yellow, clean(w))
	}
}

func (g *glance) memories(r *op.StatusResult, stats *op.StatsResult) {
	text := grouped(r.Memories)
	if r.Trash > 0 {
		text += fmt.Sprintf(", and %s in the trash", grouped(r.Trash))
	}
	g.wrap("memories", bold, text)
	if stats == nil || stats.Total == 0 {
		return
	}
	for _, st := range memory.Stages() {
		n := stats.Stages[st]
		words := fmt.Sprintf("%*s", len(grouped(stats.Total)), grouped(n))
		if n > 0 {
			words += fmt.Sprintf("  %5s", percent(float64(n)/float64(stats.Total)))
		}
		g.bar("  "+string(st), cyan, n, stats.Total, words)
	}
}

func (g *glance) log(l *op.LogStatus) {
	words := size(l.Bytes)
	if l.Dead > 0 {
		words += fmt.Sprintf(", %s no longer needed", size(l.Dead))
	}
	g.bar("log", green, int(max(0, l.Bytes-l.Dead)), int(l.Bytes), words)
	after := count(l.Segments, "segment", "segments") + ", durability " + l.Durability
	if c := l.Compaction; c != nil {
		after += "; compacted " + ago(g.s.now(), c.At)
	}
	g.wrap("", faint, after)
}

func (g *glance) vault(v *op.VaultStatus) {
	words := count(v.Notes, "note", "notes")
	if v.Waiting > 0 {
		words = fmt.Sprintf("%s of %s", grouped(v.Notes), count(v.Notes+v.Waiting, "note", "notes"))
	}
	if v.Absent > 0 {
		words += fmt.Sprintf(", %s missing", grouped(v.Absent))
	}
	g.bar("vault", green, v.Notes, v.Notes+v.Waiting, words)
	g.lines = append(g.lines, strings.Repeat(" ", glanceName)+g.p.paint(faint, cutFront(flat(cmp.Or(v.Path, v.Name)), max(1, g.p.width-glanceName))))
	var open []string
	if v.Skipped > 0 {
		open = append(open, grouped(v.Skipped)+" not read")
	}
	if v.Pending > 0 {
		open = append(open, count(v.Pending, "change", "changes")+" to write")
	}
	for _, l := range v.Lists {
		if l.Open > 0 {
			open = append(open, fmt.Sprintf("%s to decide in %s", grouped(l.Open), flat(l.Path)))
		}
	}
	g.wrap("", yellow, strings.Join(open, ", "))
}

// around is how the daemon is reached and where it keeps things. That it is confined is
// what it should be, and not told.
func (g *glance) around(r *op.StatusResult) {
	if r.MCP != nil {
		g.say("agents", "", r.MCP.URL)
	}
	if a := r.Author; a != nil {
		g.wrap("summaries", "", "written by "+flat(a.Endpoint))
		g.wrap("", yellow, clean(abroad(a.Endpoint, a.Remote, a.Cleanup)))
	}
	if r.Tokens != nil {
		g.wrap("tokens", "", tokensTold(r.Tokens))
	}
	if b := r.Sandbox; b != nil && !b.On {
		g.wrap("sandbox", "", "none: "+clean(b.Why))
	}
	for i := range r.Devices {
		if d := &r.Devices[i]; !d.Here {
			g.wrap("device", "", g.s.otherDevice(d))
		}
	}
	if r.Data != "" {
		g.lines = append(g.lines, g.p.paint(faint, pad("data", glanceName))+cutFront(flat(r.Data), max(1, g.p.width-glanceName)))
	}
}
