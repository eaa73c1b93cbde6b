package bench

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"emberd/internal/evalcmd/chart"
)

// growth is a table of figures by size.
type growth struct {
	file, of string
	rows     map[int]measured
}

// readGrowth reads a table that an earlier run wrote, if there is one.
func readGrowth(tb testing.TB, dir, of string) *growth {
	tb.Helper()
	g := &growth{file: filepath.Join(dir, of+".tsv"), of: of, rows: map[int]measured{}}
	text, err := os.ReadFile(g.file)
	if os.IsNotExist(err) {
		return g
	}
	if err != nil {
		tb.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	columns := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		row, n := measured{}, 0
		for i, cell := range strings.Split(line, "\t") {
			value, err := strconv.ParseFloat(cell, 64)
			switch {
			case err != nil:
				tb.Fatalf("%s: %q: %v", g.file, line, err)
			case i == 0:
				n = int(value)
			default:
				row[columns[i]] = value
			}
		}
		g.rows[n] = row
	}
	return g
}

func (g *growth) put(n int, row measured) { g.rows[n] = row }

// write has the table on disk after each size, since the large ones take long.
func (g *growth) write(b *testing.B) {
	b.Helper()
	var all strings.Builder
	ordered := slices.Sorted(maps.Keys(g.rows))
	columns := slices.Sorted(maps.Keys(g.rows[ordered[0]]))
	fmt.Fprintf(&all, "%s\t%s\n", g.of, strings.Join(columns, "\t"))
	for _, n := range ordered {
		fmt.Fprint(&all, n)
		for _, column := range columns {
			fmt.Fprintf(&all, "\t%s", threeDigits(g.rows[n][column]))
		}
		all.WriteByte('\n')
	}
	if err := os.WriteFile(g.file, []byte(all.String()), 0o644); err != nil {
		b.Fatal(err)
	}
}

// figure is a drawing of some columns of a table.
type figure struct {
	file, title, y string
	of             *growth
	columns        [][2]string // column and name
}

func growthFigures(memories, notes *growth) []figure {
	return []figure{
		{"memories-time.svg", "Time, as memories become more", "milliseconds", memories, [][2]string{
			{"search_p50_ms", "search, p50"}, {"search_p99_ms", "search, p99"}, {"save_p50_ms", "save, p50"},
			{"start_ms", "start"}, {"load_ms_per_1000", "loading 1,000"}}},
		{"memories-space.svg", "Space, as memories become more", "millions of bytes", memories, [][2]string{
			{"private_MB", "private memory"}, {"peak_MB", "most, while loading"}, {"log_MB", "log"}, {"state_MB", "derived files"}}},
		{"notes-time.svg", "Time, as notes become more", "milliseconds", notes, [][2]string{
			{"search_p50_ms", "search, p50"}, {"search_p99_ms", "search, p99"}, {"sentence_p50_ms", "a sentence, p50"},
			{"restart_ms", "start, caught up"}, {"first_index_ms", "first index"}}},
		{"notes-space.svg", "Space, as notes become more", "millions of bytes", notes, [][2]string{
			{"private_MB", "private memory"}, {"peak_MB", "most, first index"}, {"index_MB", "index"}, {"text_MB", "text"}}},
	}
}

// svg draws the figure.
func (f *figure) svg() string {
	drawing := &chart.LogLog{Title: f.title, X: f.of.of + " (each axis is logarithmic)", Y: f.y, Note: "from " + filepath.Base(f.of.file)}
	classes := []string{chart.One, chart.Other, chart.Third, chart.Fourth, chart.Fifth}
	for i, column := range f.columns {
		curve := chart.Curve{Name: column[1], Class: classes[i]}
		for _, n := range slices.Sorted(maps.Keys(f.of.rows)) {
			if value := f.of.rows[n][column[0]]; value > 0 {
				curve.Add(float64(n), value)
			}
		}
		drawing.Curves = append(drawing.Curves, curve)
	}
	return drawing.SVG()
}

// drawGrowth draws what the tables have.
func drawGrowth(b *testing.B, dir string) {
	b.Helper()
	memories, notes := readGrowth(b, dir, "memories"), readGrowth(b, dir, "notes")
	for _, f := range growthFigures(memories, notes) {
		if len(f.of.rows) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, f.file), []byte(f.svg()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// The curves in the documentation are those of the tables beside them.
func TestCurvesAreOfTheTables(t *testing.T) {
	dir := filepath.Join("..", "docs", "figures")
	memories, notes := readGrowth(t, dir, "memories"), readGrowth(t, dir, "notes")
	for _, f := range growthFigures(memories, notes) {
		drawn, err := os.ReadFile(filepath.Join(dir, f.file))
		if err != nil {
			t.Fatal(err)
		}
		if string(drawn) != f.svg() {
			t.Errorf("%s is not what %s says: run make figures", f.file, f.of.file)
		}
	}
}
