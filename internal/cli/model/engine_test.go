package model

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/internal/models"
	"emberd/memory"
	"emberd/op"
)

// What people see of the making of vectors, on a terminal of 80 columns.
func TestEngineStatusIsForPeople(t *testing.T) {
	page := "model file /m/page.gguf: the file is a web page, not a GGUF file; download the file again"
	minilm := &op.EngineModel{Provider: "go", Name: "minilm", Dim: 384, Loaded: true, Trust: 1}
	for name, c := range map[string]struct {
		status op.EngineStatusResult
		want   string
	}{
		"nothing set": {op.EngineStatusResult{State: op.EngineOff, Problem: "no provider in the setting embedding.providers is configured; choose a model with emberd model use, such as static, which requires no file"}, `
vectors    none: no provider in the setting embedding.providers is configured;
           choose a model with emberd model use, such as static, which requires
           no file
`},
		"a file that is none": {op.EngineStatusResult{State: op.EngineWaiting, Meaning: &op.Meaning{Without: page},
			Problem: page,
			Again:   noon().Add(4 * time.Second), Passed: []op.PassedProvider{{Provider: "go", Reason: page}}, Folder: "/s/vectors"}, `
vectors    none yet
state      waiting for the next attempt in 4s
problem    model file /m/page.gguf: the file is a web page, not a GGUF file;
           download the file again
`},
		"an exam": {op.EngineStatusResult{State: op.EngineWaiting,
			Meaning: &op.Meaning{Without: "the model is being calibrated"},
			Model:   &op.EngineModel{Provider: "http", Dim: 64}, Folder: "/s/vectors"}, `
vectors    none yet
state      waiting: the model is being calibrated
model      without a name, by http, 64 dimensions
kept       0 vectors, 0 B in /s/vectors
`},
		"a battery": {op.EngineStatusResult{State: op.EngineWaiting, Waits: op.WaitsOnBattery,
			Meaning: &op.Meaning{Provider: "go", Covered: 149, Total: 298, Weight: 1}, Model: minilm, Folder: "/s/vectors",
			Vectors: 121, Bytes: 192_921}, `
vectors    ████████████             50 %, 149 of 298 memories and notes
state      paused, because the computer is on battery; to continue anyway, run:
           emberd model resume
model      minilm, by go, 384 dimensions; in memory
kept       121 vectors, 188.4 KiB in /s/vectors
`},
		"work": {op.EngineStatusResult{State: op.EngineWorking, Meaning: &op.Meaning{Provider: "go", Covered: 149,
			Total: 298, Weight: 1}, Model: minilm,
			PerSecond: 1782.4, Left: 3300, Share: 0.5, Folder: "/s/vectors", Vectors: 121, Bytes: 192_921,
			Passed: []op.PassedProvider{{Provider: "http", Reason: "the server at http://127.0.0.1:1 is not available"}}}, `
vectors    ████████████             50 %, 149 of 298 memories and notes
state      working, 1,782 a second, about 55m left; CPU limit: 50 % of one
           processor
model      minilm, by go, 384 dimensions; in memory
trust      calibration 1.00
not used   http: the server at http://127.0.0.1:1 is not available
kept       121 vectors, 188.4 KiB in /s/vectors
`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := "\n" + statusText(t, &c.status); got != c.want {
				t.Errorf("got:%s\nwant:%s", got, c.want)
			}
		})
	}
}

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// statusText is what people see of a status at noon.
func statusText(t *testing.T, status *op.EngineStatusResult) string {
	t.Helper()
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr, s.Screen, s.Now = bufio.NewWriter(&out), io.Discard, cli.Screen{Width: 80}, noon
	if err := s.Answer(status, func() { printEngine(s, status, false) }); err != nil {
		t.Fatal(err)
	}
	s.Stdout.Flush()
	return out.String()
}

