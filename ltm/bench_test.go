package ltm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/internal/text/analysis"
)

// The benchmarks run on generated notes like those of a large vault: 3.6 kB each, in
// sections, with words by Zipf's law and links to other notes.
const noteBytes = 3600

// vault generates notes. The same seed generates the same ones. Every third word is
// one of a few that its note is about, as in real notes, where half of the words of a
// page are different ones.
type vault struct {
	rand  *rand.Rand
	zipf  *rand.Zipf
	topic []string
	next  int
}

func newVault(seed uint64) *vault {
	r := rand.New(rand.NewPCG(seed, 1))
	return &vault{rand: r, zipf: rand.NewZipf(r, 1.15, 2.7, 60_000)}
}

// word returns a word; frequent ones are short.
func (v *vault) word() string { return wordOf(v.zipf.Uint64()) }

// wordOf spells a number in syllables.
func wordOf(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 70; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		b.WriteByte(consonants[n%uint64(len(consonants))])
		b.WriteByte(vowels[n/uint64(len(consonants))%uint64(len(vowels))])
	}
	return b.String()
}

func (v *vault) text(b *strings.Builder, bytes int) {
	for begin := b.Len(); b.Len()-begin < bytes; {
		for range 6 + v.rand.IntN(14) {
			if v.rand.IntN(3) == 0 {
				b.WriteString(v.topic[v.rand.IntN(len(v.topic))])
			} else {
				b.WriteString(v.word())
			}
			b.WriteByte(' ')
		}
		if v.rand.IntN(6) == 0 {
			fmt.Fprintf(b, "note %s %d", v.word(), v.rand.IntN(10_000))
		}
		b.WriteString(".\n")
	}
}

// note generates the next note.
func (v *vault) note() Doc {
	v.next++
	v.topic = v.topic[:0]
	for range 20 {
		v.topic = append(v.topic, v.word())
	}
	title := fmt.Sprintf("%s %s %d", v.word(), v.word(), v.next)
	d := Doc{
		Path:     fmt.Sprintf("area %d/%s.md", v.next%40, title),
		Title:    title,
		Tags:     []string{"area/" + v.word(), v.word()},
		Created:  time.Unix(1_600_000_000+int64(v.next)*3600, 0),
		Modified: time.Unix(1_700_000_000+int64(v.next)*60, 0),
	}
	for i := range d.Cursor.Digest {
		d.Cursor.Digest[i] = byte(v.rand.Uint32())
	}
	for i := range 4 {
		var b strings.Builder
		v.text(&b, noteBytes/4)
		d.Sections = append(d.Sections, Section{HeadingPath: []string{title, v.word() + " " + v.word()}, Line: 1 + i*20, Text: b.String()})
	}
	return d
}

func (v *vault) notes(n int) []Doc {
	docs := make([]Doc, n)
	for i := range docs {
		docs[i] = v.note()
	}
	return docs
}

// fill indexes n generated notes in batches of 500.
func fill(b *testing.B, x *Index, n int) {
	v := newVault(1)
	for n > 0 {
		docs := v.notes(min(n, 500))
		if err := x.Update(context.Background(), docs, nil); err != nil {
			b.Fatal(err)
		}
		n -= len(docs)
	}
}

func openBench(b *testing.B) *Index {
	x, err := Open(filepath.Join(b.TempDir(), "index"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = x.Close() })
	return x
}

// BenchmarkTerms analyzes the text of BenchmarkFirstIndex and does nothing else: the
// floor under it.
func BenchmarkTerms(b *testing.B) {
	a, docs := analysis.New(), newVault(1).notes(10_000)
	for b.Loop() {
		var workers sync.WaitGroup
		for half := range slices.Chunk(docs, len(docs)/2) {
			workers.Go(func() {
				for _, d := range half {
					for _, s := range d.Sections {
						a.Terms(s.Text)
					}
				}
			})
		}
		workers.Wait()
	}
}

// BenchmarkFirstIndex indexes 10,000 notes of 36 MB and closes.
func BenchmarkFirstIndex(b *testing.B) {
	batches := slices.Collect(slices.Chunk(newVault(1).notes(10_000), 500))
	for b.Loop() {
		x, err := Open(filepath.Join(b.TempDir(), fmt.Sprint("index", b.N, time.Now().UnixNano())), nil)
		if err != nil {
			b.Fatal(err)
		}
		work := make(chan []Doc)
		var updaters sync.WaitGroup
		for range 2 { // one analyses while the other's batch is built
			updaters.Go(func() {
				for docs := range work {
					if err := x.Update(b.Context(), docs, nil); err != nil {
						b.Error(err)
					}
				}
			})
		}
		for _, docs := range batches {
			work <- docs
		}
		close(work)
		updaters.Wait()
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(x.Status().Bytes)/(10_000*noteBytes), "index/text")
	}
}

