package maintain

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// How often a status is drawn anew: by default, and at most.
const (
	watchEvery = 2 * time.Second
	watchLeast = 200 * time.Millisecond
)

// watchStatus shows the status again and again, until somebody has seen enough.
func watchStatus(ctx context.Context, s *cli.App, every time.Duration, full bool) error {
	switch {
	case every < watchLeast:
		return memory.Errorf(memory.Invalid, "invalid --watch %v; use %v or more", every, watchLeast).At("watch")
	case full:
		return memory.Errorf(memory.Invalid, "--watch and --full cannot be combined").At("full")
	case s.JSON:
		return streamStatus(ctx, s, every)
	case s.Screen.Width == 0:
		return memory.Errorf(memory.Invalid,
			"--watch requires a terminal; to print one line per refresh, use --json").At("watch")
	}
	if _, err := s.Connect(); err != nil { // settings that are wrong stay so
		return err
	}
	f, err := cli.OpenFullscreen("emberd status --watch")
	if err != nil {
		return err
	}
	defer f.Close()
	return watchOn(ctx, s, f, every)
}

// streamStatus prints a status a line. A daemon that does not answer is a problem object on
// stderr, and is asked again.
func streamStatus(ctx context.Context, s *cli.App, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		res, err := cli.Call(ctx, s, op.Status, &op.StatusRequest{})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if err := cli.WriteJSONLine(s.Stdout, res); err != nil {
				return err
			}
			if err := s.Stdout.Flush(); err != nil {
				return fmt.Errorf("cannot write the status: %w", err)
			}
		case memory.CodeOf(err) != memory.Unavailable && memory.CodeOf(err) != memory.Busy:
			return err
		default:
			if err := cli.WriteJSONLine(s.Stderr, cli.Problem(err)); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// seenStatus is what came of asking once.
type seenStatus struct {
	at    time.Time
	res   *op.StatusResult
	stats *op.StatsResult
	err   error
}

// watching is a status on a terminal: the last answer, and what came of asking since.
type watching struct {
	s      *cli.App
	f      *cli.Fullscreen
	every  time.Duration
	last   seenStatus // the last answer, at zero before the first
	failed seenStatus // what came instead since then
}

// watchOn draws until a key ends it or ctx does. Asking takes a goroutine, which ends before
// this returns, so that keys work while a daemon does not answer.
func watchOn(ctx context.Context, s *cli.App, f *cli.Fullscreen, every time.Duration) error {
	asked, stop := context.WithCancel(ctx)
	answers := make(chan seenStatus)
	var asking sync.WaitGroup
	asking.Go(func() { askStatus(asked, s, every, answers) })
	defer asking.Wait()
	defer stop()
	w := &watching{s: s, f: f, every: every}
	for {
		w.draw()
		select {
		case a := <-answers:
			w.take(a)
		case ev, ok := <-f.Events:
			switch ev := ev.(type) {
			case *tcell.EventError: // the terminal is gone
				return fmt.Errorf("cannot read from the terminal: %w", ev)
			case *tcell.EventKey:
				ok = !endsWatch(ev)
			}
			if !ok {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endsWatch reports whether a key is one that people leave such a screen by.
func endsWatch(key *tcell.EventKey) bool {
	return key.Key() == tcell.KeyCtrlC || key.Key() == tcell.KeyEscape || key.Key() == tcell.KeyRune &&
		(key.Rune() == 'q' || key.Rune() == 'Q')
}

// askStatus asks at once and then each interval, until ctx ends.
func askStatus(ctx context.Context, s *cli.App, every time.Duration, answers chan<- seenStatus) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var a seenStatus
		if a.res, a.err = cli.Call(ctx, s, op.Status, &op.StatusRequest{}); a.err == nil {
			a.stats, a.err = stageCounts(ctx, s)
		}
		a.at = s.Now()
		select {
		case answers <- a:
		case <-ctx.Done():
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *watching) take(a seenStatus) {
	if a.err == nil {
		w.last, w.failed = a, seenStatus{}
		return
	}
	if w.failed.err == nil {
		w.failed.at = a.at
	}
	w.failed.err = a.err
}

func (w *watching) draw() {
	p := w.f.Screen()
	_, height := w.f.Cells.Size()
	w.f.Draw(w.lines(p, height), -1, -1)
}

// lines are exactly as many as the screen has, with what can be pressed in the last.
func (w *watching) lines(p cli.Screen, height int) []string {
	body := w.body(p)
	if room := height - 1; len(body) > room {
		more := len(body) - room + 1
		body = append(body[:max(0, room-1)],
			p.Paint(cli.Yellow, cli.Cut(fmt.Sprintf("… %s; enlarge the window to see them",
				cli.Count(more, "more line", "more lines")), p.Width)))
	}
	for len(body) < height-1 {
		body = append(body, "")
	}
	foot := fmt.Sprintf("every %v   q quits", w.every)
	if !w.last.at.IsZero() {
		foot = w.last.at.In(w.s.Zone).Format(time.TimeOnly) + "   " + foot
	}
	return append(body, p.Paint(cli.Faint, cli.Cut(foot, p.Width)))
}

// body is the last answer, below what is wrong with it when none came since.
func (w *watching) body(p cli.Screen) []string {
	var out []string
	if w.failed.err != nil {
		since := w.failed.at.In(w.s.Zone).Format(time.TimeOnly)
		out = append(out, p.Paint(cli.Red,
			cli.Cut(fmt.Sprintf("● no answer since %s, retrying every %v", since, w.every), p.Width)))
		text := cli.Clean(w.failed.err.Error())
		for _, l := range cli.Lines(text, p.Width) {
			out = append(out, p.Paint(cli.Yellow, text[l.From:l.To]))
		}
		out = append(out, "")
	}
	switch {
	case w.last.res != nil && w.failed.err != nil: // what was is told without its colours
		for _, line := range drawSummary(w.s, cli.Screen{Width: p.Width}, w.last.res, w.last.stats) {
			out = append(out, p.Paint(cli.Faint, line))
		}
	case w.last.res != nil:
		out = append(out, drawSummary(w.s, p, w.last.res, w.last.stats)...)
	case w.failed.err == nil:
		out = append(out, p.Paint(cli.Faint, "connecting to the daemon"))
	}
	return out
}
