package stm_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// nearCase is a store of short texts and a query with Near, as drawn.
type nearCase struct {
	ts   *testStore
	text map[memory.ID]string
	ids  []memory.ID
	q    table.Query
}

func drawNear(t *rapid.T, ts *testStore) *nearCase {
	c := &nearCase{ts: ts, text: map[memory.ID]string{}, q: table.Query{Near: map[memory.ID]float64{}, Explain: true}}
	word := rapid.SampledFrom([]string{"pear", "plum", "fig", "kiwi", "melon"})
	words := func(label string, least, most int) []string {
		return rapid.SliceOfN(word, least, most).Draw(t, label)
	}
	for r := range ts.Rows() {
		ts.forget(r.ID())
	}
	for range rapid.IntRange(0, 12).Draw(t, "memories") {
		content := strings.Join(words("text", 1, 5), " ")
		id := ts.save(content).ID()
		c.ids, c.text[id] = append(c.ids, id), content
	}
	for _, id := range c.ids {
		switch rapid.IntRange(0, 5).Draw(t, "fate") {
		case 0:
			ts.forget(id)
			delete(c.text, id)
		case 1:
			c.text[id] = strings.Join(words("edited", 1, 5), " ")
			ts.edit(id, "content", c.text[id])
		}
		if rapid.Bool().Draw(t, "is near") {
			c.q.Near[id] = rapid.Float64Range(0.01, 3).Draw(t, "near")
		}
	}
	c.q.Terms = asTerms(strings.Join(words("asked", 0, 3), " "))
	c.q.All = words("all", 0, 1)
	c.q.None = words("none", 0, 1)
	c.q.Limit = rapid.IntRange(1, 6).Draw(t, "limit")
	return c
}

// rank is a factor of each memory by its id, at most 1.
func (c *nearCase) rank(relevance float64, r *table.Row) float64 {
	return relevance * float64(1+slices.Index(c.ids, r.ID())%3) / 3
}

// want works the answer out memory by memory, from what a search by words alone says.
func (c *nearCase) want() (best []table.Match, near int) {
	held := map[memory.ID]float64{}
	if len(c.q.Terms) > 0 {
		for _, m := range c.ts.Search(table.Query{Terms: c.q.Terms, Limit: 100}).Matches {
			held[m.Row.ID()] = m.Relevance
		}
	}
	for id, text := range c.text {
		fields := strings.Fields(text)
		has := func(w string) bool { return slices.Contains(fields, w) }
		lacks := func(w string) bool { return !has(w) }
		score, isNear := c.q.Near[id]
		all := len(c.q.Terms)+len(c.q.Near) == 0
		if all {
			held[id] = 1
		}
		if !all && held[id] == 0 && !isNear || slices.ContainsFunc(c.q.All, lacks) || slices.ContainsFunc(c.q.None, has) {
			continue
		}
		row, _ := c.ts.Get(id)
		m := table.Match{Row: row, Near: score, Relevance: held[id] + score}
		m.Rank = c.rank(m.Relevance, row)
		if best = append(best, m); held[id] == 0 {
			near++
		}
	}
	slices.SortFunc(best, func(a, b table.Match) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), slices.Compare(b.Row.Key[:], a.Row.Key[:]))
	})
	return best, near
}

// Whatever is near, edited, forgotten or asked for, the answer is the one that looking at
// every memory gives, with pruning and without.
func TestNearIsExact(t *testing.T) {
	ts := openStore(t, wal.Options{})
	rapid.Check(t, func(t *rapid.T) {
		c := drawNear(t, ts)
		want, near := c.want()
		for _, most := range []float64{0, 1} {
			c.q.Most, c.q.Rank = most, c.rank
			found := ts.Search(c.q)
			if found.Total != len(want) || found.Near != near {
				t.Fatalf("%d match, %d of them without a term; want %d and %d", found.Total, found.Near, len(want), near)
			}
			if got, want := listed(found.Matches), listed(want[:min(len(want), c.q.Limit)]); got != want {
				t.Fatalf("with Most %v found\n%swant\n%s", most, got, want)
			}
			for _, m := range found.Matches {
				sum := m.Near
				for _, term := range m.Terms {
					sum += term.Score
				}
				if len(c.q.Terms)+len(c.q.Near) > 0 && math.Abs(sum-m.Relevance) > 1e-9 {
					t.Fatalf("the parts of %s come to %v, its relevance is %v", m.Row.ID(), sum, m.Relevance)
				}
			}
		}
	})
}

