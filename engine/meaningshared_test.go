package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"emberd/embedding"
	"emberd/engine/semantic"
	"emberd/internal/durable"
	"emberd/memory"
)

// Two devices with one model keep their vectors in one folder, and none is made twice.
func TestDevicesShareVectors(t *testing.T) {
	t.Parallel()
	model, folder := tinyModel(t, 1), t.TempDir()
	shared := func() *house {
		h := meant(t, newHouse(t), embedding.Options{Model: model})
		h.Options.Meaning.Dir, h.Options.Meaning.Shared = folder, true
		return h
	}
	desk, lap := shared(), shared()
	here := desk.running(t)
	var ids []memory.ID
	for i := range 5 {
		ids = append(ids, save(t, here, fmt.Sprintf("the tide turns at %d", i)).ID)
	}
	covered(t, here)
	there := lap.open(t)
	carry(t, desk, lap, status(t, here).Device)
	ok(t, there.Close())
	there = lap.running(t)
	until(t, "the memories are there", func() bool { return there.Stm.Len() == len(ids) })
	if got := covered(t, there); got.Made != 0 || got.Meaning.Covered != len(ids) {
		t.Errorf("made %d vectors of %d memories, want none", got.Made, got.Meaning.Covered)
	}
	s, without := there.Semantic.Meaning.EmbedQuery(t.Context(), "the tide turns at 3")
	if s == nil {
		t.Fatal(without)
	}
	if near := s.Memories(t.Context(), 1, nil); len(near) != 1 || near[0].ID != ids[3] {
		t.Errorf("nearest is %v, want %s", near, ids[3])
	}
	wantWholeRack(t, there)

	// The other device has another model now, or is gone.
	ok(t, here.Close())
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.vec"))
	ok(t, err)
	for _, file := range files {
		ok(t, os.Remove(file))
	}
	save(t, there, "the harbour is quiet")
	until(t, "all are made anew", func() bool { return engineStatus(t, there).Made == int64(len(ids)+1) })
	covered(t, there)
	wantWholeRack(t, there)
}

// fullDisk has no room for vectors while it is full.
type fullDisk struct {
	durable.OS
	full atomic.Bool
}

func (d *fullDisk) CreateAppend(name string) (durable.File, error) {
	f, err := d.OS.CreateAppend(name)
	if err != nil || filepath.Ext(name) != ".vec" {
		return f, err
	}
	return fullFile{f, &d.full}, nil
}

type fullFile struct {
	durable.File
	full *atomic.Bool
}

func (f fullFile) Write(p []byte) (int, error) {
	if !f.full.Load() {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:len(p)/2])
	return n, errors.Join(syscall.ENOSPC, err)
}

// A full disk holds up nothing but vectors, which go on when there is room.
func TestVectorsOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := new(fullDisk)
	h := meant(t, newHouse(t), embedding.Options{})
	h.FS = disk
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	disk.full.Store(true)
	save(t, e, "the pot shines")
	until(t, "it is told", func() bool { return engineStatus(t, e).Problem != "" })
	got := engineStatus(t, e)
	if !strings.Contains(got.Problem, "no space left") || got.Again.IsZero() || got.Meaning.Covered != 1 {
		t.Errorf("got %+v, %+v", got, got.Meaning)
	}
	if hits := searchFor(t, e, "pot"); len(hits) != 1 {
		t.Errorf("found %v", hits)
	}
	disk.full.Store(false)
	ok(t, e.Close())
	e = h.running(t)
	if got := covered(t, e); got.Made != 1 {
		t.Errorf("with room it made %d vectors, want 1", got.Made)
	}
	wantWholeRack(t, e)
}

// A server that hangs does not hold up the end, and leaves nothing running.
func TestClosingWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	e := h.running(t)
	covered(t, e)
	server.texts()
	server.hang()
	save(t, e, "the kettle leaks")
	until(t, "it is asked for", func() bool { return len(server.texts()) > 0 })
	asked := make(chan *semantic.QueryEmbedding)
	go func() {
		s, _ := e.Semantic.Meaning.EmbedQuery(t.Context(), "the pot")
		asked <- s
	}()
	until(t, "the query is asked for, too", func() bool { return len(server.texts()) > 0 })
	ok(t, e.Close())
	if s := <-asked; s != nil {
		t.Error("a query has a sense without an answer")
	}
	server.answer()
	e = h.running(t)
	covered(t, e)
	wantWholeRack(t, e)
}
