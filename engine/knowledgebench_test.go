package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/entity/knowledge"
	"emberd/op"
)

// crowdedEngine has so many memories that name five of many entities each, a few of them
// often, and the graph of them.
func crowdedEngine(b *testing.B, memories, notes int) *engine.Engine {
	b.Helper()
	e := newHouse(b).open(b)
	for have := 0; have < memories; {
		items := make([]op.SaveRequest, min(op.MaxBatch, memories-have))
		for i := range items {
			n := have + i
			items[i] = op.SaveRequest{Content: fmt.Sprintf("fact %d of many, as long as most of what people keep is", n), Entities: []string{"Me",
				fmt.Sprintf("person %d", n%97), fmt.Sprintf("project %d", n%1009), fmt.Sprintf("place %d", n*7%10_007), fmt.Sprintf("thing %d", n/2)}}
		}
		do(b, e, op.SaveBatch, &op.SaveBatchRequest{Items: items})
		have += len(items)
	}
	for n := range notes {
		at := e.Opt.Now()
		e.Graph.Entities.Put(&knowledge.Doc{Ref: knowledge.Ref{Path: fmt.Sprintf("Folder/Note %d.md", n)}, Title: fmt.Sprintf("Note %d", n), Aliases: []string{fmt.Sprintf("N%d", n)},
			Links: []string{fmt.Sprintf("Note %d", n/3), fmt.Sprintf("person %d", n%97), fmt.Sprintf("project %d", n%1009)}, Counts: 1, First: at, Last: at})
	}
	return e
}

// BenchmarkKnowledge asks a graph of 100,000 memories and 10,000 notes.
func BenchmarkKnowledge(b *testing.B) {
	e := crowdedEngine(b, 100_000, 10_000)
	before := heap()
	begun := time.Now()
	e.Graph.GraphNow()
	sizes := e.Graph.Entities.Sizes()
	b.Logf("%+v built in %v, %d bytes for each name", sizes, time.Since(begun).Round(time.Millisecond), (heap()-before)/uint64(sizes.Names))
	ask := func(name string, ask func(i int)) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				ask(i)
			}
		})
	}
	ask("list", func(int) { do(b, e, op.EntityList, &op.EntityListRequest{}) })
	ask("list words", func(i int) { do(b, e, op.EntityList, &op.EntityListRequest{Query: fmt.Sprintf("person %d", i%97)}) })
	ask("list recent", func(int) { do(b, e, op.EntityList, &op.EntityListRequest{Sort: "recent"}) })
	ask("list after save", func(i int) {
		mentioning(b, e, fmt.Sprintf("another %d", i), "Me", fmt.Sprintf("person %d", i%97))
		do(b, e, op.EntityList, &op.EntityListRequest{})
	})
	ask("around entity", func(i int) { do(b, e, op.Knowledge, &op.KnowledgeRequest{Of: fmt.Sprintf("place %d", i%10_007)}) })
	ask("around often", func(i int) { do(b, e, op.Knowledge, &op.KnowledgeRequest{Of: fmt.Sprintf("person %d", i%97)}) })
	ask("around everything", func(int) { do(b, e, op.Knowledge, &op.KnowledgeRequest{Of: "Me"}) })
	ask("most mentioned", func(int) { do(b, e, op.Knowledge, &op.KnowledgeRequest{}) })
	ask("mentions", func(i int) { e.Graph.Mentions([]string{fmt.Sprintf("person %d", i%97), "Me"}) })
	ask("entitiesFor", func(i int) { e.Graph.EntitiesFor(fmt.Sprintf("what does person %d do in place %d", i%97, i%10_007), 5) })
	ask("search entity", func(i int) { searchFor(b, e, fmt.Sprintf(`entity:"person %d"`, i%97)) })
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
