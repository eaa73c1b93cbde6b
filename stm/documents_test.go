package stm_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/docfile"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
	"emberd/stm/wal"

	"emberd/internal/durable"
)

// filed is a store whose documents are in files.
type filed struct {
	*testStore
	content map[memory.ID]string
}

func newFiled(t *testing.T, n int) *filed {
	t.Helper()
	d := &filed{testStore: openStore(t, wal.Options{DocumentBytes: 1}), content: map[memory.ID]string{}}
	for i := range n {
		d.add(fmt.Sprintf("day %d %s", i, strings.Repeat("z", 300)))
	}
	d.snapshot()
	return d
}

func (d *filed) add(text string) memory.ID {
	id := d.save(text).ID()
	d.content[id] = text
	return id
}

func (d *filed) snapshot() {
	d.t.Helper()
	if err := d.WriteSnapshot(context.Background()); err != nil {
		d.t.Fatal(err)
	}
}

// files are the files of documents.
func (d *filed) files() (names []string) {
	d.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(d.Wal().SnapshotPath()))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range entries {
		if docfile.IsName(e.Name()) {
			names = append(names, filepath.Join(filepath.Dir(d.Wal().SnapshotPath()), e.Name()))
		}
	}
	return names
}

// wantAll checks the texts of all memories.
func (d *filed) wantAll(when string) {
	d.t.Helper()
	if got := texts(d.Table); !maps.Equal(got, d.content) {
		d.t.Errorf("%s: %d memories of %d, or other texts", when, len(got), len(d.content))
	}
}

// inMemory counts the documents that are in memory.
func (d *filed) inMemory() (n int) {
	for r := range d.Rows() {
		if in, _ := table.Away(r); in == nil {
			n++
		}
	}
	return n
}

// What is in files is read where it is, after a start too, and a snapshot after few changes leaves the files as they are.
func TestDocumentsInFiles(t *testing.T) {
	d := newFiled(t, 200)
	if n := d.inMemory(); n != 0 {
		t.Errorf("%d documents in memory after a snapshot", n)
	}
	d.wantAll("after a snapshot")
	first := d.files()
	before, err := os.ReadFile(first[0])
	if err != nil || len(first) != 1 {
		t.Fatalf("files %v, %v", first, err)
	}
	d.reopen()
	if got := d.Status(); got.Snapshot != "used" || got.Recovery.Applied != 0 {
		t.Errorf("snapshot %s, %d lines", got.Snapshot, got.Recovery.Applied)
	}
	d.wantAll("after a start")
	id := d.add("one more")
	d.edit(id, "content", "one more, edited")
	d.content[id] = "one more, edited"
	if n := d.inMemory(); n != 1 {
		t.Errorf("%d documents in memory after one change", n)
	}
	d.snapshot()
	after, err := os.ReadFile(first[0])
	if got := d.files(); err != nil || len(got) != 2 || !bytes.Equal(before, after) {
		t.Errorf("files %v, the first one changed: %v, %v", got, !bytes.Equal(before, after), err)
	}
	d.wantAll("after a second snapshot")
	d.wantFound("edited", id)
	if err := snapshot.Check(durable.OS{}, filepath.Join(d.root, "state")); err != nil {
		t.Error(err)
	}
}

