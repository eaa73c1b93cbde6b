package vectors

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

const (
	dim    = 16
	folder = "/state/vectors"
)

// options are those of device a.
func options(fsys durable.FS) *Options {
	return &Options{FS: fsys, Identity: "a model", Dim: dim, Device: "a"}
}

func open1(tb testing.TB, fsys durable.FS) *Store {
	tb.Helper()
	s, err := Open(folder, options(fsys))
	must(tb, err)
	return s
}

func newStore(tb testing.TB) (*Store, *crashdisk.Disk) {
	tb.Helper()
	disk := crashdisk.New()
	s := open1(tb, disk)
	tb.Cleanup(func() { _ = s.Close() })
	return s, disk
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// word is a vector that only its text decides.
func word(text string) Entry { return wordOf(text, dim) }

func wordOf(text string, dim int) Entry {
	key := KeyOf(text)
	rng := rand.New(rand.NewChaCha8([32]byte(append(key[:], key[:]...))))
	return Entry{Key: key, Vector: unit(randomVector(rng, dim))}
}

func randomVector(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out
}

// doc is a document whose chunks are words, on lines 1, 2 and so on.
func doc(name string, words ...string) Doc {
	d := Doc{Name: name, Digest: KeyOf(words...)}
	for i, w := range words {
		d.Chunks = append(d.Chunks, Chunk{Key: KeyOf(w), Line: i + 1})
	}
	return d
}

func words(texts ...string) (entries []Entry) {
	for _, t := range texts {
		entries = append(entries, word(t))
	}
	return entries
}

// one is the answer to the one want.
func one(found [][]Match, err error) ([]Match, error) {
	if len(found) == 0 {
		return nil, err
	}
	return found[0], err
}

// nearest is what is near the word, as doc/chunk.
func nearest(tb testing.TB, s *Store, text string, n int) (names []string) {
	tb.Helper()
	matches, err := one(s.Nearest(context.Background(), word(text).Vector, Query{N: n}))
	must(tb, err)
	for _, m := range matches {
		names = append(names, fmt.Sprintf("%s/%d", m.Doc, m.Chunk))
	}
	return names
}

// knows is a failure unless the store finds the words where doc has them.
func knows(tb testing.TB, s *Store, d Doc, texts ...string) {
	tb.Helper()
	if got, ok := s.Doc(d.Name); !ok || got.Digest != d.Digest || !slices.Equal(got.Chunks, d.Chunks) {
		tb.Errorf("document %s is %v %t, want %v", d.Name, got, ok, d)
	}
	for _, text := range texts {
		w := word(text)
		if v, ok := s.Vector(w.Key); !ok || !slices.Equal(v, w.Vector) {
			tb.Errorf("the vector of %q is %v %t, want %v", text, v, ok, w.Vector)
		}
	}
}
