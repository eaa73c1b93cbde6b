package bench

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"emberd/engine"
	"emberd/op"
	"emberd/stm"
)

// turn is one line of LoCoMo's memories.jsonl.
type turn struct {
	ID, Conv, Speaker, Text, Caption string
	Timestamp                        time.Time
}

// What the part of relevance that no age takes away does to search, with the
// default decay. Every conversation is moved in time so that its last turn is
// now; its questions ask about old and new alike.
func TestEvalDecayFloor(t *testing.T) {
	dir := filepath.Join(setsFolder(t), "locomo/dev")
	questions := readQuestions(t, dir, "qrels_audited.tsv")
	memories := recent(readLines[turn](t, filepath.Join(dir, "memories.jsonl")), time.Now())
	quarter := newestQuarter(memories)
	var fresh []question
	for _, q := range questions {
		if anyIn(q.relevant, quarter) {
			fresh = append(fresh, q)
		}
	}
	t.Logf("%d questions, %d of them about the newest quarter of their conversation", len(questions), len(fresh))
	for _, floor := range []float64{0, 0.3, 0.5, 0.7, 0.9, 1} {
		opt := engine.DefaultOptions()
		opt.DecayFloor, opt.Durability = floor, stm.None
		e := openEngine(t, opt)
		saveAll(t, e, requests(memories))
		search := func(q question) []string { return ask(t, e, q.text, "") }
		t.Logf("floor %.1f  all     %v", floor, evaluate(questions, search))
		t.Logf("floor %.1f  newest  %v", floor, evaluate(fresh, search))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// recent moves each conversation so that its last turn is at now.
func recent(turns []turn, now time.Time) []turn {
	last := make(map[string]time.Time)
	for _, m := range turns {
		if m.Timestamp.After(last[m.Conv]) {
			last[m.Conv] = m.Timestamp
		}
	}
	for i, m := range turns {
		turns[i].Timestamp = m.Timestamp.Add(now.Sub(last[m.Conv]))
	}
	return turns
}

// newestQuarter holds the turns of the last quarter of each conversation, which
// are in order.
func newestQuarter(turns []turn) map[string]bool {
	count, seen := make(map[string]int), make(map[string]int)
	for _, m := range turns {
		count[m.Conv]++
	}
	newest := make(map[string]bool)
	for _, m := range turns {
		if seen[m.Conv]++; 4*seen[m.Conv] > 3*count[m.Conv] {
			newest[m.ID] = true
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
func requests(turns []turn) []op.SaveRequest {
	items := make([]op.SaveRequest, len(turns))
	for i, m := range turns {
		ref, _ := json.Marshal(m.ID) // a string has no error
		items[i] = op.SaveRequest{
			Content: m.Speaker + ": " + m.Text, Context: m.Caption, Project: m.Conv, CreatedAt: m.Timestamp,
			Meta: map[string]json.RawMessage{"ref": ref},
		}
	}
	return items
}
