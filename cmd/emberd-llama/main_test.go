package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/llamawire"
	"emberd/internal/testutil/llamatest"
)

// Whoever starts it by hand is told what it is, in a line.
func TestStartedByHand(t *testing.T) {
	syscall.CloseOnExec(3) // which the process that started the test may have left open
	reading, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	for name, test := range map[string]struct {
		args  []string
		third *os.File
		code  int
		says  string
	}{
		"nothing":               {nil, nil, exitMisuse, "emberd-llama: missing --engine; emberd starts"},
		"help":                  {[]string{"--help"}, nil, exitDone, "emberd-llama runs llama.cpp for emberd, which starts it automatically. You do not need to run it.\n\n  emberd-llama --engine DIR [--model FILE [--max-tokens N]] [--sandbox off]\n"},
		"version":               {[]string{"--version"}, nil, exitDone, "emberd-llama "},
		"unknown flag":          {[]string{"--engin", "/"}, nil, exitMisuse, "emberd-llama: flag provided but not defined: -engin"},
		"a word":                {[]string{"--engine", "/", "serve"}, nil, exitMisuse, `emberd-llama: invalid argument "serve"`},
		"no number":             {[]string{"--engine", "/", "--max-tokens", "many"}, nil, exitMisuse, "invalid value"},
		"nowhere to reply to":   {[]string{"--engine", "/"}, nil, exitMisuse, "emberd-llama: file descriptor 3, which receives the replies, is not open for writing"},
		"nowhere to write to":   {[]string{"--engine", "/"}, reading, exitMisuse, "emberd-llama: file descriptor 3, which receives the replies, is not open for writing"},
		"a model, no libraries": {[]string{"--model", "/model.gguf"}, nil, exitMisuse, "missing --engine; emberd starts this program automatically, so you do not need to run it"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), llamatest.Helper(t), test.args...)
			if test.third != nil {
				cmd.ExtraFiles = []*os.File{test.third}
			}
			out, _ := cmd.CombinedOutput() // the exit code is looked at
			if got := cmd.ProcessState.ExitCode(); got != test.code || !strings.Contains(string(out), test.says) {
				t.Errorf("exit code %d and %q, want %d and %q", got, out, test.code, test.says)
			}
		})
	}
}

// What is wrong with the libraries or with the model is in the hello, and the helper ends.
func TestHelloThatFails(t *testing.T) {
	engine := llamatest.Libraries(t)[0]
	page := filepath.Join(t.TempDir(), "page.gguf")
	if err := os.WriteFile(page, []byte("<html>not found</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		of   llamawire.Part
		says string
	}{
		"no folder":           {[]string{"--engine", "/none"}, llamawire.OfEngine, "llama.cpp not found: stat /none"},
		"no libraries":        {[]string{"--engine", t.TempDir()}, llamawire.OfEngine, "the folder does not contain libllama"},
		"nothing computes":    {[]string{"--engine", part(t, engine, "libllama.", "libggml.", "libggml-base.")}, llamawire.OfEngine, "cannot run on this processor: no matching libggml-cpu found"},
		"a part is missing":   {[]string{"--engine", part(t, engine, "libllama.")}, llamawire.OfEngine, "cannot load libllama.v0.5.0.so: libggml"},
		"not these functions": {[]string{"--engine", renamed(t, engine, "libggml-base.", "libllama.so")}, llamawire.OfEngine, "the libraries do not contain function llama_log_set"},
		"a beginning of it":   {[]string{"--engine", cut(t, engine, 100)}, llamawire.OfEngine, "cannot load libllama"},
		"no model":            {[]string{"--engine", engine, "--model", "/none.gguf"}, llamawire.OfFile, "no such file"},
		"something else":      {[]string{"--engine", engine, "--model", page}, llamawire.OfModel, "model file " + page},
		"tokens for no text":  {[]string{"--engine", engine, "--model", tiny(t), "--max-tokens", "2"}, llamawire.OfModel, "use at least 3"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, test.args...)
			hello := p.hello()
			if hello.Failed == nil || hello.Failed.Of != test.of || !strings.Contains(hello.Failed.Text, test.says) {
				t.Errorf("hello has failed with %+v, want of %s: %q", hello.Failed, test.of, test.says)
			}
			if code := p.ended(); code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
		})
	}
}

// Homebrew installs ggml by itself, and what computes in a folder of its own.
func TestLibrariesAsInHomebrew(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		opt := t.TempDir()
		place := func(dir string) string {
			dir = filepath.Join(opt, dir)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		suffix := filepath.Ext(library(t, engine, "libllama."))
		copied(t, library(t, engine, "libllama."), filepath.Join(place("llama.cpp/lib"), "libllama"+suffix), -1)
		for _, name := range []string{"libggml", "libggml-base"} {
			copied(t, library(t, engine, name+"."), filepath.Join(place("ggml/lib"), name+suffix), -1)
		}
		computing, err := filepath.Glob(filepath.Join(engine, "libggml-cpu*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range computing {
			copied(t, path, filepath.Join(place("ggml/libexec"), filepath.Base(path)), -1)
		}
		p := start(t, "--engine", filepath.Join(opt, "llama.cpp"), "--model", tiny(t))
		if hello := p.hello(); hello.Failed != nil || !slices.Contains(hello.Engine.Backends, "CPU") {
			t.Errorf("hello is %+v (%v), want that it computes", hello, hello.Failed)
		}
		p.input.Close()
		p.ended()
	})
}

// A library that is cut in its middle may take the process with it when it is loaded: then
// there is no hello, and the process has not ended well.
func TestCutLibrary(t *testing.T) {
	p := start(t, "--engine", cut(t, llamatest.Libraries(t)[0], 1<<20))
	var hello llamawire.Hello
	err := llamawire.Read(p.replies, &hello)
	if code := p.wait(); code == exitDone || err == nil && hello.Failed == nil {
		t.Errorf("exit code %d, hello %+v (%v), want that it fails", code, hello, err)
	}
}

// part is a folder with those of the libraries whose names begin so.
func part(t *testing.T, engine string, prefixes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, prefix := range prefixes {
		found := library(t, engine, prefix)
		copied(t, found, filepath.Join(dir, filepath.Base(found)), -1)
	}
	return dir
}

// renamed is a folder with one library under another name.
func renamed(t *testing.T, engine, prefix, name string) string {
	t.Helper()
	dir := t.TempDir()
	copied(t, library(t, engine, prefix), filepath.Join(dir, name), -1)
	return dir
}

// cut is a folder with the libraries, of which libllama is only so long.
func cut(t *testing.T, engine string, bytes int) string {
	t.Helper()
	dir := part(t, engine, "libggml.", "libggml-base.")
	found := library(t, engine, "libllama.")
	copied(t, found, filepath.Join(dir, filepath.Base(found)), bytes)
	return dir
}

func library(t *testing.T, engine, prefix string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(engine, prefix+"*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s has %v that begin with %s, want one (%v)", engine, found, prefix, err)
	}
	return found[0]
}

// copied copies the first bytes of a file, or all of it.
func copied(t *testing.T, from, to string, most int) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if most >= 0 {
		content = content[:most]
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
