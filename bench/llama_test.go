package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/internal/bert"
	"emberd/internal/llama"
	"emberd/internal/llamawire"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
)

// nativeModels are those that native vectors are measured with: one of the shape that many
// embed with, as it is usually taken and as it was trained.
func nativeModels() map[string]tinybert.Type {
	return map[string]tinybert.Type{"Q8_0": tinybert.Q8_0, "F32": tinybert.F32}
}

// nativeLengths are tokens of a text: of one that is searched for, at the most, and of a part
// of a note.
func nativeLengths() []int { return []int{61, 251} }

func modelFile(tb testing.TB, as tinybert.Type) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "minilm.gguf")
	if err := tinybert.New(tinybert.MiniLM(as)).WriteFile(path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// textOf has that many tokens, with those of its ends.
func textOf(tokens int) string { return strings.Repeat("memory ", tokens-2) }

// The memory of the helper when it has a model, and of the daemon's side of it: before, with the
// model loaded, and after it was unloaded. It comes first, before this process has loaded
// anything itself.
func BenchmarkLlamaMemory(b *testing.B) {
	engine := llamatest.Libraries(b)[0]
	for name, as := range nativeModels() {
		path := modelFile(b, as)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := ownMB(b)
				e := newEmbedder(b, engine, path, time.Second)
				for _, tokens := range nativeLengths() {
					embedOne(b, e, textOf(tokens))
					b.ReportMetric(processMB(b, e.Status().Native.PID), fmt.Sprintf("helper-%d-MB", tokens))
				}
				loaded := ownMB(b)
				for e.Status().Native.PID != 0 {
					time.Sleep(10 * time.Millisecond) // until it is unloaded
				}
				b.ReportMetric(before, "before-MB")
				b.ReportMetric(loaded, "loaded-MB")
				b.ReportMetric(ownMB(b), "unloaded-MB")
			}
			onlyMetrics(b)
		})
	}
}

// processMB is the physical memory that a process holds, mapped files included, in millions
// of bytes.
func processMB(tb testing.TB, pid int) float64 {
	tb.Helper()
	return float64(procField(tb, fmt.Sprintf("/proc/%d/status", pid), "VmRSS")) * 1024 / 1e6
}

// ownMB is that of this process without what is only waiting to be given back.
func ownMB(tb testing.TB) float64 {
	tb.Helper()
	debug.FreeOSMemory()
	return processMB(tb, os.Getpid())
}

// From the start of a helper to its first vector, as after a crash.
func BenchmarkLlamaRestart(b *testing.B) {
	engine := llamatest.Libraries(b)[0]
	for name, as := range nativeModels() {
		path := modelFile(b, as)
		b.Run(name, func(b *testing.B) {
			var hello, vector []time.Duration
			for b.Loop() {
				began := time.Now()
				h := startHelper(b, engine, path)
				hello = append(hello, time.Since(began))
				h.embed(b, textOf(61))
				vector = append(vector, time.Since(began))
				h.end(b)
			}
			b.ReportMetric(millis(median(hello)), "hello-ms")
			b.ReportMetric(millis(median(vector)), "first-vector-ms")
			onlyMetrics(b)
		})
	}
}

// Texts of one length through llama.cpp in this process, through the helper, through the
// embedder that supervises it, and through the engine in Go, in turns. Ratios are of speed,
// and one is of the processor time of both sides, which a busy machine changes less.
func BenchmarkLlama(b *testing.B) {
	engine := directEngine(b)
	for name, as := range nativeModels() {
		path := modelFile(b, as)
		for _, tokens := range nativeLengths() {
			b.Run(fmt.Sprintf("%s/%d", name, tokens), func(b *testing.B) {
				ways := nativeWays(b, engine, path)
				text := textOf(tokens)
				for b.Loop() {
					takeTurns(b, ways, text)
				}
				direct := ways[0].best()
				for _, way := range ways {
					b.ReportMetric(1000/millis(way.best()), way.name+"/s")
				}
				for _, way := range ways[1:] {
					b.ReportMetric(millis(direct)/millis(way.best()), way.name+"/direct")
				}
				b.ReportMetric(millis(median(ways[0].busy))/millis(median(ways[1].busy)), "helper/direct-cpu")
				onlyMetrics(b)
			})
		}
	}
}

// A way of making a vector, and what it took each time.
type way struct {
	name  string
	every int // turns of a round; the slow ones have fewer
	embed func(testing.TB, string)
	also  int // process that works for this one, 0 for none
	took  []time.Duration
	busy  []time.Duration // processors, with both sides
}

// turn is one text.
func (w *way) turn(tb testing.TB, text string) {
	tb.Helper()
	busy, began := w.processorTime(tb), time.Now()
	w.embed(tb, text)
	w.took = append(w.took, time.Since(began))
	w.busy = append(w.busy, w.processorTime(tb)-busy)
}

