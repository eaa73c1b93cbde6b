package stm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// other writes lines of another device into its segment, as a sync tool does:
// whole files, renamed into place.
func (ts *testStore) other(lines ...string) string {
	ts.t.Helper()
	dir := filepath.Join(ts.root, "data", "stm", "otherdev")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		ts.t.Fatal(err)
	}
	name := filepath.Join(dir, "s-00000001.jsonl")
	if err := os.WriteFile(name+".tmp", []byte(strings.Join(lines, "")), 0o600); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		ts.t.Fatal(err)
	}
	return name
}

// lineOf is a line of the other device, stamped at.
func lineOf(seq uint64, at time.Time, op string, id memory.ID, d string) string {
	dev, _ := record.ParseDevice("otherdev")
	l := record.Line{Seq: seq, Stamp: record.Stamp{T: uint64(at.UnixMilli())<<16 | seq, Dev: dev}, Op: op, Verb: "save",
		Changes: []record.Change{{Op: op, ID: id}}}
	if op != record.OpDelete && op != record.OpPurge {
		l.Changes[0].Data = []byte(d)
	}
	l.Tx = l.Stamp
	return string(l.Append(nil))
}

func TestWhatAnotherDeviceAddsWhileRunningIsReadAtTheNextStart(t *testing.T) {
	ts := openStore(t, wal.Options{})
	first := lineOf(1, time.Now(), record.OpPut, idOf(1), `{"content":"one"}`)
	ts.other(first)
	ts.reopen()
	ts.other(first, lineOf(2, time.Now(), record.OpPut, idOf(2), `{"content":"two"}`))
	ts.save("a change, so that a snapshot is written")
	ts.reopen()
	ts.wantContent(idOf(2), "two")
	ts.reopen()
	ts.wantContent(idOf(1), "one")
	ts.wantContent(idOf(2), "two")
}

func TestWhatIsHeldBackComesWhenItsTimeHasCome(t *testing.T) {
	now := time.Now()
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	ts.other(lineOf(1, now.Add(48*time.Hour), record.OpPut, idOf(1), `{"content":"tomorrow"}`))
	for range 2 {
		ts.reopen()
		ts.wantGone(idOf(1))
		if got := ts.Status().Recovery.Future; got != 1 {
			t.Errorf("%d lines held back, want 1 at every start", got)
		}
		ts.save("a change, so that a snapshot is written")
	}
	now = now.Add(36 * time.Hour)
	ts.reopen()
	ts.wantContent(idOf(1), "tomorrow")
}

func TestDamageIsShownAtEveryStart(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	gone := ts.save("banana bread").ID()
	kept := ts.save("cherry cake").ID()
	edit := ts.edit(kept, "content", "cherry pie")
	ts.forget(gone)
	ts.damage(replaceIn("apple", "appla"))
	ts.save("a change, so that a snapshot is written")
	ts.reopen()
	if got := ts.Status(); got.Recovery.Quarantined != 1 || got.Snapshot != "used" {
		t.Errorf("snapshot %s, counted %+v", got.Snapshot, got.Recovery)
	}
	// What the damaged file holds besides can be taken back as ever.
	if m, err := ts.ReadTrashed(gone); err != nil || m.Content != "banana bread" {
		t.Errorf("in the trash: %q, %v", m.Content, err)
	}
	ts.undo(edit.Entry)
	ts.wantContent(kept, "cherry cake")
	ts.wantFound("cake", kept)
}

func TestARepeatedNumberLosesNothing(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.other(lineOf(1, time.Now(), record.OpPut, idOf(1), `{"content":"one"}`), lineOf(1, time.Now().Add(time.Second), record.OpPut, idOf(2), `{"content":"two"}`))
	ts.reopen()
	ts.wantContent(idOf(1), "one")
	ts.wantContent(idOf(2), "two")
}

