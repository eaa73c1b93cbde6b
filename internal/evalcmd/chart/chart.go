// Package chart draws curves as SVG.
package chart

import (
	"fmt"
	"html"
	"strings"
)

// A Chart is a drawing of curves in the square from 0 to 1.
type Chart struct {
	Title, X, Note string
	Curves         []Curve
	Marks          []float64 // where lines stand
}

// A Curve is a line through points.
type Curve struct {
	Name   string
	Class  string // of its colour, and Dashed behind it if it is dashed
	Points [][2]float64
}

// Add appends a point.
func (c *Curve) Add(x, y float64) { c.Points = append(c.Points, [2]float64{x, y}) }

// The drawing and, in it, the square, in pixels.
const (
	chartWidth, chartHeight   = 680, 400
	chartLeft, chartTop       = 56, 56
	squareWidth, squareHeight = 440, 288
)

// The classes of the two colours, and of what is dashed.
const (
	One    = "c0"
	Other  = "c1"
	Dashed = " dashed"
)

// chartStyle has colours that can be told apart by nearly everybody (Okabe and Ito,
// "Color Universal Design", 2008), on light and on dark ground.
const chartStyle = `<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 16px; font-weight: 600 }
.grid { stroke: #d0d7de } .axis, .mark { stroke: #57606a } .mark { stroke-dasharray: 4 4 }
.ground { fill: #ffffff }
path { fill: none; stroke-width: 2.5 }
.c0 { stroke: #0072b2 } .c1 { stroke: #d55e00 } .dashed { stroke-dasharray: 7 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.grid { stroke: #30363d } .axis, .mark { stroke: #8b949e }
.ground { fill: #0d1117 }
.c0 { stroke: #56b4e9 } .c1 { stroke: #e69f00 }
}
</style>
`

func plotX(x float64) float64 { return chartLeft + squareWidth*x }
func plotY(y float64) float64 { return chartTop + squareHeight*(1-y) }

// SVG draws the chart as a file that stands alone.
func (c *Chart) SVG() string {
	var b strings.Builder
	begin(&b, c.Title, c.Note, c.Note, chartStyle)
	c.axes(&b)
	for i := range c.Curves {
		c.draw(&b, i)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// begin draws what is above the square, and says what the drawing is.
func begin(b *strings.Builder, title, about, below, style string) {
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n", chartWidth, chartHeight)
	fmt.Fprintf(b, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(title), html.EscapeString(about))
	b.WriteString(style)
	fmt.Fprintf(b, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", chartWidth, chartHeight)
	fmt.Fprintf(b, "<text class=\"title\" x=\"%d\" y=\"24\">%s</text>\n<text x=\"%d\" y=\"44\">%s</text>\n",
		chartLeft, html.EscapeString(title), chartLeft, html.EscapeString(below))
}

func (c *Chart) axes(b *strings.Builder) {
	for i := range 6 {
		at := float64(i) / 5
		class := "grid"
		if i == 0 {
			class = "axis"
		}
		fmt.Fprintf(b, "<line class=\"%s\" x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\"/>\n", class, plotX(0), plotY(at),
			plotX(1), plotY(at))
		fmt.Fprintf(b, "<line class=\"%s\" x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\"/>\n", class, plotX(at), plotY(0),
			plotX(at), plotY(1))
		fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%.0f %%</text>\n", plotX(0)-8, plotY(at)+4, 100*at)
		fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%.1f</text>\n", plotX(at), plotY(0)+18, at)
	}
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", plotX(0.5), plotY(0)+40,
		html.EscapeString(c.X))
	for _, at := range c.Marks {
		fmt.Fprintf(b, "<line class=\"mark\" x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" y2=\"%g\"/>\n", plotX(at), plotY(0),
			plotX(at), plotY(1))
	}
}

// draw draws a curve and its name in the legend beside the square.
func (c *Chart) draw(b *strings.Builder, i int) {
	step := byte('M')
	class := c.Curves[i].Class
	fmt.Fprintf(b, "<path class=\"%s\" d=\"", class)
	for _, p := range c.Curves[i].Points {
		fmt.Fprintf(b, "%c%.1f %.1f", step, plotX(p[0]), plotY(p[1]))
		step = 'L'
	}
	y := chartTop + 16 + 24*i
	fmt.Fprintf(b, "\"/>\n<path class=\"%s\" d=\"M%g %dh24\"/>\n", class, plotX(1)+12, y)
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%d\">%s</text>\n", plotX(1)+42, y+4, html.EscapeString(c.Curves[i].Name))
}
