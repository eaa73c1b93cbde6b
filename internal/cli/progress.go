package cli

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress tells how far something is by a bar where stderr is a terminal, and nothing elsewhere. It belongs to one
// goroutine.
type Progress struct {
	bar   *progressbar.ProgressBar // nil without a terminal
	total int64                    // what the bar reaches, -1 when unknown
	began time.Time
	told  time.Time // when the rate was told last
}

// rateEvery is how long a rate stays as it is shown.
const rateEvery = 250 * time.Millisecond

// NewProgress is progress of an import: a bar of what was read of so many bytes, -1 when that is unknown, with how many
// lines that is a second and how long the rest will take.
func NewProgress(s *App, total int64) *Progress {
	f, ok := s.Stderr.(*os.File)
	if s.JSON || !ok || !term.IsTerminal(int(f.Fd())) {
		return &Progress{}
	}
	return &Progress{began: time.Now(), bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription("importing"),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(s.Screen.Colour),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(transferThrottle),
	)}
}

// NewSteps is progress of another kind: a bar where stderr is a terminal, else
// nothing.
func NewSteps(s *App, what string, total int) *Progress {
	f, ok := s.Stderr.(*os.File)
	if s.JSON || !ok || !term.IsTerminal(int(f.Fd())) {
		return &Progress{}
	}
	return &Progress{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(s.Screen.Colour),
		progressbar.OptionClearOnFinish(),
	)}
}

// NewShare is progress that is told as done of total, whatever the units: a bar with the
// time that is left where stderr is a terminal, else nothing.
func NewShare(s *App, what string) (tell func(done, total int), end func()) {
	p := NewSteps(s, what, 1)
	if p.bar == nil {
		return func(int, int) {}, func() {}
	}
	progressbar.OptionSetPredictTime(true)(p.bar)
	return func(done, total int) {
		if total > 0 && p.total != int64(total) {
			p.total = int64(total)
			p.bar.ChangeMax(total)
		}
		_ = p.bar.Set(done) // a bar that cannot be drawn is no reason to stop
	}, p.Done
}

// NewTransfer is progress of the bytes of a file: a bar where stderr is a terminal, else
// nothing.
func NewTransfer(s *App, what string) *Progress {
	f, ok := s.Stderr.(*os.File)
	if s.JSON || !ok || !term.IsTerminal(int(f.Fd())) {
		return &Progress{}
	}
	return &Progress{bar: progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(s.Screen.Colour),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(transferThrottle),
		progressbar.OptionSetSpinnerChangeInterval(0), // or it is drawn on and on
	)}
}

// transferThrottle is how long a bar of bytes stays as it is drawn.
const transferThrottle = 100 * time.Millisecond

// Reached says how many bytes are there, of total, which is 0 while that is not known.
func (p *Progress) Reached(done, total int64) {
	if p.bar == nil {
		return
	}
	if total > 0 && p.total != total {
		p.total = total
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done) // a bar that cannot be drawn is no reason to stop
}

// Add counts a line of so many bytes, the lines-th.
func (p *Progress) Add(bytes, lines int) {
	if p.bar == nil {
		return
	}
	if now := time.Now(); now.Sub(p.told) >= rateEvery {
		p.told = now
		if since := now.Sub(p.began); since >= rateEvery {
			p.bar.Describe("importing, " + Grouped(int(float64(lines)/since.Seconds())) + " lines/s")
		}
	}
	_ = p.bar.Add(bytes) // a bar that cannot be drawn is no reason to stop
}

// Describe says anew what the bar stands for, and until when, which it then does not
// guess itself.
func (p *Progress) Describe(what string) {
	if p.bar != nil {
		progressbar.OptionSetPredictTime(false)(p.bar)
		p.bar.Describe(what)
	}
}

// Done takes the bar off the screen.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
