package words

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// snapshot returns the bytes of x.
func snapshot(t testing.TB, x *Index) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := x.WriteTo(&out)
	if err != nil || n != int64(out.Len()) {
		t.Fatalf("WriteTo = %d, %v with %d bytes written", n, err, out.Len())
	}
	return out.Bytes()
}

// damagedCopy returns data with the number at offset set.
func damagedCopy(data []byte, offset int, n uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[offset:], n)
	return data
}

func TestSnapshotLayout(t *testing.T) {
	x := indexOf(t, "b a b", "gone", "a")
	x.Remove(1)
	want := []byte("emberwrd")
	for _, n := range []uint32{2, 3, 2, 3, 2, 3, 1, 1} {
		want = binary.LittleEndian.AppendUint32(want, n)
	}
	want = append(want, 0b010)
	for _, n := range []uint32{1, 2, 2, 3, 0<<8 | 1, 2<<8 | 1, 0<<8 | 2} {
		want = binary.LittleEndian.AppendUint32(want, n)
	}
	want = append(want, 1, 1, 1)
	want = append(want, "ab"...)
	if got := snapshot(t, x); !bytes.Equal(got, want) {
		t.Errorf("snapshot is\n%q, want\n%q", got, want)
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	x := New()
	for i := range 5000 {
		doc := add(t, x, fmt.Sprintf("common n%d tens%d", i, i/10))
		if i%11 == 0 {
			add(t, x, fmt.Sprintf("common | long%d", i))
		}
		if i%7 == 0 {
			x.Remove(doc)
		}
	}
	data := snapshot(t, x)
	y, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(snapshot(t, y), data) {
		t.Error("a snapshot of what was read differs")
	}
	x.Compact()
	if !bytes.Equal(snapshot(t, x), data) {
		t.Error("compaction changes the snapshot")
	}
	clear(data)
	last := Doc(x.Docs()) - 1
	if got := found(y, "n4999"); !slices.Equal(got, []Doc{last}) {
		t.Errorf("found %v, want [%d], with the snapshot's bytes overwritten", got, last)
	}
	if doc := add(t, y, "common new"); doc != last+1 {
		t.Errorf("the next document is %d, want %d", doc, last+1)
	}
	if got := len(found(y, "common")); got != y.Len() {
		t.Errorf("common is found in %d documents, want all %d", got, y.Len())
	}
}

func TestSnapshotOfNothing(t *testing.T) {
	x, err := Read(snapshot(t, New()))
	if err != nil {
		t.Fatal(err)
	}
	if doc := add(t, x, "first"); doc != 0 {
		t.Errorf("first document is %d, want 0", doc)
	}
}

func TestReadRefusesDamage(t *testing.T) {
	x := indexOf(t, "b a b", "gone", "a")
	x.Remove(1)
	good := snapshot(t, x)
	const lengths, removed, textEnds, ends, postings = 28, 40, 41, 49, 57
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrVersion},
		{"other file", []byte("{\"id\":\"0192f3a1-b2c3-7def-8abc-0123456789ab\"}"), ErrVersion},
		{"later version", damagedCopy(good, 8, 3), ErrVersion},
		{"cut short", good[:len(good)-1], errDamaged},
		{"too long", append(bytes.Clone(good), 0), errDamaged},
		{"too many documents", damagedCopy(good, 12, MaxDocs+1), errDamaged},
		{"sizes that overflow", damagedCopy(damagedCopy(good, 16, 1<<31), 20, 1<<31), errDamaged},
		{"removed beyond the end", append(append(bytes.Clone(good[:removed]), 0b1010), good[removed+1:]...), errDamaged},
		{"posting of a removed document", append(append(bytes.Clone(good[:removed]), 0b110), good[removed+1:]...), errDamaged},
		{"terms out of order", append(bytes.Clone(good[:len(good)-2]), "ba"...), errDamaged},
		{"equal terms", append(bytes.Clone(good[:len(good)-2]), "aa"...), errDamaged},
		{"term ends backwards", damagedCopy(good, textEnds+4, 0), errDamaged},
		{"term ends beyond the text", damagedCopy(good, textEnds, 9), errDamaged},
		{"text left over", damagedCopy(good, textEnds+4, 1), errDamaged},
		{"empty list", damagedCopy(good, ends, 0), errDamaged},
		{"list beyond the postings", damagedCopy(good, ends+4, 4), errDamaged},
		{"postings left over", damagedCopy(damagedCopy(good, ends, 1), ends+4, 2), errDamaged},
		{"unknown document", damagedCopy(good, postings+4, 3<<8|1), errDamaged},
		{"documents out of order", damagedCopy(good, postings+4, 0<<8|1), errDamaged},
		{"count of zero", damagedCopy(good, postings, 0<<8), errDamaged},
		{"a passage of nothing", damagedCopy(good, lengths, 1<<31|3), errDamaged},
		{"a passage that is long", damagedCopy(good, lengths, 3<<30), errDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Read(test.data); !errors.Is(err, test.want) {
				t.Errorf("Read: %v, want %v", err, test.want)
			}
		})
	}
	if _, err := Read(damagedCopy(good, lengths, 77)); err != nil {
		t.Errorf("a length is anyone's guess, but Read: %v", err)
	}
}

var errDiskFull = errors.New("disk full")

// fullDisk takes a number of bytes and fails then.
type fullDisk int

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), int(*d))
	*d -= fullDisk(n)
	if n < len(p) {
		return n, errDiskFull
	}
	return n, nil
}

func TestWriteToReportsFailure(t *testing.T) {
	x := New()
	for i := range 20000 {
		add(t, x, fmt.Sprintf("n%d", i))
	}
	disk := fullDisk(100_000)
	n, err := x.WriteTo(&disk)
	if !errors.Is(err, errDiskFull) || n != 100_000 {
		t.Errorf("WriteTo = %d, %v, want 100000 bytes and the disk's error", n, err)
	}
}

// FuzzRead checks that Read survives anything, and that what it accepts works and
// is written as it was read.
func FuzzRead(f *testing.F) {
	x := indexOf(f, "b a b", "gone", "a")
	x.Remove(1)
	f.Add(snapshot(f, x))
	add(f, x, "a B | b")
	f.Add(snapshot(f, x))
	f.Add(snapshot(f, New()))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Read(data)
		if err != nil {
			return
		}
		if !bytes.Equal(snapshot(t, x), data) {
			t.Error("the snapshot is written otherwise than it was read")
		}
		found(x, "a b gone")
		for i := range x.lists {
			found(x, x.lists[i].term)
		}
		x.Remove(0)
		x.Compact()
		if _, err := x.Add(counted("a c")); err != nil && !errors.Is(err, ErrFull) {
			t.Errorf("Add: %v", err)
		}
	})
}

// The example beside the encoder is what it writes.
func TestExampleOfASnapshot(t *testing.T) {
	source, err := os.ReadFile("snapshot.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "of one document \"tea tea\" is:\n")
	example, _, _ := strings.Cut(rest, "The format is on disk")
	example = strings.Join(strings.Fields(strings.ReplaceAll(example, "//", "")), "")
	if got := hex.EncodeToString(snapshot(t, indexOf(t, "tea tea"))); got != example {
		t.Errorf("the comment has %s, and a snapshot is %s", example, got)
	}
}
