package embedding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/llamawire"
)

func TestFloodOfOutput(t *testing.T) {
	e, _ := supervised(t,
		scripted(t, life{Print: "it begins\n", Flood: 100_000_000, On: map[string]string{"poison": exits}}, life{}))
	embedOne(t, e, "poison")
	out := e.Status().Native.Output
	if !strings.HasPrefix(out, "it begins\n") || !strings.HasSuffix(out, "it leaves\n") ||
		!strings.Contains(out, "bytes omitted]") || len(out) > 2*keptOutput+100 {
		t.Errorf("of 100 MB are kept %d bytes: %.40q … %q", len(out), out, out[max(0, len(out)-40):])
	}
}

func TestCapture(t *testing.T) {
	for _, size := range []int{1, 100, 3 * keptOutput} {
		var c capture
		var all bytes.Buffer
		for i := range 20_000 / size {
			part := bytes.Repeat([]byte{byte('a' + i%26)}, size)
			all.Write(part)
			if n, err := c.Write(part); n != size || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		got, printed := c.String(), all.String()
		if !strings.HasPrefix(got, printed[:keptOutput]) || !strings.HasSuffix(got, printed[len(printed)-keptOutput:]) {
			t.Errorf("in parts of %d bytes, the beginning and the end are not kept", size)
		}
	}
}

// A register may hold letters of what was embedded.
func TestRegistersAreNotTold(t *testing.T) {
	var c capture
	fmt.Fprint(&c, "llama.cpp: odd\nSIGBUS: bus error\nPC=0x1 m=0 sigcode=2\n\nrax 0x6568\n")
	if got, want := c.output(), "llama.cpp: odd\nSIGBUS: bus error\nPC=0x1 m=0 sigcode=2\n"; got != want {
		t.Errorf("told is %q, want %q", got, want)
	}
}

func TestBadPairsOfABrokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "engines.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBadPairs(file, slog.New(slog.DiscardHandler))
	if got := b.list(); len(got) != 0 {
		t.Errorf("a broken file tells of %+v", got)
	}
	for i := range maxBadPairs + 5 {
		b.add(IncompatibleModel{Model: string(rune('a' + i)), Engine: "e", Why: "it ended"})
	}
	if got := newBadPairs(file, b.logger); got.why(pair{"z", "e"}) == "" || got.why(pair{"a", "e"}) != "" ||
		len(got.list()) != maxBadPairs {
		t.Errorf("kept are %d pairs, want the latest %d", len(got.list()), maxBadPairs)
	}
}

// Another process forgets and adds while this one runs, as a self-test does.
func TestBadPairsOfTwoProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "engines.json")
	daemon, other := newBadPairs(file, slog.New(slog.DiscardHandler)), newBadPairs(file, slog.New(slog.DiscardHandler))
	daemon.add(IncompatibleModel{Model: "a", Engine: "e", Why: "it ended"})
	other.forget()
	if why := daemon.why(pair{"a", "e"}); why != "" {
		t.Errorf("what the other forgot is still bad: %s", why)
	}
	other.add(IncompatibleModel{Model: "b", Engine: "e", Why: "it ended"})
	daemon.add(IncompatibleModel{Model: "c", Engine: "e", Why: "it ended"})
	for _, b := range []*badPairs{daemon, other, newBadPairs(file, daemon.logger)} {
		for _, model := range []string{"b", "c"} {
			if b.why(pair{model, "e"}) == "" {
				t.Errorf("the model %s is not known to be bad", model)
			}
		}
	}
}

// What cannot be kept is known all the same, and forgotten.
func TestBadPairsThatCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	of := filepath.Join(dir, "later.json")
	if err := os.WriteFile(of, []byte(`{"version": 2, "bad": {"more": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(of)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"from a newer version": of,
		"no folder": filepath.Join(dir, "missing", "engines.json"), "a folder": dir} {
		b := newBadPairs(file, slog.New(slog.DiscardHandler))
		b.add(IncompatibleModel{Model: "a", Engine: "e", Why: "it ended"})
		if b.why(pair{"a", "e"}) == "" || len(b.list()) != 1 {
			t.Errorf("%s: the pair is not remembered", name)
		}
		b.forget()
		if b.why(pair{"a", "e"}) != "" || len(b.list()) != 0 {
			t.Errorf("%s: the pair is not forgotten", name)
		}
	}
	if after, err := os.ReadFile(of); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file from a newer version became %q, %v", after, err)
	}
}

func TestProbe(t *testing.T) {
	dir := engineFolder(t)
	hello, err := Probe(t.Context(), scripted(t, life{}), dir, false)
	if err != nil || hello.Engine.Release != "v0" || hello.Model != nil {
		t.Errorf("Probe = %+v, %v", hello, err)
	}
	for name, c := range map[string]struct {
		life life
		want string
	}{
		"refused":  {life{Failed: llamawire.OfEngine}, "cannot use the libraries in " + dir + ": it is a script"},
		"crash":    {life{Hello: segfault}, "ended before it reported whether it can load the libraries in " + dir + " (SIGSEGV)"},
		"protocol": {life{Hello: protocol}, "belongs to another version of emberd"},
	} {
		if _, err := Probe(t.Context(), scripted(t, c.life), dir, false); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want: %s", name, err, c.want)
		}
	}
	mute, err := startChild(scripted(t, life{Hello: hang}), "--engine", dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mute.probe(t.Context(), "h", dir, &limits{load: impatient}); err == nil ||
		err.Error() != "the helper h did not report whether it can load the libraries in "+dir+" within 300ms, so emberd killed the process" {
		t.Errorf("Probe: %v, want that it hung", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	helper := scripted(t, life{Hello: gate, Deaf: true})
	opened := makeGate(t, helper)
	held := make(chan *os.File, 1)
	go func() {
		held <- opened()
		cancel()
	}()
	if _, err := Probe(ctx, helper, dir, false); !errors.Is(err, context.Canceled) {
		t.Errorf("Probe: %v, want that nobody waited", err)
	}
	if err := (<-held).Close(); err != nil {
		t.Error(err)
	}
	if _, err := Probe(t.Context(), filepath.Join(dir, "missing"), dir, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Probe: %v, want that there is no helper", err)
	}
}

// What nobody needs who computes vectors stays here.
func TestEnvironmentOfAHelper(t *testing.T) {
	got := helperEnv([]string{
		"HOME=/home/ann", "PATH=/bin", "AWS_SECRET_ACCESS_KEY=s", "EMBERD_TOKEN=s", "HF_TOKEN=s", "SSH_AUTH_SOCK=/s",
		"GODEBUG=x=1", "=C:=odd", "",
		"CUDA_VISIBLE_DEVICES=0", "GGML_VK_VISIBLE_DEVICES=1", "XDG_DATA_DIRS=/usr/share",
		"LD_PRELOAD=/evil.so", "LD_LIBRARY_PATH=/evil", "DYLD_INSERT_LIBRARIES=/evil", "GGML_BACKEND_PATH=/evil.so",
		"GGML_NO_BACKTRACE=0", "GOTRACEBACK=crash",
	})
	want := []string{"HOME=/home/ann", "CUDA_VISIBLE_DEVICES=0", "GGML_VK_VISIBLE_DEVICES=1",
		"XDG_DATA_DIRS=/usr/share", "GGML_NO_BACKTRACE=0", "GGML_NO_BACKTRACE=1", "GOTRACEBACK=none"}
	if !slices.Equal(got, want) { // of two the last counts
		t.Errorf("a helper is given %q\nwant %q", got, want)
	}
}
