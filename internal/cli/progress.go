package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress tells how far an import is: a bar where stderr is a terminal, else
// a line now and then.
type Progress struct {
	bar   *progressbar.ProgressBar // nil without a terminal
	out   io.Writer                // nil: silent
	total int64                    // bytes, -1 when unknown
	bytes int64
	told  int // lines
}

// linesBetween is how many lines of input lie between two lines of progress.
const linesBetween = 10_000

func NewProgress(s *App, total int64) *Progress {
	if s.JSON {
		return &Progress{}
	}
	f, ok := s.Stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &Progress{out: s.Stderr, total: total}
	}
	return &Progress{bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(s.Screen.Colour),
		progressbar.OptionClearOnFinish(),
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
	p.bytes += int64(bytes)
	switch {
	case p.bar != nil:
		_ = p.bar.Add(bytes) // a bar that cannot be drawn is no reason to stop
	case p.out != nil && lines-p.told >= linesBetween:
		p.told = lines
		fmt.Fprintf(p.out, "%s read%s\n", Count(lines, "line", "lines"), p.share())
	}
}

// Describe says anew what the bar stands for, and until when, which it then does not
// guess itself.
func (p *Progress) Describe(what string) {
	if p.bar != nil {
		progressbar.OptionSetPredictTime(false)(p.bar)
		p.bar.Describe(what)
	}
}

func (p *Progress) share() string {
	if p.total <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %%)", 100*p.bytes/p.total)
}

func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
