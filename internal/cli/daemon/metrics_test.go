package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/metrics"
	"emberd/internal/testutil/clitest"
)

// TestMetricsAreDocumented keeps docs/reference/metrics.md and the list that Prometheus's linter is
// shown (make oracle) equal to what a daemon tells.
func TestMetricsAreDocumented(t *testing.T) {
	const golden = "testdata/metrics.txt"
	page := filepath.Join("..", "..", "..", "docs", "reference", "metrics.md")
	families := daemonFamilies(t)
	list, table := familyList(families), familyTable(families)
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	above, _, _ := bytes.Cut(doc, []byte("| metric |"))
	whole := append(above, table...)
	if *clitest.Update {
		if err := os.WriteFile(page, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, list, 0o644); err != nil {
			t.Fatal(err)
		}
		doc = whole
	}
	known, err := os.ReadFile(golden)
	if !bytes.Equal(doc, whole) || !bytes.Equal(known, list) {
		t.Errorf("docs/reference/metrics.md or %s is not what a daemon tells (%v); run go test ./internal/cli/daemon -run "+
			"TestMetricsAreDocumented -update", golden, err)
	}
}

func daemonFamilies(t *testing.T) []metrics.Family {
	t.Helper()
	opt := engine.DefaultOptions()
	opt.Data, opt.State = t.TempDir(), t.TempDir()
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	in := insight{process: metrics.OpenProcess()}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := in.process.Close(); err != nil {
			t.Error(err)
		}
	})
	p := new(metrics.Exposition)
	in.measuring(e, api.NewLimits(nil))(p)
	return p.Families()
}

func familyTable(families []metrics.Family) []byte {
	var b bytes.Buffer
	b.WriteString("| metric | kind | labels | what it tells |\n|---|---|---|---|\n")
	for _, f := range families {
		labels := ""
		if len(f.Labels) > 0 {
			labels = "`" + strings.Join(f.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Kind, labels, f.Help)
	}
	return b.Bytes()
}

// listOf writes a page with one sample of each family.
func familyList(families []metrics.Family) []byte {
	p := new(metrics.Exposition)
	for _, f := range families {
		values := make([]string, len(f.Labels))
		switch f.Kind {
		case "counter":
			p.Counter(f.Name, f.Help, f.Labels...)
			p.Sample(0, values...)
		case "gauge":
			p.Gauge(f.Name, f.Help, f.Labels...)
			p.Sample(0, values...)
		default:
			p.Timing(f.Name, f.Help, f.Labels...)
			p.Histogram(new(metrics.Histogram), values...)
		}
	}
	var b bytes.Buffer
	_, _ = p.WriteTo(&b) // a buffer takes everything
	return b.Bytes()
}
