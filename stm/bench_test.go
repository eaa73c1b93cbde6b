package stm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/memory"
)

// prose makes about 300 bytes of words with a natural spread of frequencies.
func prose(rng *rand.Rand, words int) string {
	var b strings.Builder
	z := rand.NewZipf(rng, 1.1, 3, 20_000)
	for range words {
		fmt.Fprintf(&b, "%s ", wordOf(z.Uint64()))
	}
	return b.String()
}

func wordOf(n uint64) string {
	const letters = "etaoinshrdlucmfwypvbgk"
	var b strings.Builder
	for n += 7; n > 0; n /= 20 {
		b.WriteByte(letters[n%20])
		b.WriteByte("aeiou"[n%5])
	}
	return b.String()
}

func proseTx(rng *rand.Rand) Tx {
	id, _ := memory.NewID()
	return Tx{Verb: "save", By: memory.Actor{Via: "cli", UID: 1000, PID: 4242, Client: "emberd/0.1.0"},
		Changes: []Change{{ID: id, Set: map[string]json.RawMessage{
			"content": encode(prose(rng, 48)), "tags": encode([]string{"work", "go"}),
			"created_at": []byte(`"2026-11-20T10:00:00.000Z"`), "collection": []byte(`"knowledge"`),
			"confidence": []byte("1"), "importance": []byte("0.5"), "strength": []byte("1"), "stage": []byte(`"active"`),
		}}}}
}

func fill(tb testing.TB, s *Store, n int) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		tx := proseTx(rng)
		if _, err := s.Update(context.Background(), nil, "", func([]*Row) (*Tx, error) { return &tx, nil }); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkColdStart(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		root := b.TempDir()
		data, state := filepath.Join(root, "data"), filepath.Join(root, "state")
		opt := &Options{Durability: None}
		s, err := Open(data, state, opt)
		if err != nil {
			b.Fatal(err)
		}
		s.index.complete.Store(true)
		fill(b, s, n)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		start := func(b *testing.B, snapshot bool) {
			for b.Loop() {
				b.StopTimer()
				if !snapshot {
					os.RemoveAll(filepath.Join(state, "index"))
				}
				b.StartTimer()
				s, err := Open(data, state, opt)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(s.loadTime.Milliseconds()), "table-ms")
				if err := s.BuildIndex(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if s.Len() != n {
					b.Fatalf("%d memories, want %d", s.Len(), n)
				}
				s.Close()
				b.StartTimer()
			}
		}
		b.Run(fmt.Sprintf("%d/snapshot", n), func(b *testing.B) { start(b, true) })
		b.Run(fmt.Sprintf("%d/log", n), func(b *testing.B) { start(b, false) })
	}
}
