package stm_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// flipping is a disk that turns a byte around in what a compaction writes.
type flipping struct{ durable.FS }

func (d flipping) CreateAppend(name string) (durable.File, error) {
	f, err := d.FS.CreateAppend(name)
	if err != nil || !strings.HasPrefix(filepath.Base(name), ".c.") {
		return f, err
	}
	return flippingFile{f}, nil
}

type flippingFile struct{ durable.File }

func (f flippingFile) Write(b []byte) (int, error) {
	return f.File.Write(bytes.Replace(b, []byte("apple"), []byte("bpple"), 1))
}

func TestWhatWasWrittenWrongIsNotPublished(t *testing.T) {
	ts := openStore(t, wal.Options{FS: flipping{durable.OS{}}})
	id := ts.save("apple pie").ID()
	ts.reopen()
	before := ts.sealed()
	if _, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: before, HistoryKeep: 90 * day}); err == nil {
		t.Error("a compaction whose output has another byte than was written went through")
	}
	left, err := filepath.Glob(filepath.Join(ts.Wal().OwnDir(), "[ch]-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left %v (%v)", left, err)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "apple pie")
}

// An input that has the length it had when it was folded in, and another byte, may say
// what nothing else does.
func TestAnInputChangedInPlaceIsNotDeleted(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	ts.reopen()
	ts.compact()
	name := filepath.Join(ts.Wal().OwnDir(), record.SegmentName(1))
	flipIn(t, name, "apple")
	ts.unlink()
	if _, err := os.Lstat(name); err != nil {
		t.Errorf("the changed input: %v", err)
	}
}

// A compacted file that is not whole stands for nothing, as long as there is something
// else to read. Without a snapshot nothing else has what is damaged.
func TestADamagedReplacementStandsForNothing(t *testing.T) {
	ts, id := damagedReplacement(t)
	ts.withoutSnapshot()
	ts.wantContent(id, "apple pie")
}

// Nor are the files removed that it was made of.
func TestADamagedReplacementKeepsItsInputs(t *testing.T) {
	ts, id := damagedReplacement(t)
	if got := ts.unlink(); len(got) != 0 {
		t.Errorf("unlinked %v", got)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "apple pie")
}

// damagedReplacement is a log of one memory whose file was compacted, with a byte of that
// memory changed in the compacted file.
func damagedReplacement(t *testing.T) (*testStore, memory.ID) {
	t.Helper()
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.reopen()
	flipIn(t, filepath.Join(ts.Wal().OwnDir(), ts.compact().Output), "apple")
	return ts, id
}

// flipIn changes the first letter of a word in a file.
func flipIn(t *testing.T, name, word string) {
	t.Helper()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte(word))
	if at < 0 {
		t.Fatalf("%s does not hold %q", name, word)
	}
	whole[at] ^= 1
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A compaction that has answered is on the disk under its names: from then on its inputs
// may go.
func TestACompactionThatAnsweredSurvivesAPowerCut(t *testing.T) {
	store, disk := roomy(t, wal.Options{SegmentBytes: 1}) // every save begins a segment
	for _, text := range []string{"apple pie", "apple tart", "plum"} {
		if err := put(store, 1, text); err != nil {
			t.Fatal(err)
		}
	}
	ts := &testStore{Store: store, t: t}
	made := ts.compact()
	after := disk.Crash(nil)
	for _, name := range []string{made.Output, made.History} {
		if _, err := after.Lstat(filepath.Join(store.Wal().OwnDir(), name)); name == "" || err != nil {
			t.Errorf("after a power cut %q: %v", name, err)
		}
	}
}
