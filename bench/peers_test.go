package bench

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A contestant holds the items of one set and answers questions about them. Its methods return an error where it cannot
// do what is asked; then its row of the table says so.
type contestant interface {
	// load takes in the items, as many as it manages until a moment that is far away for who is quick, and returns
	// how many can be found now. What it took is told by the clock of the caller.
	load(set *itemSet, until time.Time) (int, error)
	// search asks for the ten best, or all where it has no order, and returns what was answered and how long it took.
	search(words []string, question string) (string, time.Duration, error)
	// save takes in one more item and returns when it can be found, and is as safe as the table's row tells.
	save(it item) (time.Duration, error)
	// known is by what an answer names the i-th item.
	known(i int) string
	// footprint is what it keeps on the disk, and the most memory that its process had.
	footprint() (diskMB, peakMB float64, err error)
}

// row is a contestant in the table.
type row struct {
	contestant
	name, reached, safe string
	saves               bool // the set can be added to
	shared              *row // whose items it asks about, and then it loads none
	set                 *itemSet
	holds               int
	loaded              time.Duration
	asked               [2]answers // without and with function words
	saved               []time.Duration
	spent               time.Duration
	disk, peak          float64
}

// answers are how long answers took, and in how many was what the question was drawn from.
type answers struct {
	took  []time.Duration
	found int
}

const (
	peerRounds    = 8
	peerQuestions = 25 // of each kind, in a round
	peerSaves     = 25 // in a round
	peerLoading   = 3 * time.Minute
	peerBudget    = time.Minute // for questions, and as much for saves
)

// BenchmarkPeers gives the same memories and the same vault to emberd and to other programs, and asks them the same, in
// rounds in which all take turns: questions of two to six words, and the same words in a sentence with function words.
// make bench-peers installs the others and runs it; BENCH_PEERS is where they are. PEERS_MEMORIES and PEERS_NOTES are
// how many there are. Who cannot be compared is named below the table.
func BenchmarkPeers(b *testing.B) {
	cache := os.Getenv("BENCH_PEERS")
	if cache == "" {
		b.Skip("make bench-peers installs the peers and runs this")
	}
	t := &peerTable{load: loadAverage()}
	for b.Loop() {
		memories := newMemorySet(number(b, "PEERS_MEMORIES", 10_000))
		notes := newNoteSet(b, number(b, "PEERS_NOTES", 2_000))
		t.contend(b, t.memoryPeers(b, cache, memories))
		t.contend(b, t.notePeers(b, notes))
	}
	onlyMetrics(b)
	t.print(os.Stdout)
}

// number is a setting of the benchmark.
func number(b *testing.B, name string, otherwise int) int {
	b.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(otherwise)))
	if err != nil || n < 1 {
		b.Fatalf("%s is a number of 1 or more: %v", name, err)
	}
	return n
}

// peerTable is what is printed.
type peerTable struct {
	load    string // of the machine, before
	rows    []*row
	missing []string
}

// cannot names a contestant that is not compared, or no longer. That emberd is not compared is a failure.
func (t *peerTable) cannot(b *testing.B, name string, err error) {
	b.Helper()
	if strings.HasPrefix(name, "emberd") {
		b.Fatalf("%s: %v", name, err)
	}
	t.missing = append(t.missing, fmt.Sprintf("%s: %s", name, strings.Join(strings.Fields(err.Error()), " ")))
}

// contend has the contestants load one after the other, then asks and saves in turns.
func (t *peerTable) contend(b *testing.B, rows []*row) {
	rows = slices.DeleteFunc(rows, func(r *row) bool { return !t.did(b, r, r.fill) })
	random := rand.New(rand.NewPCG(1, 4))
	for range peerRounds {
		for kind := range 2 {
			seed := random.Uint64()
			rows = slices.DeleteFunc(rows, func(r *row) bool {
				return !t.did(b, r, func() error { return r.ask(kind, seed) })
			})
		}
		slices.Reverse(rows)
	}
	for i := range peerRounds {
		rows = slices.DeleteFunc(rows, func(r *row) bool { return !t.did(b, r, func() error { return r.add(i) }) })
		slices.Reverse(rows)
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool { return !t.did(b, r, r.measure) })
	slices.SortStableFunc(rows, func(x, y *row) int { return strings.Compare(x.order(), y.order()) })
	t.rows = append(t.rows, rows...)
}

// order has emberd first.
func (r *row) order() string {
	if strings.HasPrefix(r.name, "emberd") {
		return " " + r.name
	}
	return r.name
}

// did reports whether a step succeeded.
func (t *peerTable) did(b *testing.B, r *row, step func() error) bool {
	b.Helper()
	err := step()
	if err != nil {
		t.cannot(b, fmt.Sprintf("%s (%s, %s)", r.name, r.reached, r.set.name), err)
	}
	return err == nil
}

func (r *row) fill() error {
	if r.shared != nil {
		r.holds = r.shared.holds
		return nil
	}
	begun := time.Now()
	var err error
	r.holds, err = r.load(r.set, begun.Add(peerLoading))
	r.loaded = time.Since(begun)
	if err == nil && r.holds == 0 {
		err = fmt.Errorf("it took in nothing of %d", len(r.set.items))
	}
	return err
}

// ask asks a block of questions about what the contestant holds, unless it had its time.
func (r *row) ask(kind int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 5))
	for range peerQuestions {
		if r.spent > peerBudget && len(r.asked[kind].took) > 0 {
			return nil
		}
		from, words := r.set.draw(random, r.holds)
		question := strings.Join(words, " ")
		if kind == 1 {
			words, question = inSentence(words)
		}
		answer, took, err := r.search(words, question)
		if err != nil {
			return err
		}
		r.spent += took
		r.asked[kind].took = append(r.asked[kind].took, took)
		if strings.Contains(answer, r.known(from)) {
			r.asked[kind].found++
		}
	}
	return nil
}

