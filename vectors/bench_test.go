package vectors

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"emberd/internal/dot"
)

// The size that figures are given for: a large vault in the shape of MiniLM.
const (
	benchRows = 100_000
	benchDim  = 384
)

// BenchmarkScan compares all vectors with a query: as float32, as int8, and by a whole scan of the
// table, in turn with a reading of the same number of bytes, which is what the memory gives.
// "best-ms" is the fastest round, and "of-read" its bytes per second beside those of the fastest
// reading. The module in the folder vek has the same beside another library.
func BenchmarkScan(b *testing.B) {
	flat, rows := benchFlat(), benchTable()
	q := wordOf("a query", benchDim).Vector
	scores := make([]float32, benchRows)
	for _, kind := range []struct {
		name  string
		bytes int
		scan  func()
	}{
		{"float32", 4 * benchRows * benchDim, func() {
			for i := range scores {
				scores[i] = dot.Float32(q, flat[i*benchDim:(i+1)*benchDim])
			}
		}},
		{"int8", benchRows * benchDim, func() {
			_, err := rows.scan(context.Background(), rounded(q),
				func(at int, part []float32) { copy(scores[at*slabRows:], part) })
			if err != nil {
				b.Fatal(err)
			}
		}},
	} {
		read := memory(kind.bytes)
		b.Run(kind.name, func(b *testing.B) {
			b.SetBytes(int64(kind.bytes))
			scanning, reading := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				scanning = min(scanning, timed(kind.scan))
				b.StopTimer()
				reading = min(reading, timed(read))
				b.StartTimer()
			}
			b.ReportMetric(scanning.Seconds()*1000, "best-ms")
			b.ReportMetric(reading.Seconds()*1000, "read-ms")
			b.ReportMetric(reading.Seconds()/scanning.Seconds(), "of-read")
		})
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// memory reads so many bytes as eight-byte words, in four sums so that no addition waits for
// the one before it.
func memory(size int) (read func()) {
	words := make([]uint64, size/8)
	for i := range words {
		words[i] = uint64(i)
	}
	return func() {
		var a, b, c, d uint64
		for w := words; len(w) >= 8; w = w[8:] {
			a += w[0] + w[4]
			b += w[1] + w[5]
			c += w[2] + w[6]
			d += w[3] + w[7]
		}
		sink = a + b + c + d
	}
}

var sink uint64

func benchFlat() []float32 {
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, 0, benchRows*benchDim)
	for range benchRows {
		flat = append(flat, cheapUnit(rng)...)
	}
	return flat
}

func benchTable() *table {
	rng, t, row := rand.New(rand.NewPCG(1, 1)), &table{dim: benchDim}, make([]int8, benchDim)
	for i := range benchRows {
		scale, _ := dot.Quantize(row, cheapUnit(rng))
		t.add(&slot{key: numbered(i)}, row, scale)
	}
	return t
}

// cheapUnit is a vector in a random direction, made faster than with normal components.
func cheapUnit(rng *rand.Rand) []float32 {
	v := make([]float32, benchDim)
	for i := range v {
		v[i] = rng.Float32() - 0.5
	}
	return unit(v)
}

func numbered(i int) (key Key) {
	binary.LittleEndian.PutUint64(key[:], uint64(i))
	return key
}

// benchStore is a store of benchRows vectors, four to a document, closed.
func benchStore(b *testing.B) *Options {
	b.Helper()
	opt := &Options{Identity: "a model", Dim: benchDim, Device: "a"}
	dir := b.TempDir()
	s, err := Open(dir, opt)
	must(b, err)
	rng := rand.New(rand.NewPCG(1, 1))
	for at := 0; at < benchRows; at += 1000 {
		var entries []Entry
		var docs []Doc
		for i := at; i < at+1000; i++ {
			if i%4 == 0 {
				docs = append(docs, Doc{Name: fmt.Sprintf("n/note %d.md", i)})
			}
			d := &docs[len(docs)-1]
			d.Chunks = append(d.Chunks, Chunk{numbered(i), 1 + 10*(i%4)})
			entries = append(entries, Entry{numbered(i), cheapUnit(rng)})
		}
		must(b, s.Put(entries))
		must(b, s.Place(docs, nil))
	}
	must(b, s.Close())
	b.Chdir(dir)
	return opt
}

func BenchmarkOpen(b *testing.B) {
	opt := benchStore(b)
	for b.Loop() {
		s, err := Open(".", opt)
		must(b, err)
		b.SetBytes(s.Status().Bytes)
		must(b, s.Close())
	}
}

// BenchmarkNearest is a whole search: scan, picking, comparing again with what is in the files.
// "one in 100" is with an accept that wants few documents.
func BenchmarkNearest(b *testing.B) {
	opt := benchStore(b)
	s, err := Open(".", opt)
	must(b, err)
	defer s.Close()
	q := wordOf("a query", benchDim).Vector
	for _, which := range []struct {
		name   string
		n      int
		accept func(string) bool
	}{
		{"10", 10, nil},
		{"100", 100, nil},
		{"one in 100/10", 10, func(doc string) bool { return doc[len(doc)-5:] == "00.md" }},
		{"none/10", 10, func(string) bool { return false }},
	} {
		b.Run(which.name, func(b *testing.B) {
			b.SetBytes(benchRows * benchDim)
			for b.Loop() {
				_, err := s.Nearest(context.Background(), q, Query{N: which.n, Accept: which.accept})
				must(b, err)
			}
		})
	}
}
