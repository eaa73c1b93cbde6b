package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

// afterStart is when the memory of a daemon is looked at: it gives back what a start needed within some 20 seconds.
const afterStart = 30 * time.Second

const (
	growthSearches = 400
	growthSaves    = 200
)

// BenchmarkGrowth measures a daemon with more and more memories, and with more and more notes. GROWTH is the folder of the
// tables, a line for each size, and of the curves that are drawn of them: make figures. Sizes that are not measured keep
// their lines.
func BenchmarkGrowth(b *testing.B) {
	dir := os.Getenv("GROWTH")
	if dir == "" {
		b.Skip("make figures runs this, for half an hour and more")
	}
	memories, notes, p := readGrowth(b, dir, "memories"), readGrowth(b, dir, "notes"), newProgram(b)
	for _, n := range sizes(b, "GROWTH_MEMORIES", "1000,3000,10000,30000,100000") {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			for b.Loop() {
				memories.put(n, growMemories(b, p.anew(fmt.Sprint("m", n)), n))
			}
			memories.write(b)
		})
	}
	for _, n := range sizes(b, "GROWTH_NOTES", "1000,3000,10000") {
		b.Run(fmt.Sprintf("notes=%d", n), func(b *testing.B) {
			for b.Loop() {
				notes.put(n, growNotes(b, p.anew(fmt.Sprint("n", n)), n))
			}
			notes.write(b)
		})
	}
	drawGrowth(b, dir)
}

// sizes is a list of numbers, which may be "none".
func sizes(b *testing.B, name, otherwise string) (all []int) {
	b.Helper()
	text, given := os.LookupEnv(name)
	if !given || text == "" {
		text = otherwise
	}
	if text == "none" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			b.Fatalf("%s is none, or numbers with commas between: %v", name, err)
		}
		all = append(all, n)
	}
	return all
}

// growMemories loads n memories, starts the daemon anew, and asks and saves.
func growMemories(b *testing.B, p *program, n int) measured {
	got := measured{}
	d := p.start(b)
	begun := time.Now()
	fill(b, d, newProse(1), n)
	d.waitIndexed(b)
	got["load_ms_per_1000"] = millis(time.Since(begun)) / float64(n) * 1000
	got["peak_MB"] = d.memoryMB(b, "VmHWM")
	d.stop(b, syscall.SIGTERM)
	d = p.start(b)
	got["start_ms"] = millis(d.answered)
	d.waitIndexed(b)
	got["indexed_ms"] = millis(time.Since(d.began))
	if st := d.status(b); st.Memories != n {
		b.Fatalf("after the start there are %d memories of %d", st.Memories, n)
	}
	time.Sleep(afterStart)
	got["private_MB"] = d.memoryMB(b, "RssAnon")
	texts := newProse(uint64(n))
	got.searches(b, d, "search", "memories", func() string { return texts.question() })
	growSaves(b, d, texts, got)
	d.stop(b, syscall.SIGTERM)
	got["log_MB"], got["state_MB"] = folderMB(b, filepath.Join(p.home, "data")), folderMB(b, filepath.Join(p.home, "state"))
	return got
}

// growSaves saves one by one; all have to be there afterwards.
func growSaves(b *testing.B, d *daemon, texts *prose, got measured) {
	b.Helper()
	before := d.status(b).Memories
	took := make([]time.Duration, growthSaves)
	for i := range took {
		begun := time.Now()
		call(b, d, op.Save, &op.SaveRequest{Content: texts.text(typicalText)})
		took[i] = time.Since(begun)
	}
	if now := d.status(b).Memories; now != before+growthSaves {
		b.Fatalf("%d saves were acknowledged, and %d memories came to be there", growthSaves, now-before)
	}
	got.spread("save", took)
}

// growNotes indexes n notes, starts the daemon anew, and asks.
func growNotes(b *testing.B, p *program, n int) measured {
	got, f := measured{}, &followed{program: p, vault: newNotesVault(b, n)}
	f.forget(b)
	d, _, all := f.follow(b, 10*time.Millisecond)
	d.settle(b)
	got["text_MB"], got["first_index_ms"] = f.vault.megabytes(), millis(all)
	got["peak_MB"] = d.memoryMB(b, "VmHWM")
	d.stop(b, syscall.SIGTERM)
	got["index_MB"] = f.indexMB(b)
	d, _, all = f.follow(b, 2*time.Millisecond)
	got["restart_ms"] = millis(all)
	time.Sleep(afterStart)
	got["private_MB"] = d.memoryMB(b, "RssAnon")
	a := &asking{rand.New(rand.NewPCG(uint64(n), 3)), f.vault.samples}
	got.searches(b, d, "search", "notes", func() string { return strings.Join(a.some(2+a.IntN(5)), " ") })
	got.searches(b, d, "sentence", "notes", func() string {
		_, sentence := inSentence(a.some(2 + a.IntN(5)))
		return sentence
	})
	d.stop(b, syscall.SIGTERM)
	return got
}

// measured are the figures of one size, by column.
type measured map[string]float64

// spread keeps the middle and the slow end.
func (m measured) spread(name string, took []time.Duration) {
	m[name+"_p50_ms"], m[name+"_p99_ms"] = millis(quantile(took, 0.5)), millis(quantile(took, 0.99))
}

// searches asks questions, some of which are answered before it counts, and nine of ten have to be answered with hits.
func (m measured) searches(b *testing.B, d *daemon, name, scope string, draw func() string) {
	b.Helper()
	var took []time.Duration
	track, hits := false, 0
	for i := range growthSearches + growthSearches/4 {
		begun := time.Now()
		res := call(b, d, op.Search, &op.SearchRequest{Query: draw(), Scope: scope, Track: &track})
		if i >= growthSearches/4 {
			took = append(took, time.Since(begun))
			hits += 1 - empty(len(res.Hits))
		}
	}
	if hits < growthSearches*9/10 {
		b.Fatalf("%d of %d questions about %s were answered with nothing", growthSearches-hits, growthSearches, scope)
	}
	m.spread(name, took)
}
