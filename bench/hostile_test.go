package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
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
	if role == "good" {
		beGood(socket)
		return
	}
	attacks()[role](socket)
}

const (
	goodClients  = 8
	hostilePhase = 2 * time.Second
	settling     = 300 * time.Millisecond
)

// BenchmarkHostile has eight programs save and search, one after the other each, alone and
// beside a ninth that does its worst. Throughput and p99 of the eight are set beside those
// of the moment before, in which nobody attacks; what is reported is the median over
// rounds. The hostile program runs at nice 19, so that what is measured is what it takes
// of the daemon, and not of the processors, which no limit of the daemon keeps it from.
func BenchmarkHostile(b *testing.B) {
	p := newProgram(b)
	d := p.start(b)
	fill(b, d, newProse(1), 10_000)
	good := make([]*player, goodClients)
	for i := range good {
		good[i] = startPlayer(b, "good", p.socket())
	}
	time.Sleep(settling)
	for _, name := range slices.Sorted(keysOf(attacks())) {
		b.Run(name, func(b *testing.B) {
			onlyMetrics(b)
			var share, late []float64
			for b.Loop() {
				n, quick := measure(b, good)
				hostile := startPlayer(b, name, p.socket())
				time.Sleep(settling)
				m, slow := measure(b, good)
				hostile.kill()
				time.Sleep(settling)
				share = append(share, float64(m)/float64(n))
				late = append(late, float64(slow)/float64(quick))
			}
			b.ReportMetric(median(share), "throughput")
			b.ReportMetric(median(late), "p99")
			b.ReportMetric(float64(residentOf(b, d))/(1<<20), "MiB")
		})
	}
	for _, g := range good {
		g.kill()
	}
	d.stop(b, os.Interrupt)
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

func startPlayer(b *testing.B, role, socket string) *player {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BENCH_ROLE="+role, "BENCH_SOCKET="+socket)
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
	if role != "good" {
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

// measure lets some time pass, and returns how many operations the good programs did and
// what the 99th of a hundred took.
func measure(b *testing.B, good []*player) (n int, p99 time.Duration) {
	b.Helper()
	from := time.Now()
	time.Sleep(hostilePhase)
	w := window{from, time.Now()}
	var all []time.Duration
	for _, g := range good {
		if err := g.in.Encode(w); err != nil {
			b.Fatal(err)
		}
		line, err := g.out.ReadBytes('\n')
		if err != nil {
			b.Fatal(err)
		}
		var own []time.Duration
		if err := json.Unmarshal(line, &own); err != nil {
			b.Fatalf("%v in %.100s", err, line)
		}
		if len(own) == 0 {
			b.Error("a good program got nothing done")
			continue
		}
		all = append(all, own...)
	}
	slices.Sort(all)
	return len(all), all[len(all)*99/100]
}

// done is an operation of a good program.
type done struct {
	at   time.Time
	took time.Duration
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
			all = append(all, done{time.Now(), time.Since(began)})
			mu.Unlock()
		}
	}()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var w window
		if in.Decode(&w) != nil {
			return
		}
		own := []time.Duration{}
		mu.Lock()
		for _, d := range all {
			if d.at.After(w.From) && d.at.Before(w.To) {
				own = append(own, d.took)
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
		"connections": func(s string) { crowd(256, func() { held(s, "", 40) }) },
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
