package vectors

import (
	"context"
	"slices"
	"sync"
	"testing"

	"emberd/internal/testutil/crashdisk"
)

// midway is a context that calls do once, when it is looked at first.
type midway struct {
	context.Context
	do func()
}

func (m midway) Err() error {
	m.do()
	return m.Context.Err()
}

// What is put and placed in the midst of a compaction is there after it, and at the next start.
func TestWritingDuringACompaction(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("damson", "apple", "banana")))
	must(t, s.Place([]Doc{doc("m/1", "apple"), doc("m/2", "banana")}, nil))
	must(t, s.Compact(midway{t.Context(), sync.OnceFunc(func() {
		must(t, s.Put(words("cherry")))
		must(t, s.Place([]Doc{doc("m/3", "cherry"), doc("m/2", "apple")}, []string{"m/1"}))
	})}))
	for range 3 {
		for text, want := range map[string]string{"apple": "m/2/0", "cherry": "m/3/0"} {
			if got := nearest(t, s, text, 1); !slices.Equal(got, []string{want}) {
				t.Errorf("near %s is %v, want %s", text, got, want)
			}
		}
		if _, there := s.Doc("m/1"); there {
			t.Error("a document removed during the compaction is back")
		}
		must(t, s.Purge(t.Context()))
		must(t, s.Close())
		s = open1(t, disk)
	}
	must(t, s.Close())
}

// A vector that goes with a purge and is put again in its midst stays.
func TestPuttingAgainDuringAPurge(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple", "banana")))
	must(t, s.Purge(midway{t.Context(), sync.OnceFunc(func() { must(t, s.Put(words("apple"))) })}))
	if got := has(t, s); !slices.Equal(got, []string{"apple"}) {
		t.Errorf("the vectors are %v, want apple", got)
	}
	must(t, s.Close())
	if got := has(t, open1(t, disk)); !slices.Equal(got, []string{"apple"}) {
		t.Errorf("at the next start the vectors are %v, want apple", got)
	}
}

// A vector that is found to be damaged in the midst of a compaction can be put again after it.
func TestDamageDuringACompaction(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Put(words("apple", "banana")))
	must(t, s.Place([]Doc{doc("n/1", "apple", "banana")}, nil))
	must(t, s.Compact(midway{t.Context(), sync.OnceFunc(func() {
		s.mu.RLock()
		apple := *s.index.slots.get(KeyOf("apple"))
		s.mu.RUnlock()
		s.damaged(apple.key, apple.file, apple.at)
	})}))
	if st := s.Status(); s.Has(KeyOf("apple")) || st.Covered != 1 || st.Vectors != 1 {
		t.Errorf("with one vector damaged the status is %+v", st)
	}
	must(t, s.Put(words("apple")))
	if got := has(t, s); len(got) != 2 {
		t.Errorf("put again, the vectors are %v", got)
	}
}

// A vector that cannot be read makes Compact leave everything as it is; a purge goes on without.
func TestCompactingWhatCannotBeRead(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple", "banana", "cherry")))
	must(t, s.Place([]Doc{doc("n/1", "apple", "banana"), doc("n/2", "cherry")}, nil))
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpRead})
	if s.Compact(t.Context()) == nil {
		t.Error("a compaction without a vector succeeded")
	}
	if got := has(t, s); len(got) != 3 {
		t.Errorf("after a compaction that failed, the vectors are %v", got)
	}
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpRead})
	must(t, s.Purge(t.Context()))
	missing := slices.Collect(s.Missing())
	if got := has(t, s); len(got) != 2 || len(missing) != 1 {
		t.Errorf("after a purge, the vectors are %v, and these lack some: %v", got, missing)
	}
}
