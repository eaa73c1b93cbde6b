package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
)

// figures are samples by unit, in the order in which units were first seen.
type figures struct {
	units   []string
	samples map[string][]float64
}

func (f *figures) add(unit string, sample float64) {
	if f.samples == nil {
		f.samples = make(map[string][]float64)
	}
	if _, seen := f.samples[unit]; !seen {
		f.units = append(f.units, unit)
	}
	f.samples[unit] = append(f.samples[unit], sample)
}

// table shows benchmarks and units down, and sizes of the vault across.
type table struct {
	columns []string
	rows    [][2]string // benchmark and unit
	cells   map[[3]string]string
	remarks []string
}

// report gives the medians to the benchmark, and to the table. Of the
// benchmark's name the second part is the column and what follows is the row.
func (t *table) report(b *testing.B, f *figures) {
	b.Helper()
	onlyMetrics(b)
	name := strings.SplitN(b.Name(), "/", 3)
	for _, unit := range f.units {
		value := median(f.samples[unit])
		b.ReportMetric(value, unit)
		t.put(name[1], name[2], unit, value)
	}
}

func (t *table) put(column, benchmark, unit string, value float64) {
	if t.cells == nil {
		t.cells = make(map[[3]string]string)
	}
	if !slices.Contains(t.columns, column) {
		t.columns = append(t.columns, column)
	}
	if row := [2]string{benchmark, unit}; !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	t.cells[[3]string{column, benchmark, unit}] = threeDigits(value)
}

// remark is told once below the table.
func (t *table) remark(text string) {
	if !slices.Contains(t.remarks, text) {
		t.remarks = append(t.remarks, text)
	}
}

func (t *table) print(out io.Writer) {
	if len(t.rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\n\t\t%s\t\n", strings.Join(t.columns, "\t"))
	before := ""
	for _, row := range t.rows {
		name := row[0]
		if name == before {
			name = ""
		}
		before = row[0]
		fmt.Fprintf(w, "%s\t%s\t", name, row[1])
		for _, column := range t.columns {
			fmt.Fprintf(w, "%s\t", t.cells[[3]string{column, row[0], row[1]}])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a table that cannot be printed cannot be complained about either
	fmt.Fprintln(out, strings.Join(t.remarks, "\n"))
}

// threeDigits shows a figure with about three digits that count.
func threeDigits(value float64) string {
	switch {
	case value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	case value >= 0.1:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
	return strconv.FormatFloat(value, 'g', 2, 64)
}

func TestTable(t *testing.T) {
	var shown table
	shown.put("notes=10", "Restart", "wall-ms", 1234.5)
	shown.put("notes=10", "Restart", "CPU-ms", 0.0123)
	shown.put("notes=20", "Restart", "wall-ms", 12.345)
	shown.remark("no recoll here")
	shown.remark("no recoll here")
	var got strings.Builder
	shown.print(&got)
	var want = `
                    notes=10  notes=20
  Restart  wall-ms      1234      12.3
            CPU-ms     0.012          
no recoll here
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
