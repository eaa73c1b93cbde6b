package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	"emberd/op"
)

// TestMain lets the test binary stand in for programs that call a daemon.
func TestMain(m *testing.M) {
	if role := os.Getenv("BENCH_ROLE"); role != "" {
		play(role, os.Getenv("BENCH_SOCKET"))
		return
	}
	os.Exit(m.Run())
}

func play(role, socket string) {
	switch role {
	case "good":
		beGood(socket)
	case floorRole:
		beFloor(socket)
	default:
		attacks()[role](socket)
	}
}

const (
	goodClients   = 8
	hostileNotes  = 500
	hostilePhase  = 2 * time.Second
	hostileRounds = 5
	settling      = 300 * time.Millisecond
)

// BenchmarkHostile has eight programs save and search, one after the other each, alone and
// beside a ninth that does its worst. They search memories and a vault of notes. Each round goes through all attacks, with a quiet
// phase before and after each; its throughput is set beside the mean of the two, since the
// programs go on saving and searches take longer all along. p99 is that of all operations, or of
// all searches, beside an attack, set beside that of all in the quiet phases around it. The processor time
// that the daemon takes for an operation tells what an attack costs whatever else the machine
// does meanwhile. The hostile program runs at nice 19, so that what is measured is what it
// takes of the daemon, and not of the processors, which no limit of the daemon keeps it from.
//
// BENCH_ATTACKS names the attacks, by default all.
func BenchmarkHostile(b *testing.B) {
	p := newProgram(b)
	vault := filepath.Join(p.home, "Notes")
	writeNotes(b, vault, newProse(2), hostileNotes)
	p.configure(b, "vaults: ["+strconv.Quote(vault)+"]\n")
	d := p.start(b)
	d.waitNotes(b, hostileNotes)
	fill(b, d, newProse(1), 10_000)
	good := make([]*player, goodClients)
	for i := range good {
		good[i] = startPlayer(b, "good", p.socket(), vault)
	}
	onlyMetrics(b)
	names := slices.Sorted(keysOf(attacks()))
	if some := os.Getenv("BENCH_ATTACKS"); some != "" {
		names = strings.Fields(some)
	}
	outcomes := make(map[string]*outcome)
	for range hostileRounds {
		time.Sleep(settling)
		before := measure(b, d, good)
		for _, name := range names {
			if outcomes[name] == nil {
				outcomes[name] = &outcome{}
			}
			hostile := startPlayer(b, name, p.socket(), vault)
			time.Sleep(settling)
			beside := measure(b, d, good)
			took := busyOf(b, hostile.cmd.Process.Pid)
			hostile.kill()
			_ = os.Remove(filepath.Join(vault, hugeNote)) // there after one attack only
			time.Sleep(settling)
			after := measure(b, d, good)
			outcomes[name].add(before, beside, after, took)
			before = after
		}
	}
	fmt.Printf("%-12s %10s %16s %8s %28s %22s %10s %8s\n", "beside", "throughput", "(least..most)", "p99", "search p99 (quiet..beside)",
		"daemon's CPU/operation", "its CPU/s", "MiB")
	for _, name := range names {
		fmt.Println(outcomes[name].row(name))
	}
	for _, g := range good {
		g.kill()
	}
	d.stop(b, os.Interrupt)
}

