package ltm

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// holds reports whether a file of the index has a word.
func holds(t *testing.T, x *Index, word string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(x.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err == nil && bytes.Contains(bytes.ToLower(data), []byte(word)) {
			return true
		}
	}
	return false
}

// A removed text leaves the files, in an index of one segment and of several, and the others stay.
func TestScrubRemovesTheBytes(t *testing.T) {
	t.Parallel()
	for _, batches := range []int{0, 1, 3} {
		x := open(t)
		put(t, x, named("Xylovanth only", "the xylovanth is kept"))
		if err := x.written(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !holds(t, x, "xylovanth") {
			t.Error("the word is in no file before it is removed, so that this proves nothing")
		}
		if err := x.Update(t.Context(), nil, []string{"Xylovanth only.md"}); err != nil {
			t.Fatal(err)
		}
		for i := range batches {
			put(t, x, named(fmt.Sprintf("Note %d", i), "the pump hums"), named(fmt.Sprintf("Xylovanth %d", i), fmt.Sprintf("the xylovanth%d is kept", i)))
		}
		if err := x.written(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range batches {
			if err := x.Update(t.Context(), nil, []string{fmt.Sprintf("Xylovanth %d.md", i)}); err != nil {
				t.Fatal(err)
			}
		}
		// A segment whose notes are all removed may have left by itself.
		if batches > 0 && !holds(t, x, "xylovanth") {
			t.Error("the word is nowhere before, so that this proves nothing")
		}
		var side sync.WaitGroup
		for range 2 { // two purges at once
			side.Go(func() {
				if err := x.Scrub(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		side.Wait()
		if holds(t, x, "xylovanth") {
			t.Errorf("with %d batches the word is still in a file", batches)
		}
		x = reopened(t, x)
		if got := len(indexed(x)); got != batches {
			t.Errorf("%d notes are left, want %d", got, batches)
		}
	}
}

func indexed(x *Index) (found []string) {
	for path := range x.Known() {
		found = append(found, path)
	}
	return found
}
