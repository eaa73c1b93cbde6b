package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"emberd/internal/cli"
)

// harmlessAtOnce is how many hooks run at once.
const harmlessAtOnce = 6

// TestHooksAreHarmless makes as many calls of a hook as EMBERD_TEST_HARMLESS says, in each of the ways of
// TestHookNeverFails and with a daemon that is killed and started all the time. Every call ends with status 0, says
// nothing on stderr and on stdout nothing or one object, and leaves no process.
func TestHooksAreHarmless(t *testing.T) {
	calls, err := strconv.Atoi(os.Getenv("EMBERD_TEST_HARMLESS"))
	if err != nil {
		t.Skip("takes minutes: make hooks-harmless")
	}
	runs := hookRuns()
	var homes []string
	for _, r := range runs {
		homes = append(homes, r.home(t))
	}
	restarted := restartingHome(t)
	for range 6 { // as many calls as to the other kinds of home
		runs = append(runs, hookRun{name: "restarting, prompt", args: []string{"claude-code"}, input: gives(promptEvent)},
			hookRun{name: "restarting, turn", args: []string{"claude-code"}, input: gives(turnEvent)})
		homes = append(homes, restarted.home, restarted.home)
	}
	answered := harmlessCalls(t, calls, runs, homes)
	for _, home := range homes {
		expectNoHook(t, home)
	}
	t.Logf("%d calls of %d kinds, %d with an answer, %d restarts of a daemon",
		calls, len(runs), answered, restarted.times.Load())
}

// harmlessCalls makes calls, some at once, and returns how many were answered.
func harmlessCalls(t *testing.T, calls int, runs []hookRun, homes []string) int64 {
	t.Helper()
	var answered atomic.Int64
	next := make(chan int)
	var done sync.WaitGroup
	for range harmlessAtOnce {
		done.Go(func() {
			for i := range next {
				t.Run(fmt.Sprintf("%s/%d", runs[i%len(runs)].name, i), func(t *testing.T) {
					if len(runHook(t, runs[i%len(runs)], homes[i%len(runs)])) > 0 {
						answered.Add(1)
					}
				})
			}
		})
	}
	for i := range calls {
		next <- i
	}
	close(next)
	done.Wait()
	return answered.Load()
}

// restarting is a daemon that is killed and started until the test ends.
type restarting struct {
	home  string
	times atomic.Int64
}

func restartingHome(t *testing.T) *restarting {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &restarting{home: bareHome(t)}
	stop, stopped := make(chan struct{}), make(chan struct{})
	ctx := t.Context()
	go func() {
		defer close(stopped)
		for {
			d, err := startDaemon(ctx, exe, r.home, r.home+".log", cli.ForeignFree(os.Environ()), "--set", "hooks.recall=on")
			if err != nil {
				return // the test is over
			}
			r.times.Add(1)
			select {
			case <-stop:
				_ = d.stop(syscall.SIGKILL) // the error is that it was killed
				return
			case <-time.After(500 * time.Millisecond):
				_ = d.stop(syscall.SIGKILL)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return r
}

// expectNoHook fails if a hook of a home still runs.
func expectNoHook(t *testing.T, home string) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		words, _ := os.ReadFile(filepath.Join(folder, "cmdline")) // a process that has ended has none
		if bytes.Contains(words, []byte("\x00hook\x00")) && bytes.Contains(words, []byte(home)) {
			t.Errorf("%s is left: %q", folder, words)
		}
	}
}
