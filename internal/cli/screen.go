package cli

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

	"emberd/internal/text"
	"emberd/internal/text/invisible"
	"emberd/op"
)

// Screen is how text is laid out. The zero screen is a pipe: nothing is
// wrapped, cut or coloured, so that nothing is lost on the way.
type Screen struct {
	Width  int // columns, 0 for a pipe
	Colour bool
}

func newScreen(f *os.File) Screen {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return Screen{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width < 20 {
		width = 80
	}
	dumb := os.Getenv("TERM") == "dumb"
	return Screen{Width: width, Colour: os.Getenv("NO_COLOR") == "" && !dumb}
}

// Style is an SGR parameter of ECMA-48.
type Style string

const (
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

func (p Screen) Paint(st Style, text string) string {
	if !p.Colour || text == "" || st == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// Clean makes foreign text safe to print: what steers the terminal, and what reorders, hides
// or forges text, is shown by its code. What scripts and emoji need stays.
func Clean(text string) string { return invisible.Show(strings.ReplaceAll(text, "\r\n", "\n")) }

// styles are what [Screen.Paint] writes.
var styles = text.Pattern("\x1b\\[(?:0|1|2|31|32|33|36)m")

// printable is a text as it can be printed: [Clean], but for the styles where there are any.
func (p Screen) printable(text string) string {
	if !p.Colour {
		return Clean(text)
	}
	var b strings.Builder
	at := 0
	for _, m := range styles().FindAllStringIndex(text, -1) {
		b.WriteString(Clean(text[at:m[0]]) + text[m[0]:m[1]])
		at = m[1]
	}
	return b.String() + Clean(text[at:])
}

// OneLine joins the words of a text with single spaces.
func OneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// Cut shortens text to so many columns and says so with an ellipsis. On a pipe
// (width 0 or less) it is left whole.
func Cut(text string, width int) string {
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

// CutFront is cut at the other end, for paths, whose ends tell most.
func CutFront(text string, width int) string {
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

// Flat makes foreign text safe to print within one line.
func Flat(text string) string { return strings.Map(flatten, Clean(text)) }

// Pad fills text with spaces to so many columns.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
}

// Span is a range of bytes.
type Span struct{ From, To int }

// Lines breaks text at the places Unicode allows (UAX #14) into lines of at
// most width columns, but not within a path; a word that is longer is broken anywhere. On a pipe only
// the breaks of the text itself count.
func Lines(text string, width int) []Span {
	var out []Span
	line, used := Span{}, 0
	flush := func(next int) {
		out = append(out, line)
		line, used = Span{next, next}, 0
	}
	rest, state, at := text, -1, 0
	for rest != "" {
		var segment string
		var must bool
		segment, rest, must, state = uniseg.FirstLineSegmentInString(rest, state)
		for strings.HasSuffix(segment, "/") && rest != "" { // a path stays in one piece
			var more string
			more, rest, must, state = uniseg.FirstLineSegmentInString(rest, state)
			segment += more
		}
		word := strings.TrimRightFunc(segment, unicode.IsSpace)
		if used > 0 && width > 0 && used+uniseg.StringWidth(word) > width {
			flush(at)
		}
		for width > 0 && uniseg.StringWidth(word) > width {
			head := len(Cut(word, width)) - len("…")
			if head <= 0 {
				break
			}
			line.To = at + head
			word, segment, at = word[head:], segment[head:], at+head
			flush(at)
		}
		line.To = at + len(word)
		used += uniseg.StringWidth(strings.TrimRight(segment, "\r\n"))
		at += len(segment)
		if must && rest != "" {
			flush(at)
		}
	}
	return append(out, line)
}

// Paragraph lays text out with an indent and the marked ranges bold.
func (p Screen) Paragraph(text string, marks []Span, indent string) string {
	width := 0
	if p.Width > 0 {
		width = max(10, p.Width-len(indent))
	}
	var b strings.Builder
	for _, l := range Lines(text, width) {
		b.WriteString(strings.TrimRight(indent+p.marked(text, l, marks), " ") + "\n")
	}
	return b.String()
}

// Said is a paragraph of emberd's own, in one colour, about what stands above it.
func (p Screen) Said(colour Style, text string) string {
	var b strings.Builder
	for _, l := range Lines(text, max(0, p.Width-2)) {
		b.WriteString("  " + p.Paint(colour, text[l.From:l.To]) + "\n")
	}
	return b.String()
}

func (p Screen) marked(text string, line Span, marks []Span) string {
	var b strings.Builder
	at := line.From
	for _, m := range marks {
		from, to := max(m.From, at), min(m.To, line.To)
		if from >= to {
			continue
		}
		b.WriteString(text[at:from] + p.Paint(Bold, text[from:to]))
		at = to
	}
	b.WriteString(text[at:line.To])
	return b.String()
}

// CleanSnippet is clean for a text with marks: each piece is cleaned for
// itself and the marks move along. Line breaks become spaces.
func CleanSnippet(sn op.Snippet) (string, []Span) {
	var b strings.Builder
	var marks []Span
	at := 0
	piece := func(to int) {
		b.WriteString(Flat(sn.Text[at:to]))
		at = to
	}
	for _, m := range sn.Marks {
		if m[0] < at || m[1] < m[0] || m[1] > len(sn.Text) {
			continue
		}
		piece(m[0])
		from := b.Len()
		piece(m[1])
		marks = append(marks, Span{from, b.Len()})
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

// Age says how long ago t was, in the largest unit that leaves two of it.
func Age(now, t time.Time) string {
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

// When writes a time in the user's zone, with its age.
func (s *App) When(t time.Time) string {
	return fmt.Sprintf("%s (%s)", t.In(s.Zone).Format("2006-01-02 15:04:05"), Ago(s.Now(), t))
}

func Ago(now, t time.Time) string {
	if a := Age(now, t); a != "now" {
		return a + " ago"
	}
	return "just now"
}

// Count writes a number with a word, in the plural unless it is one.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}

// Grouped writes a number in groups of three digits, apart by thin gaps.
func Grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Size writes a number of bytes for people.
func Size(n int64) string {
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

// Bar draws share (0 to 1) in so many cells, in eighths of a cell.
func Bar(share float64, cells int) string {
	eighths := int(max(0, min(1, share))*float64(cells*8) + 0.5)
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string(rune('█' + 8 - rest))
	}
	return out + strings.Repeat(" ", cells-utf8.RuneCountInString(out))
}

// Tagged writes tags as people do, safe to print within one line.
func Tagged(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return Flat("#" + strings.Join(tags, " #"))
}
