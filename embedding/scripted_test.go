package embedding

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/gguf"
	"emberd/internal/llamawire"
)

// The tests start helpers that misbehave: this binary, once more, which does as its life
// says. What is under test is how its end is taken; pipes, signals and processes are real.

const livesEnv = "EMBERD_TEST_LIVES"

// life is what a helper does. Of several lives a helper has the first when it is started
// first, and so on, and the last for good.
type life struct {
	Hello  string            // what it says first: one of the misdeeds, "" for what is proper
	Failed llamawire.Part    // says that it cannot, for this
	On     map[string]string // what it does about a text that has a word in it
	Deaf   bool              // goes on when its input ends
	Print  string            // to its standard error, at first
	Flood  int               // bytes that it prints, at first
}

// The misdeeds.
const (
	hang      = "hang"
	exits     = "exit"
	segfault  = "segfault"
	abort     = "abort"
	killed    = "killed" // as by a system that is short of memory
	garbage   = "garbage"
	tooLong   = "too long"
	half      = "half"
	wrongID   = "wrong id"
	short     = "short"
	nan       = "nan"
	twice     = "twice"
	failed    = "failed"
	protocol  = "protocol"
	otherDim  = "other dim"
	otherFile = "other file"
	gate      = "gate" // waits until a file named gate beside the lives can be opened
)

// long reports whether make llama runs the tests, with all there is to try.
func long() bool { return os.Getenv("EMBERD_TEST_NATIVE") != "" }

func TestMain(m *testing.M) {
	if dir := os.Getenv(livesEnv); dir != "" {
		live(dir)
	}
	if os.Getenv(parentEnv) != "" {
		beParent()
	}
	os.Exit(m.Run())
}

// scripted writes a program that runs the lives, one after the other.
func scripted(t *testing.T, lives ...life) (helper string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data, err := json.Marshal(lives)
	if err != nil {
		t.Fatal(err)
	}
	helper = filepath.Join(dir, helperName)
	// The number of the life is the length of a file that each start adds to.
	program := fmt.Sprintf("#!/bin/sh\nprintf x >> '%[1]s/starts'\nexec env %[2]s='%[1]s' '%[3]s' \"$@\"\n", dir,
		livesEnv, self)
	// A process that another test starts meanwhile would keep the program open for writing
	// until it runs, and the system starts no program that is written to.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for name, content := range map[string]string{"lives": string(data), helperName: program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return helper
}

