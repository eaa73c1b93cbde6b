package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// clutter is a store with duplicates, junk, versions and what is to stay.
type clutter struct {
	*witness
	t     *testing.T
	vault string // "" for none
}

// clutterTexts are memories of which a cleanup has something to do in several batches.
func clutterTexts() (texts []string) {
	name := func(i int) string {
		const first, second = "bdfgklmnprstvz", "aeiou"
		var word strings.Builder
		for n := i + 7; n > 0; n /= 70 {
			word.WriteString(string(first[n%14]) + string(second[n/14%5]))
		}
		return word.String()
	}
	for i := range 180 {
		a, b := name(37*i), name(53*i+900)
		texts = append(texts, fmt.Sprintf("The lighthouse keeper %s of %s paints the northern door blue", a, b))
		if i%2 == 0 {
			texts = append(texts, fmt.Sprintf("Of %s the lighthouse keeper %s paints the northern door blue", b, a))
		}
		if i%6 == 0 {
			texts = append(texts, fmt.Sprintf("test entry #%d", i))
		}
	}
	return texts
}

// live starts the daemon.
func (c *clutter) live() (*daemonProcess, *api.Client) {
	c.t.Helper()
	var args []string
	if c.vault != "" {
		args = []string{"--vault", c.vault}
	}
	d, err := startDaemon(c.t.Context(), c.binary(c.t), c.home, c.home+".log", cli.ForeignFree(os.Environ()), args...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	client := api.NewClient(filepath.Join(c.home, "emberd.sock"), nil)
	c.t.Cleanup(client.Close)
	return d, client
}

func executed() *op.CleanupRequest {
	return &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true}
}

// ready waits until a cleanup may be executed: the index is there, and notes were read.
func (c *clutter) ready(client *api.Client) {
	c.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		st, err := op.Status.Call(c.t.Context(), client, &op.StatusRequest{})
		if err != nil || time.Now().After(deadline) {
			c.t.Fatalf("not ready: %v", err)
		}
		res, err := op.Search.Call(c.t.Context(), client, &op.SearchRequest{Query: "lighthouse", Limit: 1, Trial: true})
		if err == nil && res.Loading == nil && res.Indexing == nil && st.Health != "" {
			return
		}
	}
}

// texts are those of the memories that are not archived.
func (c *clutter) texts(client *api.Client) (texts []string) {
	c.t.Helper()
	req := op.ListRequest{Limit: 100, Filter: op.Filter{Status: "active"}}
	for {
		res, err := op.List.Call(c.t.Context(), client, &req)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, m := range res.Memories {
			texts = append(texts, m.Content)
		}
		if req.Cursor = res.NextCursor; req.Cursor == "" {
			slices.Sort(texts)
			return texts
		}
	}
}

// settled waits until no run is under way, and returns the only one, if there is any.
func (c *clutter) settled(client *api.Client) *op.CleanupRun {
	c.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		res, err := op.CleanupHistory.Call(c.t.Context(), client, &op.CleanupHistoryRequest{})
		if err != nil || time.Now().After(deadline) {
			c.t.Fatalf("the run does not end: %+v, %v", res, err)
		}
		switch {
		case len(res.Runs) == 0:
			return nil
		case len(res.Runs) > 1:
			c.t.Fatalf("of one run became %d", len(res.Runs))
		case res.Runs[0].State != op.CleanupRunning && res.Runs[0].State != op.CleanupBrokenOff:
			return &res.Runs[0]
		}
	}
}

// fill starts the daemon and saves all texts.
func (c *clutter) fill() (*daemonProcess, *api.Client) {
	c.t.Helper()
	d, client := c.live()
	var items []op.SaveRequest
	for _, text := range clutterTexts() {
		items = append(items, op.SaveRequest{Content: text, CreatedAt: time.Now().Add(-48 * time.Hour), LastUsed: time.Now().Add(-48 * time.Hour)})
	}
	for some := range slices.Chunk(items, 100) {
		if _, err := op.SaveBatch.Call(c.t.Context(), client, &op.SaveBatchRequest{Items: some}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.ready(client)
	return d, client
}

// undisturbed is what the store has before and after a cleanup that nobody disturbs, and
// how long that takes.
func undisturbed(t *testing.T) (before, after []string, took time.Duration) {
	t.Helper()
	c := &clutter{witness: newWitness(1, filepath.Join(clitest.ShortDir(t), "h")), t: t}
	d, client := c.fill()
	before = c.texts(client)
	begun := time.Now()
	run, err := op.Cleanup.Call(t.Context(), client, executed())
	if run != nil {
		run.Actions = nil
	}
	if err != nil || run.State != op.CleanupDone || run.Counts[op.CleanupMerge] < 80 || run.Counts[op.CleanupDelete] < 20 {
		t.Fatalf("undisturbed it ends with %v: %+v", err, run)
	}
	took, after = time.Since(begun), c.texts(client)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return before, after, took
}

// Kill -9 at any moment of a run, and again while it is gone on with: after a restart it is
// done or as if it had never begun, says so, and one undo takes all of it back.
func TestCleanupKilled(t *testing.T) {
	t.Parallel()
	before, after, took := undisturbed(t)
	rounds := 2
	if text := os.Getenv(killRoundsVar); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s=%s is not a number", killRoundsVar, text)
		}
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	states := make(map[string]int)
	for round := range rounds {
		dir := clitest.ShortDir(t)
		c := &clutter{witness: newWitness(1, filepath.Join(dir, "h")), t: t}
		if round%2 == 1 {
			c.vault = filepath.Join(dir, "Vault")
			if err := os.Mkdir(c.vault, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		states[c.killedOnce(rng, took, before, after)]++
		if t.Failed() {
			t.Fatalf("in round %d of seed %d", round, seed)
		}
	}
	t.Logf("of %d runs: %v", rounds, states)
}

// killedOnce is a round, and says how the run ended.
func (c *clutter) killedOnce(rng *rand.Rand, took time.Duration, before, after []string) string {
	c.t.Helper()
	d, client := c.fill()
	ctx, cancel := context.WithCancel(c.t.Context())
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = op.Cleanup.Call(ctx, client, executed()) // it is killed, and the restart tells
	}()
	time.Sleep(time.Duration(rng.Int64N(int64(took + took/4))))
	_ = d.stop(syscall.SIGKILL) // the error is that it was killed
	cancel()
	<-answered
	if rng.IntN(2) == 0 {
		d, _ = c.live()
		time.Sleep(100*time.Millisecond + time.Duration(rng.Int64N(int64(took))))
		_ = d.stop(syscall.SIGKILL)
	}
	d, client = c.live()
	c.ready(client)
	run := c.settled(client)
	state := "never begun"
	if run != nil {
		state = run.State
	}
	want := before
	if state == op.CleanupDone {
		want = after
	}
	if got := c.texts(client); !slices.Equal(got, want) {
		c.t.Errorf("the run is %s, and %d memories are there, want %d", state, len(got), len(want))
	}
	if state == op.CleanupDone {
		if _, err := op.Undo.Call(c.t.Context(), client, &op.UndoRequest{Tx: run.Tx}); err != nil {
			c.t.Error(err)
		}
		if got := c.texts(client); !slices.Equal(got, before) {
			c.t.Errorf("taken back %d memories are there, want %d", len(got), len(before))
		}
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		c.t.Error(err)
	}
	return state
}
