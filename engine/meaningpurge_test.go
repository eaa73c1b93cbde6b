package engine_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/engine/semantic"
	"emberd/op"
	"emberd/vectors"
)

func TestPurgedVectorsAreGoneFromTheDisk(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{})
	e := h.running(t)
	id := save(t, e, "a secret that must go").ID
	save(t, e, "a text that stays")
	covered(t, e)
	row, _ := e.Stm.Get(id)
	doc, _ := e.Semantic.Meaning.Building.Store.Doc(semantic.MemoryDoc(id))
	if doc.Digest != semantic.DigestOfMemory(row) || len(doc.Chunks) != 1 {
		t.Fatalf("its document is %+v", doc)
	}
	key := doc.Chunks[0].Key
	vector, _ := e.Semantic.Meaning.Building.Store.Vector(key)
	if !numbersOnDisk(t, vector, h.State, h.Data) {
		t.Error("no file has the vector before the purge, so that this proves nothing")
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
	until(t, "it is followed", func() bool { _, has := e.Semantic.Meaning.Building.Store.Doc(semantic.MemoryDoc(id)); return !has })
	if !e.Semantic.Meaning.Building.Store.Has(key) {
		t.Error("what is in the trash has lost its vector")
	}
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(id)})
	if e.Semantic.Meaning.Building.Store.Has(key) {
		t.Error("the vector is there after the purge")
	}
	if vectorOnDisk(t, e.Semantic.Meaning.Building.Dir, key) {
		t.Error("a file holds the key of what was purged")
	}
	if numbersOnDisk(t, vector, h.State, h.Data) {
		t.Error("a file holds the vector of what was purged")
	}
}

// numbersOnDisk reports whether any file below the folders has the numbers of a vector.
func numbersOnDisk(t testing.TB, vector []float32, folders ...string) (found bool) {
	t.Helper()
	numbers, err := binary.Append(nil, binary.LittleEndian, vector)
	ok(t, err)
	if len(numbers) < 64 {
		t.Fatalf("the vector has %d bytes, too few to know it by", len(numbers))
	}
	for _, folder := range folders {
		ok(t, filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			found = found || bytes.Contains(data, numbers[:64])
			return err
		}))
	}
	return found
}

// vectorOnDisk reports whether any file of a rack has a vector of that key.
func vectorOnDisk(t testing.TB, dir string, key vectors.Key) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.vec"))
	ok(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		ok(t, err)
		return bytes.Contains(data, key[:])
	})
}

// What is purged while there is no model has no vector either, nor is it missed when there is
// one again.
func TestPurgedWithoutAModel(t *testing.T) {
	t.Parallel()
	model := tinyModel(t, 1)
	h := meant(t, newHouse(t), embedding.Options{Model: model})
	e := h.running(t)
	id := save(t, e, "a secret that must go").ID
	save(t, e, "a text that stays")
	covered(t, e)
	rack := e.Semantic.Meaning.Building
	doc, _ := rack.Store.Doc(semantic.MemoryDoc(id))
	key := doc.Chunks[0].Key
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
	until(t, "it is followed", func() bool { _, has := rack.Store.Doc(semantic.MemoryDoc(id)); return !has })
	ok(t, e.Close())

	ok(t, os.Rename(model, model+".away"))
	e = meant(t, h, embedding.Options{Model: model}).running(t)
	until(t, "the model is missed", func() bool { return engineStatus(t, e).Problem != "" })
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(id)})
	ok(t, e.Close())
	if vectorOnDisk(t, rack.Dir, key) {
		t.Fatal("the vector is there until there is a model")
	}

	ok(t, os.Rename(model+".away", model))
	e = meant(t, h, embedding.Options{Model: model}).running(t)
	covered(t, e)
	until(t, "the purge is settled", func() bool {
		e.Semantic.Meaning.Mu.Lock()
		defer e.Semantic.Meaning.Mu.Unlock()
		return !e.Semantic.Meaning.Owed
	})
	if vectorOnDisk(t, rack.Dir, key) {
		t.Error("the vector is there after the purge")
	}
	wantWholeRack(t, e)
}

// What was purged while no model is even named has no vector left.
func TestPurgedWhenNoModelIsNamed(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{Model: tinyModel(t, 1)})
	e := h.running(t)
	id := save(t, e, "a secret that must go").ID
	stays := save(t, e, "a text that stays").ID
	covered(t, e)
	rack := e.Semantic.Meaning.Building
	doc, _ := rack.Store.Doc(semantic.MemoryDoc(id))
	other, _ := rack.Store.Doc(semantic.MemoryDoc(stays))
	ok(t, e.Close())

	plain := *h
	plain.Meaning = core.Meaning{}
	e = plain.open(t)
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(id)})
	if vectorOnDisk(t, rack.Dir, doc.Chunks[0].Key) || !vectorOnDisk(t, rack.Dir, other.Chunks[0].Key) {
		t.Error("the vector of what was purged is there, or that of another memory is not")
	}
}
