package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// twoAgents are the callers that share one engine.
var twoAgents = [2]memory.Actor{
	{Via: "mcp", UID: 1000, PID: 71, Client: "scribe/1.0", Session: "a"},
	{Via: "mcp", UID: 1001, PID: 72, Client: "reader/2.0", Session: "b"},
}

// fewFacts are what both learn, some of which disagree.
func fewFacts() (facts []string) {
	for i, host := range strings.Fields("staging production archive mirror") {
		facts = append(facts,
			fmt.Sprintf("The %s database listens on port %d.", host, 5432+i),
			fmt.Sprintf("The %s database listens on port %d.", host, 6432+i),
			fmt.Sprintf("Backups of the %s machine are taken on weekdays by Ann", host),
			fmt.Sprintf("Backups of the %s machine are not taken on weekdays by Ann", host))
	}
	return append(facts, "Zeppelins are quixotic", "The café in the Straße opens at nine")
}

// misspelled is a text in another case, with other white space.
func misspelled(r *rand.Rand, s string) string {
	switch r.IntN(3) {
	case 0:
		s = strings.ToUpper(s)
	case 1:
		s = strings.ToLower(s)
	}
	words := strings.Fields(s)
	gaps := []string{" ", "  ", "\n", "\t "}
	return gaps[r.IntN(4)][1:] + strings.Join(words, gaps[r.IntN(4)]) + gaps[r.IntN(4)][1:]
}

// agentRun makes calls as one of the agents and counts the writes that are acknowledged.
func agentRun(t *testing.T, e *engine.Engine, by memory.Actor, calls int) (writes int) {
	ctx := op.WithCaller(context.Background(), by)
	r, facts := rand.New(rand.NewPCG(uint64(by.PID), 1)), fewFacts()
	for range calls {
		fact := misspelled(r, facts[r.IntN(len(facts))])
		switch r.IntN(4) {
		case 0, 1:
			res, err := op.Add.Call(ctx, e, &op.AddRequest{Content: fact})
			if err != nil {
				t.Errorf("add: %v", err)
				return writes
			}
			if !stm.NormalizeText(fact).Of(res.Memory.Content) {
				t.Errorf("%q was added as %q", fact, res.Memory.Content)
			}
			writes++
		case 2:
			res, err := op.Reinforce.Call(ctx, e, &op.ReinforceRequest{Content: fact})
			if err != nil {
				t.Errorf("reinforce: %v", err)
				return writes
			}
			if res.Found {
				writes++
			}
		case 3:
			if _, err := op.Verify.Call(ctx, e, &op.VerifyRequest{Claim: fact}); err != nil {
				t.Errorf("verify: %v", err)
				return writes
			}
		}
	}
	return writes
}

// Two agents learn the same facts at the same time: each is stored once, however it is
// spelled, and every acknowledged write is in the chain of one of them, with its writer.
func TestTwoAgentsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Logger = nil
	e := h.open(t)
	var work sync.WaitGroup
	var writes [2]int
	for i, by := range twoAgents {
		work.Go(func() { writes[i] = agentRun(t, e, by, size(150, 5_000)) })
	}
	work.Wait()
	wordings, learned := map[stm.NormalizedText]bool{}, 0
	for row := range e.Stm.Rows() {
		wording := stm.NormalizeText(row.Content())
		if wordings[wording] {
			t.Errorf("%q is there twice", row.Content())
		}
		wordings[wording] = true
		m, err := row.Memory()
		ok(t, err)
		learned += m.Learned()
		for _, link := range m.Sources {
			if link.By == nil || *link.By != twoAgents[0] && *link.By != twoAgents[1] {
				t.Errorf("%q has a link by %+v", m.Content, link.By)
			}
		}
	}
	if total := writes[0] + writes[1]; learned != total || len(wordings) > len(fewFacts()) {
		t.Errorf("%d facts of %d, learned %d times in %d acknowledged writes", len(wordings), len(fewFacts()), learned, total)
	}
	t.Logf("%d facts, %d writes", len(wordings), learned)
}

// Many that add the same at once make one memory, and reinforce it.
func TestTheSameAddedByManyAtOnce(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	r := rand.New(rand.NewPCG(1, 1))
	const adders = 24
	var work sync.WaitGroup
	made := make(chan bool, adders)
	for range adders {
		fact := misspelled(r, "The staging database listens on port 5432.")
		work.Go(func() {
			res, err := op.Add.Call(context.Background(), e, &op.AddRequest{Content: fact})
			if err != nil {
				t.Error(err)
				return
			}
			made <- res.New
		})
	}
	work.Wait()
	close(made)
	fresh := 0
	for isNew := range made {
		if isNew {
			fresh++
		}
	}
	if fresh != 1 || e.Stm.Len() != 1 {
		t.Errorf("%d said that they made it, %d memories are there", fresh, e.Stm.Len())
	}
}
