package stm_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"emberd/stm/wal"
)

// TestAFlippedBitThatIsMadeGoodNeedsNoDecision flips one bit in every kind of place: in a header, a
// seal, a text, a name, a checksum, and at the end of a line. With a snapshot all is back, and nothing waits.
func TestAFlippedBitThatIsMadeGoodNeedsNoDecision(t *testing.T) {
	places := map[string]func(b []byte) int{
		"header":   func(b []byte) int { return bytes.Index(b, []byte(`"seg"`)) + 1 },
		"seal":     func(b []byte) int { return bytes.LastIndex(b, []byte(`"seal"`)) + 1 },
		"text":     func(b []byte) int { return bytes.Index(b, []byte(`note 3 of`)) },
		"number":   func(b []byte) int { return bytes.Index(b, []byte(`"q":`)) + 4 },
		"name":     func(b []byte) int { return bytes.Index(b, []byte(`"content"`)) + 2 },
		"quote":    func(b []byte) int { return bytes.Index(b, []byte(`"content"`)) },
		"checksum": func(b []byte) int { return bytes.Index(b, []byte("\"}\n{\"v\":1,\"q\":")) - 3 },
		"line end": func(b []byte) int { return bytes.Index(b, []byte("\n{\"v\":1,\"q\":")) },
	}
	for name, place := range places {
		for which := range 3 {
			for _, bit := range []byte{1, 4, 128} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, which, bit), func(t *testing.T) {
					ts := openStore(t, wal.Options{})
					want := ts.livesOfThreeSegments()
					file := ts.segments()[which]
					if err := ts.Close(); err != nil {
						t.Fatal(err)
					}
					mangleFile(file, func(b []byte) []byte { b[place(b)] ^= bit; return b })
					ts.open()
					ts.wantAll(want, "at once")
					ts.wantSound("at once")
					ts.reopen()
					ts.wantSound("after one more start")
					ts.withoutSnapshot()
					ts.wantAll(want, "without a snapshot")
					ts.wantSound("without a snapshot")
				})
			}
		}
	}
}

// TestAnEditWithAWrongChecksumIsForAPerson changes a word of a text, and leaves the checksum as it was.
func TestAnEditWithAWrongChecksumIsForAPerson(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := ts.livesOfThreeSegments()
	file := ts.segments()[0]
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(file, bytes.Replace(text, []byte("note 3 of"), []byte("a thought on"), 1), 0o600)
	ts.open()
	ts.wantAll(want, "at once")
	if q, err := ts.Quarantine(); err != nil || len(q) != 1 {
		t.Errorf("%d lines wait for a decision (%v), want that of the person", len(q), err)
	}
}

// TestAFlippedBitInACompactedFileIsMadeGoodByACopy flips a bit where no number goes missing by that, without a
// snapshot.
func TestAFlippedBitInACompactedFileIsMadeGoodByACopy(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := ts.livesOfThreeSegments()
	ts.reopen()
	ts.save("after the compaction")
	ts.compact()
	ts.unlink()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(ts.root, "data"))); err != nil {
		t.Fatal(err)
	}
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	mangleFile(ts.segments()[0], func(b []byte) []byte { b[bytes.Index(b, []byte("note 4 of run 2"))] ^= 4; return b })
	os.RemoveAll(filepath.Join(ts.root, "state", "index"))
	ts.open()
	if q, err := ts.Quarantine(); err != nil || len(q) != 1 {
		t.Fatalf("%d lines wait for a decision (%v), want the damaged one", len(q), err)
	}
	if got := ts.healFrom(copied); got.Memories != 1 {
		t.Errorf("the copy gives %+v back", got)
	}
	ts.wantSound("after the repair")
	ts.withoutSnapshot()
	ts.wantSound("after one more start")
	for id, text := range want {
		if row, ok := ts.Get(id); text != "" && (!ok || row.Content() != text) {
			t.Errorf("%q is lost", text)
		}
	}
}
