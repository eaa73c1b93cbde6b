package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A LogLog is a drawing of how quantities above 0 grow with another, with logarithmic axes: what grows in proportion
// rises as the dotted line does.
type LogLog struct {
	Title, X, Y, Note string // X and Y name the axes, with units
	Curves            []Curve
}

// More colours, for drawings of several quantities.
const (
	Third  = "c2"
	Fourth = "c3"
	Fifth  = "c4"
)

// logStyle has what a LogLog needs beyond chartStyle.
const logStyle = `<style>
.c2 { stroke: #009e73 } .c3 { stroke: #cc79a7 } .c4 { stroke: #57606a } .dot { stroke-width: 7; stroke-linecap: round }
.even { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 1 5 }
@media (prefers-color-scheme: dark) { .c2 { stroke: #3fb68b } .c3 { stroke: #e39ac3 } .c4, .even { stroke: #8b949e } }
</style>
`

// span is an axis, from one power of ten to another.
type span struct{ from, to int }

// around returns the decades that hold all values, one at least.
func around(values []float64) span {
	s := span{int(math.Floor(math.Log10(slices.Min(values)))), int(math.Ceil(math.Log10(slices.Max(values))))}
	s.to = max(s.to, s.from+1)
	return s
}

// at is where a value is on the axis, from 0 to 1.
func (s span) at(value float64) float64 {
	return (math.Log10(value) - float64(s.from)) / float64(s.to-s.from)
}

// SVG draws the chart as a file that stands alone. There is a curve with a point, and every value is above 0.
func (l *LogLog) SVG() string {
	var xs, ys []float64
	for _, c := range l.Curves {
		for _, p := range c.Points {
			xs, ys = append(xs, p[0]), append(ys, p[1])
		}
	}
	x, y := around(xs), around(ys)
	var b strings.Builder
	begin(&b, l.Title, l.Note, l.Y, chartStyle+logStyle)
	l.axes(&b, x, y)
	for i := range l.Curves {
		l.draw(&b, i, x, y)
	}
	l.even(&b, x, y)
	b.WriteString("</svg>\n")
	return b.String()
}

// axes draws a line for each power of ten.
func (l *LogLog) axes(b *strings.Builder, x, y span) {
	for power := x.from; power <= x.to; power++ {
		at := plotX(x.at(math.Pow10(power)))
		line(b, power == x.from, at, plotY(0), at, plotY(1))
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", at, plotY(0)+18, decade(power))
	}
	for power := y.from; power <= y.to; power++ {
		at := plotY(y.at(math.Pow10(power)))
		line(b, power == y.from, plotX(0), at, plotX(1), at)
		fmt.Fprintf(b, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", plotX(0)-8, at+4, decade(power))
	}
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", plotX(0.5), plotY(0)+40,
		html.EscapeString(l.X))
}

func line(b *strings.Builder, axis bool, x1, y1, x2, y2 float64) {
	class := "grid"
	if axis {
		class = "axis"
	}
	fmt.Fprintf(b, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2)
}

// decade is a power of ten as people write it.
func decade(power int) string {
	switch {
	case power >= 9:
		return "1e" + strconv.Itoa(power)
	case power >= 6:
		return strconv.Itoa(int(math.Pow10(power-6))) + "M"
	case power >= 3:
		return strconv.Itoa(int(math.Pow10(power-3))) + "k"
	}
	return strconv.FormatFloat(math.Pow10(power), 'f', -1, 64)
}

// draw draws a curve with its points, and its name in the legend.
func (l *LogLog) draw(b *strings.Builder, i int, x, y span) {
	c := l.Curves[i]
	var path, dots strings.Builder
	step := byte('M')
	for _, p := range c.Points {
		px, py := plotX(x.at(p[0])), plotY(y.at(p[1]))
		fmt.Fprintf(&path, "%c%.1f %.1f", step, px, py)
		fmt.Fprintf(&dots, "M%.1f %.1fh0", px, py)
		step = 'L'
	}
	at := chartTop + 16 + 24*i
	fmt.Fprintf(b, "<path class=\"%s\" d=\"%s\"/>\n", c.Class, path.String())
	fmt.Fprintf(b, "<path class=\"%s dot\" d=\"%s\"/>\n", c.Class, dots.String())
	fmt.Fprintf(b, "<path class=\"%s\" d=\"M%g %dh24\"/>\n", c.Class, plotX(1)+12, at)
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%d\">%s</text>\n", plotX(1)+42, at+4, html.EscapeString(c.Name))
}

// even draws how a quantity grows that doubles when the other doubles, from the bottom on.
func (l *LogLog) even(b *strings.Builder, x, y span) {
	decades := min(x.to-x.from, y.to-y.from)
	toX, toY := float64(decades)/float64(x.to-x.from), float64(decades)/float64(y.to-y.from)
	fmt.Fprintf(b, "<path class=\"even\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", plotX(0), plotY(0), plotX(toX), plotY(toY))
	at := chartTop + 16 + 24*len(l.Curves)
	fmt.Fprintf(b, "<path class=\"even\" d=\"M%g %dh24\"/>\n", plotX(1)+12, at)
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%d\">in proportion</text>\n", plotX(1)+42, at+4)
}
