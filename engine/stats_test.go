package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	"emberd/engine"
	"emberd/engine/admin"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// imported saves memories with these fields, of the log alone.
func imported(t *testing.T, e *engine.Engine, sets ...map[string]string) {
	t.Helper()
	_, err := e.Stm.Update(t.Context(), nil, "", func([]*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: "import"}
		for _, fields := range sets {
			id, err := memory.NewID()
			if err != nil {
				return nil, err
			}
			set := map[string]json.RawMessage{"content": json.RawMessage(`"a pebble"`)}
			for key, value := range fields {
				set[key] = json.RawMessage(value)
			}
			tx.Changes = append(tx.Changes, stm.Change{ID: id, Set: set})
		}
		return tx, nil
	})
	ok(t, err)
}

// What is kept count of is what looking at one memory after the other tells.
func TestStatsOfAllAreThoseOfEach(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	var sets []map[string]string
	for i, stage := range memory.Stages() {
		created := fmt.Sprintf(`"2026-01-%02dT00:00:00Z"`, i+1)
		sets = append(sets, map[string]string{"stage": `"` + string(stage) + `"`, "project": `"boat"`, "tags": `["sea","sail"]`, "created_at": created},
			map[string]string{"stage": `"` + string(stage) + `"`, "promoted_to": `"A.md"`, "collection": `"attic"`, "use_count": `3`, "created_at": created})
	}
	imported(t, e, sets...)
	filter, err := e.Filter(op.Filter{}, e.Opt.Now())
	ok(t, err)
	for _, change := range []string{"none", "use", "forget"} {
		id := newest(t, e)
		switch change {
		case "use":
			do(t, e, op.Touch, &op.TouchRequest{ID: string(id)})
		case "forget":
			do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
		}
		each := admin.NewCount()
		for r := range e.Stm.Rows() {
			each.Add(r, filter.Score(r))
		}
		got, want := e.Admin.CountRows(&op.StatsRequest{}, filter), each.Result()
		if math.Abs(got.AvgScore-want.AvgScore) > 1e-12 {
			t.Errorf("%s: the average score is %v, want %v", change, got.AvgScore, want.AvgScore)
		}
		if got.AvgScore = want.AvgScore; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: counted\n%+v, want\n%+v", change, got, want)
		}
	}
}

func newest(t *testing.T, e *engine.Engine) (id memory.ID) {
	t.Helper()
	for r := range e.Stm.Rows() {
		id = max(id, r.ID())
	}
	return id
}

// Of many memories the average score is at most a minute old, and all counts are of now.
func TestTheAverageScoreOfManyMayBeAMinuteOld(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	created := `"` + h.daysAgo(10).Format("2006-01-02T15:04:05Z07:00") + `"`
	sets := make([]map[string]string, admin.ScoredAnew)
	for i := range sets {
		sets[i] = map[string]string{"created_at": created}
	}
	imported(t, e, sets...)
	ask := func(total int) float64 {
		t.Helper()
		got := do(t, e, op.Stats, &op.StatsRequest{})
		if got.Total != total {
			t.Errorf("%d memories, want %d", got.Total, total)
		}
		return got.AvgScore
	}
	few := ask(admin.ScoredAnew)
	save(t, e, "a new pebble")
	if got := ask(admin.ScoredAnew + 1); got != few {
		t.Errorf("the score of many is %v, want the %v of just now", got, few)
	}
	h.advance(admin.CountedFor)
	save(t, e, "another pebble")
	if got := ask(admin.ScoredAnew + 2); got <= few {
		t.Errorf("a minute later the score is %v, and was %v before two new memories", got, few)
	}
}
