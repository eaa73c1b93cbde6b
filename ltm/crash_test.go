package ltm

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "emberd/internal/testutil/racescale"
	_ "emberd/internal/testutil/ramdisk"
)

// childDir names in the environment the index that a child process writes to.
const childDir = "LTM_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := churn(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// state is the n-th note in one of its versions. The cursor holds the version, so
// that one can tell from the cursor what the content should be.
func state(n int, version uint64) Doc {
	d := Doc{Path: fmt.Sprintf("note %d.md", n), Title: fmt.Sprintf("Note %d", n)}
	for i := range 1 + version%3 {
		text := strings.Repeat(fmt.Sprintf("Version %d of note %d, section %d.\n", version, n, i), int(version%7)*5)
		d.Sections = append(d.Sections, Section{HeadingPath: []string{fmt.Sprintf("Part %d", i)}, Line: 1, Text: text})
	}
	binary.BigEndian.PutUint64(d.Cursor.Digest[:], version)
	return d
}

// churn changes notes without end, and says how often.
func churn(dir string) error {
	x, err := Open(dir, nil)
	if err != nil {
		return err
	}
	start := uint64(time.Now().UnixNano())
	for version := start; ; version++ {
		var docs []Doc
		for range 1 + rand.IntN(7) {
			docs = append(docs, state(rand.IntN(60), version))
		}
		var gone []string
		if rand.IntN(3) == 0 {
			gone = append(gone, state(rand.IntN(60), 0).Path)
		}
		if err := x.Update(context.Background(), docs, gone); err != nil {
			return err
		}
		fmt.Println(version - start)
	}
}

// TestKillNine kills a process that updates an index, twenty times over. Every note
// that the index then knows has to be indexed exactly as its cursor says.
func TestKillNine(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are started, which -short leaves out")
	}
	dir := filepath.Join(t.TempDir(), "index")
	notes := 0
	for round := range 20 {
		killed(t, dir, 1+rand.IntN(60))
		x, err := Open(dir, nil)
		if err != nil {
			t.Fatalf("round %d: Open: %v", round, err)
		}
		if s := x.Status(); s.Reason != "" {
			t.Errorf("round %d: began anew because of %q", round, s.Reason)
		}
		versions := map[string]uint64{}
		for path, c := range x.Known() {
			versions[path] = binary.BigEndian.Uint64(c.Digest[:])
		}
		compared, err := x.Check(t.Context(), 0, func(path string) (Doc, bool) {
			var n int
			_, err := fmt.Sscanf(path, "note %d.md", &n)
			return state(n, versions[path]), err == nil
		})
		if err != nil || compared != len(versions) {
			t.Errorf("round %d: %d of %d notes are as their cursors say: %v", round, compared, len(versions), err)
		}
		notes += compared
		if err := x.Close(); err != nil {
			t.Fatalf("round %d: Close: %v", round, err)
		}
	}
	if notes == 0 {
		t.Error("no note survived any round, so nothing was tested")
	}
}

// killed runs a child that updates the index and kills it after some updates.
func killed(t *testing.T, dir string, updates int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range updates {
		if !lines.Scan() {
			t.Error("the child ended by itself")
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed, as it should be
}
