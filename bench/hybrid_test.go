package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

// hybridDim is the dimension of all-MiniLM-L6-v2's vectors.
const hybridDim = 384

// wordVectors makes the vector of a text of a random one for each of its words, so that
// texts are as near as they share words, and making one takes next to no time.
type wordVectors struct{ known sync.Map }

func (w *wordVectors) word(s string) []float32 {
	if v, ok := w.known.Load(s); ok {
		return v.([]float32)
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, hybridDim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	w.known.Store(s, v)
	return v
}

func (w *wordVectors) text(s string) []float32 {
	sum := make([]float32, hybridDim)
	for word := range strings.FieldsSeq(s) {
		for i, x := range w.word(word) {
			sum[i] += x
		}
	}
	return sum
}

// ServeHTTP embeds as servers of models do, and packs vectors as they do when asked for
// base64: numbers in decimals would be most of what filling costs.
func (w *wordVectors) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	var req struct {
		Input []string `json:"input"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
		http.NotFound(out, r)
		return
	}
	type item struct {
		Index     int    `json:"index"`
		Embedding []byte `json:"embedding"`
	}
	data := make([]item, len(req.Input))
	for i, text := range req.Input {
		data[i] = item{i, packed(w.text(text))}
	}
	_ = json.NewEncoder(out).Encode(map[string]any{"model": "words", "data": data}) // a client may have gone
}

func packed(vector []float32) []byte {
	var out []byte
	for _, x := range vector {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// BenchmarkHybrid asks a daemon whose memories all have vectors of 384 dimensions, by
// turns with vectors and by words alone. The query's vector comes from a server of this
// process, over HTTP; it is part of what is measured.
func BenchmarkHybrid(b *testing.B) {
	server := httptest.NewServer(&wordVectors{})
	defer server.Close()
	p := newProgram(b)
	config := "embedding:\n  url: " + server.URL + "\n  cpu_share: 1\nsearch:\n  meaning: 1\n  meaning_wait: 10s\n"
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	texts, have := newProse(1), 0
	for _, n := range []int{10_000, 100_000} {
		fillBehind(b, p, texts, n-have)
		have = n
		d := p.start(b)
		d.waitIndexed(b)
		d.waitCovered(b, n)
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			questions := newProse(uint64(n))
			hybrid, words := weighed{weight: 1}, weighed{}
			for i := 0; b.Loop(); i++ {
				block := make([]string, 100)
				for j := range block {
					block[j] = questions.question()
				}
				turns := []*weighed{&hybrid, &words}
				if i%2 == 1 {
					slices.Reverse(turns)
				}
				for _, w := range turns {
					w.ask(b, d, block)
				}
			}
			onlyMetrics(b)
			for name, w := range map[string]*weighed{"hybrid": &hybrid, "words": &words} {
				b.ReportMetric(micros(quantile(w.took, 0.5)), name+"-p50-µs")
				b.ReportMetric(micros(quantile(w.took, 0.99)), name+"-p99-µs")
			}
			b.ReportMetric(median(ratiosOf(hybrid.medians, words.medians)), "hybrid/words")
			b.ReportMetric(float64(len(hybrid.took)), "searches")
		})
		d.stop(b, syscall.SIGTERM)
	}
}

// waitCovered returns when so many memories have their vectors.
func (d *daemon) waitCovered(tb testing.TB, n int) {
	tb.Helper()
	covered, moved := -1, time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		m := call(tb, d, op.Search, &op.SearchRequest{Query: "the", Limit: 1, Track: new(false), MeaningWeight: new(0.0)}).Meaning
		switch {
		case m != nil && m.Covered >= n:
			return
		case m != nil && m.Covered != covered:
			covered, moved = m.Covered, time.Now()
		case time.Since(moved) > time.Minute:
			tb.Fatalf("no vector was made for a minute: %+v", m)
		}
	}
}

// weighed is a client whose searches trust vectors so much.
type weighed struct {
	weight  float64
	took    []time.Duration
	medians []float64 // by block
}

func (w *weighed) ask(b *testing.B, d *daemon, questions []string) {
	took := make([]time.Duration, len(questions))
	for i, q := range questions {
		start := time.Now()
		res := call(b, d, op.Search, &op.SearchRequest{Query: q, Track: new(false), MeaningWeight: &w.weight})
		took[i] = time.Since(start)
		if w.weight > 0 && res.Meaning.Without != "" {
			b.Fatalf("a search went without vectors: %s", res.Meaning.Without)
		}
	}
	w.took = append(w.took, took...)
	w.medians = append(w.medians, micros(median(took)))
}
