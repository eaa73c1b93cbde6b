package oracle

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func parsed(t *testing.T, file string) map[string]*dto.MetricFamily {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// TestAPageMeansWhatWasCounted reads the page that the tests of package metrics write.
func TestAPageMeansWhatWasCounted(t *testing.T) {
	page := parsed(t, "../testdata/page.txt")
	kettles := page["kettle_litres"]
	if want := "Water in a kettle,\nby its name: \\ and \" stay."; kettles.GetHelp() != want || kettles.GetType() != dto.MetricType_GAUGE {
		t.Errorf("a family is %s, %q, want a gauge and %q", kettles.GetType(), kettles.GetHelp(), want)
	}
	blue := kettles.Metric[0]
	if got, want := blue.Label[0].GetValue(), "blue \"old\" \\ one\n"; got != want || blue.GetGauge().GetValue() != 1.5 {
		t.Errorf("a kettle is %q with %v, want %q with 1.5", got, blue.GetGauge().GetValue(), want)
	}
	boils := map[string]float64{}
	for _, m := range page["boils_total"].Metric {
		boils[m.Label[0].GetValue()] = m.GetCounter().GetValue()
	}
	if boils["tea"] != 5 || boils["coffee"] != 1<<40 {
		t.Errorf("water boiled %v times", boils)
	}
	for _, m := range page["boil_seconds"].Metric {
		checkTimes(t, m)
	}
}

func checkTimes(t *testing.T, m *dto.Metric) {
	t.Helper()
	h := m.GetHistogram()
	below := map[float64]uint64{}
	for _, b := range h.Bucket {
		below[b.GetUpperBound()] = b.GetCumulativeCount()
	}
	switch m.Label[0].GetValue() {
	case "tea":
		if h.GetSampleCount() != 3 || h.GetSampleSum() != 3605.5 || below[1] != 0 || below[2.5] != 1 || below[60] != 2 || below[math.Inf(1)] != 3 {
			t.Errorf("tea took %v", h)
		}
	default:
		if h.GetSampleCount() != 1 || h.GetSampleSum() != 0 || below[.0001] != 1 {
			t.Errorf("soup took %v", h)
		}
	}
}

// TestNamesFollowTheConventions of Prometheus: base units, endings, kinds. Names of the Go
// runtime are as its collectors have them, bad or good.
func TestNamesFollowTheConventions(t *testing.T) {
	const list = "../../../internal/cli/daemon/testdata/metrics.txt"
	if families := parsed(t, list); len(families) < 50 {
		t.Errorf("%d families are listed", len(families))
	}
	f, err := os.Open(list)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	problems, err := promlint.New(f).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.HasPrefix(p.Metric, "go_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}
