package vectors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/testutil/crashdisk"
)

// Any bytes can be opened as an own file and as that of another device, as they are and with the
// sums of their records set right: what is found can be written again and is found again, and no
// vector is there that is not in the bytes.
func FuzzFile(f *testing.F) {
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 {
			t.Skip("longer files have nothing new")
		}
		for _, is := range [][]byte{file, summed(file)} {
			opensAnyhow(t, ownFile, is)
			opensAnyhow(t, otherFile, is)
		}
	})
}

// summed is the file with right sums, as far as there are records one after the other.
func summed(file []byte) []byte {
	b := slices.Clone(file)
	head, at, err := parseHeader(b)
	for err == nil && at+frameSize <= len(b) {
		n := recordSize(b[at:])
		if n == 0 || at+n > len(b) {
			break
		}
		binary.LittleEndian.PutUint32(b[at+8:], recordSum(head.seed, b[at:at+n]))
		at += n
	}
	return b
}

func opensAnyhow(t *testing.T, name string, file []byte) {
	t.Helper()
	disk := diskOf(t, name, file)
	opt := options(disk)
	opt.Others = true
	s, err := Open(folder, opt)
	if err != nil {
		return // refused: of another identity
	}
	for _, slot := range s.index.slots.all() {
		key := slot.key
		if v, ok := s.Vector(key); ok && !bytes.Contains(file, appendVector(nil, 0, Entry{key, v})[frameSize:]) {
			t.Errorf("%x is %v, which is not in the file", key, v)
		}
	}
	_, err = one(s.Nearest(t.Context(), word("apple").Vector, Query{N: 3}))
	must(t, err)
	keepsWhatItHas(t, s, disk)
}

// keepsWhatItHas compacts the store and opens it again.
func keepsWhatItHas(t *testing.T, s *Store, disk *crashdisk.Disk) {
	t.Helper()
	before := slices.SortedFunc(s.Docs(), func(a, b Doc) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	st := s.Status()
	must(t, s.Compact(t.Context()))
	must(t, s.Close())
	opt := options(disk)
	opt.Others = true
	s, err := Open(folder, opt)
	must(t, err)
	defer s.Close()
	after := slices.SortedFunc(s.Docs(), func(a, b Doc) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	if now := s.Status(); fmt.Sprint(before) != fmt.Sprint(after) || now.Vectors != st.Vectors ||
		now.Covered != st.Covered {
		t.Errorf("compacted, %v %+v has become %v %+v", before, st, after, now)
	}
}

// The seeds of FuzzFile are files in the format, whole and broken in ways that matter, so that it
// begins where it gets interesting. EMBERD_TEST_SEEDS=1 writes them.
func TestSeedsAreOfThisFormat(t *testing.T) {
	dir := filepath.Join("testdata", "fuzz", "FuzzFile")
	for name, is := range seeds() {
		file, want := filepath.Join(dir, name), fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", is)
		if os.Getenv("EMBERD_TEST_SEEDS") != "" {
			must(t, os.MkdirAll(dir, 0o755))
			must(t, os.WriteFile(file, want, 0o644))
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not the seed of the format as it is: %v", file, err)
		}
	}
}

func seeds() map[string][]byte {
	head := header{dim: dim, identity: "a model", device: "b", base: true, salt: [8]byte{1, 2, 3}}
	head.seed = crc32.Checksum(head.body(), castagnoli)
	file := head.encode()
	first := len(file)
	file = appendVector(file, head.seed, word("apple"))
	file = appendVector(file, head.seed, Entry{Key: KeyOf("zero"), Vector: make([]float32, dim)})
	d, gone := doc("n/1", "apple", "banana"), doc("m/1", "apple")
	file = appendDoc(file, head.seed, &d)
	file = appendDoc(file, head.seed, &gone)
	file = appendGone(file, head.seed, gone.Name)
	file = appendRecord(file, head.seed, 9, func(b []byte) []byte { return append(b, "of a later version"...) })
	grown := header{dim: dim, identity: "a model", device: "a", salt: [8]byte{4, 5, 6}}
	grown.seed = crc32.Checksum(grown.body(), castagnoli)
	synced := appendSynced(appendVector(grown.encode(), grown.seed, word("apple")), grown.seed)
	nan := word("nan")
	nan.Vector[0] /= 0
	return map[string][]byte{
		"whole":         file,
		"torn":          file[:len(file)-30],
		"header":        file[:first],
		"nul":           append(slices.Clone(file[:first+40]), make([]byte, 60)...),
		"nul-in-middle": slices.Concat(file[:first+40], make([]byte, 20), file[first+60:]),
		"marks":         append(slices.Clone(file), bytes.Repeat([]byte(mark+"\x01\xff\xff\x07"), 20)...),
		"infinite":      appendVector(slices.Clone(file), head.seed, nan),
		"synced":        synced,
		"unsynced":      appendVector(slices.Clone(synced), grown.seed, word("banana")),
		"empty":         {},
	}
}
