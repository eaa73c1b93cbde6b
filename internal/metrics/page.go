package metrics

import (
	"io"
	"strconv"
	"strings"
)

// ContentType is that of a [Page].
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Exposition is what a process tells at one moment, a family after the other. Counter, Gauge and
// Timing begin one; the samples that follow are of it. The zero Page is empty.
type Exposition struct {
	out      []byte
	families []Family
}

// Family is what a page says of one.
type Family struct {
	Name, Kind, Help string
	Labels           []string
}

// Families returns those of the page, in its order. They are the page's.
func (p *Exposition) Families() []Family { return p.families }

// of returns the family that was begun last.
func (p *Exposition) of() *Family { return &p.families[len(p.families)-1] }

// WriteTo implements [io.WriterTo].
func (p *Exposition) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(p.out)
	return int64(n), err
}

// Counter begins a family of numbers that only grow while the process lives. Its name ends
// in _total, its help is a sentence.
func (p *Exposition) Counter(name, help string, labels ...string) {
	p.begin("counter", name, help, labels)
}

// Gauge begins a family of numbers as they are at this moment.
func (p *Exposition) Gauge(name, help string, labels ...string) { p.begin("gauge", name, help, labels) }

// Timing begins a family of histograms, of seconds.
func (p *Exposition) Timing(name, help string, labels ...string) {
	p.begin("histogram", name, help, labels)
}

var escapedHelp = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

func (p *Exposition) begin(kind, name, help string, labels []string) {
	p.families = append(p.families, Family{name, kind, help, labels})
	p.out = append(p.out, "# HELP "+name+" "+escapedHelp.Replace(help)+"\n# TYPE "+name+" "+kind+"\n"...)
}

// Sample adds the sample of a family, with the values of its labels.
func (p *Exposition) Sample(value float64, labels ...string) { p.writeSample("", "", value, labels) }

// Counts adds a sample for each label that was counted.
func (p *Exposition) Counts(c *Counts) {
	for l, n := range c.all.sorted() {
		p.Sample(float64(n.Load()), l[:len(p.of().Labels)]...)
	}
}

// Histogram adds the samples of one, with the values of its labels.
func (p *Exposition) Histogram(h *Histogram, labels ...string) {
	sum, below := h.sum.Load(), uint64(0)
	for i := range h.buckets {
		below += h.buckets[i].Load()
		le := "+Inf"
		if i < len(bounds) {
			le = number(bounds[i])
		}
		p.writeSample("_bucket", le, float64(below), labels)
	}
	p.writeSample("_sum", "", float64(sum)/1e9, labels)
	p.writeSample("_count", "", float64(below), labels)
}

// Histograms adds the samples of each label.
func (p *Exposition) Histograms(h *Histograms) {
	for l, one := range h.all.sorted() {
		p.Histogram(one, l[:len(p.of().Labels)]...)
	}
}

var escapedLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// writeSample writes a line; le is the bound of a bucket, "" for what is none.
func (p *Exposition) writeSample(suffix, le string, value float64, labels []string) {
	p.out = append(append(p.out, p.of().Name...), suffix...)
	before := byte('{')
	pair := func(name, value string) {
		p.out = append(append(append(p.out, before), name...), `="`...)
		p.out = append(append(p.out, escapedLabel.Replace(strings.ToValidUTF8(value, "\uFFFD"))...), '"')
		before = ','
	}
	for i, name := range p.of().Labels {
		pair(name, labels[i])
	}
	if le != "" {
		pair("le", le)
	}
	if before == ',' {
		p.out = append(p.out, '}')
	}
	p.out = append(append(append(p.out, ' '), number(value)...), '\n')
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
