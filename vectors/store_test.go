package vectors

import (
	"context"
	"slices"
	"testing"
)

func TestNearestFindsTheBestChunkOfEachDocument(t *testing.T) {
	s, disk := newStore(t)
	must(t, s.Put(words("apple", "banana", "cherry", "damson")))
	must(t, s.Place([]Doc{doc("n/fruit", "apple", "banana", "cherry"), doc("m/1", "banana"), doc("m/2", "elder")}, nil))
	for range 2 {
		if got, want := nearest(t, s, "banana", 2), []string{"m/1/0", "n/fruit/1"}; !slices.Equal(got, want) {
			t.Errorf("near banana are %v, want %v", got, want)
		}
		if got := nearest(t, s, "elder", 9); slices.Contains(got, "m/2/0") {
			t.Errorf("a document without a vector was found: %v", got)
		}
		must(t, s.Close())
		s = open1(t, disk)
	}
	knows(t, s, doc("m/2", "elder"), "apple", "damson")
	must(t, s.Compact(context.Background()))
	knows(t, s, doc("m/2", "elder"), "apple", "damson")
	must(t, s.Purge(context.Background()))
	if s.Has(KeyOf("damson")) || !s.Has(KeyOf("apple")) {
		t.Error("purge left the vector that no document has, or took one that has")
	}
	knows(t, s, doc("n/fruit", "apple", "banana", "cherry"), "apple")
	if st := s.Status(); st.Covered != 4 || st.Chunks != 5 || st.Files != 1 || st.Vectors != 3 {
		t.Errorf("status is %+v", st)
	}
}