func TestEngineStatusTellsOfCrashes(t *testing.T) {
	got := statusText(t, &op.EngineStatusResult{State: op.EngineComplete, Meaning: &op.Meaning{Covered: 2, Total: 2,
		Weight: 1},
		Model: &op.EngineModel{Provider: "llama", Name: "minilm", Dim: 384, Trust: 1}, Folder: "/s/vectors", Vectors: 2,
		Bytes: 3072,
		Native: &op.NativeEngine{Release: "b8390", Backends: []string{"CPU"}, Warning: "older than what was tested",
			Restarts: 2, LastExit: "ended while loading the model (SIGABRT)",
			Output: "GGML_ASSERT(n_layer > 0) failed",
			Bad: []op.BadPair{{File: "/m/odd.gguf", When: noon().Add(-3 * time.Hour),
				Why: "it ended while loading the model"}}}})
	const want = `vectors    ████████████████████████ 100 %, 2 of 2 memories and notes
state      complete
model      minilm, by llama, 384 dimensions
trust      calibration 1.00
engine     llama.cpp b8390 on CPU; emberd starts the runtime process when needed
           restarted 2 times; the last time, the process ended while loading the
           model (SIGABRT)
           older than what was tested
           emberd disabled the model odd.gguf, because it crashed the runtime 3
           h ago
           to see the output of the runtime, run: emberd model status --verbose
kept       2 vectors, 3.0 KiB in /s/vectors
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// An engine that was passed over is not told of as if it waited for work.
func TestEngineStatusTellsWhoMakesTheVectors(t *testing.T) {
	t.Parallel()
	status := op.EngineStatusResult{State: op.EngineWorking, Meaning: &op.Meaning{Covered: 1, Total: 2, Weight: 1},
		Model:  &op.EngineModel{Provider: "go", Name: "minilm", Dim: 384, Trust: 1},
		Native: &op.NativeEngine{Release: "b5640", LastExit: "ended over a text (SIGKILL)"}}
	got := statusText(t, &status)
	const want = `
engine     llama.cpp b5640; not in use now, because go computes the embeddings
           the process ended over a text (SIGKILL)
`
	if !strings.Contains(got, want) {
		t.Errorf("got:\n%s\nwant in it:\n%s", got, want)
	}
}

// A search that had to do without the vector of its words says so, but not each search that
// a model which failed its exam is of no use.
func TestSearchSaysWhenItWasByWordsAlone(t *testing.T) {
	t.Parallel()
	const late = "the query embedding was not ready in time"
	for _, tt := range []struct {
		name    string
		meaning *op.Meaning
		want    string
	}{
		{"no model", nil, ""},
		{"by vectors", &op.Meaning{Weight: 0.5}, ""},
		{"late", &op.Meaning{Weight: 0.5, Without: late}, "emberd searched by keywords only: " + late + "\n"},
		{"unused", &op.Meaning{Without: "the model failed its exam"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var side strings.Builder
			s := cli.New()
			s.Stderr = &side
			cli.NoteWithout(s, tt.meaning)
			if got := side.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Scripts rely on the exit codes of a full disk, a wrong flag or a wrong name.
func TestEngineErrorsHaveTheirCodes(t *testing.T) {
	t.Parallel()
	unreadable := &fs.PathError{Op: "open", Path: "/m/tiny.gguf", Err: syscall.EACCES}
	for _, tt := range []struct {
		name string
		err  error
		exit cli.ExitCode
		code memory.Code
		text string
	}{
		{"no room", fmt.Errorf("%w; make room", models.ErrNoSpace), cli.ExitDisk, memory.DiskFull, "make room"},
		{"no room for a file", errors.Join(models.ErrNoSpace, unreadable), cli.ExitDisk, memory.DiskFull,
			"no space left"},
		{"unreadable", unreadable, cli.ExitDisk, memory.Internal, "permission denied"},
		{"bad name", fmt.Errorf("%w: %q", models.ErrInput, "a/b"), cli.ExitInput, memory.Invalid, `"a/b"`},
		{"unknown", models.ErrUnknown, cli.ExitNothing, memory.NotFound, models.ErrUnknown.Error()},
		{"none", models.ErrNone, cli.ExitNothing, memory.NotFound, models.ErrNone.Error()},
		{"taken", models.ErrTaken, cli.ExitConflict, memory.Conflict, models.ErrTaken.Error()},
		{"busy", models.ErrBusy, cli.ExitAgain, memory.Busy, models.ErrBusy.Error()},
		{"anything else", errors.New("wrong digest"), cli.ExitNothing, memory.Invalid, "wrong digest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := engineError(tt.err)
			if got := cli.CodeOf(err); got != tt.exit {
				t.Errorf("exit code %d, want %d", got, tt.exit)
			}
			if got := cli.Problem(err); got.Code != tt.code || !strings.Contains(got.Detail, tt.text) {
				t.Errorf("got %s: %s, want %s: …%s…", got.Code, got.Detail, tt.code, tt.text)
			}
		})
	}
}