// add saves a block of new memories.
func (r *row) add(round int) error {
	if !r.saves || round > 0 && r.spent > 2*peerBudget {
		return nil
	}
	texts := newProse(uint64(1000 + round))
	for i := range peerSaves {
		it := item{ID: memoryName(len(r.set.items) + round*peerSaves + i), Text: texts.text(typicalText)}
		took, err := r.save(it)
		if err != nil {
			return err
		}
		r.spent += took
		r.saved = append(r.saved, took)
	}
	return nil
}

func (r *row) measure() (err error) {
	if r.asked[0].found+r.asked[1].found == 0 && !strings.HasPrefix(r.name, "reference") {
		return fmt.Errorf("none of %d answers had what was asked for", len(r.asked[0].took)+len(r.asked[1].took))
	}
	r.disk, r.peak, err = r.footprint()
	return err
}

const peerHead = `| data | peer | reached by | holds | load s | save p50 / p99 ms | state after a save | words p50 / p99 ms | found % | in a sentence p50 / p99 ms | found % | on disk MB | peak MB |
|---|---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|
`

// print writes Markdown.
func (t *peerTable) print(out io.Writer) {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, "\n"+peerHead)
	for _, r := range t.rows {
		loaded, disk := orNothing(r.loaded.Seconds() > 0.001, r.loaded.Seconds()), orNothing(r.disk > 0, r.disk)
		if r.shared != nil {
			loaded, disk = "as above", "as above"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %d | %s | %s | %s |", r.set.name, r.name, r.reached, r.holds, loaded, spread(r.saved), r.safe)
		for _, a := range r.asked {
			fmt.Fprintf(w, " %s | %.0f |", spread(a.took), 100*float64(a.found)/float64(len(a.took)))
		}
		fmt.Fprintf(w, " %s | %s |\n", disk, orNothing(r.peak > 0, r.peak))
	}
	fmt.Fprintln(w)
	for _, name := range t.missing {
		fmt.Fprintf(w, "This run does not compare %s\n", name)
	}
	fmt.Fprintf(w, "Load before %s, after %s.\n", t.load, loadAverage())
	_ = w.Flush() // a table that cannot be printed cannot be complained about either
}

// orNothing is a figure, or a dash where there is nothing to tell.
func orNothing(there bool, value float64) string {
	if !there {
		return "–"
	}
	return threeDigits(value)
}

// spread is the middle and the slow end.
func spread(took []time.Duration) string {
	if len(took) == 0 {
		return "–"
	}
	return threeDigits(millis(quantile(took, 0.5))) + " / " + threeDigits(millis(quantile(took, 0.99)))
}

// item is a memory, or a note of a vault.
type item struct {
	ID   string `json:"id"` // of a note, its path in the vault
	Text string `json:"text"`
}

func memoryName(i int) string { return fmt.Sprintf("m%07d", i) }

// itemSet is what every contestant is given.
type itemSet struct {
	name  string
	dir   string // that has the notes; "" of memories
	items []item
}

func newMemorySet(n int) *itemSet {
	s, texts := &itemSet{name: fmt.Sprintf("%d memories", n)}, newProse(1)
	for i := range n {
		s.items = append(s.items, item{memoryName(i), texts.text(typicalText)})
	}
	return s
}

func newNoteSet(b *testing.B, n int) *itemSet {
	b.Helper()
	v := newNotesVault(b, n)
	s := &itemSet{name: fmt.Sprintf("%d notes", n), dir: v.dir}
	for _, path := range v.paths {
		text, err := os.ReadFile(filepath.Join(v.dir, path))
		if err != nil {
			b.Fatal(err)
		}
		s.items = append(s.items, item{path, string(text)})
	}
	return s
}

// draw takes two to six different content words from a dozen in a row of one of the first items, in their order.
func (s *itemSet) draw(random *rand.Rand, first int) (from int, words []string) {
	want := 2 + random.IntN(5)
	for {
		from = random.IntN(first)
		all := strings.FieldsFunc(strings.ToLower(s.items[from].Text), notALetter)
		at := random.IntN(len(all))
		words = words[:0]
		for _, word := range all[at:min(len(all), at+12)] {
			if len(words) < want && len(word) > 2 && !isFunction(word) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
		if len(words) >= 2 {
			return from, words
		}
	}
}

// inSentence puts words into a sentence, as one asks.
func inSentence(words []string) (all []string, sentence string) {
	between := []string{"of the", "and the", "with the", "for the", "that was in the"}
	var b strings.Builder
	b.WriteString("what did we say about the " + words[0])
	for i, word := range words[1:] {
		b.WriteString(" " + between[i%len(between)] + " " + word)
	}
	return strings.Fields(b.String()), b.String()
}

func TestQuestionsAboutItems(t *testing.T) {
	set := newMemorySet(50)
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		from, words := set.draw(random, 20)
		if from >= 20 || len(words) < 2 || len(words) > 6 {
			t.Fatalf("a question about item %d of 20 has the words %q, want two to six", from, words)
		}
		all, sentence := inSentence(words)
		for _, word := range words {
			if !strings.Contains(set.items[from].Text, word) || !slices.Contains(all, word) {
				t.Errorf("%q is not in the item or not in the question %q", word, sentence)
			}
		}
		if !slices.ContainsFunc(all, isFunction) {
			t.Errorf("%q has no function words", sentence)
		}
	}
}
