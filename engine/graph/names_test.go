package graph_test

import (
	"fmt"
	"testing"

	"emberd/engine/graph"
)

func TestAGivenSpellingTakesThePlaceOfAFoundOne(t *testing.T) {
	t.Parallel()
	n := new(graph.KnownNames)
	n.Learn(false, "postgresql")
	n.Learn(true, "PostgreSQL")
	n.Learn(true, "Postgresql")
	n.Learn(false, "postgresql", "…")
	if got, ok := n.Spelling("postgresql"); got != "PostgreSQL" || !ok || n.Count.Load() != 1 {
		t.Errorf("%d names are known, postgresql as %q", n.Count.Load(), got)
	}
}

func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	n := new(graph.KnownNames)
	for i := range graph.MaxNames {
		n.Learn(true, fmt.Sprint("name ", i))
	}
	n.Learn(true, "one more")
	if _, ok := n.Spelling("one more"); ok || n.Count.Load() != graph.MaxNames {
		t.Errorf("%d names are known, the last one %t; want %d", n.Count.Load(), ok, graph.MaxNames)
	}
}
