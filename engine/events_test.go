package engine_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/testutil/bubble"
	"emberd/op"
)

// feed is an engine's event stream alone.
func feed() *engine.Engine {
	return &engine.Engine{View: &core.View{Kernel: &core.Kernel{Opt: core.Options{Now: newClock().Now}, EventLog: core.NewEvents(),
		Closing: make(chan struct{}), Dirty: make(chan struct{}, 1)}}}
}

func publish(e *engine.Engine, from, to int) {
	for i := from; i < to; i++ {
		e.EventLog.Publish(op.Event{ID: fmt.Sprint(i), Type: "save"})
	}
}

// ids collects what a stream has to say until it waits or ends.
func ids(t *testing.T, seq iter.Seq[op.Event], cancel context.CancelFunc) []string {
	var got []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev := range seq {
			if ev.Type == "status" {
				got = append(got, "status: "+ev.Text)
			} else {
				got = append(got, ev.ID)
			}
		}
	}()
	synctest.Wait()
	cancel()
	<-done
	return got
}

func TestEventsResume(t *testing.T) {
	for _, c := range []struct {
		name  string
		after string
		want  []string
	}{
		{"from now on", "", []string{"5", "6"}},
		{"after one", "2", []string{"3", "4", "5", "6"}},
		{"after the last", "4", []string{"5", "6"}},
		{"after an unknown one", "x", []string{"status: events after this ID are incomplete; read the memories again", "0", "1", "2", "3", "4", "5", "6"}},
	} {
		bubble.Test(t, func(t *testing.T) {
			e := feed()
			publish(e, 0, 5)
			ctx, cancel := context.WithCancel(t.Context())
			seq := e.Events(ctx, c.after)
			publish(e, 5, 7)
			if got := ids(t, seq, cancel); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestOnlyTheLastThousandEventsAreKept(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := feed()
		publish(e, 0, 2500)
		for after, want := range map[string]int{"1499": 1001, "1500": 999, "2499": 0} {
			ctx, cancel := context.WithCancel(t.Context())
			if got := ids(t, e.Events(ctx, after), cancel); len(got) != want {
				t.Errorf("after %s: %d events, want %d", after, len(got), want)
			}
		}
	})
}

func TestASlowReaderIsDroppedAndTold(t *testing.T) {
	t.Parallel()
	e := feed()
	var last op.Event
	seen := 0
	seq := e.Events(t.Context(), "")
	publish(e, 0, 1)
	for ev := range seq {
		if seen++; seen == 1 {
			publish(e, 1, 1+core.KeptEvents+1)
		}
		last = ev
	}
	if seen != 2 || last.Type != "status" || last.Text == "" {
		t.Errorf("read %d events, the last is %+v; want one and a status", seen, last)
	}
}

func TestEventsEndWithTheEngine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	closed := make(chan error, 1)
	seq := e.Events(t.Context(), "")
	save(t, e, "last words")
	var got []string
	for ev := range seq {
		if got = append(got, ev.Type+ev.Text); len(got) == 1 {
			go func() { closed <- e.Close() }()
		}
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if want := []string{"save", "statusthe daemon is stopping"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestWhatIsDoneIsTold(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seq := e.Events(ctx, "")
	m := save(t, e, "a flare")
	edit := do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"seen"}})
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), AddTags: []string{"seen"}})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID), DryRun: true})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(m.ID)}})
	do(t, e, op.Undo, &op.UndoRequest{})
	do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "x"}, {}, {Content: "y"}}})
	want := []string{"save 1", "edit 1", "forget 1", "restore 1", "undo 1", "save 2"}
	var got []string
	for ev := range seq {
		got = append(got, fmt.Sprint(ev.Type, " ", len(ev.IDs)))
		if ev.Type == "edit" && ev.ID != edit.Tx {
			t.Errorf("the edit is event %s, want its entry %s", ev.ID, edit.Tx)
		}
		if len(got) == len(want) {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
