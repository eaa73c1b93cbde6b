package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"emberd/engine/graph"
	"emberd/internal/entity"
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

// Which names can begin at a word is known beforehand, and costs no name.
func TestNoNameIsLostToItsLength(t *testing.T) {
	t.Parallel()
	n := new(graph.KnownNames)
	n.Learn(true, "O'Brien Clan", "Node.js", "中文", "東京タワー", "Straße der Lieder", "ab 中文字", "Éclair", "Ada", "Ada Lovelace Day")
	for _, text := range []string{
		"the O'Brien Clan and node-js", "我学习中文很久", "昨日は東京タワーに行った", "in der straße der lieder", "an ab 中文字 here",
		"an éclair for ada", "on Ada Lovelace Day with ada lovelace", "nothing of that",
	} {
		all := entity.Find(text, entity.Options{Known: n.Spelling})
		some := entity.Find(text, entity.Options{Known: n.Spelling, KnownLength: n.Longest})
		if !slices.Equal(all, some) {
			t.Errorf("%q has %q, want %q", text, some, all)
		}
	}
}
