package metrics

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata/page.txt")

// TestAPageIsAsPrometheusReadsIt compares with a page that Prometheus's own parser has read:
// the module oracle does so again.
func TestAPageIsAsPrometheusReadsIt(t *testing.T) {
	const golden = "testdata/page.txt"
	got := written(t, sample())
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the page is\n%s\nwant\n%s (%v)", got, want, err)
	}
}

// sample has a family of each kind, and every character that is written otherwise.
func sample() *Exposition {
	p := new(Exposition)
	p.Gauge("kettle_litres", "Water in a kettle,\nby its name: \\ and \" stay.", "kettle", "room")
	p.Sample(1.5, "blue \"old\" \\ one\n", "kitchen")
	p.Sample(0.000001, "caf\u00e9 \xff", "")
	p.Gauge("kettle_there", "Whether there is one.")
	p.Sample(1)
	p.Counter("boils_total", "Times that water boiled, by what became of it.", "use")
	var boils Counts
	boils.Add(By("tea"), 2)
	boils.Add(By("coffee"), 1<<40)
	boils.Add(By("tea"), 3)
	p.Counts(&boils)
	p.Counter("spills_total", "None yet.", "use")
	p.Counts(new(Counts))
	p.Timing("boil_seconds", "How long that took.", "use", "kettle")
	var took Histograms
	took.Observe(By("tea", "blue"), 3*time.Second)
	took.Observe(By("tea", "blue"), 2500*time.Millisecond) // the end of a bucket is in it
	took.Observe(By("tea", "blue"), time.Hour)
	took.Observe(By("soup", "red"), -time.Second)
	p.Histograms(&took)
	return p
}

func written(t *testing.T, p *Exposition) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := p.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("wrote %d of %d bytes, %v", n, b.Len(), err)
	}
	return b.Bytes()
}

func TestCountsFromManyGoroutines(t *testing.T) {
	var c Counts
	var h Histogram
	done := make(chan bool)
	for range 8 {
		go func() {
			for range 1000 {
				c.Add(By("tea"), 1)
				h.Observe(time.Millisecond)
			}
			done <- true
		}()
	}
	for range 8 {
		<-done
	}
	p := new(Exposition)
	p.Counter("cups_total", "Cups.", "of")
	p.Counts(&c)
	p.Timing("sip_seconds", "Sips.")
	p.Histogram(&h)
	text := string(written(t, p))
	for _, want := range []string{`cups_total{of="tea"} 8000`, `sip_seconds_bucket{le="0.0005"} 0`, `sip_seconds_bucket{le="0.001"} 8000`, "sip_seconds_sum 8\n", "sip_seconds_count 8000"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// TestAProcessTellsOfItself: a file that is opened is one more, and memory that is used is there.
func TestAProcessTellsOfItself(t *testing.T) {
	o := OpenProcess()
	defer o.Close()
	before, ok := o.system.files()
	if !ok {
		t.Fatal("open files are not known")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := o.system.files()
	if err := f.Close(); err != nil || after != before+1 {
		t.Errorf("%d files before one was opened and %d after (%v)", before, after, err)
	}
	if n, ok := o.system.resident(); ok && (n < 1<<20 || n > 1<<40) {
		t.Errorf("%d bytes of memory are resident", n)
	}
	p := new(Exposition)
	o.Measure(p)
	for _, family := range []string{"process_cpu_seconds_total ", "process_open_fds ", "go_goroutines ", "go_gc_cycles_total ", "go_memstats_heap_alloc_bytes "} {
		if !strings.Contains(string(written(t, p)), "\n"+family) {
			t.Errorf("nothing is told of %s", family)
		}
	}
}
