package main

import (
	"os"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
	"golang.org/x/text/encoding/unicode"

	"emberd/memory"
)

// fullscreen is the terminal while one command has all of it, on the alternate screen, in
// raw mode. Only what changed is drawn. It is used by one goroutine.
type fullscreen struct {
	cells  tcell.Screen
	events chan tcell.Event
	leave  chan struct{}
	colour bool
}

// openFullscreen takes over the terminal of this process, wherever stdin and stdout lead,
// so that a choice made on it can be the output of $(…). Close gives it back.
func openFullscreen(what string) (*fullscreen, error) {
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return nil, memory.Errorf(memory.Invalid, "%s needs a terminal that can be drawn on; TERM is %s", what, jsonText(name))
	}
	// Whatever the locale, emberd writes UTF-8; in the locale C this would write ? for it.
	tcell.RegisterEncoding("US-ASCII", unicode.UTF8)
	tcell.SetEncodingFallback(tcell.EncodingFallbackUTF8)
	cells, err := tcell.NewTerminfoScreen()
	if err == nil {
		err = cells.Init()
	}
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%s needs a terminal: %w", what, err)
	}
	cells.EnablePaste()
	return newFullscreen(cells), nil
}

// newFullscreen follows the events of a screen that is ready.
func newFullscreen(cells tcell.Screen) *fullscreen {
	f := &fullscreen{cells: cells, events: make(chan tcell.Event), leave: make(chan struct{}), colour: os.Getenv("NO_COLOR") == ""}
	go cells.ChannelEvents(f.events, f.leave) // which closes events at its end
	return f
}

// close gives the terminal back as it was.
func (f *fullscreen) close() {
	close(f.leave)
	for range f.events { // until their goroutine is gone
	}
	f.cells.Fini()
}

// screen is how text is laid out here.
func (f *fullscreen) screen() screen {
	width, _ := f.cells.Size()
	return screen{width: max(width, 1), colour: f.colour}
}

// draw shows lines that paint made, from the top, and the cursor where it is not negative.
// What does not fit is left out.
func (f *fullscreen) draw(lines []string, column, row int) {
	_, height := f.cells.Size()
	f.cells.Clear()
	for y, line := range lines[:min(len(lines), height)] {
		f.put(y, line)
	}
	f.cells.ShowCursor(column, row)
	f.cells.Show()
}

// put draws a line. The only escape sequences in it are those of paint, since all text of
// others was cleaned.
func (f *fullscreen) put(y int, line string) {
	x, st := 0, tcell.StyleDefault
	for i, part := range strings.Split(line, "\x1b[") {
		if i > 0 {
			code, rest, _ := strings.Cut(part, "m")
			st, part = drawn(style(code)), rest
		}
		f.cells.PutStrStyled(x, y, part, st)
		x += uniseg.StringWidth(part)
	}
}

// drawn is a style as cells have it. The colours are those of the terminal's own palette,
// which its owner can read.
func drawn(st style) tcell.Style {
	plain := tcell.StyleDefault
	switch st {
	case bold:
		return plain.Bold(true)
	case faint:
		return plain.Dim(true)
	case red:
		return plain.Foreground(tcell.ColorMaroon)
	case green:
		return plain.Foreground(tcell.ColorGreen)
	case yellow:
		return plain.Foreground(tcell.ColorOlive)
	case cyan:
		return plain.Foreground(tcell.ColorTeal)
	}
	return plain
}
