package stm_test

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
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
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

func proseTx(rng *rand.Rand) wal.Tx {
	id, _ := memory.NewID()
	return wal.Tx{Verb: "save", By: memory.Actor{Via: "cli", UID: 1000, PID: 4242, Client: "emberd/0.1.0"},
		Changes: []wal.Change{{ID: id, Set: map[string]json.RawMessage{
			"content": record.Encode(prose(rng, 48)), "tags": record.Encode([]string{"work", "go"}),
			"created_at": []byte(`"2026-11-20T10:00:00.000Z"`), "collection": []byte(`"knowledge"`),
			"confidence": []byte("1"), "importance": []byte("0.5"), "strength": []byte("1"), "stage": []byte(`"active"`),
		}}}}
}

func fill(tb testing.TB, s *stm.Store, n int) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		tx := proseTx(rng)
		if _, err := s.Update(context.Background(), nil, "", func([]*table.Row) (*wal.Tx, error) { return &tx, nil }); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkColdStart(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		root := b.TempDir()
		data, state := filepath.Join(root, "data"), filepath.Join(root, "state")
		opt := &wal.Options{Durability: wal.None}
		s, err := stm.Open(data, state, opt)
		if err != nil {
			b.Fatal(err)
		}
		s.Words.Complete.Store(true)
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
				s, err := stm.Open(data, state, opt)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(s.Wal().LoadTime.Milliseconds()), "table-ms")
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
	p, err := s.Encoded(&tx)
	if err != nil {
		b.Fatal(err)
	}
	line := p.Line.Append(nil)
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
	ts := openStore(b, wal.Options{})
	// Making the text is not what is measured; a few thousand are enough.
	rng := rand.New(rand.NewPCG(9, 9))
	texts := make([]wal.Tx, 2_000)
	for i := range texts {
		texts[i] = proseTx(rng)
	}
	share(b, clients, func(rng *rand.Rand) {
		tx := texts[rng.IntN(len(texts))]
		id, _ := memory.NewID()
		tx.Changes = []wal.Change{{ID: id, Set: tx.Changes[0].Set}}
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
func (ts *testStore) appendOnly(tx wal.Tx) error {
	c := tx.Changes[0]
	doc, err := record.WithKeys(nil, c.Set)
	if err != nil {
		return err
	}
	ready, err := record.FacetsOf(doc)
	if err != nil {
		return err
	}
	p := &wal.Pending{Done: make(chan struct{}), Release: func() {}, Terms: make([]table.TermCounts, 1), Bytes: len(doc)}
	p.Line = record.Line{Op: record.OpPut, Verb: tx.Verb, By: record.Encode(tx.By), Changes: []record.Change{{Op: record.OpPut, ID: c.ID, Data: doc, Ready: &ready}}}
	_, err = ts.Enqueue(context.Background(), p)
	return err
}

// BenchmarkAt reads a hundred thousand memories as of a moment, and makes them
// searchable.
func BenchmarkAt(b *testing.B) {
	root := b.TempDir()
	s, err := stm.Open(filepath.Join(root, "data"), filepath.Join(root, "state"), &wal.Options{Durability: wal.None})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	s.Words.Complete.Store(true)
	fill(b, s, 100_000)
	var p *history.PastView
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			s.ReleasePast()
			if p, err = s.At(context.Background(), s.Wal().Now()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			p.Words.Reset()
			p.Table.Each(func(c *table.Cell, _ *table.Row) bool { c.Doc.Store(0); return true })
			if err := p.Index(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