func (w *way) processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	sum := threadTime(tb, os.Getpid())
	if w.also != 0 {
		sum += threadTime(tb, w.also)
	}
	return sum
}

// threadTime is what the threads of a process have had of the processors.
func threadTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		tb.Skipf("/proc, where Linux tells of cannot read threads,: %v", err)
	}
	var sum time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// best is what it takes where nothing else computes: its fastest tenth. A helper gives way to
// others, and on a machine that is not quiet a median would tell of them.
func (w *way) best() time.Duration { return quantile(w.took, 0.1) }

// nativeWays are all ways, the direct one first.
func nativeWays(b *testing.B, engine *llama.Engine, path string) []*way {
	b.Helper()
	direct, err := engine.Load(path, llama.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(direct.Close)
	libraries := llamatest.Libraries(b)[0]
	helper := startHelper(b, libraries, path)
	b.Cleanup(func() { helper.end(b) })
	embedder := newEmbedder(b, libraries, path, 0)
	goes, err := bert.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	return []*way{
		{name: "direct", every: 1, embed: func(tb testing.TB, text string) {
			if _, _, _, err := direct.Embed(text, 1); err != nil {
				tb.Fatal(err)
			}
		}},
		{name: "helper", every: 1, embed: helper.embed, also: helper.cmd.Process.Pid},
		{name: "embedder", every: 1, embed: func(tb testing.TB, text string) { embedOne(tb, embedder, text) }},
		{name: "go", every: 10, embed: func(tb testing.TB, text string) {
			if _, _, err := goes.Embed(tb.Context(), text); err != nil {
				tb.Fatal(err)
			}
		}},
	}
}

// takeTurns is a round. Each second turn is taken the other way round, so that no way
// always finds what another has left in the processor's caches.
func takeTurns(tb testing.TB, ways []*way, text string) {
	tb.Helper()
	const turns = 20
	for turn := range turns {
		for i := range ways {
			if turn%2 == 1 {
				i = len(ways) - 1 - i
			}
			if turn%ways[i].every == 0 {
				ways[i].turn(tb, text)
			}
		}
	}
}

// native is llama.cpp in this process, which can be loaded once.
var native struct {
	sync.Once
	engine *llama.Engine
	err    error
}

func directEngine(tb testing.TB) *llama.Engine {
	tb.Helper()
	dir := llamatest.Libraries(tb)[0]
	native.Do(func() { native.engine, native.err = llama.Open(dir, nil) })
	if native.err != nil {
		tb.Fatal(native.err)
	}
	return native.engine
}

// newEmbedder is what the daemon uses.
func newEmbedder(tb testing.TB, engine, model string, unloadAfter time.Duration) *embedding.Embedder {
	tb.Helper()
	e, err := embedding.Open(embedding.Options{
		Providers: []string{embedding.Llama}, Model: model, Helper: llamatest.Helper(tb), Engine: engine, UnloadAfter: unloadAfter,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	if _, err := e.Ready(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return e
}

func embedOne(tb testing.TB, e *embedding.Embedder, text string) {
	tb.Helper()
	vectors, err := e.Embed(tb.Context(), embedding.Passage, []string{text})
	if err != nil || vectors[0] == nil {
		tb.Fatalf("the vectors are %v (%v)", vectors, err)
	}
}

// A helper is the real one, driven by frames and nothing else.
type helper struct {
	cmd     *exec.Cmd
	input   *os.File
	replies *os.File
}

// startHelper starts one and waits for its hello.
func startHelper(tb testing.TB, engine, model string) *helper {
	tb.Helper()
	requests, input, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	replies, answers, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	h := &helper{input: input, replies: replies, cmd: exec.Command(llamatest.Helper(tb), "--engine", engine, "--model", model)}
	h.cmd.Stdin, h.cmd.ExtraFiles = requests, []*os.File{answers}
	if err := h.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	requests.Close()
	answers.Close()
	var hello llamawire.Hello
	if err := llamawire.Read(h.replies, &hello); err != nil || hello.Failed != nil {
		tb.Fatal(err, hello.Failed)
	}
	return h
}

func (h *helper) embed(tb testing.TB, text string) {
	if err := llamawire.Write(h.input, &llamawire.Request{Text: text, Thread: 1}); err != nil {
		tb.Fatal(err)
	}
	var reply llamawire.Reply
	if err := llamawire.Read(h.replies, &reply); err != nil || reply.Failed != nil {
		tb.Fatal(err, reply.Failed)
	}
}

// end has it end by itself.
func (h *helper) end(tb testing.TB) {
	tb.Helper()
	h.input.Close()
	if err := h.cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
	h.replies.Close()
}
