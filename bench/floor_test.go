package bench

import (
	"emberd/engine"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"emberd/internal/eval"
	"emberd/op"
	"emberd/stm"
)

// What the part of relevance that no age takes away does to search, with the
// default decay. Every conversation is moved in time so that its last turn is
// now; its questions ask about old and new alike.
func TestEvalDecayFloor(t *testing.T) {
	set := judgedSets()[0].read(t)
	memories := recent(set.Docs, time.Now())
	quarter := newestQuarter(memories)
	var fresh []eval.Question
	for _, q := range set.Questions {
		if anyIn(set.Judgements[0].Relevant[q.ID], quarter) {
			fresh = append(fresh, q)
		}
	}
	t.Logf("%d questions, %d of them about the newest quarter of their conversation", len(set.Judgements[0].Relevant), len(fresh))
	for _, floor := range []float64{0, 0.3, 0.5, 0.7, 0.9, 1} {
		opt := engine.DefaultOptions()
		opt.DecayFloor, opt.Durability = floor, stm.None
		e := openEngine(t, opt)
		saveAll(t, e, requests(memories))
		search := func(q eval.Question) []string { return ask(t, e, q.Text) }
		t.Logf("floor %.1f  all     %v", floor, evaluate(set, set.Questions, search))
		t.Logf("floor %.1f  newest  %v", floor, evaluate(set, fresh, search))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// recent moves each conversation so that its last turn is at now.
func recent(turns []eval.Doc, now time.Time) []eval.Doc {
	last := make(map[string]time.Time)
	for _, m := range turns {
		if m.Created.After(last[m.Group]) {
			last[m.Group] = m.Created
		}
	}
	turns = slices.Clone(turns)
	for i, m := range turns {
		turns[i].Created = m.Created.Add(now.Sub(last[m.Group]))
	}
	return turns
}

// newestQuarter holds the turns of the last quarter of each conversation, which
// are in order.
func newestQuarter(turns []eval.Doc) map[string]bool {
	count, seen := make(map[string]int), make(map[string]int)
	for _, m := range turns {
		count[m.Group]++
	}
	newest := make(map[string]bool)
	for _, m := range turns {
		if seen[m.Group]++; 4*seen[m.Group] > 3*count[m.Group] {
			newest[m.Name] = true
		}
	}
	return newest
}

func anyIn(relevant map[string]int, set map[string]bool) bool {
	for doc := range relevant {
		if set[doc] {
			return true
		}
	}
	return false
}

// requests are the turns as the import command would save them.
func requests(turns []eval.Doc) []op.SaveRequest {
	items := make([]op.SaveRequest, len(turns))
	for i, m := range turns {
		ref, _ := json.Marshal(m.Name) // a string has no error
		items[i] = op.SaveRequest{
			Content: m.Content, Context: m.Context, Project: m.Group, CreatedAt: m.Created,
			Meta: map[string]json.RawMessage{"ref": ref},
		}
	}
	return items
}
