package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/op"
)

// hookCalls is how many prompts BenchmarkHookDaemon measures of each kind.
const hookCalls = 1000

// BenchmarkHookDaemon runs hooks at prompts of a daemon that has 10,000 or 100,000 memories in four projects, one after
// the other and eight at once. "program" is from the start of the hook to its end, "daemon" the daemon's part, with
// the socket; "start" is that of starts of sessions.
//
//	go test -run '^$' -bench HookDaemon -benchtime 1x -timeout 30m ./cmd/emberd
func BenchmarkHookDaemon(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			h := newHookBench(b, n)
			for _, atOnce := range []int{1, 8} {
				b.Run(fmt.Sprintf("program/at_once=%d", atOnce), func(b *testing.B) { h.measure(b, atOnce, hookCalls, h.program) })
				b.Run(fmt.Sprintf("daemon/at_once=%d", atOnce), func(b *testing.B) { h.measure(b, atOnce, hookCalls, h.prompt) })
			}
			b.Run("start/at_once=1", func(b *testing.B) { h.measure(b, 1, hookCalls/10, h.start) })
		})
	}
}

// hookBench is a daemon with memories.
type hookBench struct {
	home, self string
	client     *api.Client
	prompts    []string
	answered   int
	mu         sync.Mutex // guards answered
}

func newHookBench(b *testing.B, memories int) *hookBench {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "em")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	h := &hookBench{home: filepath.Join(dir, "h"), self: self}
	file := filepath.Join(dir, "all.jsonl")
	h.prompts = writeHookMemories(b, file, memories)
	d, err := startDaemon(b.Context(), self, h.home, h.home+".log", cli.ForeignFree(os.Environ()), "--set", "hooks.recall=on")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
	})
	h.client = api.NewClient(filepath.Join(h.home, "emberd.sock"), nil)
	b.Cleanup(func() { h.client.Close() })
	if out, err := h.command("import", "jsonl", file, "--home", h.home).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return h
}

func (h *hookBench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.self, args...)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	return cmd
}

// hookProjects are the names of the folders that the sessions of the benchmark are in.
var hookProjects = []string{"orion", "vega", "lyra", "cygnus"}

// writeHookMemories writes memories of 12 words, frequent ones and rare ones as in a language, a tenth of them
// decisions, and returns prompts that ask for 5 words of one of them.
func writeHookMemories(b *testing.B, file string, n int) (prompts []string) {
	b.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(rng, 1.1, 8, 20_000)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for i := range n {
		words := make([]string, 12)
		for j := range words {
			words[j] = hookWord(int(zipf.Uint64()))
		}
		m := map[string]any{"content": strings.Join(words, " ") + ".", "project": hookProjects[i%4]}
		if i%10 == 0 {
			m["tags"] = []string{"decision"}
		}
		if err := enc.Encode(m); err != nil {
			b.Fatal(err)
		}
		if i%(n/hookCalls) == 0 {
			prompts = append(prompts, "where is "+strings.Join(words[:5], " ")+" now?")
		}
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return prompts
}

// hookWord returns the nth word of an invented language.
func hookWord(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	word := []byte{}
	for n += 3; n > 0; n /= 70 {
		word = append(word, consonants[n%14], vowels[n/14%5])
	}
	return string(word) + "n"
}

// measure makes calls, some at once, and reports their percentiles.
func (h *hookBench) measure(b *testing.B, atOnce, calls int, call func(i int) error) {
	h.answered = 0
	times := make([]time.Duration, calls)
	next := make(chan int)
	var done sync.WaitGroup
	for range atOnce {
		done.Go(func() {
			for i := range next {
				began := time.Now()
				if err := call(i); err != nil {
					b.Error(err)
				}
				times[i] = time.Since(began)
			}
		})
	}
	for i := range calls {
		next <- i
	}
	close(next)
	done.Wait()
	slices.Sort(times)
	for _, p := range []int{50, 95, 99} {
		b.ReportMetric(float64(times[calls*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
	b.ReportMetric(float64(h.answered)/float64(calls), "answered")
	b.ReportMetric(0, "ns/op")
}

// request is a prompt; each is the first of a session.
func (h *hookBench) request(i int, event string) *op.HookRequest {
	project := hookProjects[0]
	return &op.HookRequest{Agent: "claude-code", Event: event, Session: fmt.Sprintf("%s-%d-%d", event, i, time.Now().UnixNano()),
		Project: project, Source: op.StartNew, Prompt: h.prompts[i%len(h.prompts)]}
}

func (h *hookBench) prompt(i int) error { return h.call(h.request(i, op.HookPrompt)) }
func (h *hookBench) start(i int) error  { return h.call(h.request(i, op.HookStart)) }

func (h *hookBench) call(r *op.HookRequest) error {
	res, err := op.Hook.Call(context.Background(), h.client, r)
	if err == nil && res.Text != "" {
		h.count()
	}
	return err
}

func (h *hookBench) count() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered++
}

// program runs emberd hook in a folder of the project.
func (h *hookBench) program(i int) error {
	r := h.request(i, op.HookPrompt)
	folder := filepath.Join(filepath.Dir(h.home), r.Project)
	if err := os.MkdirAll(filepath.Join(folder, ".git"), 0o700); err != nil {
		return err
	}
	event, err := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "session_id": r.Session,
		"cwd": folder, "prompt": r.Prompt})
	if err != nil {
		return err
	}
	cmd := h.command("hook", "--home", h.home, "claude-code")
	cmd.Stdin = bytes.NewReader(event)
	out, err := cmd.CombinedOutput()
	if err == nil && len(out) > 0 {
		h.count()
	}
	return err
}
