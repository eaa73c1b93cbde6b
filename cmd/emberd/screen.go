package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"emberd/internal/plainly"
	"emberd/op"
)

// screen is how text is laid out. The zero screen is a pipe: nothing is
// wrapped, cut or coloured, so that nothing is lost on the way.
type screen struct {
	width  int // columns, 0 for a pipe
	colour bool
}

func newScreen(f *os.File) screen {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return screen{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width < 20 {
		width = 80
	}
	dumb := os.Getenv("TERM") == "dumb"
	return screen{width: width, colour: os.Getenv("NO_COLOR") == "" && !dumb}
}

// style is an SGR parameter of ECMA-48.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (p screen) paint(st style, text string) string {
	if !p.colour || text == "" || st == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// clean makes foreign text safe to print: what steers the terminal, and what reorders, hides
// or forges text, is shown by its code. What scripts and emoji need stays.
func clean(text string) string { return plainly.Show(strings.ReplaceAll(text, "\r\n", "\n")) }

// oneLine joins the words of a text with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// cut shortens text to so many columns and says so with an ellipsis. On a pipe
// (width 0 or less) it is left whole.
func cut(text string, width int) string {
	if width <= 0 || uniseg.StringWidth(text) <= width {
		return text
	}
	end, used, rest, state := 0, 0, text, -1
	for rest != "" {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width-1 {
			break
		}
		used += w
		end += len(cluster)
	}
	return text[:end] + "…"
}

// cutFront is cut at the other end, for paths, whose ends tell most.
func cutFront(text string, width int) string {
	if width <= 0 || uniseg.StringWidth(text) <= width {
		return text
	}
	used, from, rest, state := uniseg.StringWidth(text), 0, text, -1
	for used > width-1 && rest != "" {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		used -= w
		from += len(cluster)
	}
	return "…" + text[from:]
}

// flat makes foreign text safe to print within one line.
func flat(text string) string { return strings.Map(flatten, clean(text)) }

// pad fills text with spaces to so many columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
}

// span is a range of bytes.
type span struct{ from, to int }

// lines breaks text at the places Unicode allows (UAX #14) into lines of at
// most width columns; a word that is longer is broken anywhere. On a pipe only
// the breaks of the text itself count.
func lines(text string, width int) []span {
	var out []span
	line, used := span{}, 0
	flush := func(next int) {
		out = append(out, line)
		line, used = span{next, next}, 0
	}
	rest, state, at := text, -1, 0
	for rest != "" {
		var segment string
		var must bool
		segment, rest, must, state = uniseg.FirstLineSegmentInString(rest, state)
		word := strings.TrimRightFunc(segment, unicode.IsSpace)
		if used > 0 && width > 0 && used+uniseg.StringWidth(word) > width {
			flush(at)
		}
		for width > 0 && uniseg.StringWidth(word) > width {
			head := len(cut(word, width)) - len("…")
			if head <= 0 {
				break
			}
			line.to = at + head
			word, segment, at = word[head:], segment[head:], at+head
			flush(at)
		}
		line.to = at + len(word)
		used += uniseg.StringWidth(strings.TrimRight(segment, "\r\n"))
		at += len(segment)
		if must && rest != "" {
			flush(at)
		}
	}
	return append(out, line)
}

// paragraph lays text out with an indent and the marked ranges bold.
func (p screen) paragraph(text string, marks []span, indent string) string {
	width := 0
	if p.width > 0 {
		width = max(10, p.width-len(indent))
	}
	var b strings.Builder
	for _, l := range lines(text, width) {
		b.WriteString(strings.TrimRight(indent+p.marked(text, l, marks), " ") + "\n")
	}
	return b.String()
}

// said is a paragraph of emberd's own, in one colour, about what stands above it.
func (p screen) said(colour style, text string) string {
	var b strings.Builder
	for _, l := range lines(text, max(0, p.width-2)) {
		b.WriteString("  " + p.paint(colour, text[l.from:l.to]) + "\n")
	}
	return b.String()
}

func (p screen) marked(text string, line span, marks []span) string {
	var b strings.Builder
	at := line.from
	for _, m := range marks {
		from, to := max(m.from, at), min(m.to, line.to)
		if from >= to {
			continue
		}
		b.WriteString(text[at:from] + p.paint(bold, text[from:to]))
		at = to
	}
	b.WriteString(text[at:line.to])
	return b.String()
}

// cleanSnippet is clean for a text with marks: each piece is cleaned for
// itself and the marks move along. Line breaks become spaces.
func cleanSnippet(sn op.Snippet) (string, []span) {
	var b strings.Builder
	var marks []span
	at := 0
	piece := func(to int) {
		b.WriteString(flat(sn.Text[at:to]))
		at = to
	}
	for _, m := range sn.Marks {
		if m[0] < at || m[1] < m[0] || m[1] > len(sn.Text) {
			continue
		}
		piece(m[0])
		from := b.Len()
		piece(m[1])
		marks = append(marks, span{from, b.Len()})
	}
	piece(len(sn.Text))
	return b.String(), marks
}

func flatten(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	return r
}

// age says how long ago t was, in the largest unit that leaves two of it.
func age(now, t time.Time) string {
	const day = 24 * time.Hour
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "now"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 2*day:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	case d < 14*day:
		return strconv.Itoa(int(d/day)) + " d"
	case d < 60*day:
		return strconv.Itoa(int(d/(7*day))) + " w"
	case d < 730*day:
		return strconv.Itoa(int(d/(30*day))) + " mo"
	default:
		return strconv.Itoa(int(d/(365*day))) + " y"
	}
}

// when writes a time in the user's zone, with its age.
func (s *state) when(t time.Time) string {
	return fmt.Sprintf("%s (%s)", t.In(s.zone).Format("2006-01-02 15:04:05"), ago(s.now(), t))
}

func ago(now, t time.Time) string {
	if a := age(now, t); a != "now" {
		return a + " ago"
	}
	return "just now"
}

// count writes a number with a word, in the plural unless it is one.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped writes a number in groups of three digits, apart by thin gaps.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// size writes a number of bytes for people.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// bar draws share (0 to 1) in so many cells, in eighths of a cell.
func bar(share float64, cells int) string {
	eighths := int(max(0, min(1, share))*float64(cells*8) + 0.5)
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string(rune('█' + 8 - rest))
	}
	return out + strings.Repeat(" ", cells-utf8.RuneCountInString(out))
}

// tagged writes tags as people do.
func tagged(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return "#" + strings.Join(tags, " #")
}
