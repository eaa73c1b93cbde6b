package vek

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/viterin/vek/vek32"

	"emberd/internal/dot"
)

// A large vault in the shape of MiniLM.
const (
	rows = 100_000
	dim  = 384
)

// The two inner products agree, so that their speeds can be compared.
func TestInnerProductsAgree(t *testing.T) {
	a, b := random(dim), random(dim)
	if ours, theirs := dot.Float32(a, b), vek32.Dot(a, b); math.Abs(float64(ours-theirs)) > 1e-4 {
		t.Errorf("dot.Float32 is %g, vek32.Dot %g", ours, theirs)
	}
}

// BenchmarkScan goes over all rows in each way, in turn with a reading of as many bytes, so that
// both meet the same load of the machine. "best-ms" is the fastest round, and "of-read" its bytes
// per second beside those of the fastest reading. In int8 a row has a fourth of the bytes.
func BenchmarkScan(b *testing.B) {
	flat, small := random(rows*dim), make([]int8, rows*dim)
	for i, x := range flat {
		small[i] = int8(127 * x)
	}
	scores, scores8 := make([]float32, rows), make([]int32, rows)
	float := func(product func(a, b []float32) float32) func() {
		return func() {
			for i := range scores {
				scores[i] = product(flat[:dim], flat[i*dim:(i+1)*dim])
			}
		}
	}
	filled := slices.Repeat([]uint64{1, 2, 3}, rows*dim/6) // pages of zeros are read faster
	copied := slices.Clone(filled)
	for _, way := range []struct {
		name  string
		bytes int
		scan  func()
	}{
		{"copy", 4 * rows * dim, func() { copy(copied, filled) }},
		{"ours-float32", 4 * rows * dim, float(dot.Float32)},
		{"vek-float32", 4 * rows * dim, float(vek32.Dot)},
		{"ours-int8", rows * dim, func() {
			for i := range scores8 {
				scores8[i] = dot.Int8(small[:dim], small[i*dim:(i+1)*dim])
			}
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(int64(way.bytes))
			beside(b, way.scan, func() { sink = sum(filled[:way.bytes/8]) })
		})
	}
}

// beside runs the scan, and the reading in turn with it.
func beside(b *testing.B, scan, read func()) {
	scanning, reading := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		scanning = min(scanning, timed(scan))
		b.StopTimer()
		reading = min(reading, timed(read))
		b.StartTimer()
	}
	b.ReportMetric(scanning.Seconds()*1000, "best-ms")
	b.ReportMetric(reading.Seconds()*1000, "read-ms")
	b.ReportMetric(reading.Seconds()/scanning.Seconds(), "of-read")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func random(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*rng.Float32() - 1
	}
	return v
}

// sum is in four sums, so that no addition waits for the one before it.
func sum(words []uint64) uint64 {
	var a, b, c, d uint64
	for w := words; len(w) >= 8; w = w[8:] {
		a += w[0] + w[4]
		b += w[1] + w[5]
		c += w[2] + w[6]
		d += w[3] + w[7]
	}
	return a + b + c + d
}

var sink uint64
