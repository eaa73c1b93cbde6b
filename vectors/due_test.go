package vectors

import (
	"fmt"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
)

// Where documents come and go, the vectors that they leave are no reason to compact while they
// wait for another document, and one afterwards.
func TestWhatNoDocumentHasIsCompactedAfterAnHour(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, _ := newStore(t)
		many, gone := manyDocs(15_000)
		for i := range many {
			must(t, s.Put(words(textsOf(i)...)))
		}
		must(t, s.Put(words("apple")))
		must(t, s.Place(append(many, doc("m/stays", "apple", "0 0")), nil))
		must(t, s.Place(nil, gone))
		if st := s.Status(); st.Due || st.Bytes < 1<<20 {
			t.Errorf("when the documents have just gone, the status is %+v", st)
		}
		time.Sleep(orphanAge)
		if st := s.Status(); !st.Due {
			t.Errorf("an hour later, the status is %+v", st)
		}
		must(t, s.Compact(t.Context()))
		if st := s.Status(); st.Due || st.Vectors != 2 || st.Covered != 2 || st.Bytes > 1000 {
			t.Errorf("after the compaction, the status is %+v", st)
		}
		knows(t, s, doc("m/stays", "apple", "0 0"), "apple", "0 0")
	})
}

// manyDocs are documents of 500 chunks, n in all, and their names. Each has its first chunk twice.
func manyDocs(n int) (docs []Doc, names []string) {
	for i := range n / 500 {
		d := doc(fmt.Sprint("m/", i), textsOf(i)...)
		docs, names = append(docs, d), append(names, d.Name)
	}
	return docs, names
}

func textsOf(i int) []string {
	texts := []string{fmt.Sprint(i, 0)}
	for k := range 499 {
		texts = append(texts, fmt.Sprint(i, k))
	}
	return texts
}
