package vectors

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// manyRows fills two slabs and a part of a third.
const manyRows = 2*slabRows + 100

// many is a store on the real disk with a document for each of many vectors.
func many(t *testing.T) (s *Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	s = reopened(t, dir)
	putMany(t, s, 0, manyRows)
	return s, dir
}

func putMany(t *testing.T, s *Store, from, to int) {
	t.Helper()
	for i := from; i < to; i += 50 {
		var texts []string
		var docs []Doc
		for j := i; j < min(i+50, to); j++ {
			texts = append(texts, text(j))
			docs = append(docs, doc("n/"+text(j), text(j)))
		}
		must(t, s.Put(words(texts...)))
		must(t, s.Place(docs, nil))
	}
}

func text(i int) string { return fmt.Sprintf("text %d", i) }

// findsAll asks for some texts and expects that the document of each is the nearest.
func findsAll(t *testing.T, s *Store, rows int) {
	t.Helper()
	for i := 0; i < rows; i += 97 {
		got, err := one(s.Nearest(t.Context(), word(text(i)).Vector, Query{N: 3}))
		must(t, err)
		if len(got) == 0 || !slices.ContainsFunc(got, func(m Match) bool { return m.Doc == "n/"+text(i) }) {
			t.Fatalf("nearest to %q is %+v", text(i), got)
		}
	}
}

func filed(s *Store) (n int) {
	for _, b := range s.index.table.slabs {
		if b.filed.Load() {
			n++
		}
	}
	return n
}

// Full slabs are in a file without a name, after they were put, read or compacted.
func TestFullSlabsAreInAFile(t *testing.T) {
	s, dir := many(t)
	if got := filed(s); got != 2 {
		t.Errorf("%d slabs are in the file, want 2", got)
	}
	findsAll(t, s, manyRows)
	must(t, s.Close())
	s = reopened(t, dir)
	if got := filed(s); got != 2 {
		t.Errorf("after a reopening %d slabs are in the file, want 2", got)
	}
	findsAll(t, s, manyRows)
	must(t, s.Compact(t.Context()))
	if got := filed(s); got != 2 {
		t.Errorf("after a compaction %d slabs are in the file, want 2", got)
	}
	findsAll(t, s, manyRows)
	names, err := s.list()
	if must(t, err); len(names) != 1 {
		t.Errorf("the folder has %q, want one file", names)
	}
}

// A search among few documents looks at their rows alone.
func TestListedRowsThatCannotBeRead(t *testing.T) {
	s, _ := many(t)
	must(t, s.index.table.file.f.Truncate(0))
	only := []string{"n/" + text(1), "n/" + text(manyRows-1)}
	listed := Query{N: 3, Only: only, Accept: func(doc string) bool { return slices.Contains(only, doc) }}
	got, err := one(s.Nearest(t.Context(), word(text(1)).Vector, listed))
	if must(t, err); len(got) != 1 || got[0].Doc != "n/"+text(manyRows-1) {
		t.Errorf("nearest is %+v, want the document whose row can be read", got)
	}
	if got, want := s.Status().Vectors, manyRows-slabRows; got != want {
		t.Errorf("%d vectors are left, want %d", got, want)
	}
}

// Rounded vectors that cannot be read are missing, and can be put again.
func TestSlabsThatCannotBeRead(t *testing.T) {
	for name, meet := range map[string]func(s *Store) error{
		"search": func(s *Store) error {
			_, err := s.Nearest(context.Background(), word(text(1)).Vector, Query{N: 3})
			return err
		},
		"compaction": func(s *Store) error { return s.Compact(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := many(t)
			must(t, s.index.table.file.f.Truncate(0))
			must(t, meet(s))
			if got := s.Status().Vectors; got != 100 {
				t.Errorf("%d vectors are left, want 100", got)
			}
			if got := len(slices.Collect(s.Missing())); got != 2*slabRows {
				t.Errorf("%d documents miss a vector, want %d", got, 2*slabRows)
			}
			putMany(t, s, 0, manyRows)
			findsAll(t, s, manyRows)
			must(t, s.Compact(t.Context()))
			findsAll(t, s, manyRows)
		})
	}
}

// Searches, saves and compactions run side by side while slabs move into the file.
func TestSlabsMoveWhileTheyAreRead(t *testing.T) {
	s, _ := many(t)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				findsAll(t, s, manyRows)
			}
		})
	}
	for round := range 3 {
		putMany(t, s, manyRows+round*slabRows, manyRows+(round+1)*slabRows)
		must(t, s.Compact(t.Context()))
	}
}

// On a full disk, the values stay on the heap.
func TestSlabsWithoutAFile(t *testing.T) {
	s := reopened(t, t.TempDir())
	must(t, s.index.table.file.f.Close())
	putMany(t, s, 0, manyRows)
	if got := filed(s); got != 0 {
		t.Errorf("%d slabs are in a file that cannot be written", got)
	}
	findsAll(t, s, manyRows)
}