// Files do not become many, and none is mostly dead.
func TestFilesOfDocumentsAreJoined(t *testing.T) {
	d := newFiled(t, 100)
	for i := range 40 {
		d.add(fmt.Sprintf("later %d", i))
		d.snapshot()
	}
	if n := len(d.files()); n > 10 {
		t.Errorf("%d files after 41 snapshots", n)
	}
	for _, id := range slices.Collect(maps.Keys(d.content))[:80] {
		d.forget(id)
		delete(d.content, id)
	}
	d.snapshot()
	total := int64(0)
	for _, name := range d.files() {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	live := int64(0)
	for r := range d.Rows() {
		live += int64(r.Size()) + docfile.Overhead
	}
	if total > 2*live+docfile.Begin*20 {
		t.Errorf("%d bytes for %d that count", total, live)
	}
	d.wantAll("in the end")
}

// A document with a flipped bit is never shown or built upon: it is found again in the log.
func TestDamagedDocumentsComeFromTheLog(t *testing.T) {
	d := newFiled(t, 30)
	name := d.files()[0]
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := docfile.Begin; at < len(whole); at += 97 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		write(t, name, b)
		d.open()
		d.wantAll(fmt.Sprintf("bit of byte %d", at))
		for id := range d.content { // one of them has the bit, if it was one that counts
			d.edit(id, "category", "touched")
			row, _ := d.Get(id)
			if row.Content() != d.content[id] || row.Category() != "touched" {
				t.Fatalf("bit of byte %d: after an edit %s", at, row.JSON())
			}
			break
		}
		abandon(d.testStore)
	}
	for _, n := range []int{0, docfile.Begin, len(whole) / 2, len(whole) - 1} {
		write(t, name, whole[:n])
		d.open()
		d.wantAll(fmt.Sprintf("cut at %d", n))
		abandon(d.testStore)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	d.open()
	if got := d.Status().Snapshot; !strings.HasPrefix(got, "damaged") {
		t.Errorf("without the file the snapshot is %s", got)
	}
	d.wantAll("without the file")
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// abandon ends a store that writes no snapshot any more.
func abandon(ts *testStore) {
	ended, end := context.WithCancel(context.Background())
	end()
	_ = ts.Shutdown(ended, func(error) {})
}

// A document that neither its file nor the log has is not taken for an empty one: a change of it is refused.
func TestALostDocumentIsNotBuiltUpon(t *testing.T) {
	d := newFiled(t, 3)
	var id memory.ID
	for id = range d.content {
		break
	}
	name := d.files()[0]
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, bytes.ReplaceAll(b, []byte("zzzz"), []byte("zzzy")))
	logs, _ := filepath.Glob(filepath.Join(d.root, "data", "stm", "*", "*.jsonl"))
	for _, log := range logs {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		write(t, log, bytes.ReplaceAll(b, []byte("zzzz"), []byte("zzzy")))
	}
	_, err = d.Update(context.Background(), []memory.ID{id}, "", nil)
	if memory.CodeOf(err) != memory.Unavailable {
		t.Errorf("a change of what is lost: %v", err)
	}
	if row, ok := d.Get(id); !ok {
		t.Error("the memory is gone")
	} else if doc, err := row.Document(); err == nil {
		t.Errorf("a lost document is %q", doc)
	}
	if err := d.WriteSnapshot(context.Background()); err != nil {
		t.Log("a snapshot meanwhile:", err)
	}
}

// A purge leaves nothing of a text in the files of documents, nor of an earlier one.
func TestAPurgeReachesFilesOfDocuments(t *testing.T) {
	d := newFiled(t, 20)
	id := d.add("a zebrafish swims")
	d.snapshot()
	d.edit(id, "content", "a quokka smiles")
	d.snapshot()
	d.wantAllBut(id)
	if _, err := d.Purge(context.Background(), id, memory.Actor{}); err != nil {
		t.Fatal(err)
	}
	delete(d.content, id)
	for _, when := range []string{"after a purge", "after a start"} {
		for _, name := range d.files() {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"zebrafish", "quokka"} {
				if bytes.Contains(b, []byte(word)) {
					t.Errorf("%s: %s has %q", when, filepath.Base(name), word)
				}
			}
		}
		d.wantAll(when)
		d.reopen()
	}
}

func (d *filed) wantAllBut(id memory.ID) {
	d.t.Helper()
	for other, text := range d.content {
		if other != id {
			d.wantContent(other, text)
		}
	}
}

// Snapshots that are kept of earlier logs keep the files that they refer to.
func TestAKeptSnapshotHasItsDocuments(t *testing.T) {
	d := newFiled(t, 20)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	name := d.Wal().SnapshotPath()
	kept := filepath.Join(filepath.Dir(name), "emptied-1.snap")
	if err := os.Rename(name, kept); err != nil {
		t.Fatal(err)
	}
	d.open()
	d.add("another")
	d.snapshot()
	held, err := snapshot.Witness(durable.OS{}, kept)
	if err != nil || held.Damaged != 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	if n := len(texts(held.Table)); n != 20 {
		t.Errorf("%d memories of 20", n)
	}
}

// What another device wrote about a memory whose document cannot be read waits until it can be read again.
func TestAnArrivalAboutALostDocumentWaits(t *testing.T) {
	d := newFiled(t, 3)
	id := slices.Sorted(maps.Keys(d.content))[0]
	name := d.files()[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	logs, _ := filepath.Glob(filepath.Join(d.root, "data", "stm", "*", "*.jsonl"))
	kept := make([][]byte, len(logs))
	for i, log := range logs {
		if kept[i], err = os.ReadFile(log); err != nil {
			t.Fatal(err)
		}
		write(t, log, bytes.ReplaceAll(kept[i], []byte("zzzz"), []byte("zzzy")))
	}
	write(t, name, bytes.ReplaceAll(whole, []byte("zzzz"), []byte("zzzy")))
	d.peerFile("s-00000001.jsonl", lineOf(1, time.Now(), record.OpSet, id, `{"source":"market"}`))
	if _, err := d.Refresh(context.Background()); memory.CodeOf(err) != memory.Unavailable {
		t.Fatalf("a line about what is lost: %v", err)
	}
	write(t, name, whole)
	for i, log := range logs {
		write(t, log, kept[i])
	}
	d.refresh()
	d.wantAll("in the end")
	if row, _ := d.Get(id); row.Fields()["source"] == nil {
		t.Errorf("the line of the other device is lost: %s", row.JSON())
	}
}
