package evalcmd

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// drawPairs draws the curves of each report into a folder, which it makes.
func drawPairs(dir string, reports []pairsReport) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return memory.Errorf(memory.Invalid, "%w; name a folder that can be made", err)
	}
	for i := range reports {
		r := &reports[i]
		set := setName(r.File)
		if r.Same > 0 {
			if err := writeChart(filepath.Join(dir, set+"-thresholds.svg"), thresholdChart(set, r)); err != nil {
				return err
			}
		}
		if r.Opposites > 0 {
			if err := writeChart(filepath.Join(dir, set+"-conflicts.svg"), conflictChart(set,
				r.Conflicts)); err != nil {
				return err
			}
		}
		if r.Merging != nil {
			if err := writeChart(filepath.Join(dir, set+"-merging.svg"), mergeChart(set, r.Merging,
				r.Vectors)); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeChart(name string, c *chart) error {
	if err := os.WriteFile(name, []byte(c.svg()), 0o666); err != nil {
		return memory.Errorf(memory.Invalid, "%w; name a folder that can be written to", err)
	}
	return nil
}

// setName is what a file of pairs is called: as its folder, or by its own name.
func setName(file string) string {
	if dir := filepath.Base(filepath.Dir(file)); dir != "." && dir != ".." && dir != string(filepath.Separator) {
		return dir
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// thresholdChart shows what the thresholds of duplicates and clusters select, of the pairs
// that nothing keeps apart.
func thresholdChart(set string, r *pairsReport) *chart {
	c := &chart{title: set + ": taken for the same", x: "threshold of similarity",
		marks: []float64{op.ClusterThreshold, op.DuplicateThreshold},
		note: fmt.Sprintf("lines: clusters at %.2f, duplicates at %.2f", op.ClusterThreshold,
			op.DuplicateThreshold)}
	draw := func(by, colour string, all []atThreshold) {
		precision := curve{name: by + ": precision", class: colour}
		recall := curve{name: by + ": recall", class: colour + " dashed"}
		for _, at := range all {
			recall.add(at.Threshold, at.Mergeable.Recall)
			if at.Mergeable.Pairs > 0 {
				precision.add(at.Threshold, at.Mergeable.Precision)
			}
		}
		c.curves = append(c.curves, precision, recall)
	}
	draw("words", colourOne, r.Curve)
	if r.Vectors != nil {
		draw("vectors", colourOther, r.Vectors.Curve)
		c.note += "; vectors: " + r.Vectors.Model
	}
	return c
}

func conflictChart(set string, r *toldReport) *chart {
	c := &chart{title: set + ": conflicts told", x: "least similarity",
		note: fmt.Sprintf("through the gate: precision %.3f, recall %.3f", r.Gate.Precision, r.Gate.Recall)}
	precision := curve{name: "precision", class: colourOne}
	recall := curve{name: "recall", class: colourOther + " dashed"}
	for _, at := range r.Curve {
		recall.add(at.Similarity, at.Recall)
		if at.Told > 0 {
			precision.add(at.Similarity, at.Precision)
		}
	}
	c.curves = []curve{precision, recall}
	return c
}

func mergeChart(set string, r *mergeReport, v *byVectors) *chart {
	c := &chart{title: set + ": merged at a threshold", x: "threshold of similarity",
		note: "no threshold merges 80 % of the paraphrases"}
	if m := r.Guarded; m.Reached {
		c.note = fmt.Sprintf("80 %% of the paraphrases at %.3f by words", m.Threshold)
		if r.Contradictions > 0 {
			c.note += fmt.Sprintf(", %.1f %% of the contradictions",
				100*float64(m.Contradictions)/float64(r.Contradictions))
		}
		c.marks = []float64{m.Threshold}
	}
	draw := func(by, colour string, r *mergeReport) {
		same := curve{name: by + ": paraphrases", class: colour}
		other := curve{name: by + ": opposites", class: colour + " dashed"}
		for _, at := range r.Curve {
			same.add(at.Threshold, float64(at.Paraphrases)/float64(r.Paraphrases))
			other.add(at.Threshold, float64(at.Contradictions)/float64(max(1, r.Contradictions)))
		}
		if c.curves = append(c.curves, same); r.Contradictions > 0 {
			c.curves = append(c.curves, other)
		}
	}
	draw("words", colourOne, r)
	if v != nil {
		draw("vectors", colourOther, v.Merging)
	}
	return c
}

// chart is a drawing of curves in the square from 0 to 1.
type chart struct {
	title, x, note string
	curves         []curve
	marks          []float64 // where lines stand
}

type curve struct {
	name   string
	class  string // of its colour, and whether it is dashed
	points [][2]float64
}

func (c *curve) add(x, y float64) { c.points = append(c.points, [2]float64{x, y}) }

// The drawing and, in it, the square, in pixels.
const (
	chartWidth, chartHeight   = 680, 400
	chartLeft, chartTop       = 56, 56
	squareWidth, squareHeight = 440, 288
)

// The classes of the two colours.
const (
	colourOne   = "c0"
	colourOther = "c1"
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

// svg draws the chart as a file that stands alone.
func (c *chart) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n",
		chartWidth, chartHeight, html.EscapeString(c.title), html.EscapeString(c.note))
	b.WriteString(chartStyle)
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"%d\" y=\"24\">%s</text>\n<text x=\"%d\" y=\"44\">%s</text>\n",
		chartLeft, html.EscapeString(c.title), chartLeft, html.EscapeString(c.note))
	c.axes(&b)
	for i := range c.curves {
		c.draw(&b, i)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (c *chart) axes(b *strings.Builder) {
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
		html.EscapeString(c.x))
	for _, at := range c.marks {
		fmt.Fprintf(b, "<line class=\"mark\" x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" y2=\"%g\"/>\n", plotX(at), plotY(0),
			plotX(at), plotY(1))
	}
}

// draw draws a curve and its name in the legend beside the square.
func (c *chart) draw(b *strings.Builder, i int) {
	step := byte('M')
	class := c.curves[i].class
	fmt.Fprintf(b, "<path class=\"%s\" d=\"", class)
	for _, p := range c.curves[i].points {
		fmt.Fprintf(b, "%c%.1f %.1f", step, plotX(p[0]), plotY(p[1]))
		step = 'L'
	}
	y := chartTop + 16 + 24*i
	fmt.Fprintf(b, "\"/>\n<path class=\"%s\" d=\"M%g %dh24\"/>\n", class, plotX(1)+12, y)
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%d\">%s</text>\n", plotX(1)+42, y+4, html.EscapeString(c.curves[i].name))
}
