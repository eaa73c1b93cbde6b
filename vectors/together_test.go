package vectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"emberd/internal/testutil/crashdisk"
)

// Many goroutines write, search, compact and look at other devices' files at once. Nobody waits
// for ever, nobody sees what is wrong, and in the end everything is there.
func TestTogether(t *testing.T) {
	disk := diskOf(t, otherFile, another(t, vocabulary()...))
	s := withOthers(t, disk)
	var writers, others sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for w := range 3 {
		writers.Go(func() {
			for i := range 60 {
				text := fmt.Sprintf("text %d of %d", i, w)
				if err := errors.Join(s.Put(words(text)),
					s.Place([]Doc{doc("n/"+text, text, "apple")}, nil)); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					if err := errors.Join(s.Place(nil, []string{"n/" + text}), s.Sync()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for _, often := range []func() error{
		func() error { return s.Compact(t.Context()) },
		func() error { return s.Refresh() },
		func() error { return seesOnlyRight(s, "text 1 of 1") },
		func() error { return seesOnlyRight(s, "apple") },
		func() error { s.Status(); return nil },
	} {
		others.Go(func() {
			for ctx.Err() == nil {
				if err := often(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	stop()
	others.Wait()
	allThere(t, s)
	must(t, s.Sync())
	allThere(t, withOthers(t, disk.Crash(nil)))
}

// seesOnlyRight looks for a text while others change everything.
func seesOnlyRight(s *Store, text string) error {
	matches, err := one(s.Nearest(context.Background(), word(text).Vector, Query{N: 5, Accept: func(doc string) bool {
		_, ok := s.Doc(doc) // whoever accepts may use the store
		return ok
	}}))
	for _, m := range matches {
		if has := m.Doc == "n/"+text || text == "apple"; (m.Cosine > 0.999) != has {
			err = fmt.Errorf("near %q is %+v", text, m)
		}
	}
	if v, ok := s.Vector(KeyOf(text)); ok && !slices.Equal(v, word(text).Vector) {
		err = fmt.Errorf("the vector of %q is wrong", text)
	}
	return err
}

func allThere(t *testing.T, s *Store) {
	t.Helper()
	docs := 0
	for d := range s.Docs() {
		docs++
		for _, c := range d.Chunks {
			if !s.Has(c.Key) {
				t.Errorf("a vector of %s is lost", d.Name)
			}
		}
	}
	if st := s.Status(); docs != 120 || st.Covered != 240 || st.Chunks != 240 {
		t.Errorf("%d documents are left, want 120; %+v", docs, st)
	}
}

// A document that is placed during a search is as near as its nearest chunk, also if that one was
// passed by before.
func TestADocumentPlacedDuringASearch(t *testing.T) {
	s, _ := newStore(t)
	apple, far := word("apple"), Entry{Key: KeyOf("far"), Vector: make([]float32, dim)}
	for i, x := range apple.Vector {
		far.Vector[i] = -x
	}
	must(t, s.Put([]Entry{apple, far}))
	docs := []Doc{doc("m/apple", "apple")}
	for i := range 600 { // more than are looked up at once
		text := fmt.Sprint(i)
		must(t, s.Put(words(text)))
		docs = append(docs, doc("n/"+text, text))
	}
	must(t, s.Place(docs, nil))
	late := doc("n/late", "far", "apple")
	matches, err := one(s.Nearest(t.Context(), apple.Vector, Query{N: 1, Accept: func(name string) bool {
		if name == "m/apple" {
			must(t, s.Place([]Doc{late}, nil))
		}
		return name == late.Name
	}}))
	must(t, err)
	if len(matches) != 1 || matches[0].Chunk != 1 || matches[0].Cosine < 0.999 {
		t.Errorf("near apple is %+v, want %s with its chunk 1", matches, late.Name)
	}
}

// A search that nobody waits for any more ends.
func TestNearestEndsWithItsContext(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Put(words("apple")))
	must(t, s.Place([]Doc{doc("m/1", "apple")}, nil))
	why := errors.New("the caller went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := one(s.Nearest(ctx, word("apple").Vector, Query{N: 1})); !errors.Is(err, why) {
		t.Errorf("a search after its end: %v, want %v", err, why)
	}
	if err := s.Compact(ctx); !errors.Is(err, why) {
		t.Errorf("a compaction after its end: %v, want %v", err, why)
	}
	knows(t, s, doc("m/1", "apple"), "apple")
}

// The disk operations of one batch: a search waits for none of them.
func TestPutIsOneWrite(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple")))
	before := disk.Ops()
	must(t, s.Put(words("banana", "cherry", "damson")))
	if n := disk.Ops() - before; n != 1 {
		t.Errorf("a batch took %d operations, want one", n)
	}
	disk.Fail(crashdisk.Fault{})
	before = disk.Ops()
	must(t, s.Put(words("banana", "cherry", "apple")))
	if n := disk.Ops() - before; n != 0 {
		t.Errorf("a batch that is there took %d operations, want none", n)
	}
}
