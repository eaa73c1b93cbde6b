package embedding

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"emberd/internal/testutil/llamatest"
)

// children are the processes that this one has started, with their states: Z is one that
// ended and that nobody waited for.
func children(t *testing.T) map[int]string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[int]string)
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if fields[1] == strconv.Itoa(os.Getpid()) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			out[pid] = fields[0]
		}
	}
	return out
}

// descriptors are the files that this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// After all kinds of ends nothing is left: no process, no zombie, no goroutine, no file.
func TestNothingIsLeft(t *testing.T) {
	lives := [][]life{
		{{}},
		{{On: map[string]string{"harbour": segfault}}, {}},
		{{On: map[string]string{"harbour": segfault}}},
		{{Hello: abort}},
		{{Deaf: true}},
	}
	files, goroutines := descriptors(t), runtime.NumGoroutine()
	for i, l := range lives {
		e, err := Open(Options{Providers: []string{Llama}, Helper: scripted(t, l...), Engine: engineFolder(t), Model: modelFile(t, tiny(42))})
		if err != nil {
			t.Fatal(err)
		}
		e.chain[0].provider.(*native).limits.grace = impatient
		_, _ = e.Embed(t.Context(), Passage, []string{"harbour"})
		pid := e.Status().Native.PID
		for child, state := range children(t) {
			if state == "Z" || child != pid {
				t.Errorf("of the lives %d, process %d is left in state %s", i, child, state)
			}
		}
		for range 2 {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if s := e.Status(); s.Loaded || s.Native.PID != 0 {
			t.Errorf("after Close the status is %+v", s)
		}
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("after Close there are the processes %v", left)
	}
	if now := descriptors(t); now > files {
		t.Errorf("there were %d open files and are %d", files, now)
	}
	for runtime.NumGoroutine() > goroutines { // those that end just now
		if t.Context().Err() != nil {
			t.Fatalf("there were %d goroutines and are %d", goroutines, runtime.NumGoroutine())
		}
		runtime.Gosched()
	}
}

// halt stops a child, which goes on for a moment after it was told.
func halt(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
	}
}

// A stopped helper cannot be told to end, and does not answer.
func TestStoppedHelper(t *testing.T) {
	helper := scripted(t, life{})
	e, n := supervised(t, helper)
	want := embedOne(t, e, "harbour")
	pid := e.Status().Native.PID
	usual := n.limits.text
	n.limits.text = impatient // with the stopped one, and not with the next
	n.clock.now = func() time.Time { n.limits.text = usual; return time.Now() }
	halt(t, pid)
	if got := embedOne(t, e, "harbour"); !slices.Equal(got, want) {
		t.Error("the next helper makes another vector")
	}
	llamatest.Gone(t, pid)
	s := e.Status().Native
	if s.Restarts != 1 || s.LastExit != "did not answer within 300ms while embedding a text, so emberd killed the process" {
		t.Errorf("the status is %+v", s)
	}
	n.limits.grace = impatient
	halt(t, s.PID)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	llamatest.Gone(t, s.PID)
}

func TestCloseWhileAHelperHangs(t *testing.T) {
	for name, l := range map[string]life{"loading": {Hello: gate, Deaf: true}, "while embedding a text": {On: map[string]string{"harbour": gate}, Deaf: true}} {
		t.Run(name, func(t *testing.T) {
			helper := scripted(t, l)
			opened := makeGate(t, helper)
			e, n := supervised(t, helper)
			n.limits.grace = impatient
			failed := make(chan error)
			go func() {
				_, err := e.Embed(t.Context(), Query, []string{"harbour"})
				failed <- err
			}()
			defer opened().Close()
			closed := make(chan error)
			go func() { closed <- e.Close() }()
			if err := <-failed; !errors.Is(err, ErrClosed) {
				t.Errorf("Embed: %v, want %v", err, ErrClosed)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			if left := children(t); len(left) > 0 {
				t.Errorf("after Close there are the processes %v", left)
			}
		})
	}
}

func TestIdleHelperEnds(t *testing.T) {
	helper := scripted(t, life{})
	e, n := supervised(t, helper)
	idle := make(chan time.Time)
	n.clock.after = func(d time.Duration) <-chan time.Time {
		if d == n.unloadAfter {
			return idle
		}
		return time.After(d)
	}
	embedOne(t, e, "harbour")
	pid := e.Status().Native.PID
	idle <- time.Time{}
	llamatest.Gone(t, pid)
	embedOne(t, e, "harbour")
	if s := e.Status().Native; s.PID == pid || s.Restarts != 0 || s.LastExit != "" || starts(t, helper) != 2 {
		t.Errorf("started again, the status is %+v; want no word of a crash", s)
	}
}

// Somebody kills helpers while others use them: each vector is right, or there is an error.
func TestHelperKilledAtRandom(t *testing.T) {
	e, n := supervised(t, scripted(t, life{}))
	n.limits.crashes = 1 << 30
	killWhileInUse(t, e, func(text string) []float32 { return scriptedVector(text, 32) })
}

// killWhileInUse kills helpers at random while eight goroutines ask for vectors.
func killWhileInUse(t *testing.T, e *Embedder, want func(text string) []float32) {
	t.Helper()
	const askers = 8
	kills := 5
	if long() {
		kills = 100
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	right := make(chan bool, 1<<16) // whether an answer was a vector
	for i := range askers {
		wg.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				text := fmt.Sprintf("note %d of %d", k%50, i)
				made, err := e.Embed(t.Context(), Purpose(i%2), []string{text})
				if err == nil && !slices.Equal(made[0], want(text)) {
					t.Errorf("%s has a vector that is not its own", text)
				}
				select {
				case right <- err == nil:
				default:
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		for vectors := random.IntN(40); vectors > 0; {
			if <-right {
				vectors--
			}
		}
		if pid := e.Status().Native.PID; pid != 0 {
			_ = unix.Kill(pid, unix.SIGKILL) // or it has just ended
		}
	}
	stop()
	wg.Wait()
	if e.Status().Native.Restarts == 0 {
		t.Error("no helper was started again, so nothing was tried out")
	}
	embedOne(t, e, "harbour")
	for pid, state := range children(t) {
		if state == "Z" {
			t.Errorf("process %d is a zombie", pid)
		}
	}
}

func TestHelperEndsWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, stopped := range map[string]bool{"running": false, "stopped": true} {
		t.Run(name, func(t *testing.T) {
			parent := exec.Command(self)
			parent.Env = append(os.Environ(), parentEnv+"="+strings.Join([]string{scripted(t, life{Deaf: true}), engineFolder(t), modelFile(t, tiny(1))}, "\n"))
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			helper, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if stopped {
				if err := unix.Kill(helper, unix.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // says that it was killed
			llamatest.Gone(t, helper)
		})
	}
}
