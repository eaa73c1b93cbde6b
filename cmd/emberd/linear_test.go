package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"emberd/api"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// linearRoundsVar raises the number of kills in TestConcurrentClientsSeeOneOrder.
const linearRoundsVar = "EMBERD_TEST_LINEAR_ROUNDS"

// asked is a request of a client about one memory.
type asked struct {
	verb string // save, edit, forget or show
	id   memory.ID
	text string
}

// told is the answer.
type told struct {
	code memory.Code // "" is success
	text string      // of show
	none bool        // the answer never came
}

// register says what one memory may be after a request, given what it was and
// what the client was told; "" is no memory.
func register() porcupine.Model {
	step := func(state, input, output any) []any {
		was, in, out := state.(string), input.(asked), output.(told)
		exists := was != ""
		next, legal := was, out.code == ""
		switch in.verb {
		case "save":
			next, legal = in.text, legal && !exists
		case "edit":
			next, legal = in.text, legal && exists
		case "forget":
			next, legal = "", legal && exists
		case "show":
			legal = legal && exists && out.text == was
		}
		switch {
		case out.none && (in.verb == "save") == !exists:
			return []any{was, next}
		case out.none, !exists && out.code == memory.NotFound && in.verb != "save":
			return []any{was}
		case legal:
			return []any{next}
		}
		return nil
	}
	return (&porcupine.NondeterministicModel{
		Partition: byMemory,
		Init:      func() []any { return []any{""} },
		Step:      step,
		Equal:     func(a, b any) bool { return a == b },
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v: %+v", input, output)
		},
	}).ToModel()
}

func byMemory(all []porcupine.Operation) [][]porcupine.Operation {
	parts := map[memory.ID][]porcupine.Operation{}
	for _, o := range all {
		id := o.Input.(asked).id
		parts[id] = append(parts[id], o)
	}
	var out [][]porcupine.Operation
	for _, part := range parts {
		out = append(out, part)
	}
	return out
}

// observer records what clients ask and are told, with the times of both.
type observer struct {
	home  string
	begin time.Time

	mu  sync.Mutex // guards ops
	ops []porcupine.Operation
}

// ask sends one request and records it.
func (o *observer) ask(ctx context.Context, client *api.Client, number int, in asked) {
	call := time.Since(o.begin).Nanoseconds()
	var out told
	var err error
	switch in.verb {
	case "save":
		_, err = op.Save.Call(ctx, client, &op.SaveRequest{ID: in.id, Content: in.text})
	case "edit":
		_, err = op.Edit.Call(ctx, client, &op.EditRequest{ID: string(in.id), Content: &in.text})
	case "forget":
		_, err = op.Forget.Call(ctx, client, &op.ForgetRequest{ID: string(in.id)})
	case "show":
		var res *op.ShowResult
		off := false
		if res, err = op.Show.Call(ctx, client, &op.ShowRequest{ID: string(in.id), Track: &off}); err == nil {
			out.text = res.Memory.Content
		}
	}
	out.code = memory.CodeOf(err)
	back := time.Since(o.begin).Nanoseconds()
	switch out.code {
	case "", memory.NotFound:
	case memory.Conflict, memory.Invalid, memory.Busy:
		return // refused: nothing was asked, in effect
	default:
		if in.verb == "show" {
			return
		}
		out, back = told{none: true}, math.MaxInt64
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ops = append(o.ops, porcupine.Operation{ClientId: number, Input: in, Call: call, Output: out, Return: back})
}

// clients ask at random about a few memories each other also asks about, until
// so many operations are recorded; then the daemon is killed under them.
func (o *observer) clients(t *testing.T, round, most int, rng *rand.Rand, kill func()) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	once := sync.OnceFunc(func() { kill(); cancel() })
	var wg sync.WaitGroup
	for number := range 4 {
		seed := rng.Uint64()
		wg.Go(func() {
			client := api.NewClient(filepath.Join(o.home, "emberd.sock"), nil)
			defer client.Close()
			rng := rand.New(rand.NewPCG(seed, 0))
			for n := 0; ctx.Err() == nil; n++ {
				in := asked{verb: []string{"save", "edit", "edit", "show", "show", "forget"}[rng.IntN(6)],
					id: memory.DeriveID([]byte{byte(round), byte(rng.IntN(12))}), text: fmt.Sprintf("text %d of client %d in round %d", n, number, round)}
				o.ask(ctx, client, number, in)
				o.mu.Lock()
				enough := len(o.ops) >= most
				o.mu.Unlock()
				if enough {
					once()
				}
			}
		})
	}
	wg.Wait()
}

// Concurrent clients of the real daemon, which is killed under them and started
// again, see each memory change in one order that respects time: what was
// acknowledged, and what was seen, stays.
func TestConcurrentClientsSeeOneOrder(t *testing.T) {
	t.Parallel()
	rounds, seed := roundsOf(t, linearRoundsVar, 2), rand.Uint64()
	t.Logf("seed %d", seed)
	w := newWitness(seed, filepath.Join(clitest.ShortDir(t), "h"))
	o := &observer{home: w.home, begin: time.Now()}
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	defer client.Close()
	for round := range rounds {
		d := w.start(t)
		o.clients(t, round, (2*round+1)*200, w.rng, func() { _ = d.stop(syscall.SIGKILL) })
		d = w.start(t)
		o.clients(t, round, (2*round+2)*200, w.rng, func() { _ = d.stop(syscall.SIGKILL) })
		d = w.start(t)
		for n := range 12 {
			o.ask(t.Context(), client, 9, asked{verb: "show", id: memory.DeriveID([]byte{byte(round), byte(n)})})
		}
		if err := d.stop(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	unanswered := 0
	for _, o := range o.ops {
		if o.Output.(told).none {
			unanswered++
		}
	}
	t.Logf("%d operations, %d of them unanswered, %d kills", len(o.ops), unanswered, 2*rounds)
	if got := porcupine.CheckOperationsTimeout(register(), o.ops, 2*time.Minute); got != porcupine.Ok {
		t.Errorf("the history is %s", got)
	}
}

// roundsOf is how many rounds a variable asks for, few if it asks for none.
func roundsOf(t *testing.T, variable string, few int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s is not a number", variable, text)
	}
	return n
}
