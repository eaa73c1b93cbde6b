package stm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"emberd/internal/durable"
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

// BenchmarkAppend sets what the log adds beside what the disk takes: raw is a
// line appended and synced by each client in turn, log the same line through
// the group commit without analysis or index, full with both.
func BenchmarkAppend(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("raw/%d", clients), func(b *testing.B) { benchRaw(b, clients) })
		b.Run(fmt.Sprintf("log/%d", clients), func(b *testing.B) { benchLog(b, clients, false) })
		b.Run(fmt.Sprintf("full/%d", clients), func(b *testing.B) { benchLog(b, clients, true) })
	}
}

// share runs b.N operations on so many goroutines; each gets its own rng.
func share(b *testing.B, clients int, do func(rng *rand.Rand)) {
	b.ResetTimer()
	var wg sync.WaitGroup
	var next atomic.Int64
	for c := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(c), 1))
			for next.Add(1) <= int64(b.N) {
				do(rng)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "saves/s")
}

func benchRaw(b *testing.B, clients int) {
	f, err := durable.OS{}.CreateAppend(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	tx := proseTx(rand.New(rand.NewPCG(1, 2)))
	s := memoryOnly()
	p, err := s.pending(&tx)
	if err != nil {
		b.Fatal(err)
	}
	line := p.line.append(nil)
	var mu sync.Mutex
	share(b, clients, func(*rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := f.Write(line); err != nil {
			b.Error(err)
		}
		if err := f.Sync(); err != nil {
			b.Error(err)
		}
	})
}

func benchLog(b *testing.B, clients int, full bool) {
	ts := openStore(b, Options{})
	// Making the text is not what is measured; a few thousand are enough.
	rng := rand.New(rand.NewPCG(9, 9))
	texts := make([]Tx, 2_000)
	for i := range texts {
		texts[i] = proseTx(rng)
	}
	share(b, clients, func(rng *rand.Rand) {
		tx := texts[rng.IntN(len(texts))]
		id, _ := memory.NewID()
		tx.Changes = []Change{{ID: id, Set: tx.Changes[0].Set}}
		var err error
		if full {
			_, err = ts.try(tx)
		} else {
			err = ts.appendOnly(tx)
		}
		if err != nil {
			b.Error(err)
		}
	})
}

// appendOnly commits without looking at the text.
func (ts *testStore) appendOnly(tx Tx) error {
	c := tx.Changes[0]
	doc, err := withKeys(nil, c.Set)
	if err != nil {
		return err
	}
	ready, err := hotOf(doc)
	if err != nil {
		return err
	}
	p := &pending{done: make(chan struct{}), release: func() {}, terms: make([]termCounts, 1), bytes: len(doc)}
	p.line = line{op: opPut, verb: tx.Verb, by: encode(tx.By), changes: []change{{op: opPut, id: c.ID, data: doc, ready: &ready}}}
	_, err = ts.enqueue(context.Background(), p)
	return err
}

// BenchmarkAt reads a hundred thousand memories as of a moment, and makes them
// searchable.
func BenchmarkAt(b *testing.B) {
	root := b.TempDir()
	s, err := Open(filepath.Join(root, "data"), filepath.Join(root, "state"), &Options{Durability: None})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	s.index.complete.Store(true)
	fill(b, s, 100_000)
	var p *Past
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			s.LetGo()
			if p, err = s.At(context.Background(), s.now()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			p.index.reset()
			p.table.each(func(c *cell, _ *Row) bool { c.doc.Store(0); return true })
			if err := p.Index(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