// What Accepting accepts is what a search finds that is asked for nothing else.
func TestAcceptingIsExact(t *testing.T) {
	ts := openStore(t, wal.Options{})
	rapid.Check(t, func(t *rapid.T) {
		c := drawNear(t, ts)
		if rapid.Bool().Draw(t, "accepts some") {
			c.q.Accept = func(r *table.Row) bool { return slices.Index(c.ids, r.ID())%2 == 0 }
		}
		unknown, err := memory.NewID()
		if err != nil {
			t.Fatal(err)
		}
		accepts := ts.Accepting(c.q)
		for _, id := range append(c.ids, unknown) {
			q := table.Query{Near: map[memory.ID]float64{id: 1}, All: c.q.All, None: c.q.None, Accept: c.q.Accept, Limit: 1}
			if got, want := accepts(id), ts.Search(q).Total == 1; got != want {
				t.Fatalf("%s (%q): accepted %v, found %v", id, c.text[id], got, want)
			}
		}
	})
}

func listed(matches []table.Match) string {
	var b strings.Builder
	for _, m := range matches {
		fmt.Fprintf(&b, "%s rank %.9f, near %.9f of %.9f\n", m.Row.ID(), m.Rank, m.Near, m.Relevance)
	}
	return b.String()
}

// What is near is found as well while the index is being made, and passes the filters.
func TestNearIsFoundWhileLoading(t *testing.T) {
	ts := openStore(t, wal.Options{})
	pie := ts.save("apple pie").ID()
	tart := ts.save("plum tart").ID()
	cake := ts.save("plum cake").ID()
	ts.Words.Reset()
	for _, id := range []memory.ID{pie, tart, cake} {
		ts.Table.Cell(id.Bytes()).Doc.Store(0)
	}
	q := table.Query{Terms: asTerms("apple"), Near: map[memory.ID]float64{tart: 0.5, cake: 0.4}, None: []string{"cake"}, Limit: 10}
	found := ts.Search(q)
	if !found.Loading || found.Total != 2 || found.Near != 1 {
		t.Errorf("loading %v, %d found, %d without a term; want two while loading, one of them so", found.Loading, found.Total, found.Near)
	}
	if got, want := ids(found.Matches), []memory.ID{tart, pie}; !slices.Equal(got, want) && !slices.Equal(got, []memory.ID{pie, tart}) {
		t.Errorf("found %v, want %v in either order", got, want)
	}
}

func ids(matches []table.Match) (ids []memory.ID) {
	for _, m := range matches {
		ids = append(ids, m.Row.ID())
	}
	return ids
}

// Lists beside are gathered by the whole relevance: a cold memory that nothing but its
// nearness speaks for is in them.
func TestListsBesideHoldWhatIsNear(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("apple pie")
	tart := ts.save("plum tart").ID()
	found := ts.Search(table.Query{Terms: asTerms("apple"), Near: map[memory.ID]float64{tart: 5}, Limit: 1,
		Beside: []table.Beside{{Accept: func(r *table.Row) bool { return r.ID() == tart }, Limit: 3}}})
	if got := ids(found.Beside[0]); !slices.Equal(got, []memory.ID{tart}) || found.Beside[0][0].Near != 5 || found.Best != 5 {
		t.Errorf("beside %v, best %v; want %v and its nearness of 5", found.Beside[0], found.Best, tart)
	}
}

// A bonus counts for what matches, finds nothing, and is never pruned away.
func TestABonusRanksWhatMatches(t *testing.T) {
	ts := openStore(t, wal.Options{})
	weak := ts.save("an apple among many other kinds of fruit, of which there are plenty here").ID()
	for range 5 {
		ts.save("apple")
	}
	other := ts.save("plum").ID()
	bonus := func(r *table.Row) float64 {
		if r.ID() == weak || r.ID() == other {
			return 3
		}
		return 0
	}
	found := ts.Search(table.Query{Terms: asTerms("apple"), Bonus: bonus, Limit: 2, Most: 1})
	if found.Total != 6 || found.Matches[0].Row.ID() != weak || found.Matches[0].Bonus != 3 || found.Best != found.Matches[0].Relevance {
		t.Errorf("found %d, %+v; want 6, that with the bonus first", found.Total, found.Matches)
	}
}
