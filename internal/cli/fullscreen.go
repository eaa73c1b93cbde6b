package cli

import (
	"os"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
	"golang.org/x/text/encoding/unicode"

	"emberd/memory"
)

// Fullscreen is the terminal while one command has all of it, on the alternate screen, in
// raw mode. Only what changed is drawn. It is used by one goroutine.
type Fullscreen struct {
	Cells  tcell.Screen
	Events chan tcell.Event
	leave  chan struct{}
	colour bool
}

// OpenFullscreen takes over the terminal of this process, wherever stdin and stdout lead,
// so that a choice made on it can be the output of $(…). Close gives it back.
func OpenFullscreen(what string) (*Fullscreen, error) {
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return nil, memory.Errorf(memory.Invalid, "%s requires a terminal with cursor control; TERM is %s", what,
			JsonText(name))
	}
	// Whatever the locale, emberd writes UTF-8; in the locale C this would write ? for it.
	tcell.RegisterEncoding("US-ASCII", unicode.UTF8)
	tcell.SetEncodingFallback(tcell.EncodingFallbackUTF8)
	cells, err := tcell.NewTerminfoScreen()
	if err == nil {
		err = cells.Init()
	}
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%s requires a terminal: %w", what, err)
	}
	cells.EnablePaste()
	return newFullscreen(cells), nil
}

// newFullscreen follows the events of a screen that is ready.
func newFullscreen(cells tcell.Screen) *Fullscreen {
	f := &Fullscreen{Cells: cells, Events: make(chan tcell.Event), leave: make(chan struct{}),
		colour: os.Getenv("NO_COLOR") == ""}
	go cells.ChannelEvents(f.Events, f.leave) // which closes events at its end
	return f
}

// Close gives the terminal back as it was.
func (f *Fullscreen) Close() {
	close(f.leave)
	for range f.Events { // until their goroutine is gone
	}
	f.Cells.Fini()
}

// Screen is how text is laid out here.
func (f *Fullscreen) Screen() Screen {
	width, _ := f.Cells.Size()
	return Screen{Width: max(width, 1), Colour: f.colour}
}

// Draw shows lines that paint made, from the top, and the cursor where it is not negative.
// What does not fit is left out.
func (f *Fullscreen) Draw(lines []string, column, row int) {
	_, height := f.Cells.Size()
	f.Cells.Clear()
	for y, line := range lines[:min(len(lines), height)] {
		f.put(y, line)
	}
	f.Cells.ShowCursor(column, row)
	f.Cells.Show()
}

// put draws a line. The only escape sequences in it are those of paint, since all text of
// others was cleaned.
func (f *Fullscreen) put(y int, line string) {
	x, st := 0, tcell.StyleDefault
	for i, part := range strings.Split(line, "\x1b[") {
		if i > 0 {
			code, rest, _ := strings.Cut(part, "m")
			st, part = drawn(Style(code)), rest
		}
		f.Cells.PutStrStyled(x, y, part, st)
		x += uniseg.StringWidth(part)
	}
}

// drawn is a style as cells have it. The colours are those of the terminal's own palette,
// which its owner can read.
func drawn(st Style) tcell.Style {
	plain := tcell.StyleDefault
	switch st {
	case Bold:
		return plain.Bold(true)
	case Faint:
		return plain.Dim(true)
	case Red:
		return plain.Foreground(tcell.ColorMaroon)
	case Green:
		return plain.Foreground(tcell.ColorGreen)
	case Yellow:
		return plain.Foreground(tcell.ColorOlive)
	case Cyan:
		return plain.Foreground(tcell.ColorTeal)
	}
	return plain
}
