package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// things are pairs of memories, each about a thing that no other pair names.
func things(pairs int) []op.SaveRequest {
	var items []op.SaveRequest
	for i := range pairs {
		thing := fmt.Sprintf("glaze%d kiln%d bowl%d", i, i, i)
		items = append(items, op.SaveRequest{Content: fmt.Sprintf("Melanie: Caroline, %s cracked shelf%d oven%d clay%d", thing, i, i, i)},
			op.SaveRequest{Content: fmt.Sprintf("Caroline: Melanie, why is %s so brittle%d wet%d thin%d?", thing, i, i, i)})
	}
	return items
}

func waitingOfAgents(t *testing.T, e *engine.Engine) int {
	t.Helper()
	jobs := do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{}).Jobs
	i := slices.IndexFunc(jobs, func(j op.Job) bool { return j.Name == "agents" })
	return jobs[i].Waiting
}

// What the rate leaves is done a minute later, and so on until nothing waits.
func TestTheBacklogOfTheAgentsIsDrainedByTheMinute(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	e.Indexed.Store(true)
	for chunk := range slices.Chunk(things(200), op.MaxBatch) {
		do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: chunk})
	}
	made := func() (n int) {
		for row := range e.Stm.Rows() {
			n += len(e.Stm.Relations(row))
		}
		return n
	}
	want := []int{60, 120, 180, 200}
	for i, n := range want {
		next := e.Agents.AgentsDue(t.Context())
		if made() != n || waitingOfAgents(t, e) != 200-n {
			t.Fatalf("after %d minutes there are %d relations and %d wait", i, made(), waitingOfAgents(t, e))
		}
		if wait := next.Sub(h.clock.Now()); n < 200 && (wait < time.Minute || wait > 5*time.Minute) {
			t.Fatalf("after %d minutes it goes on in %s", i, wait)
		}
		h.advance(next.Sub(h.clock.Now()))
	}
}

// Imported memories without entities are related by what they say, and two turns of one speaker are not.
func TestImportedMemoriesAreRelated(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	var req op.ImportRequest
	texts := []string{"Melanie: Caroline, the glaze of my pottery bowl cracked in the kiln", "Melanie: Thanks, Caroline! That means a lot",
		"Melanie: Caroline, the pottery class says a glaze cracks in a hot kiln", "Melanie: Wow, Caroline! You did great, keep going",
		"Caroline: I adopted a puppy from the shelter", "Melanie: See you, Caroline! Have fun at the beach"}
	for _, text := range texts {
		req.Records = append(req.Records, foreign(t, text))
	}
	req.Foreign = true
	do(t, e, op.Import, &req)
	res := do(t, e, op.AgentsRun, &op.AgentsRunRequest{Agent: op.AgentRelations})
	if len(res.Relations) != 1 {
		t.Fatalf("related are %+v", res.Relations)
	}
	ids := []memory.ID{res.Relations[0].FromID, res.Relations[0].ToID}
	want := []memory.ID{req.Records[0].ID, req.Records[2].ID}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) || res.Relations[0].Strength >= 1 {
		t.Errorf("related are %+v", res.Relations[0])
	}
}
