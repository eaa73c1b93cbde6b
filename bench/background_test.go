package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
	"emberd/op"
)

// What people and agents are doing while vectors are made.
const (
	backgroundNotes   = 2_000
	backgroundClients = 8
	backgroundTurn    = 4 * time.Second
	thinking          = 100 * time.Millisecond // of a client, between two requests
)

// BenchmarkBackground has notes embedded by the native engine, at the shape of MiniLM,
// while clients save and search, in turns with a pause of the embedding: an iteration is
// one turn of each. EMBERD_NOTES names a folder of Markdown, of which the first 2,000 are
// taken; without one, notes are made up.
func BenchmarkBackground(b *testing.B) {
	libraries := llamatest.Libraries(b)
	p := newProgram(b)
	if err := os.Link(llamatest.Helper(b), filepath.Join(filepath.Dir(p.binary), "emberd-llama")); err != nil {
		b.Fatal(err)
	}
	v := backgroundVault(b)
	model := filepath.Join(b.TempDir(), "minilm.gguf")
	if err := tinybert.New(tinybert.MiniLM(tinybert.Q8_0)).WriteFile(model); err != nil {
		b.Fatal(err)
	}
	p.configure(b, fmt.Sprintf(`vaults: [%q]
embedding:
  providers: llama
  engine: %q
  model: %q
search:
  meaning: 1
`, v.dir, libraries[0], model))
	d := p.start(b)
	d.waitNotes(b, len(v.paths))
	d.wait(b, 50*time.Millisecond, func() bool { // for the model's exam
		return call(b, d, op.EngineStatus, &op.EngineStatusRequest{}).State == op.EngineWorking
	})
	call(b, d, op.EnginePause, &op.EnginePauseRequest{})
	w := &work{daemon: d, clients: connect(b, p.socket(), backgroundClients), words: v.words}
	for b.Loop() {
		w.round(b)
	}
	w.report(b)
}

// configure writes the program's config file.
func (p *program) configure(tb testing.TB, text string) {
	tb.Helper()
	err := os.MkdirAll(p.home, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(text), 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// waitNotes returns when so many notes are in the index.
func (d *daemon) waitNotes(tb testing.TB, n int) {
	tb.Helper()
	d.wait(tb, 50*time.Millisecond, func() bool {
		st := d.status(tb).Vaults[0]
		return st.Notes == n && st.Waiting == 0
	})
}

// realVault is a copy of real notes, and words of them to ask for.
type realVault struct {
	dir   string
	paths []string
	words []string
}

func backgroundVault(b *testing.B) *realVault {
	b.Helper()
	from := os.Getenv("EMBERD_NOTES")
	if from == "" {
		made := newNotesVault(b, backgroundNotes)
		from = made.dir
	}
	v := &realVault{dir: b.TempDir()}
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		return v.take(path)
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		b.Fatal(err)
	}
	syscall.Sync()
	return v
}

// take copies a note under a name of its own.
func (v *realVault) take(path string) error {
	if len(v.paths) == backgroundNotes {
		return fs.SkipAll
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%04d %s", len(v.paths), filepath.Base(path))
	v.paths = append(v.paths, name)
	for i, word := range strings.FieldsFunc(string(text), notAWord) {
		if i%50 == 0 && len(word) > 3 {
			v.words = append(v.words, word)
		}
	}
	return os.WriteFile(filepath.Join(v.dir, name), text, 0o600)
}

func notAWord(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') }

// work is clients that save and search while vectors are made, and while they are not.
type work struct {
	daemon  *daemon
	clients []*api.Client
	words   []string

	making, resting times
	spent           time.Duration // in which vectors were made
	most            float64       // of the daemon's memory, MB
	state           string        // of the making, after the last round
}

// times are how long requests took.
type times struct {
	mu           sync.Mutex
	save, search []time.Duration
	late         int // searches that did not wait for their vector any longer
}

// round is one turn of each, unless everything has its vectors.
func (w *work) round(b *testing.B) {
	if w.state == op.EngineComplete {
		return
	}
	w.turn(b, &w.resting)
	call(b, w.daemon, op.EngineResume, &op.EngineResumeRequest{})
	began := time.Now()
	w.turn(b, &w.making)
	w.spent += time.Since(began)
	w.most = max(w.most, w.daemon.residentMB(b))
	st := call(b, w.daemon, op.EngineStatus, &op.EngineStatusRequest{})
	w.state = st.State
	if st.State != op.EngineComplete && st.State != op.EngineWorking {
		b.Fatalf("vectors are not made: %s, %s", st.State, st.Problem)
	}
	call(b, w.daemon, op.EnginePause, &op.EnginePauseRequest{})
}

// turn has all clients work for a while.
func (w *work) turn(b *testing.B, into *times) {
	var wg sync.WaitGroup
	until := time.Now().Add(backgroundTurn)
	for i, client := range w.clients {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(len(into.save))))
		wg.Go(func() {
			for time.Now().Before(until) {
				if err := w.once(b, client, rng, into); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// once saves and searches, and thinks in between.
func (w *work) once(b *testing.B, client *api.Client, rng *rand.Rand, into *times) error {
	words := make([]string, 24)
	for i := range words {
		words[i] = w.words[rng.IntN(len(w.words))]
	}
	time.Sleep(time.Duration(rng.Int64N(int64(2 * thinking))))
	began := time.Now()
	if err := saveOne(b.Context(), client, strings.Join(words, " ")); err != nil {
		return err
	}
	saved := time.Since(began)
	time.Sleep(time.Duration(rng.Int64N(int64(2 * thinking))))
	began = time.Now()
	res, err := op.Search.Call(b.Context(), client, &op.SearchRequest{Query: strings.Join(words[:4], " ")})
	if err != nil {
		return err
	}
	took := time.Since(began)
	into.mu.Lock()
	defer into.mu.Unlock()
	into.save, into.search = append(into.save, saved), append(into.search, took)
	if res.Meaning == nil || res.Meaning.Without != "" {
		into.late++
	}
	return nil
}

func (w *work) report(b *testing.B) {
	b.Helper()
	onlyMetrics(b)
	st := call(b, w.daemon, op.EngineStatus, &op.EngineStatusRequest{})
	for _, m := range []struct {
		name            string
		making, resting []time.Duration
	}{{"save", w.making.save, w.resting.save}, {"search", w.making.search, w.resting.search}} {
		b.ReportMetric(millis(quantile(m.resting, 0.5)), m.name+"-rest-p50-ms")
		b.ReportMetric(millis(quantile(m.resting, 0.99)), m.name+"-rest-p99-ms")
		b.ReportMetric(millis(quantile(m.making, 0.5)), m.name+"-p50-ms")
		b.ReportMetric(millis(quantile(m.making, 0.99)), m.name+"-p99-ms")
	}
	b.ReportMetric(float64(len(w.making.search)), "searches")
	b.ReportMetric(float64(st.Meaning.Covered), "covered")
	b.ReportMetric(float64(st.Meaning.Total), "texts")
	if st.Made == 0 {
		b.Fatalf("no vector was made beside the requests: %s, %s", st.State, st.Problem)
	}
	b.ReportMetric(float64(st.Made)/w.spent.Seconds(), "vectors/s")
	b.ReportMetric(w.most, "daemon-MB")
	b.ReportMetric(float64(w.making.late), "late")
	b.ReportMetric(float64(w.resting.late), "late-rest")
	fmt.Printf("load average after: %s\n", loadAverage())
}
