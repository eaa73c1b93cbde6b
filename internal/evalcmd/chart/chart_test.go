package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A chart is XML, keeps its texts from being marks, and has a point for each of a curve.
func TestChart(t *testing.T) {
	t.Parallel()
	c := &Chart{Title: "<set> & more", X: "x", Note: "n", Marks: []float64{0.5}, Curves: []Curve{{Name: "one",
		Class: One}}}
	c.Curves[0].Add(0, 1)
	c.Curves[0].Add(1, 0)
	drawn := c.SVG()
	for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, drawn)
		}
	}
	for _, want := range []string{"<title>&lt;set&gt; &amp; more</title>", `d="M56.0 56.0L496.0 344.0"`, `class="mark" x1="276.0"`} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%s is not in %s", want, drawn)
		}
	}
}

// On logarithmic axes a point is where its powers of ten are, and each axis has its name.
func TestLogLog(t *testing.T) {
	t.Parallel()
	l := &LogLog{Title: "growth", X: "memories", Y: "time & more, ms", Curves: []Curve{{Name: "search", Class: Third}}}
	l.Curves[0].Add(1_000, 0.1)
	l.Curves[0].Add(1_000_000, 10)
	drawn := l.SVG()
	for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, drawn)
		}
	}
	for _, want := range []string{`d="M56.0 344.0L496.0 56.0"`, ">memories</text>", ">time &amp; more, ms</text>", ">100k</text>",
		">1M</text>", ">0.1</text>", ">in proportion</text>"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%s is not in %s", want, drawn)
		}
	}
}
