package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/internal/tinybert"
	"emberd/op"
)

// soakVar is how long TestSoak works a daemon: make soak SOAK=10m.
const soakVar = "EMBERD_TEST_SOAK"

// TestSoak has eight clients of four kinds, people with editors, compactions and a fast
// lifecycle work one daemon, and looks every second at what it takes. It must not take
// more as time goes by, no request may fail that should not, and in the end everything
// acknowledged is there or explained.
func TestSoak(t *testing.T) {
	if os.Getenv(soakVar) == "" {
		t.Skipf("takes minutes: %s=10m, or make soak", soakVar)
	}
	took, err := time.ParseDuration(os.Getenv(soakVar))
	if err != nil || took < 20*time.Second {
		t.Fatalf("%s=%s is no time of 20s or more", soakVar, os.Getenv(soakVar))
	}
	s := newSoak(t)
	d := s.start(t)
	s.settle(t)
	before := s.look(t)
	s.work(t, took)
	s.settle(t)
	after := s.look(t)
	s.judgeGrowth(t)
	for _, name := range []string{"go_goroutines", "process_open_fds"} {
		if after[name] > before[name]+10 {
			t.Errorf("%s: %v before the clients came and %v after they left", name, before[name], after[name])
		}
	}
	s.judge(t)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the daemon did not stop well: %v", err)
	}
	s.judgeNext(t)
	s.table(after)
}

// soak is a daemon under work, and what is known of it.
type soak struct {
	binary, home, vault string
	env                 []string
	client              *api.Client

	pid     int                  // of the daemon
	samples []map[string]float64 // one a second

	mu     sync.Mutex // guards what follows
	kept   map[string]string
	gone   int            // forgotten
	faults map[string]int // by who met it and what it was
	calls  map[string]int // by client
	notes  map[string]string
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	dir := clitest.ShortDir(t)
	s := &soak{home: filepath.Join(dir, "h"), vault: filepath.Join(dir, "v"), kept: map[string]string{}, faults: map[string]int{}, calls: map[string]int{}, notes: map[string]string{}}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.binary, s.env = exe, append(cli.ForeignFree(os.Environ()), fmt.Sprintf("%s=%d", hastyVar, time.Now().UnixMilli()), adjustVar+"=soak",
		"EMBERD_MCP_FORM=structured")
	if err := os.MkdirAll(s.vault, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tinybert.New(tinybert.Tiny()).WriteFile(filepath.Join(dir, "tiny.gguf")); err != nil {
		t.Fatal(err)
	}
	s.client = api.NewClient(s.socket(), &api.ClientOptions{Name: "soak"})
	t.Cleanup(s.client.Close)
	return s
}

func (s *soak) socket() string { return filepath.Join(s.home, "emberd.sock") }

// start runs a daemon whose memories fade within minutes, and whose vectors count although
// their weights are generated.
func (s *soak) start(t *testing.T) *daemonProcess {
	t.Helper()
	args := []string{"--pprof", "--vault", s.vault}
	for _, set := range []string{
		"embedding.model=" + filepath.Join(filepath.Dir(s.vault), "tiny.gguf"), "embedding.providers=go", "search.meaning=0.3",
		"lifecycle.demote_after=5d", "lifecycle.archive_after=10d", "lifecycle.rehydratable_after=20d",
		"consolidation.interval=1m", "tuning=promote.min_age=1d,promote.min_uses=0", "promote.threshold=0.9",
		"history.keep=30d", "trash.keep=10d",
	} {
		args = append(args, "--set", set)
	}
	d, err := startDaemon(t.Context(), s.binary, s.home, s.home+".log", s.env, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // it has ended, if all went well
	res, err := op.Version.Call(t.Context(), s.client, &op.VersionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	s.pid = res.PID // with a vault, a child of the process that was started
	return d
}

// work lets everybody do what they do, and looks each second, until the time is over.
func (s *soak) work(t *testing.T, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	var all sync.WaitGroup
	for name, work := range s.workers() {
		all.Go(func() { work(ctx, name) })
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for live := 0.0; ctx.Err() == nil; {
		select {
		case <-tick.C:
			if len(s.samples)%10 == 0 { // a collection each second would be another daemon's life
				live = s.live(t)
			}
			sample := s.look(t)
			sample[liveHeap], sample[anonymous], sample[forgotten] = live, s.anonymous(t), s.forgotten()
			s.samples = append(s.samples, sample)
		case <-ctx.Done():
		}
	}
	all.Wait()
}

// settle waits until the daemon has done what there is to do.
func (s *soak) settle(t *testing.T) {
	t.Helper()
	still := 0
	for end := time.Now().Add(3 * time.Minute); still < 3; time.Sleep(time.Second) {
		now := s.look(t)
		still++
		for name, value := range now {
			waits := strings.HasPrefix(name, "emberd_notes_waiting") || name == `emberd_vector_documents{state="queued"}` || name == `emberd_requests{state="waiting"}`
			if waits && value > 0 {
				still = 0
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the daemon has not come to rest: %v", now)
		}
	}
}

// overSocket is a transport that reaches the daemon's socket; each has connections of its own.
func (s *soak) overSocket() *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.socket())
	}}
}

// ask is the lines of one of the daemon's pages.
func (s *soak) ask(t *testing.T, page string, line func(text string)) {
	t.Helper()
	over := s.overSocket()
	defer over.CloseIdleConnections()
	resp, err := (&http.Client{Transport: over, Timeout: time.Minute}).Get("http://emberd" + page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		line(lines.Text())
	}
	_, _ = io.Copy(io.Discard, resp.Body)
}

// look reads the daemon's metrics, but for histograms.
func (s *soak) look(t *testing.T) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	s.ask(t, "/metrics", func(text string) {
		at := strings.LastIndexByte(text, ' ')
		if strings.HasPrefix(text, "#") || strings.Contains(text, "_bucket{") || at < 0 {
			return
		}
		n, err := strconv.ParseFloat(text[at+1:], 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		out[text[:at]] = n
	})
	return out
}

// live is what a collection leaves on the heap. The daemon's next collection is due when the heap is half larger than
// that. How large the heap is by now would count what the clients have asked for since.
func (s *soak) live(t *testing.T) (bytes float64) {
	t.Helper()
	s.ask(t, "/debug/pprof/heap?gc=1&debug=1", func(text string) {
		_, _ = fmt.Sscanf(text, "# NextGC = %g", &bytes)
	})
	if bytes == 0 {
		t.Fatal("the profile of the heap does not say when the next collection is due")
	}
	return bytes / 1.5
}

// anonymous is the daemon's memory that no file has: neither the program itself nor its indexes,
// which the system has in memory as long as it needs that for nothing else.
func (s *soak) anonymous(t *testing.T) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nRssAnon:")
	var kib float64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatalf("no RssAnon in %s: %v", status, err)
	}
	return kib * 1024
}