// starts is how often a scripted helper was started.
func starts(t *testing.T, helper string) int {
	t.Helper()
	info, err := os.Stat(filepath.Join(filepath.Dir(helper), "starts"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

// live is the life of a scripted helper.
func live(dir string) {
	h := &helperLife{dir: dir, out: os.NewFile(llamawire.ReplyFD, "replies")}
	lives := read[[]life](filepath.Join(dir, "lives"))
	started, err := os.Stat(filepath.Join(dir, "starts"))
	must(err)
	h.life = lives[min(int(started.Size()), len(lives))-1]
	flags := flag.NewFlagSet("helper", flag.ExitOnError)
	flags.String("engine", "", "")
	model := flags.String("model", "", "")
	tokens := flags.Int("max-tokens", 0, "")
	must(flags.Parse(os.Args[1:]))
	fmt.Fprint(os.Stderr, h.life.Print)
	line := strings.Repeat("llama_model_loader: noise\n", 1000)
	for n := 0; n < h.life.Flood; n += len(line) {
		fmt.Fprint(os.Stderr, line)
	}
	h.greet(*model, *tokens)
	in := bufio.NewReader(os.Stdin)
	for {
		var q llamawire.Request
		if llamawire.Read(in, &q) != nil {
			if h.life.Deaf {
				h.misbehave(hang)
			}
			syscall.Exit(0)
		}
		h.answer(&q)
	}
}

type helperLife struct {
	dir  string
	life life
	dim  int
	out  *os.File
}

func (h *helperLife) greet(model string, tokens int) {
	hello := llamawire.Hello{Protocol: llamawire.Protocol, Version: "scripted",
		Engine: llamawire.Engine{Release: "v0", System: "AVX2 = 1", Backends: []string{"CPU"}, Warning: "scripted"}}
	if model != "" {
		facts, err := gguf.Preflight(model)
		must(err)
		h.dim = facts.Dim
		hello.Model = &llamawire.Model{SHA256: facts.SHA256, Dim: facts.Dim, Context: facts.Context, MaxTokens: tokens,
			Pooling: facts.Pooling.String()}
	}
	switch h.life.Hello {
	case "":
	case protocol:
		hello.Protocol++
	case otherDim:
		hello.Model.Dim++
	case otherFile:
		hello.Model.SHA256 = strings.Repeat("0", 64)
	default:
		h.misbehave(h.life.Hello)
	}
	if h.life.Failed != "" {
		hello.Failed = &llamawire.Failed{Of: h.life.Failed, Text: "it is a script"}
	}
	must(llamawire.Write(h.out, &hello))
	if h.life.Failed != "" {
		syscall.Exit(0)
	}
}

func (h *helperLife) answer(q *llamawire.Request) {
	reply := &llamawire.Reply{ID: q.ID, Tokens: len(strings.Fields(q.Text)) + 2}
	if !q.Count {
		reply.Vector = scriptedVector(q.Text, h.dim)
	}
	for word, misdeed := range h.life.On {
		if !strings.Contains(q.Text, word) {
			continue
		}
		switch misdeed {
		case wrongID:
			reply.ID++
		case short:
			reply.Vector = reply.Vector[1:]
		case nan:
			reply.Vector[0] = float32(math.NaN())
		case twice:
			must(llamawire.Write(h.out, reply))
		case failed:
			reply.Vector, reply.Failed = nil, &llamawire.Failed{Of: llamawire.OfText, Text: "it is a script"}
		default:
			h.misbehave(misdeed)
		}
	}
	must(llamawire.Write(h.out, reply))
}

// misbehave returns from the gate alone.
func (h *helperLife) misbehave(how string) {
	frame := func(length uint32, rest string) {
		_, err := h.out.Write(append(binary.LittleEndian.AppendUint32(nil, length), rest...))
		must(err)
	}
	switch how {
	case gate:
		_, err := os.ReadFile(filepath.Join(h.dir, gate)) // a pipe, which opens when somebody writes
		must(err)
		return
	case exits:
		fmt.Fprintln(os.Stderr, "it leaves")
		syscall.Exit(3)
	case segfault:
		die(syscall.SIGSEGV)
	case abort:
		fmt.Fprintf(os.Stderr, "\x1b[31mggml.c:1: GGML_ASSERT(script) failed\nand on\n")
		die(syscall.SIGABRT)
	case killed:
		fmt.Fprintln(os.Stderr, "a warning of long before")
		die(syscall.SIGKILL)
	case garbage:
		frame(12, "no such thing")
	case tooLong:
		frame(llamawire.MaxBytes+1, "{}")
	case half:
		frame(100, `{"id":1,`)
	}
	for { // it hangs, and a runtime that knows of no timer would end it
		time.Sleep(time.Hour)
	}
}

// die ends the process by a signal as native code does, past the runtime of Go.
func die(by syscall.Signal) {
	must(syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", by)}, nil))
}

// scriptedVector is of length one, and another for each text.
func scriptedVector(text string, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(int8(hash(fmt.Sprint(i, text))))
	}
	normalize(v)
	return v
}

func read[T any](path string) (v T) {
	data, err := os.ReadFile(path)
	must(err)
	must(json.Unmarshal(data, &v))
	return v
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// makeGate has the helper wait where it comes to a gate. The function returned opens the
// other side of it, once the helper is there.
func makeGate(t *testing.T, helper string) (opened func() *os.File) {
	t.Helper()
	path := filepath.Join(filepath.Dir(helper), gate)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() *os.File {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
		}
		return w
	}
}

const parentEnv = "EMBERD_TEST_PARENT"

// beParent is another emberd: it has a helper make a vector, tells of its process, and
// waits for its own end.
func beParent() {
	at := strings.Split(os.Getenv(parentEnv), "\n")
	e, err := Open(Options{Providers: []string{Llama}, Helper: at[0], Engine: at[1], Model: at[2]})
	must(err)
	_, err = e.Embed(context.Background(), Passage, []string{"harbour"})
	must(err)
	fmt.Println(e.Status().Native.PID)
	for {
		time.Sleep(time.Hour)
	}
}
