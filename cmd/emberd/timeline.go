package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) timelineCommand() *cobra.Command {
	var days float64
	cmd := &cobra.Command{
		Use:   "timeline ID",
		Short: "Draw how a memory fades",
		Long: `Draw the decay score of a memory from when it was saved to 90 days ahead, if it
is left alone from now on, with what happened to it and the scores that matter.
Of uses the log keeps how many there were, not always when. Asking does not
count as a use.`,
		Example: `  emberd timeline 456789ab
  emberd timeline 456789ab --days 365`,
		Annotations:       exits(endings{exitNothing: "no memory with that id", exitNoDaemon: "", exitLocked: ""}),
		Args:              takes(1, 1, "one memory id"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("days") && !(days > 0) {
				return memory.Errorf(memory.Invalid, "days is %v; give more than 0", days).At("days")
			}
			req := &op.TimelineRequest{ID: args[0], Days: days}
			if !s.json {
				req.Points = s.plotWidth()
			}
			res, err := reach(cmd.Context(), s, op.Timeline, req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printTimeline(res)
			return nil
		},
	}
	cmd.Flags().Float64Var(&days, "days", 90, "look so many `DAYS` ahead, up to 3,650")
	return cmd
}

const (
	plotHeight = 10
	plotMargin = 7 // of the scale at the left
)

// plotWidth is how many columns the curve has.
func (s *state) plotWidth() int {
	width := s.screen.width
	if width == 0 {
		width = 80
	}
	return min(max(width, 40), 1000) - plotMargin
}

// plot is a grid of characters, row 0 at the top.
type plot struct {
	cells [plotHeight + 1][]rune
	top   float64 // score of row 0
}

func newPlot(r *op.TimelineResult) *plot {
	p := &plot{}
	for _, pt := range r.Points {
		p.top = max(p.top, pt.Score)
	}
	for _, c := range r.Thresholds {
		p.top = max(p.top, c.Score)
	}
	p.top = max(p.top*1.05, 0.1)
	for i := range p.cells {
		p.cells[i] = []rune(strings.Repeat(" ", len(r.Points)))
	}
	return p
}

// row is where a score is drawn.
func (p *plot) row(score float64) int {
	return plotHeight - int(math.Round(min(max(score/p.top, 0), 1)*plotHeight))
}

// column is where a time is drawn.
func column(r *op.TimelineResult, at time.Time) int {
	first, last := r.Points[0].At, r.Points[len(r.Points)-1].At
	share := float64(at.Sub(first)) / float64(max(last.Sub(first), 1))
	return int(math.Round(min(max(share, 0), 1) * float64(len(r.Points)-1)))
}

// draw fills the grid: thresholds, the present, and the curve over both.
func (p *plot) draw(r *op.TimelineResult) {
	for _, c := range r.Thresholds {
		line := p.cells[p.row(c.Score)]
		for x := range line {
			line[x] = '┄'
		}
	}
	now := column(r, r.Now)
	for y := range p.cells {
		p.cells[y][now] = '│'
	}
	before := -1
	for x, pt := range r.Points {
		y := p.row(pt.Score)
		mark := '•'
		if pt.At.After(r.Now) {
			mark = '·'
		}
		// A use lifts the score at once.
		for up := y + 1; before >= 0 && up < before; up++ {
			p.cells[up][x] = mark
		}
		p.cells[y][x] = mark
		before = y
	}
}

func (s *state) printTimeline(r *op.TimelineResult) {
	p := newPlot(r)
	p.draw(r)
	labels := map[int]string{}
	for _, c := range slices.Backward(r.Thresholds) {
		labels[p.row(c.Score)] = fmt.Sprintf("%5.2f", c.Score)
	}
	for y, cells := range p.cells {
		label := labels[y]
		if y == 0 {
			label = fmt.Sprintf("%5.2f", p.top)
		}
		s.printf("%s %s\n", s.screen.paint(faint, pad(label, 5)+"┤"), s.plotted(cells))
	}
	s.printf("%s\n", s.axis(r))
	s.printEvents(r)
	for _, c := range r.Thresholds {
		s.printAbout(crossingName(c.Name), s.crossingText(&c))
	}
	for _, d := range r.Stages {
		s.printAbout(string(d.Stage), "on "+s.ahead(d.At))
	}
}

// plotted is a line of the grid, whose curve stands out from what it is measured by.
func (s *state) plotted(cells []rune) string {
	var b strings.Builder
	text := []rune(strings.TrimRight(string(cells), " "))
	for from := 0; from < len(text); {
		to := from + 1
		for to < len(text) && ofCurve(text[to]) == ofCurve(text[from]) {
			to++
		}
		st := faint
		if ofCurve(text[from]) {
			st = cyan
		}
		b.WriteString(s.screen.paint(st, string(text[from:to])))
		from = to
	}
	return b.String()
}

func ofCurve(cell rune) bool { return cell == '•' || cell == '·' }

// axis names the ends of the curve and the present.
func (s *state) axis(r *op.TimelineResult) string {
	day := func(t time.Time) string { return t.In(s.zone).Format(time.DateOnly) }
	line := []rune(strings.Repeat(" ", plotMargin+len(r.Points)))
	put := func(at int, text string) {
		at = min(max(at, 0), len(line)-len(text))
		copy(line[at:], []rune(text))
	}
	first, last := plotMargin, len(line)-len(time.DateOnly)
	put(first, day(r.Points[0].At))
	put(last, day(r.Points[len(r.Points)-1].At))
	if now := plotMargin + column(r, r.Now) - 1; now > first+len(time.DateOnly) && now+3 < last {
		put(now, "now")
	}
	return s.screen.paint(faint, strings.TrimRight(string(line), " "))
}

// mostEvents is how many events are listed; the latest tell most.
const mostEvents = 12

func (s *state) printEvents(r *op.TimelineResult) {
	events, listed := r.Events, "them all"
	if r.EarlierEvents > 0 {
		listed = "the latest " + grouped(len(events))
	}
	if n := len(events) - mostEvents; n > 0 {
		s.printAbout("", fmt.Sprintf("%s earlier; --json lists %s", count(n+r.EarlierEvents, "event", "events"), listed))
		events = events[n:]
	}
	for _, e := range events {
		what := e.What
		if e.Uses > 0 {
			what = fmt.Sprintf("used, %s by then", count(int(e.Uses), "time", "times"))
		}
		s.printAbout(e.At.In(s.zone).Format(time.DateOnly), what)
	}
}
