package knowledge

import (
	"fmt"
	"testing"

	"emberd/memory"
)

// crowd is a graph of so many memories that name five entities each, and of notes.
func crowd(memories, notes int) *Graph {
	g := New()
	for n := range memories {
		d := mem(0, "Me", fmt.Sprintf("person %d", n%97), fmt.Sprintf("project %d", n%1009), fmt.Sprintf("place %d", n*7%10_007), fmt.Sprintf("thing %d", n/2))
		d.ID, d.Last = memory.ID(fmt.Sprintf("%036d", n)), day(1+n%28)
		g.Put(d)
	}
	for n := range notes {
		g.Put(note(fmt.Sprintf("Folder/Note %d.md", n), fmt.Sprintf("Note %d", n), fmt.Sprintf("Note %d", n/3), fmt.Sprintf("person %d", n%97)))
	}
	return g
}

func BenchmarkCrowd(b *testing.B) {
	g := crowd(100_000, 10_000)
	g.List(Listing{Limit: 20})
	for name, ask := range map[string]func(i int){
		"list":           func(int) { g.List(Listing{Limit: 20}) },
		"list words":     func(int) { g.List(Listing{Words: "person 9", Limit: 20}) },
		"together often": func(int) { g.Together("person 9", "", 10, false) },
		"together all":   func(int) { g.Together("Me", "", 10, true) },
		"mentioning all": func(int) { g.Mentioning("Me", "", 200) },
		"put":            func(i int) { g.Put(mem(i%28, "Me", "person 9")) },
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				ask(i)
			}
		})
	}
}
