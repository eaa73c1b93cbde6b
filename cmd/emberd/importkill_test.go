package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// importedLines is how many memories the imports of these tests have, some batches of them.
const importedLines = 3_000

// importLines writes a file of memories, each of which says which line it is, and returns its path.
func importLines(t *testing.T, dir string, text func(line int) string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := 1; i <= importedLines; i++ {
		if err := enc.Encode(map[string]any{"id": importedID(i), "content": text(i)}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "lines.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func importedID(line int) memory.ID { return memory.DeriveID(fmt.Append(nil, "line", line)) }

func importedText(line int) string {
	return fmt.Sprintf("line %d tells Ada Lovelace about the engine of part %d", line, line*7)
}

// runImport returns what an import says that it did, with lines of 0 if it said nothing.
func (w *witness) runImport(t *testing.T, path string) (report struct {
	Lines, Added, Present, Failed int
	Errors                        []struct{ Line int }
}, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.binary(t), "import", "jsonl", path, "--json", "--home", w.home)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	out, err := cmd.Output()
	if len(out) > 0 {
		if parse := json.Unmarshal(out, &report); parse != nil {
			t.Fatalf("the import says %.200q: %v", out, parse)
		}
	}
	return report, err
}

// Whatever an import had told when the daemon was killed is there afterwards, and repeating it brings in the rest and
// nothing twice.
func TestKillNineDuringAnImport(t *testing.T) {
	t.Parallel()
	w := newWitness(rand.Uint64(), filepath.Join(clitest.ShortDir(t), "h"))
	path := importLines(t, t.TempDir(), importedText)
	for range 2 {
		d := w.start(t)
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			w.killAt(t, d, w.rng.IntN(importedLines*3/4))
		}()
		report, err := w.runImport(t, path)
		<-killed
		t.Logf("killed; the import told of %d added and %d present, %v", report.Added, report.Present, err)
		d = w.start(t)
		w.holds(t, report.Added+report.Present)
		_ = d.stop(syscall.SIGKILL) // the error is that it was killed
	}
	d := w.start(t)
	report, err := w.runImport(t, path)
	if err != nil || report.Added+report.Present != importedLines {
		t.Errorf("the repeated import tells %+v, %v; want %d added or present", report, err, importedLines)
	}
	if n := w.holds(t, importedLines); n != importedLines {
		t.Errorf("%d memories are there, want %d", n, importedLines)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// killAt kills a daemon that has so many memories or more.
func (w *witness) killAt(t *testing.T, d *daemonProcess, memories int) {
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	for t.Context().Err() == nil {
		status, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
		if err != nil || status.Memories >= memories {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = d.stop(syscall.SIGKILL) // the error is that it was killed
}

// holds checks that the daemon has the memories of the first lines with their texts, and returns how many it has.
func (w *witness) holds(t *testing.T, lines int) int {
	t.Helper()
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	for i := 1; i <= lines; i++ {
		got, err := op.Show.Call(t.Context(), client, &op.ShowRequest{ID: string(importedID(i)), Track: new(false)})
		if err != nil || got.Memory.Content != importedText(i) {
			t.Fatalf("line %d of the %d that were told is lost: %v", i, lines, err)
		}
	}
	status, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return status.Memories
}

// An error names its line in whichever batch that was, although the next one is read before the answer comes.
func TestImportNamesTheLinesOfEveryBatch(t *testing.T) {
	t.Parallel()
	w := newWitness(1, filepath.Join(clitest.ShortDir(t), "h"))
	bad := []int{7, 1777, importedLines}
	path := importLines(t, t.TempDir(), func(line int) string {
		if slices.Contains(bad, line) {
			return "password = 'Xk3dW9-qPz71mTr'" // refused as a credential
		}
		return importedText(line)
	})
	d := w.start(t)
	report, err := w.runImport(t, path)
	if err == nil || report.Added != importedLines-len(bad) || report.Failed != len(bad) || len(report.Errors) != len(bad) {
		t.Fatalf("the import tells %+v, %v; want all but %d added", report, err, len(bad))
	}
	for i, e := range report.Errors {
		if e.Line != bad[i] {
			t.Errorf("error %d is about line %d, want %d", i, e.Line, bad[i])
		}
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
