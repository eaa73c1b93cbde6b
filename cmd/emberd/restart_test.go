package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/memory"
	"emberd/op"
)

// restartsVar is how many times TestRestartsUnderWork restarts the daemon: make restarts RESTARTS=20.
const restartsVar = "EMBERD_TEST_RESTARTS"

// restartClients is how many programs have a server each meanwhile.
const restartClients = 12

// worker is one of these programs, and what was acknowledged to it.
type worker struct {
	*agent
	name    string
	saved   []saving
	touches int64 // of the first memory that it saved
	calls   int
}

// Twelve clients save, add, touch and search without a pause while the daemon is stopped and started again. No call
// fails, nothing acknowledged is lost, and nothing is there or counted twice. The calls that count a use are writes
// without an idempotency key: they are safe because a daemon that stops answers what it takes.
func TestRestartsUnderWork(t *testing.T) {
	t.Parallel()
	restarts := 2
	if text := os.Getenv(restartsVar); text != "" {
		var err error
		if restarts, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s=%s is no number", restartsVar, text)
		}
	}
	home, d := startHome(t)
	workers := make([]*worker, restartClients)
	for n := range workers {
		workers[n] = &worker{agent: startAgent(t, home, "--set", "mcp.form=structured"), name: fmt.Sprintf("w%d", n)}
	}
	var over atomic.Bool
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(func() {
			if err := w.work(&over); err != nil {
				t.Errorf("%s, call %d: %v", w.name, w.calls, err)
			}
		})
	}
	for range restarts {
		time.Sleep(200 * time.Millisecond) // of work
		if err := d.stop(syscall.SIGTERM); err != nil {
			t.Errorf("the daemon did not stop well: %v", err)
		}
		next, err := relaunch(t, home)
		if err != nil {
			t.Error(err)
			break
		}
		d = next
	}
	over.Store(true)
	all.Wait()
	judgeWork(t, home, restarts, workers)
}

// work has a worker call one tool after the other.
func (w *worker) work(over *atomic.Bool) error {
	for n := 0; n == 0 || !over.Load(); n++ {
		s := saving{word: fmt.Sprintf("word%sx%d", w.name, n), attempts: 1}
		var err error
		if s.id, err = w.save(n, s.word); err != nil {
			return err
		}
		w.saved = append(w.saved, s)
		if err := w.call("touch_memory", fmt.Sprintf(`{"memory_id":"%s"}`, w.saved[0].id), nil); err != nil {
			return err
		}
		w.touches++
		if err := w.call("search_memory", fmt.Sprintf(`{"query":"%s"}`, s.word), nil); err != nil {
			return err
		}
	}
	return nil
}

// save saves a memory that a word alone has, by one of two tools in turn.
func (w *worker) save(n int, word string) (memory.ID, error) {
	if n%2 == 0 {
		var res struct {
			ID memory.ID `json:"memory_id"`
		}
		err := w.call("save_memory", fmt.Sprintf(`{"content":"A memory that %s alone has"}`, word), &res)
		return res.ID, err
	}
	var res struct {
		Memory struct{ ID memory.ID } `json:"memory"`
	}
	err := w.call("memory_add", fmt.Sprintf(`{"content":"%[1]s is what %[1]s-%[1]s knows","again":true}`, word), &res)
	return res.Memory.ID, err
}

func (w *worker) call(tool, arguments string, res any) error {
	w.calls++
	got, err := w.answer(tool, arguments)
	switch {
	case err != nil:
		return err
	case got.IsError:
		return fmt.Errorf("%s: %s", tool, got.Content[0].Text)
	case res == nil:
		return nil
	}
	return json.Unmarshal(got.Data, res)
}

// judgeWork compares what is there with what was acknowledged.
func judgeWork(t *testing.T, home string, restarts int, workers []*worker) {
	t.Helper()
	var saved []saving
	calls := 0
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	for _, w := range workers {
		if err := w.in.Close(); err != nil {
			t.Error(err)
		}
		w.end(t)
		saved, calls = append(saved, w.saved...), calls+w.calls
		if len(w.saved) == 0 {
			continue // which was an error
		}
		track := false
		got, err := op.Show.Call(t.Context(), client, &op.ShowRequest{ID: string(w.saved[0].id), Track: &track})
		if err != nil {
			t.Error(err)
		} else if got.Memory.UseCount != w.touches {
			t.Errorf("%s: %d uses are counted, want %d", w.name, got.Memory.UseCount, w.touches)
		}
	}
	find(t, home, saved)
	t.Logf("%d clients, %d restarts, %d calls, %d memories saved", len(workers), restarts, calls, len(saved))
}
