package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// killRoundsVar raises the number of rounds of TestKillNine.
const killRoundsVar = "EMBERD_TEST_KILL_ROUNDS"

// What a daemon has acknowledged is there after kill -9, with the text that was
// acknowledged, and the next daemon starts without a complaint. What was under
// way may be there or not, but only whole.
func TestKillNine(t *testing.T) {
	t.Parallel()
	rounds, seed := 3, rand.Uint64()
	if text := os.Getenv(killRoundsVar); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s=%s is not a number", killRoundsVar, text)
		}
	}
	t.Logf("seed %d, %d rounds", seed, rounds)
	w := newWitness(seed, filepath.Join(clitest.ShortDir(t), "h"))
	for round := range rounds {
		d := w.start(t)
		w.check(t, round)
		w.load(t, 20+w.rng.IntN(300), true, func() { _ = d.stop(syscall.SIGKILL) }) // the error is that it was killed
	}
	d := w.start(t)
	w.check(t, rounds)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("clean stop at the end: %v", err)
	}
	t.Logf("%d rounds, %d answers", rounds, w.answers)
}

// witness remembers what the daemon acknowledged.
type witness struct {
	rng  *rand.Rand
	home string

	mu       sync.Mutex // guards what follows
	expected map[memory.ID]*expectation
	answers  int
}

func newWitness(seed uint64, home string) *witness {
	return &witness{rng: rand.New(rand.NewPCG(seed, 0)), home: home, expected: map[memory.ID]*expectation{}}
}

// expectation is the text last acknowledged, and one that was sent but whose
// answer never came.
type expectation struct {
	acknowledged string
	unanswered   string
	attempted    bool // acknowledged holds nothing yet
}

func (w *witness) binary(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func (w *witness) start(t *testing.T) *daemonProcess {
	t.Helper()
	d, err := startDaemon(t.Context(), w.binary(t), w.home, w.home+".log", cli.ForeignFree(os.Environ()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	return d
}

// load lets four clients save and edit, and with commands one command after the
// other save too, until so many answers have come; then end comes over them.
func (w *witness) load(t *testing.T, answers int, commands bool, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var count atomic.Int64
	answered := func() {
		if count.Add(1) == int64(answers) {
			end()
			cancel()
		}
	}
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() { w.client(ctx, i, answered) })
	}
	if commands {
		clients.Go(func() { w.commands(ctx, w.binary(t), answered) })
	}
	clients.Wait()
}

// client saves memories and edits every other one.
func (w *witness) client(ctx context.Context, number int, answered func()) {
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	for n := 0; ctx.Err() == nil; n++ {
		id, err := memory.NewID()
		if err != nil {
			return
		}
		text := fmt.Sprintf("client %d saves memory %d as %s", number, n, id)
		w.sent(id, text)
		if _, err := op.Save.Call(ctx, client, &op.SaveRequest{ID: id, Content: text}); err != nil {
			return // the daemon is gone
		}
		w.acknowledged(id, text, answered)
		if n%2 == 0 {
			continue
		}
		text += ", and changes its mind"
		w.sent(id, text)
		if _, err := op.Edit.Call(ctx, client, &op.EditRequest{ID: string(id), Content: &text}); err == nil {
			w.acknowledged(id, text, answered)
		}
	}
}

// commands saves with one process after the other.
func (w *witness) commands(ctx context.Context, binary string, answered func()) {
	for n := 0; ctx.Err() == nil; n++ {
		id, err := memory.NewID()
		if err != nil {
			return
		}
		text := fmt.Sprintf("command %d saves %s", n, id)
		w.sent(id, text)
		cmd := exec.CommandContext(ctx, binary, "save", text, "--id", string(id), "--home", w.home)
		cmd.Args[0] = "emberd"
		if cmd.Run() != nil {
			return // the daemon is gone
		}
		w.acknowledged(id, text, answered)
	}
}

func (w *witness) sent(id memory.ID, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.expected[id] == nil {
		w.expected[id] = &expectation{attempted: true}
	}
	w.expected[id].unanswered = text
}

func (w *witness) acknowledged(id memory.ID, text string, answered func()) {
	w.mu.Lock()
	*w.expected[id] = expectation{acknowledged: text}
	w.answers++
	w.mu.Unlock()
	answered()
}

// check compares all that is known with what the daemon has, and looks at how
// it started.
func (w *witness) check(t *testing.T, round int) {
	t.Helper()
	for _, problem := range w.problems(t, round) {
		t.Error(problem)
	}
}

// problems says what check found.
func (w *witness) problems(t *testing.T, round int) (found []string) {
	t.Helper()
	report := func(format string, args ...any) {
		found = append(found, fmt.Sprintf("round %d: ", round)+fmt.Sprintf(format, args...))
	}
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	status, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	r := status.Log.Recovery
	if r.Quarantined+r.HandEdited+r.Unknown+r.Future+r.Gaps > 0 || len(status.Warnings) > 0 {
		report("recovery %+v, warnings %v; want none", r, status.Warnings)
	}
	off := false
	for id, want := range w.expected {
		res, err := op.Show.Call(t.Context(), client, &op.ShowRequest{ID: string(id), Track: &off})
		switch {
		case want.attempted && memory.CodeOf(err) == memory.NotFound:
		case err != nil:
			report("%v", err)
		case !slices.Contains([]string{want.acknowledged, want.unanswered}, res.Memory.Content):
			report("%s holds %q, want %q or %q", id, res.Memory.Content, want.acknowledged, want.unanswered)
		}
	}
	return found
}