func TestALostLastRecordIsMissed(t *testing.T) {
	for _, c := range []struct {
		name   string
		mangle func(first, second string) // of two segments with one record each
	}{
		{"the seal tells of it", func(first, second string) {
			os.Remove(second)
			mangleFile(first, blank(`"one"`))
		}},
		{"the next header tells of it", func(first, second string) {
			mangleFile(first, func(b []byte) []byte {
				start, _ := lineWith(b, `"one"`)
				return b[:start]
			})
			mangleFile(second, func(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.save("one")
			ts.reopen()
			ts.save("two")
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			c.mangle(ts.segments()[0], ts.segments()[1])
			if err := os.RemoveAll(filepath.Join(ts.root, "state", "index")); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				ts.open()
				if got := ts.Status().Recovery.Gaps; got != 2 {
					t.Errorf("%d gaps, want the two lost records at every start", got)
				}
				ts.save("its number is not used again")
				if err := ts.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// blank is what a hole over the line that holds text leaves.
func blank(text string) func([]byte) []byte {
	return func(b []byte) []byte {
		start, end := lineWith(b, text)
		clear(b[start : end-1])
		return b
	}
}

func mangleFile(name string, mangle func([]byte) []byte) {
	b, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, mangle(b), 0o600)
	}
	if err != nil {
		panic(err)
	}
}

func TestUnreadableFilesOfOthersDoNotStopTheStart(t *testing.T) {
	for _, c := range []struct {
		name string
		fs   brokenFS
	}{
		{"a file that cannot be opened", brokenFS{open: "otherdev"}},
		{"a folder that cannot be listed", brokenFS{list: "otherdev"}},
		{"a file that breaks off", brokenFS{read: "otherdev"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			mine := ts.save("mine").ID()
			ts.other(lineOf(1, time.Now(), record.OpPut, idOf(1), `{"content":"one"}`))
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			ts.opt.FS = c.fs
			ts.open()
			ts.wantContent(mine, "mine")
			if got := ts.Status(); got.Unreadable != 1 || len(got.Warnings) != 1 {
				t.Errorf("%+v, warnings %q", got.Recovery, got.Warnings)
			}
			ts.save("a change, so that a snapshot is written")
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			ts.opt.FS = nil
			ts.open()
			ts.wantContent(idOf(1), "one")
		})
	}
}

// brokenFS is a real disk on which names that hold a text cannot be read.
type brokenFS struct {
	durable.OS
	open, list, read string
}

func broken(name, part string) error {
	if part != "" && strings.Contains(name, part) {
		return &os.PathError{Op: "read", Path: name, Err: os.ErrPermission}
	}
	return nil
}

func (d brokenFS) ReadDir(name string) ([]os.DirEntry, error) {
	if err := broken(name, d.list); err != nil {
		return nil, err
	}
	return d.OS.ReadDir(name)
}

func (d brokenFS) OpenRead(name string) (durable.ReadFile, error) {
	if err := broken(name, d.open); err != nil {
		return nil, err
	}
	f, err := d.OS.OpenRead(name)
	if err == nil && broken(name, d.read) != nil {
		return brokenFile{f}, nil
	}
	return f, err
}

type brokenFile struct{ durable.ReadFile }

func (f brokenFile) ReadAt([]byte, int64) (int, error) { return 0, os.ErrPermission }

// A file of this device that cannot be read on from somewhere in it does not end there: the start fails, and
// the next one finds all that was saved.
func TestAReadErrorInAFileIsNotItsEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int // bytes of the second line
	}{{"between two lines", 0}, {"in a line", 40}} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			first, second := ts.save("apple pie").ID(), ts.save("banana bread").ID()
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(ts.root, "state", "index")); err != nil {
				t.Fatal(err)
			}
			ts.wantNoStart(badSector{name: ts.segments()[0], at: ts.offsetOf("banana") + int64(c.after)})
			ts.open()
			ts.wantContent(first, "apple pie")
			ts.wantContent(second, "banana bread")
		})
	}
}

// Such a file of another device is told, and read whole by the next start.
func TestAReadErrorInAFileOfAnotherDeviceIsTold(t *testing.T) {
	ts := openStore(t, wal.Options{})
	now := time.Now()
	one := lineOf(1, now, record.OpPut, idOf(1), `{"content":"one"}`)
	name := ts.other(one, lineOf(2, now, record.OpPut, idOf(2), `{"content":"two"}`))
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	ts.opt.FS = badSector{name: name, at: int64(len(one))}
	ts.open()
	if got := ts.Status(); got.Unreadable != 1 || len(got.Warnings) != 1 {
		t.Errorf("%d files unreadable, warnings %q; want one of each", got.Unreadable, got.Warnings)
	}
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	ts.opt.FS = nil
	ts.open()
	ts.wantContent(idOf(1), "one")
	ts.wantContent(idOf(2), "two")
}

// offsetOf is where the line that holds text begins in the first file of the log.
func (ts *testStore) offsetOf(text string) int64 {
	ts.t.Helper()
	b, err := os.ReadFile(ts.segments()[0])
	if err != nil {
		ts.t.Fatal(err)
	}
	start, _ := lineWith(b, text)
	return int64(start)
}

// wantNoStart wants a start on the disk to fail with an error of the disk.
func (ts *testStore) wantNoStart(disk durable.FS) {
	ts.t.Helper()
	opt := ts.opt
	opt.FS = disk
	s, err := stm.Open(filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state"), &opt)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), syscall.EIO.Error()) {
		ts.t.Errorf("the start ended with %v, want the error of the disk", err)
	}
}

// badSector is a real disk on which a file cannot be read from an offset on.
type badSector struct {
	durable.OS
	name string
	at   int64
}

func (d badSector) OpenRead(name string) (durable.ReadFile, error) {
	f, err := d.OS.OpenRead(name)
	if err != nil || name != d.name {
		return f, err
	}
	return badFile{f, d.at}, nil
}

type badFile struct {
	durable.ReadFile
	at int64
}

func (f badFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.ReadFile.ReadAt(b[:max(0, min(int64(len(b)), f.at-off))], off)
	if err == nil && n < len(b) {
		err = &os.PathError{Op: "read", Path: "a file of the log", Err: syscall.EIO}
	}
	return n, err
}

func TestNamesThatAreNoSegmentsArePassedOver(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("mine").ID()
	dir := filepath.Dir(ts.segments()[0])
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "mine")
}

func TestTheLatestUseOfAKeyCounts(t *testing.T) {
	k := journal.Keys{Known: map[string]journal.KeyUse{}}
	for _, hour := range []uint64{5, 3} {
		k.Add(&record.Line{Key: "k", KeyHash: fmt.Sprint(hour), Stamp: record.Stamp{T: hour * 3_600_000 << 16}}, time.Now())
	}
	if got := k.Known["k"].Hash; got != "5" {
		t.Errorf("hash %s, want that of the later use", got)
	}
}

func TestSearchWithoutLimitCounts(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	if got := ts.Search(table.Query{Terms: asTerms("apple"), Most: 2}); got.Total != 1 || len(got.Matches) != 0 {
		t.Errorf("found %+v", got)
	}
}

func TestNamesWithEscapesAreTheNamesTheyStandFor(t *testing.T) {
	doc := []byte(`{"cont\u0065nt":"x"}`)
	got, err := record.WithKeys(doc, map[string]json.RawMessage{"content": record.Encode("y"), `a"b`: record.Encode(1)})
	if want := `{"content":"y","a\"b":1}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
