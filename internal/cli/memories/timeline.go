package memories

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func TimelineCommand(s *cli.App) *cobra.Command {
	var days float64
	cmd := cli.Command("timeline ID", cli.ArgCount(1, 1, "one memory ID"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("days") && !(days > 0) {
				return memory.Errorf(memory.Invalid, "invalid number of days %v; use a number above 0", days).At("days")
			}
			req := &op.TimelineRequest{ID: args[0], Days: days}
			if !s.JSON {
				req.Points = plotWidth(s)
			}
			res, err := cli.Reach(cmd.Context(), s, op.Timeline, req)
			if err != nil {
				return err
			}
			return s.Answer(res, func() { printTimeline(s, res) })
		})
	cmd.Flags().Float64Var(&days, "days", 90, "")
	return cmd
}

const (
	plotHeight = 10
	plotMargin = 7 // of the scale at the left
)

// plotWidth is how many columns the curve has.
func plotWidth(s *cli.App) int {
	width := s.Screen.Width
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

func printTimeline(s *cli.App, r *op.TimelineResult) {
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
		s.Printf("%s %s\n", s.Screen.Paint(cli.Faint, cli.Pad(label, 5)+"┤"), plotted(s, cells))
	}
	s.Printf("%s\n", axis(s, r))
	printEvents(s, r)
	for _, c := range r.Thresholds {
		printAbout(s, crossingName(c.Name), crossingText(s, &c))
	}
	for _, d := range r.Stages {
		printAbout(s, string(d.Stage), "on "+ahead(s, d.At))
	}
}

// plotted is a line of the grid, whose curve stands out from what it is measured by.
func plotted(s *cli.App, cells []rune) string {
	var b strings.Builder
	text := []rune(strings.TrimRight(string(cells), " "))
	for from := 0; from < len(text); {
		to := from + 1
		for to < len(text) && ofCurve(text[to]) == ofCurve(text[from]) {
			to++
		}
		st := cli.Faint
		if ofCurve(text[from]) {
			st = cli.Cyan
		}
		b.WriteString(s.Screen.Paint(st, string(text[from:to])))
		from = to
	}
	return b.String()
}

func ofCurve(cell rune) bool { return cell == '•' || cell == '·' }

// axis names the ends of the curve and the present.
func axis(s *cli.App, r *op.TimelineResult) string {
	day := func(t time.Time) string { return t.In(s.Zone).Format(time.DateOnly) }
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
	return s.Screen.Paint(cli.Faint, strings.TrimRight(string(line), " "))
}

// maxEvents is how many events are listed; the latest tell most.
const maxEvents = 12

func printEvents(s *cli.App, r *op.TimelineResult) {
	events, listed := r.Events, "them all"
	if r.EarlierEvents > 0 {
		listed = "the latest " + cli.Grouped(len(events))
	}
	if n := len(events) - maxEvents; n > 0 {
		printAbout(s, "", fmt.Sprintf("%s earlier; to list %s, use --json", cli.Count(n+r.EarlierEvents, "event",
			"events"),
			listed))
		events = events[n:]
	}
	for _, e := range events {
		what := cli.VerbText(e.What)
		if e.Uses > 0 {
			what = fmt.Sprintf("used; total %s", cli.Count(int(e.Uses), "time", "times"))
		}
		printAbout(s, e.At.In(s.Zone).Format(time.DateOnly), what)
	}
}
