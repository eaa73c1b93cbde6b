package main

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"

	"emberd/op"
)

// What people see of the making of vectors, on a terminal of 80 columns.
func TestEngineStatusIsForPeople(t *testing.T) {
	page := "model file /m/page.gguf: it is a web page and not a GGUF file; install the model again"
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	minilm := &op.EngineModel{Provider: "go", Name: "minilm", Dim: 384, Loaded: true, Trust: 1}
	for name, c := range map[string]struct {
		status op.EngineStatusResult
		want   string
	}{
		"nothing set": {op.EngineStatusResult{State: op.EngineOff, Problem: "name a model file in embedding.model, or a server in embedding.url"}, `
vectors    none: name a model file in embedding.model, or a server in
           embedding.url
`},
		"a file that is none": {op.EngineStatusResult{State: op.EngineWaiting, Meaning: &op.Meaning{Without: page}, Problem: page,
			Again: noon.Add(4 * time.Second), Passed: []op.PassedProvider{{Provider: "go", Reason: page}}, Folder: "/s/vectors"}, `
vectors    none yet
state      waiting, tried again in 4s
problem    model file /m/page.gguf: it is a web page and not a GGUF file;
           install the model again
`},
		"an exam": {op.EngineStatusResult{State: op.EngineWaiting, Meaning: &op.Meaning{Without: "the model is examined first"},
			Model: &op.EngineModel{Provider: "http", Dim: 64}, Folder: "/s/vectors"}, `
vectors    none yet
state      waiting: the model is examined first
model      without a name, by http, 64 numbers a text
kept       0 vectors, 0 B in /s/vectors
`},
		"work": {op.EngineStatusResult{State: op.EngineWorking, Meaning: &op.Meaning{Provider: "go", Covered: 149, Total: 298, Weight: 1}, Model: minilm,
			PerSecond: 2.94, Left: 3300, Share: 0.5, Folder: "/s/vectors", Vectors: 121, Bytes: 192_921,
			Passed: []op.PassedProvider{{Provider: "http", Reason: "the server at http://127.0.0.1:1 cannot be reached"}}}, `
vectors    ████████████             50 %, 149 of 298 memories and notes
state      working, 2.94 a second, about 55m left; takes at most 50 % of one
           processor
model      minilm, by go, 384 numbers a text; in memory
trust      1.00 by the model's exam
passed     http: the server at http://127.0.0.1:1 cannot be reached
kept       121 vectors, 188.4 KiB in /s/vectors
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			s := newState()
			s.stdout, s.stderr, s.screen, s.now = bufio.NewWriter(&out), io.Discard, screen{width: 80}, func() time.Time { return noon }
			if err := s.printEngine(&c.status); err != nil {
				t.Fatal(err)
			}
			s.stdout.Flush()
			if got := "\n" + out.String(); got != c.want {
				t.Errorf("got:%s\nwant:%s", got, c.want)
			}
		})
	}
}
