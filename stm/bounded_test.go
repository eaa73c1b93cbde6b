package stm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/stm/wal"
)

// meteredFS is the disk, which counts what is read of it and fails beyond a limit, so that a
// reader without bounds ends.
type meteredFS struct {
	durable.OS
	read  atomic.Int64
	limit int64
}

func (m *meteredFS) OpenRead(name string) (durable.ReadFile, error) {
	f, err := m.OS.OpenRead(name)
	if err != nil {
		return nil, err
	}
	return meteredFile{f, m}, nil
}

type meteredFile struct {
	durable.ReadFile
	of *meteredFS
}

func (f meteredFile) Read(b []byte) (int, error) { return f.of.count(f.ReadFile.Read(b)) }

func (f meteredFile) ReadAt(b []byte, at int64) (int, error) {
	return f.of.count(f.ReadFile.ReadAt(b, at))
}

func (m *meteredFS) count(n int, err error) (int, error) {
	if m.read.Add(int64(n)) > m.limit {
		return n, errors.New("the test has read enough")
	}
	return n, err
}

// metered opens the store of a device whose disk gives at most 512 MiB before the test fails.
func (ts *testStore) metered() *meteredFS {
	ts.t.Helper()
	m := &meteredFS{limit: 512 << 20}
	ts.opt.FS = m
	ts.withoutSnapshot()
	ts.open()
	return m
}

const sparseSize = 30 << 30

// sparse makes a file longer without writing: what is new of it is a hole.
func sparse(t *testing.T, name string) {
	t.Helper()
	if err := os.Truncate(name, sparseSize); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, long, long); err != nil {
		t.Fatal(err)
	}
}

// holes are 16 MiB of NUL bytes in lines of one each 4 MiB, in a few blocks of the disk.
func holes(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := int64(4 << 20); at <= 1<<30; at += 4 << 20 {
		if _, err := f.WriteAt([]byte("\n"), at); err != nil {
			t.Fatal(err)
		}
	}
}

// A sync tool brings files of 30 GiB that take no room: a start reads a few MiB of each, names them,
// merges what is valid before, and does not look at them again before they change.
func TestASparseFileOfAnotherDeviceIsReadInPart(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("ours")
	sparse(t, ts.peerFile("s-00000001.jsonl", ""))
	sparse(t, ts.peerFile("s-00000002.jsonl", putLine(1, 1, "before the hole")))
	in := ts.peerFile("s-00000003.jsonl", putLine(2, 2, "before the lines of NUL"))
	holes(t, in)
	sparse(t, in)
	sparse(t, ts.peerFile("s-00000004.jsonl", `{"v":1,"op":"put",`))
	sparse(t, ts.peerFile("c-00000005-00000006.g1.jsonl", `{"v":1,"op":"seg",`))
	sparse(t, ts.peerFile("h-00000005-00000006.g1.jsonl", `{"v":1,"op":"seg",`))
	ts.peerFile("s-00000007.jsonl", putLine(3, 3, "of a sound file"))
	m := ts.metered()
	ts.refresh()
	if n := ts.Len(); n != 4 {
		t.Errorf("%d memories, want ours and three of the other device", n)
	}
	// Each file is read by the start and by the first refresh; headers are looked up a few times.
	if got := m.read.Load(); got > 256<<20 {
		t.Errorf("%d MiB were read", got>>20)
	}
	named := strings.Join(ts.Status().Warnings, "\n")
	for n := range 5 {
		if want := fmt.Sprintf("0000000%d", n+1); !strings.Contains(named, want) {
			t.Errorf("no warning names %s:\n%s", want, named)
		}
	}
	before := m.read.Load()
	ts.refresh()
	if again := m.read.Load() - before; again > 64<<20 {
		t.Errorf("%d MiB were read again of files that did not change", again>>20)
	}
	ts.peerFile("s-00000001.jsonl", putLine(4, 4, "it has come whole"))
	if ts.refresh(); ts.Len() != 5 {
		t.Errorf("a file that was set aside is not read when it changes: %d memories", ts.Len())
	}
}

// The same in a file of this device: what follows counts as one damaged line, which is shown.
func TestAHoleInAnOwnFileIsQuarantined(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("ours")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	sparse(t, ts.segments()[0])
	m := ts.metered()
	if ts.Len() != 1 {
		t.Errorf("%d memories, want 1", ts.Len())
	}
	if got := m.read.Load(); got > 64<<20 {
		t.Errorf("%d MiB were read", got>>20)
	}
	ts.wantWarning("emberd skipped a damaged log line")
	lines, err := ts.Quarantine()
	if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0].Name, "s-00000001.jsonl@") {
		t.Errorf("quarantine: %v, %v", lines, err)
	}
	ts.save("later")
	if ts.reopen(); ts.Len() != 2 {
		t.Errorf("%d memories after another start, want 2", ts.Len())
	}
}

// A snapshot that was made longer, or is a hole, is not read, let alone held in memory.
func TestASparseSnapshotIsNotRead(t *testing.T) {
	for _, size := range []int64{1, 7 << 30, sparseSize} {
		ts := openStore(t, wal.Options{})
		ts.save("ours")
		if err := ts.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(ts.root, "state", "index", "stm.snap"), size); err != nil {
			t.Fatal(err)
		}
		m := &meteredFS{limit: 512 << 20}
		ts.opt.FS = m
		ts.open()
		if got := m.read.Load(); ts.Len() != 1 || got > 1<<20 || !strings.HasPrefix(ts.Status().Snapshot, "damaged") {
			t.Errorf("size %d: %d memories, %d bytes read, snapshot %s", size, ts.Len(), got, ts.Status().Snapshot)
		}
	}
}
