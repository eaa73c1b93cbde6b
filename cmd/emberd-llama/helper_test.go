package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/llamawire"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
)

// A process is the real helper, as emberd starts it.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	input   io.WriteCloser
	replies *os.File
	out     bytes.Buffer // what it prints, of which nothing is a reply
	err     bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startBy(t, nil, args...)
}

// startBy is start by way of the test binary, if env says so: see TestMain.
func startBy(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	program := llamatest.Helper(t)
	if env != nil {
		program = "/proc/self/exe" // whose name is now that of the helper
	}
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), program, args...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.Env = append(append(os.Environ(), env...), "GGML_NO_BACKTRACE=1", "GOTRACEBACK=none")
	replies, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { replies.Close() })
	p.replies, p.cmd.ExtraFiles = replies, []*os.File{write}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close() // it has one of its own
	return p
}

func (p *process) send(message any) {
	p.t.Helper()
	if err := llamawire.Write(p.input, message); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) receive(message any) {
	p.t.Helper()
	if err := llamawire.Read(p.replies, message); err != nil {
		p.t.Fatalf("%v; it says %s", err, p.err.Bytes())
	}
}

func (p *process) hello() llamawire.Hello {
	p.t.Helper()
	var hello llamawire.Hello
	p.receive(&hello)
	return hello
}

// ended returns the exit code, after no further reply.
func (p *process) ended() int {
	p.t.Helper()
	if err := llamawire.Read(p.replies, &llamawire.Reply{}); !errors.Is(err, io.EOF) {
		p.t.Errorf("after the last reply comes one more, or part of one (%v)", err)
	}
	return p.wait()
}

func (p *process) wait() int {
	p.t.Helper()
	err := p.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		p.t.Fatal(err)
	}
	if p.out.Len() > 0 {
		p.t.Errorf("it prints %q", p.out.Bytes())
	}
	return p.cmd.ProcessState.ExitCode()
}

func tiny(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := tinybert.New(tinybert.Tiny()).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// each runs a test with every llama.cpp that there is.
func each(t *testing.T, test func(t *testing.T, engine string)) {
	for i, dir := range llamatest.Libraries(t) {
		t.Run(fmt.Sprint("library ", i+1), func(t *testing.T) { test(t, dir) })
	}
}

func TestRepliesInTheOrderOfRequests(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		p := start(t, "--engine", engine, "--model", tiny(t), "--max-tokens", "16")
		hello := p.hello()
		if hello.Failed != nil || hello.Protocol != llamawire.Protocol || hello.Version == "" || hello.Engine.Release == "" {
			t.Fatalf("hello is %+v", hello)
		}
		if hello.Model == nil || hello.Model.Dim != 32 || hello.Model.MaxTokens != 16 || len(hello.Model.SHA256) != 64 {
			t.Fatalf("the model is %+v, want 32 dimensions, 16 tokens and a digest", hello.Model)
		}
		texts := []string{"note memory search", "", strings.Repeat("memory ", 1000), "zażółć 日本"}
		for i, text := range texts {
			p.send(&llamawire.Request{ID: uint64(i), Text: text, Thread: 1})
			p.send(&llamawire.Request{ID: uint64(100 + i), Text: text, Count: true})
		}
		for i, text := range texts {
			var vector, count llamawire.Reply
			p.receive(&vector)
			p.receive(&count)
			if vector.ID != uint64(i) || vector.Failed != nil || len(vector.Vector) != 32 || math.Abs(length(vector.Vector)-1) > 1e-6 {
				t.Errorf("%.20q has the reply %+v, want one of length 1", text, vector)
			}
			if count.ID != uint64(100+i) || count.Failed != nil || count.Vector != nil || count.Tokens < vector.Tokens {
				t.Errorf("%.20q has the count %+v, want %d tokens or more and no vector", text, count, vector.Tokens)
			}
		}
		p.input.Close()
		if code := p.ended(); code != exitDone {
			t.Errorf("exit code %d, want %d: %s", code, exitDone, p.err.Bytes())
		}
		if strings.Contains(p.err.String(), "memory") {
			t.Errorf("what it says has something of the texts: %s", p.err.Bytes())
		}
	})
}

func length(v []float32) float64 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return math.Sqrt(square)
}

// Another process makes the same vector, to the bit.
func TestProcessesAgree(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		model := tiny(t)
		var vectors [2][]float32
		for i := range vectors {
			p := start(t, "--engine", engine, "--model", model)
			p.hello()
			for range i { // something else before
				p.send(&llamawire.Request{Text: "something else"})
				p.receive(&llamawire.Reply{})
			}
			p.send(&llamawire.Request{Text: "note memory search"})
			var reply llamawire.Reply
			p.receive(&reply)
			vectors[i] = reply.Vector
			p.input.Close()
			p.ended()
		}
		if !slices.Equal(vectors[0], vectors[1]) {
			t.Errorf("one begins %v, the other %v", vectors[0][:2], vectors[1][:2])
		}
	})
}

func TestProbe(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		p := start(t, "--engine", engine)
		if hello := p.hello(); hello.Failed != nil || hello.Model != nil || hello.Engine.System == "" {
			t.Errorf("hello is %+v, want the engine alone", hello)
		}
		if code := p.ended(); code != exitDone { // with its input still open
			t.Errorf("exit code %d, want %d", code, exitDone)
		}
	})
}

// It ends with its input even if it is in the middle of a text, which has no reply then: this
// one takes seconds.
func TestEndOfInputWhileWorking(t *testing.T) {
	p := start(t, "--engine", llamatest.Libraries(t)[0], "--model", tiny(t))
	p.hello()
	p.send(&llamawire.Request{Text: strings.Repeat("x", 16<<20), Count: true})
	p.input.Close()
	if code := p.ended(); code != exitDone {
		t.Errorf("exit code %d, want %d: %s", code, exitDone, p.err.Bytes())
	}
}

// It ends with its input even while it loads, with a hello or without.
func TestEndOfInputWhileLoading(t *testing.T) {
	p := start(t, "--engine", llamatest.Libraries(t)[0], "--model", tiny(t))
	p.input.Close()
	io.Copy(io.Discard, p.replies)
	if code := p.wait(); code != exitDone {
		t.Errorf("exit code %d, want %d: %s", code, exitDone, p.err.Bytes())
	}
}

// Whatever is no request ends it: nothing can be read after it.
func TestWhatIsNoRequestEndsIt(t *testing.T) {
	frame := func(content string) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(content))), content...)
	}
	for name, test := range map[string]struct {
		sent []byte
		says string
	}{
		"text":        {[]byte("GET / HTTP/1.1\r\n\r\n"), "(limit "},
		"no JSON":     {frame("hello\n"), "is not a line of JSON"},
		"numbers":     {frame("{}\n\x00\x00\x80\x3f"), "is not a line of JSON"},
		"half of one": {frame("{}\n")[:6], "incomplete after 2 of 3 bytes"},
		"too many":    {bytes.Repeat(frame("{\"text\":\""+strings.Repeat("x", 1<<16)+"\",\"count\":true}\n"), 10*maxWaiting), "too many waiting requests (limit 64)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "--engine", llamatest.Libraries(t)[0], "--model", tiny(t))
			go io.Copy(io.Discard, p.replies)
			p.input.Write(test.sent) // fails if it ends before the last
			p.input.Close()
			if code := p.wait(); code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			if line := p.err.String(); !strings.Contains(line, "emberd-llama: ") || !strings.Contains(line, test.says) {
				t.Errorf("it says %q, want a line with %q", line, test.says)
			}
		})
	}
}