// writeNotes makes a vault of so many notes.
func writeNotes(b *testing.B, dir string, texts *prose, n int) {
	b.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("Note %03d.md", i))
		if err := os.WriteFile(name, []byte(texts.text(4*typicalText)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// phase is what was measured while some time passed.
type phase struct {
	latencies               // of the good programs
	cpu       time.Duration // of the daemon
	resident  int64         // bytes of the daemon at its end
}

// outcome is what rounds of an attack have shown.
type outcome struct {
	share, cost     []float64 // of undisturbed throughput and processor time, by round
	beside, without latencies
	own             time.Duration // processor time of the hostile program
	resident        int64         // most bytes of the daemon
}

func (o *outcome) add(before, beside, after phase, own time.Duration) {
	n := len(before.All) + len(after.All)
	o.share = append(o.share, 2*float64(len(beside.All))/float64(n))
	o.cost = append(o.cost, (beside.cpu.Seconds()/float64(len(beside.All)))/((before.cpu+after.cpu).Seconds()/float64(n)))
	o.beside.add(beside.latencies)
	o.without.add(before.latencies)
	o.without.add(after.latencies)
	o.own += own
	o.resident = max(o.resident, beside.resident)
}

func (o *outcome) row(name string) string {
	spread := fmt.Sprintf("(%.2f..%.2f)", slices.Min(o.share), slices.Max(o.share))
	late := quantile(o.beside.All, 0.99).Seconds() / quantile(o.without.All, 0.99).Seconds()
	quiet, beside := quantile(o.without.Searches, 0.99), quantile(o.beside.Searches, 0.99)
	searches := fmt.Sprintf("%.2f (%v..%v)", beside.Seconds()/quiet.Seconds(), quiet.Round(100*time.Microsecond), beside.Round(100*time.Microsecond))
	busy := o.own.Seconds() / (float64(len(o.share)) * (hostilePhase + settling).Seconds())
	return fmt.Sprintf("%-12s %10.2f %16s %8.2f %28s %22.2f %10.2f %8d", name, median(o.share), spread, late, searches, median(o.cost), busy, o.resident>>20)
}

// busyOf is what a process has taken of the processors: proc(5).
func busyOf(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		tb.Skipf("/proc, where Linux tells of cannot read processes,: %v", err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
	ticks := 0
	for _, field := range fields[12:14] { // utime and stime, of which there are 100 a second
		n, err := strconv.Atoi(field)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// player is a process of a role.
type player struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Reader
}

func startPlayer(b *testing.B, role, socket, vault string) *player {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BENCH_ROLE="+role, "BENCH_SOCKET="+socket, "BENCH_VAULT="+vault)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &player{cmd, json.NewEncoder(in), bufio.NewReader(out)}
	b.Cleanup(p.kill)
	if role != "good" && role != floorRole {
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, 19); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

func (p *player) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	_ = p.cmd.Wait()
}

// window is a span of time that a good program tells its latencies of.
type window struct{ From, To time.Time }

// measure lets some time pass, and returns what the good programs and the daemon did.
func measure(b *testing.B, d *daemon, good []*player) phase {
	b.Helper()
	from, cpu := time.Now(), busyOf(b, d.cmd.Process.Pid)
	time.Sleep(hostilePhase)
	w := window{from, time.Now()}
	p := phase{cpu: busyOf(b, d.cmd.Process.Pid) - cpu, resident: residentOf(b, d)}
	for _, g := range good {
		if err := g.in.Encode(w); err != nil {
			b.Fatal(err)
		}
		line, err := g.out.ReadBytes('\n')
		if err != nil {
			b.Fatal(err)
		}
		var own latencies
		if err := json.Unmarshal(line, &own); err != nil {
			b.Fatalf("%v in %.100s", err, line)
		}
		if len(own.Searches) == 0 {
			b.Error("a good program got nothing done")
		}
		p.add(own)
	}
	return p
}

// latencies are how long operations took, and which of them are those of searches.
type latencies struct{ All, Searches []time.Duration }

func (l *latencies) add(other latencies) {
	l.All = append(l.All, other.All...)
	l.Searches = append(l.Searches, other.Searches...)
}

// done is an operation of a good program.
type done struct {
	at     time.Time
	took   time.Duration
	search bool
}

// beGood saves and searches in turn, and tells what it took when asked.
func beGood(socket string) {
	c := api.NewClient(socket, nil)
	var mu sync.Mutex
	var all []done
	go func() {
		p := newProse(uint64(os.Getpid()))
		for i := 0; ; i++ {
			began := time.Now()
			var err error
			if i%2 == 0 {
				_, err = op.Save.Call(context.Background(), c, &op.SaveRequest{Content: p.text(typicalText)})
			} else {
				_, err = op.Search.Call(context.Background(), c, &op.SearchRequest{Query: p.text(40), Limit: 10})
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "a good program:", err)
				os.Exit(1)
			}
			mu.Lock()
			all = append(all, done{time.Now(), time.Since(began), i%2 == 1})
			mu.Unlock()
		}
	}()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var w window
		if in.Decode(&w) != nil {
			return
		}
		var own latencies
		mu.Lock()
		for _, d := range all {
			if d.at.After(w.From) && d.at.Before(w.To) {
				own.All = append(own.All, d.took)
				if d.search {
					own.Searches = append(own.Searches, d.took)
				}
			}
		}
		all = all[:0]
		mu.Unlock()
		if out.Encode(own) != nil {
			return
		}
	}
}

// attacks are what a hostile program does for as long as it lives.
func attacks() map[string]func(socket string) {
	return map[string]func(string){
		"a-control":   func(string) { select {} }, // does nothing: how much of a ratio is noise
		"connections": func(s string) { crowd(10_000, func() { held(s, "", 1) }) },
		"sparse-note": func(string) { swell(filepath.Join(os.Getenv("BENCH_VAULT"), hugeNote)) },
		"half-open": func(s string) {
			crowd(256, func() {
				held(s, "POST /v1/memories HTTP/1.1\r\nHost: emberd\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", 1)
			})
		},
		"slow-header": func(s string) { crowd(256, func() { dripping(s) }) },
		"huge-body":   func(s string) { crowd(32, func() { pouring(s) }) },
		"spam":        func(s string) { crowd(120, repeated(s, "GET", "/v1/version", "")) },
		"hammer":      func(s string) { crowd(500, repeated(s, "GET", "/v1/version", "")) },
		"search": func(s string) {
			crowd(120, repeated(s, "GET", "/v1/search?limit=100&q="+strings.ReplaceAll(newProse(1).text(3000), " ", "+"), ""))
		},
		"parse-bomb": func(s string) { crowd(120, repeated(s, "POST", "/v1/memories/batch", bomb())) },
		"mcp-batch":  func(s string) { crowd(120, repeated(s, "POST", "/mcp", batch())) },
		"streams":    func(s string) { crowd(120, repeated(s, "GET", "/v1/events", "")) },
		"unread":     func(s string) { crowd(120, func() { unread(s) }) },
	}
}

// hugeNote is the note of an attack, which is read before others if notes are read by name.
const hugeNote = "A note.md"

// swell makes a note of 20 GiB, of which nothing is on the disk, and has it grow.
func swell(name string) {
	if err := os.WriteFile(name, []byte("words\n"), 0o600); err != nil {
		panic(err)
	}
	for size := int64(20 << 30); ; size++ {
		if err := os.Truncate(name, size); err != nil {
			panic(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// crowd does something over and over, so many times at once.
func crowd(n int, do func()) {
	for range n {
		go func() {
			for {
				do()
			}
		}()
	}
	select {}
}

// repeated returns a request that is sent again as soon as it is answered, whatever the
// answer, which is read to its end.
func repeated(socket, method, path, body string) func() {
	client := &http.Client{Transport: &http.Transport{DialContext: dialer(socket), MaxIdleConnsPerHost: 1000}}
	return func() {
		r, err := http.NewRequest(method, "http://emberd"+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := client.Do(r)
		if err != nil {
			return
		}
		_, _ = bufio.NewReader(resp.Body).WriteTo(discard{})
		resp.Body.Close()
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// bomb is JSON of many small values, deep at its end.
func bomb() string {
	return `{"items":[` + strings.Repeat(`{"content":"a","tags":["a","b"],"meta":{"a":[1,2,3]}},`, 60_000) + strings.Repeat("[", 1000)
}

// batch is more messages than are taken at once.
func batch() string {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	return "[" + strings.Repeat(ping+",", 50_000) + ping + "]"
}
