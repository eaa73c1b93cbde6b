package extent_test

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/durable"
	"emberd/stm/extent"
	"emberd/stm/record"
)

var dev = record.Device{'k', '7', 'q', '2', 'm', 'z', 'x', 'a'}

// open returns the extents of a new state folder, and where the file of s-00000001.jsonl is.
func open(t *testing.T) (f *extent.Files, file string) {
	t.Helper()
	state := t.TempDir()
	f, err := extent.Open(durable.OS{}, state, dev)
	if err != nil {
		t.Fatal(err)
	}
	return f, filepath.Join(state, "written", dev.String(), "s-00000001")
}

func note(t *testing.T, f *extent.Files, name string, e extent.Extent) {
	t.Helper()
	if err := f.Note(name, e); err != nil {
		t.Fatal(err)
	}
}

func TestTheLastExtentCounts(t *testing.T) {
	f, _ := open(t)
	want := extent.Extent{}
	for n := range 2000 { // longer than a file of extents grows
		want = extent.Extent{Bytes: int64(n) * 100, Sum: uint32(n + 1), Last: uint64(n), At: record.Stamp{T: uint64(n + 1), Dev: dev}}
		note(t, f, "s-00000001.jsonl", want)
	}
	note(t, f, "s-00000002.jsonl", extent.Extent{Bytes: 7})
	if got := f.All(); got["s-00000001.jsonl"] != want || got["s-00000002.jsonl"].Bytes != 7 || len(got) != 2 {
		t.Errorf("got %v, want %v and one of 7 bytes", got, want)
	}
	if err := f.Forget("s-00000001.jsonl"); err != nil {
		t.Fatal(err)
	}
	if got := f.All(); len(got) != 1 {
		t.Errorf("got %v after one was forgotten", got)
	}
}

func TestADamagedEndLeavesTheExtentBefore(t *testing.T) {
	f, file := open(t)
	note(t, f, "s-00000001.jsonl", extent.Extent{Bytes: 100, Last: 1})
	note(t, f, "s-00000001.jsonl", extent.Extent{Bytes: 200, Last: 2})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-20] ^= 1
	if err := os.WriteFile(file, append(text, "\x00\x00\x00"...), 0o600); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(filepath.Dir(file), "..", "..")
	if got := extent.Read(durable.OS{}, state, dev)["s-00000001.jsonl"]; got.Bytes != 100 || got.Last != 1 {
		t.Errorf("got %+v, want the extent before the damaged one", got)
	}
}
