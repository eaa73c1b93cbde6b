package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/op"
	"emberd/stm"
)

// learner is an agent that adds, reinforces and verifies what it learns.
type learner struct {
	*agent
	rand   *rand.Rand
	facts  []string
	writes int // acknowledged
}

// fact is one of the few, in another case and with other white space.
func (l *learner) fact() string {
	s := l.facts[l.rand.IntN(len(l.facts))]
	if l.rand.IntN(2) == 0 {
		s = strings.ToUpper(s)
	}
	return strings.ReplaceAll(s, " ", []string{" ", "  ", "\n", " \t"}[l.rand.IntN(4)])
}

// step makes one call.
func (l *learner) step() error {
	tool := []string{"memory_add", "memory_add", "memory_reinforce", "memory_verify"}[l.rand.IntN(4)]
	field := "content"
	if tool == "memory_verify" {
		field = "claim"
	}
	raw, err := l.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{%q:%s}}`, tool, field, cli.JsonText(l.fact())))
	if err != nil {
		return err
	}
	var res struct {
		IsError           bool
		StructuredContent *struct {
			Tx string `json:"tx"`
		}
	}
	if err := json.Unmarshal(raw, &res); err != nil || res.IsError || res.StructuredContent == nil {
		return fmt.Errorf("%s answered %s (%v)", tool, raw, err)
	}
	if res.StructuredContent.Tx != "" {
		l.writes++
	}
	return nil
}

// Two agents learn the same few facts over a server each, at the same time: no fact is
// there twice, however it is spelled, and every acknowledged write is in the chain of one
// of them, with the process that the kernel knows.
func TestTwoAgentsLearn(t *testing.T) {
	t.Parallel()
	calls := 200
	if text := os.Getenv("EMBERD_TEST_AGENT_CALLS"); text != "" {
		var err error
		if calls, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	home, _ := startHome(t)
	var facts []string
	for i, host := range strings.Fields("staging production archive mirror") {
		facts = append(facts, fmt.Sprintf("the %s database listens on port %d", host, 5432+i), fmt.Sprintf("the %s database listens on port %d", host, 6432+i),
			"backups of the "+host+" machine are taken on weekdays", "backups of the "+host+" machine are not taken on weekdays")
	}
	var both [2]*learner
	for i := range both {
		both[i] = &learner{agent: startAgent(t, home, "--set", "mcp.form=structured"), rand: rand.New(rand.NewPCG(uint64(i), 1)), facts: facts}
	}
	var work sync.WaitGroup
	for _, l := range both {
		work.Go(func() {
			for range calls / 2 {
				if err := l.step(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	pids, writes := map[int]bool{}, 0
	for _, l := range both {
		pids[l.cmd.Process.Pid] = true
		writes += l.writes
		if err := l.in.Close(); err != nil {
			t.Error(err)
		}
		l.end(t)
	}
	checkLearned(t, home, len(facts), writes, pids)
}

// checkLearned looks at all memories there are.
func checkLearned(t *testing.T, home string, facts, writes int, pids map[int]bool) {
	t.Helper()
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	all, err := op.List.Call(t.Context(), client, &op.ListRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	wordings, learned := map[stm.NormalizedText]bool{}, 0
	for _, m := range all.Memories {
		wording := stm.NormalizeText(m.Content)
		if wordings[wording] {
			t.Errorf("%q is there twice", m.Content)
		}
		wordings[wording] = true
		learned += m.Learned()
		for _, link := range m.Sources {
			if by := link.By; by == nil || !pids[by.PID] || by.UID != os.Getuid() || by.Client == "" {
				t.Errorf("%q has a link by %+v, want one of %v", m.Content, by, pids)
			}
		}
	}
	if learned != writes || len(wordings) > facts || writes == 0 {
		t.Errorf("%d facts of %d, learned %d times in %d acknowledged writes", len(wordings), facts, learned, writes)
	}
	t.Logf("%d facts, learned %d times in %d acknowledged writes", len(wordings), learned, writes)
}