// stopWords is how many of the commonest words stand for those that queries leave out.
const stopWords = 100

// queries are three words each, drawn as for a text.
func queries(n int) []Query {
	v := newVault(2)
	list := make([]Query, n)
	for i := range list {
		list[i].Limit = 10
		for len(list[i].Terms) < 3 {
			if number := v.zipf.Uint64(); number >= stopWords {
				term := analysis.New().Query(wordOf(number))[0].Text
				list[i].Terms = append(list[i].Terms, Term{Text: term, Weight: 1})
			}
		}
	}
	return list
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := openBench(b)
			fill(b, x, n)
			list := queries(200)
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := x.Search(b.Context(), list[i%len(list)]); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			reportTimes(b, times)
		})
	}
}

func reportTimes(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	percentile := func(p float64) float64 {
		return float64(times[int(math.Ceil(p*float64(len(times))))-1].Microseconds())
	}
	b.ReportMetric(percentile(0.5), "µs-p50")
	b.ReportMetric(percentile(0.99), "µs-p99")
}

// BenchmarkPhrase looks for three words of a note in a row among 10,000 notes on disk, and
// for three of the commonest words of all, which stand in nearly every note. The first
// searches are a row of their own, since they read most texts.
func BenchmarkPhrase(b *testing.B) {
	x, v, dir := openBench(b), newVault(1), b.TempDir()
	var sample []string
	for batch := range slices.Chunk(v.notes(10_000), 500) {
		for i, d := range batch {
			var body strings.Builder
			for _, s := range d.Sections {
				body.WriteString(s.Text)
			}
			sample = append(sample, body.String())
			batch[i].Path = fmt.Sprintf("%d.md", len(sample))
			if err := os.WriteFile(filepath.Join(dir, batch[i].Path), []byte(body.String()), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		if err := x.Update(b.Context(), batch, nil); err != nil {
			b.Fatal(err)
		}
	}
	var texts atomic.Int64
	ask := func(b *testing.B, phrase string) time.Duration {
		q := Query{Must: Filter{Phrases: []string{phrase}}, Limit: 10, Text: func(path string) (string, bool) {
			texts.Add(1)
			body, err := os.ReadFile(filepath.Join(dir, path))
			return string(body), err == nil
		}}
		for _, t := range x.analyzer.Query(phrase) {
			q.Terms = append(q.Terms, Term{Text: t.Text, Weight: 1})
		}
		start := time.Now()
		if _, err := x.Search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	for _, kind := range []struct {
		name string
		draw func() string
	}{
		{"first", func() string { return wordOf(v.rand.Uint64N(20)) + " " + wordOf(v.rand.Uint64N(20)) }},
		{"of a note", func() string {
			words := strings.Fields(sample[v.rand.IntN(len(sample))])
			at := v.rand.IntN(len(words) - 3)
			return strings.Join(words[at:at+3], " ")
		}},
		{"of common words", func() string {
			return wordOf(v.rand.Uint64N(20)) + " " + wordOf(v.rand.Uint64N(20)) + " " + wordOf(v.rand.Uint64N(20))
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			var times []time.Duration
			for texts.Store(0); b.Loop(); {
				times = append(times, ask(b, kind.draw()))
			}
			reportTimes(b, times)
			b.ReportMetric(float64(texts.Load())/float64(b.N), "texts/op")
		})
	}
}

// BenchmarkReopen opens and closes an index of 10,000 notes.
func BenchmarkReopen(b *testing.B) {
	x := openBench(b)
	fill(b, x, 10_000)
	for b.Loop() {
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		var err error
		if x, err = Open(x.dir, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkUpdate puts one changed note into an index of 10,000.
func BenchmarkUpdate(b *testing.B) {
	x := openBench(b)
	fill(b, x, 10_000)
	d := newVault(1).note()
	for i := 0; b.Loop(); i++ {
		d.Sections[0].Text += "edit "
		if err := x.Update(b.Context(), []Doc{d}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