// forgotten is how many memories the clients have asked to be forgotten.
func (s *soak) forgotten() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.gone)
}

// command runs one of the daemon's commands.
func (s *soak) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.binary, append(args, "--home", s.home)...)
	cmd.Env = s.env
	cmd.Args[0] = "emberd"
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// table prints what was done, and what the daemon took by quarters of the time.
func (s *soak) table(after map[string]float64) {
	fmt.Printf("%-12s %8s\n", "client", "calls")
	for _, name := range slices.Sorted(maps.Keys(s.calls)) {
		fmt.Printf("%-12s %8d\n", name, s.calls[name])
	}
	fmt.Printf("\n%-34s %12s %12s %12s %12s\n", "median of each quarter", "1", "2", "3", "4")
	for _, name := range flatNames() {
		q := s.quarters(name)
		fmt.Printf("%-34s %12.0f %12.0f %12.0f %12.0f\n", name, q[0], q[1], q[2], q[3])
	}
	fmt.Println()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		for _, of := range []string{"emberd_memories{", "emberd_lifecycle_moves", "emberd_rekindles", "emberd_compactions_total", "emberd_vault_changes", "emberd_vectors", "emberd_log_", "emberd_notes{", "emberd_refusals"} {
			if strings.HasPrefix(name, of) {
				fmt.Printf("%-60s %12.0f\n", name, after[name])
			}
		}
	}
	fmt.Printf("operations %.0f\n", operations(after))
}

func operations(m map[string]float64) (n float64) {
	for name, value := range m {
		if strings.HasPrefix(name, "emberd_operations_total{") {
			n += value
		}
	}
	return n
}

// What no metric has.
const (
	liveHeap  = "heap after a collection, bytes"
	anonymous = "anonymous memory, bytes"
	forgotten = "memories forgotten"
)

// flatNames are what is told by quarters.
func flatNames() []string {
	return []string{"go_goroutines", "process_open_fds", liveHeap, anonymous, "process_resident_memory_bytes"}
}

// quarters are medians of the time after the first fifth, in which caches fill.
func (s *soak) quarters(name string) (out [4]float64) {
	warm := s.samples[len(s.samples)/5:]
	for i := range out {
		var of []float64
		for _, sample := range warm[i*len(warm)/4 : (i+1)*len(warm)/4] {
			of = append(of, sample[name])
		}
		slices.Sort(of)
		out[i] = of[len(of)/2]
	}
	return out
}

// judgeGrowth compares the last quarter with the first. Resident memory says little: a third of
// it is the program's own file, and of the rest the collector lets up to half be garbage. So the
// heap is judged just after a collection, and anonymous memory by twice what that may have grown.
func (s *soak) judgeGrowth(t *testing.T) {
	t.Helper()
	if len(s.samples) < 15 {
		t.Fatalf("%d looks at the daemon are too few", len(s.samples))
	}
	kept := s.keptByDesign()
	for name, most := range map[string]func(float64) float64{
		"go_goroutines":    func(was float64) float64 { return was*1.1 + 10 },
		"process_open_fds": func(was float64) float64 { return was*1.1 + 10 },
		liveHeap:           func(was float64) float64 { return was*1.1 + kept },
		anonymous:          func(was float64) float64 { return was*1.1 + 2*kept },
	} {
		if q := s.quarters(name); q[3] > most(q[0]) {
			t.Errorf("%s grew: medians of the quarters are %.0f, and %.0f is the most", name, q, most(q[0]))
		}
	}
}

// keptByDesign is how many bytes what was done between the first quarter and the last may add to
// the heap: of what was forgotten that it was, for good; of each change, for a month of the
// daemon's, its place in the journal and what it superseded; vectors; of each request who asked and which
// memories were given, as far as the ledger of callers goes.
func (s *soak) keptByDesign() float64 {
	warm := s.samples[len(s.samples)/5:]
	last, first := len(s.samples)-len(warm)/8, len(s.samples)-len(warm)*7/8
	grown := func(of func(at int) float64) float64 { return of(last) - of(first) }
	metric := func(name string) func(int) float64 {
		return func(at int) float64 { return s.samples[at][name] }
	}
	done := func(at int) float64 { return operations(s.samples[at]) }
	month := int(30 * 24 * time.Hour / hasteFactor / time.Second)
	changes := func(at int) float64 {
		const name = "emberd_log_changes_total"
		return s.samples[at][name] - s.samples[max(0, at-month)][name]
	}
	return max(0, grown(changes))*400 + max(0, grown(metric("emberd_vectors")))*400 +
		grown(metric(forgotten))*600 + min(grown(done)*250, 4<<20)
}
