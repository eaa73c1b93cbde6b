package vectors

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
)

// A renamed document, and one that changes and changes back, keep their vectors for an hour, over
// compactions; after that a compaction drops them.
func TestVectorsOutliveTheirDocumentByAnHour(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, _ := newStore(t)
		must(t, s.Put(words("apple", "banana")))
		must(t, s.Place([]Doc{doc("n/old", "apple", "banana")}, nil))
		time.Sleep(24 * time.Hour)
		must(t, s.Place(nil, []string{"n/old"}))
		time.Sleep(59 * time.Minute)
		must(t, s.Compact(t.Context()))
		must(t, s.Place([]Doc{doc("n/new", "apple")}, nil))
		if got := nearest(t, s, "apple", 1); !slices.Equal(got, []string{"n/new/0"}) {
			t.Errorf("after a rename, near apple is %v", got)
		}
		time.Sleep(time.Minute)
		must(t, s.Compact(t.Context()))
		if got := has(t, s); !slices.Equal(got, []string{"apple"}) {
			t.Errorf("an hour later the vectors are %v, want apple", got)
		}
		must(t, s.Put(words("banana")))
		if got := has(t, s); !slices.Equal(got, []string{"apple", "banana"}) {
			t.Errorf("put again, the vectors are %v", got)
		}
	})
}

// One text in many documents has one vector, for all of them as long as one is left.
func TestSharedText(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple")))
	docs := []Doc{doc("n/1", "apple", "banana", "apple"), doc("n/2", "banana", "apple"), doc("m/1", "apple")}
	must(t, s.Place(docs, nil))
	for range 2 {
		if got, want := nearest(t, s, "apple", 5), []string{"m/1/0", "n/1/0", "n/2/1"}; !slices.Equal(got, want) {
			t.Errorf("near apple are %v, want %v", got, want)
		}
		if st := s.Status(); st.Vectors != 1 || st.Chunks != 6 || st.Covered != 4 {
			t.Errorf("status is %+v", st)
		}
		must(t, s.Close())
		s = open1(t, disk)
	}
	must(t, s.Place(nil, []string{"m/1", "n/1", "n/none"}))
	must(t, s.Purge(t.Context()))
	must(t, s.Put(words("banana"))) // after its document was placed
	if got, want := nearest(t, s, "banana", 5), []string{"n/2/0"}; !slices.Equal(got, want) {
		t.Errorf("near banana is %v, want %v", got, want)
	}
	must(t, s.Place([]Doc{doc("n/3", "apple")}, []string{"n/2"})) // a rename
	if got, want := nearest(t, s, "apple", 5), []string{"n/3/0"}; !slices.Equal(got, want) {
		t.Errorf("after a rename, near apple is %v, want %v", got, want)
	}
	must(t, s.Close())
}

// After a purge no byte of a vector without a document, nor the name of a document that is gone,
// is in the folder.
func TestPurgeLeavesNoBytes(t *testing.T) {
	dir := t.TempDir()
	s := reopened(t, dir)
	must(t, s.Put(words("apple", "banana", "cherry")))
	must(t, s.Place([]Doc{doc("n/secret plans", "apple", "banana"), doc("n/fruit", "banana")}, nil))
	must(t, s.Sync())
	must(t, s.Close())
	s = reopened(t, dir)
	must(t, s.Place(nil, []string{"n/secret plans"}))
	if !inFolder(t, dir, vectorBytes("apple")) || !inFolder(t, dir, []byte("secret plans")) {
		t.Fatal("before the purge there is nothing to be purged")
	}
	must(t, s.Purge(t.Context()))
	for _, text := range []string{"apple", "cherry"} {
		if key := KeyOf(text); s.Has(key) || inFolder(t, dir, vectorBytes(text)) || inFolder(t, dir, key[:]) {
			t.Errorf("the vector or the key of %q is still there", text)
		}
	}
	if inFolder(t, dir, []byte("secret plans")) {
		t.Error("the name of the document is still there")
	}
	knows(t, s, doc("n/fruit", "banana"), "banana")
}

func vectorBytes(text string) []byte {
	return appendVector(nil, 0, word(text))[frameSize+len(Key{}):]
}

func inFolder(t *testing.T, dir string, what []byte) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		return bytes.Contains(b, what)
	})
}

func TestKeyOfTellsPartsApart(t *testing.T) {
	keys := map[Key][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"a\x00b"}} {
		key := KeyOf(parts...)
		if was, taken := keys[key]; taken {
			t.Errorf("%q and %q have one key", parts, was)
		}
		keys[key] = parts
	}
}

// What cannot be stored is refused with what is wrong with it, and nothing of its batch is stored.
func TestRefusals(t *testing.T) {
	s, _ := newStore(t)
	long := strings.Repeat("x", MaxName+1)
	nan := word("nan")
	nan.Vector[3] /= 0 * nan.Vector[3]
	for name, err := range map[string]error{
		"short":       s.Put([]Entry{word("apple"), {KeyOf("x"), make([]float32, dim-1)}}),
		"not a unit":  s.Put([]Entry{word("apple"), {KeyOf("x"), []float32{0, 0, 2, 15: 0}}}),
		"infinite":    s.Put([]Entry{word("apple"), nan}),
		"no name":     s.Place([]Doc{doc("n/1"), {}}, nil),
		"long name":   s.Place([]Doc{doc("n/1"), doc(long)}, nil),
		"many chunks": s.Place([]Doc{doc("n/1"), {Name: "n/2", Chunks: make([]Chunk, MaxChunks+1)}}, nil),
		"line -1":     s.Place([]Doc{doc("n/1"), {Name: "n/2", Chunks: []Chunk{{Line: -1}}}}, nil),
	} {
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st := s.Status(); st.Vectors+st.Docs != 0 {
		t.Errorf("refused, but the status is %+v", st)
	}
	if _, err := one(s.Nearest(t.Context(), make([]float32, dim+1), Query{N: 1})); err == nil {
		t.Error("a query of another dimension was taken")
	}
}

func TestClosedStore(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Put(words("apple")))
	must(t, s.Close())
	must(t, s.Close())
	_, nearestErr := one(s.Nearest(t.Context(), word("apple").Vector, Query{N: 1}))
	for name, err := range map[string]error{
		"put": s.Put(words("banana")), "put what is there": s.Put(words("apple")), "place": s.Place(nil, nil),
		"sync": s.Sync(), "compact": s.Compact(t.Context()), "nearest": nearestErr,
	} {
		if err == nil || !strings.Contains(err.Error(), ErrClosed.Error()) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
}
