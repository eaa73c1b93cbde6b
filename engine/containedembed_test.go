package engine_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"emberd/embedding"
	"emberd/engine"
	"emberd/internal/durable"
)

// faultyDisk panics when a vector index writes down a note of the name Poison.md.
type faultyDisk struct {
	durable.FS
	met *atomic.Int64
}

func (d faultyDisk) CreateAppend(name string) (durable.File, error) {
	f, err := d.FS.CreateAppend(name)
	if err != nil || !strings.Contains(name, "vectors") {
		return f, err
	}
	return faultyFile{f, d.met}, nil
}

type faultyFile struct {
	durable.File
	met *atomic.Int64
}

func (f faultyFile) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("Poison.md")) {
		f.met.Add(1)
		panic("a fault at a note")
	}
	return f.File.Write(b)
}

// A note that the embedder panics at is without embeddings, alone. It is tried at two starts, and
// at no third.
func TestAPanicOfTheEmbedderRefusesOneNote(t *testing.T) {
	h := vaultHouse(t, map[string]string{"A.md": "apples", "Poison.md": "pears", "Z.md": "zucchini"})
	var met atomic.Int64
	h.Options.FS = faultyDisk{durable.OS{}, &met}
	meant(t, h, embedding.Options{})
	for _, want := range []int64{1, 2, 2} {
		e := h.following(t)
		until(t, "all others have embeddings", func() bool { return withoutEmbeddings(e) == 1 })
		if got := met.Load(); got != want {
			t.Errorf("the note was tried %d times, want %d", got, want)
		}
		if found := searchFor(t, e, "pears"); found[0].Note.Path != "Poison.md" { // by its words
			t.Errorf("the first of %q is not the note", names(found))
		}
		refusedNote(t, e, "Poison.md")
		ok(t, e.Close())
	}
}

// withoutEmbeddings is how many documents are set aside when no other waits, -1 before.
func withoutEmbeddings(e *engine.Engine) int {
	m := e.Semantic.Meaning
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if m.Todo.Left() > 0 || m.Todo.Covered < 2 {
		return -1
	}
	return m.Todo.Aside
}
