package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/internal/cli"
)

// hookCalls is how many calls BenchmarkHookDaemon measures of each kind.
const hookCalls = 1000

// BenchmarkHookDaemon runs hooks, a process each as agents do, beside a daemon that has 10,000 or 100,000 memories in four
// projects, one after the other and eight at once, and prints a table of how long they took from their start to their
// end. Each is the first of its session. A turn leaves one memory. Two programs of a few lines stand for what the machine
// itself takes: one that does nothing, and one that connects to the daemon's socket. The binary is built, or is that of
// the variable EMBERD_BENCH_BINARY.
//
//	go test -run '^$' -bench HookDaemon -benchtime 1x -timeout 30m ./cmd/emberd
func BenchmarkHookDaemon(b *testing.B) {
	programs := hookPrograms(b)
	fmt.Printf("\n| memories | at once | call | p50 ms | p95 ms | p99 ms | answered | load before and after |\n|--:|--:|---|--:|--:|--:|--:|---|\n")
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			h := newHookBench(b, programs, n)
			for _, atOnce := range []int{1, 8} {
				for _, call := range h.calls() {
					h.measure(b, atOnce, call)
				}
			}
		})
	}
}

// hookCall is a program to measure.
type hookCall struct {
	name string
	cmd  func(i int) *exec.Cmd
}

func (h *hookBench) calls() []hookCall {
	socket := filepath.Join(h.home, "emberd.sock")
	return []hookCall{
		{"a program that does nothing", func(int) *exec.Cmd { return exec.Command(h.programs.nothing) }},
		{"a program that connects", func(int) *exec.Cmd { return exec.Command(h.programs.connects, socket) }},
		{"`emberd --version`", func(int) *exec.Cmd { return exec.Command(h.programs.emberd, "--version") }},
		{"hook at a prompt", func(i int) *exec.Cmd {
			return h.hook(map[string]string{"hook_event_name": "UserPromptSubmit", "prompt": h.prompts[i%len(h.prompts)]})
		}},
		{"hook at a start", func(int) *exec.Cmd {
			return h.hook(map[string]string{"hook_event_name": "SessionStart", "source": "startup"})
		}},
		{"hook at the end of a turn", func(i int) *exec.Cmd {
			return h.hook(map[string]string{"hook_event_name": "Stop", "transcript_path": h.transcripts[i],
				"last_assistant_message": "Noted."})
		}},
	}
}

// hookBench is a daemon with memories.
type hookBench struct {
	home, folder string
	programs     programs
	prompts      []string
	memories     int
	transcripts  []string
	sessions     int
	mu           sync.Mutex // guards sessions
}

// programs are the paths of binaries.
type programs struct{ emberd, nothing, connects string }

const (
	nothingSource  = "package main\n\nfunc main() {}\n"
	connectsSource = "package main\n\nimport (\n\t\"net\"\n\t\"os\"\n)\n\nfunc main() {\n\tif _, err := net.Dial(\"unix\", os.Args[1]); err != nil {\n\t\tpanic(err)\n\t}\n}\n"
)

// hookPrograms builds the programs as releases are built.
func hookPrograms(b *testing.B) programs {
	b.Helper()
	dir := b.TempDir()
	p := programs{os.Getenv("EMBERD_BENCH_BINARY"), filepath.Join(dir, "nothing"), filepath.Join(dir, "connects")}
	if p.emberd == "" {
		p.emberd = filepath.Join(dir, "emberd")
		buildProgram(b, p.emberd, ".")
	}
	for binary, source := range map[string]string{p.nothing: nothingSource, p.connects: connectsSource} {
		if err := os.WriteFile(binary+".go", []byte(source), 0o600); err != nil {
			b.Fatal(err)
		}
		buildProgram(b, binary, binary+".go")
	}
	return p
}

func buildProgram(b *testing.B, binary, source string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
}

func newHookBench(b *testing.B, p programs, memories int) *hookBench {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "em")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &hookBench{home: filepath.Join(dir, "h"), folder: filepath.Join(dir, hookProjects[0]), programs: p, memories: memories}
	if err := os.MkdirAll(filepath.Join(h.folder, ".git"), 0o700); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(dir, "all.jsonl")
	h.prompts = writeHookMemories(b, file, memories)
	h.writeTranscripts(b, dir)
	d, err := startDaemon(b.Context(), p.emberd, h.home, h.home+".log", cli.ForeignFree(os.Environ()), "--set", "hooks.recall=on")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
	})
	cmd := exec.CommandContext(b.Context(), p.emberd, "import", "jsonl", file, "--home", h.home)
	cmd.Env = cli.ForeignFree(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return h
}

// writeTranscripts writes a transcript of one turn for each call.
func (h *hookBench) writeTranscripts(b *testing.B, dir string) {
	b.Helper()
	for i := range hookCalls {
		file := filepath.Join(dir, fmt.Sprintf("turn-%d.jsonl", i))
		appendTurn(b, file, i, fmt.Sprintf("We use %s for %s.", hookWord(i+30_000), hookWord(i+50_000)))
		h.transcripts = append(h.transcripts, file)
	}
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

// measure makes calls, some at once, and prints a row of the table.
func (h *hookBench) measure(b *testing.B, atOnce int, call hookCall) {
	b.Helper()
	before, answered := machineLoad(), 0
	times := make([]time.Duration, hookCalls)
	next := make(chan int)
	var done sync.WaitGroup
	for range atOnce {
		done.Go(func() {
			for i := range next {
				out, took, err := timed(call.cmd(i))
				if err != nil {
					b.Error(err)
				}
				h.mu.Lock()
				times[i], answered = took, answered+min(len(out), 1)
				h.mu.Unlock()
			}
		})
	}
	for i := range hookCalls {
		next <- i
	}
	close(next)
	done.Wait()
	if strings.HasPrefix(call.name, "hook at a ") && answered < hookCalls/20 {
		b.Fatalf("%s: %d of %d were answered", call.name, answered, hookCalls)
	}
	slices.Sort(times)
	fmt.Printf("| %d | %d | %s |", h.memories, atOnce, call.name)
	for _, p := range []int{50, 95, 99} {
		fmt.Printf(" %.1f |", float64(times[hookCalls*p/100].Microseconds())/1000)
	}
	fmt.Printf(" %.2f | %s, %s |\n", float64(answered)/hookCalls, before, machineLoad())
}

// timed runs a command and returns what it printed and how long it took.
func timed(cmd *exec.Cmd) (out []byte, took time.Duration, err error) {
	began := time.Now()
	out, err = cmd.CombinedOutput()
	return out, time.Since(began), err
}

// machineLoad is how many processes wanted to run in the last minute, on so many cores.
func machineLoad() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return errors.ErrUnsupported.Error()
	}
	load, _, _ := strings.Cut(string(text), " ")
	return fmt.Sprintf("%s of %d", load, runtime.NumCPU())
}

// hook is a hook of Claude Code in a folder of the project, at an event of a session of its own.
func (h *hookBench) hook(event map[string]string) *exec.Cmd {
	h.mu.Lock()
	h.sessions++
	event["session_id"] = fmt.Sprintf("session-%d", h.sessions)
	h.mu.Unlock()
	event["cwd"] = h.folder
	input, _ := json.Marshal(event) // strings
	cmd := exec.Command(h.programs.emberd, "hook", "--home", h.home, "claude-code")
	cmd.Env, cmd.Stdin = cli.ForeignFree(os.Environ()), bytes.NewReader(input)
	return cmd
}
