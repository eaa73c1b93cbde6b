package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/memory"
	"emberd/op"
)

// Four clients start a server each, as editors do with a project open in each
// window, and save at the same time.
const (
	fourServers = 4
	savesOfEach = 100
)

// saving is what came of one of their saves.
type saving struct {
	word     string // in this memory and in no other
	id       memory.ID
	attempts int
}

// Servers share one daemon: nothing gets lost between them, and nothing doubled.
func TestFourServersAtOnce(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	for _, s := range saveFromFour(t, home, func(int) {}, nil) {
		if s.attempts != 1 {
			t.Errorf("%s was saved at attempt %d, want the first", s.word, s.attempts)
		}
	}
}

// The daemon is killed in the middle of it and started again. No save fails, since the servers wait for the daemon and
// send it what was not answered, under a key by which nothing is saved twice.
func TestFourServersAcrossKillNine(t *testing.T) {
	t.Parallel()
	home, d := startHome(t)
	back := make(chan struct{})
	restart := func(answers int) {
		if answers != fourServers*savesOfEach/2 {
			return
		}
		defer close(back)
		_ = d.stop(syscall.SIGKILL) // the error is that it was killed
		if _, err := relaunch(t, home); err != nil {
			t.Error(err)
		}
	}
	for _, s := range saveFromFour(t, home, restart, back) {
		if s.attempts != 1 {
			t.Errorf("%s was saved at attempt %d, want the first", s.word, s.attempts)
		}
	}
}

// saveFromFour has four servers save, tells answered how many answers came so far,
// repeats what failed once the daemon is back, and looks for all of it.
func saveFromFour(t *testing.T, home string, answered func(int), back <-chan struct{}) []saving {
	t.Helper()
	agents := make([]*agent, fourServers)
	for n := range agents {
		agents[n] = startAgent(t, home, "--set", "mcp.form=structured")
	}
	all := make([]saving, fourServers*savesOfEach)
	var answers atomic.Int64
	var work sync.WaitGroup
	for n, a := range agents {
		work.Go(func() {
			for i := range savesOfEach {
				s := &all[n*savesOfEach+i]
				s.word = fmt.Sprintf("word%dx%d", n, i)
				if err := a.saveUntilDone(s, back); err != nil {
					t.Error(err)
					return
				}
				answered(int(answers.Add(1)))
			}
		})
	}
	work.Wait()
	for _, a := range agents {
		if err := a.in.Close(); err != nil {
			t.Error(err)
		}
		a.end(t)
	}
	find(t, home, all)
	return all
}

// saveUntilDone saves s, again when the daemon is back if the answer is an error.
func (a *agent) saveUntilDone(s *saving, back <-chan struct{}) error {
	for {
		s.attempts++
		got, err := a.answer("save_memory", fmt.Sprintf(`{"content":"A memory that %s alone has"}`, s.word))
		switch {
		case err != nil:
			return err
		case !got.IsError:
			var res struct {
				ID memory.ID `json:"memory_id"`
			}
			err := json.Unmarshal(got.Data, &res)
			s.id = res.ID
			return err
		case back == nil || s.attempts == 3:
			return fmt.Errorf("save %s: %s", s.word, got.Content[0].Text)
		}
		<-back
	}
}

// find searches for each saving. Every one is found, under the id that was
// acknowledged, and no more often than it was tried.
func find(t *testing.T, home string, all []saving) {
	t.Helper()
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	total := 0
	for _, s := range all {
		res, err := op.Search.Call(t.Context(), client, &op.SearchRequest{Query: `"` + s.word + `"`}) // and no word that begins with it
		if err != nil {
			t.Fatal(err)
		}
		acknowledged := false
		for _, h := range res.Hits {
			acknowledged = acknowledged || h.Memory != nil && h.Memory.ID == s.id
		}
		if n := len(res.Hits); !acknowledged || n > s.attempts {
			t.Errorf("search %s finds %d memories, the acknowledged one among them: %v; want it, and %d at most", s.word, n, acknowledged, s.attempts)
		}
		total += len(res.Hits)
	}
	stats, err := op.Stats.Call(t.Context(), client, &op.StatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Total != total {
		t.Errorf("the daemon has %d memories, want the %d that were found", stats.Total, total)
	}
	t.Logf("%d acknowledged, %d there", len(all), total)
}
