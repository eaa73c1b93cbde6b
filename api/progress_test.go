package api

import (
	"context"
	"net/textproto"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/op"
)

// working tells how far it is and answers.
func working(steps ...[2]int) backendFunc {
	return func(ctx context.Context, s *op.Spec, _ any) (any, error) {
		for _, step := range steps {
			op.Report(ctx, step[0], step[1])
		}
		return s.NewResult(), nil
	}
}

func TestProgressArrivesBeforeTheAnswer(t *testing.T) {
	c, _ := start(t, working([2]int{1, 9}, [2]int{2, 9}, [2]int{9, 9}))
	var got [][2]int
	ctx := op.WithProgress(t.Context(), func(done, total int) { got = append(got, [2]int{done, total}) })
	if _, err := op.GC.Call(ctx, c, &op.GCRequest{}); err != nil {
		t.Fatal(err)
	}
	// The second comes at the heels of the first, unless the machine took its time.
	if len(got) < 2 || got[0] != [2]int{1, 9} || got[len(got)-1] != [2]int{9, 9} {
		t.Errorf("progress %v, want it to begin with 1 of 9 and end with 9 of 9", got)
	}
	if _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err != nil {
		t.Errorf("the next call on that connection, unasked for progress: %v", err)
	}
}

func TestWhoDoesNotAskForProgressHearsNothing(t *testing.T) {
	_, sock := start(t, working([2]int{1, 2}))
	got := ask(t, sock, "POST /v1/gc HTTP/1.1\nContent-Type: application/json\n\n{}")
	if got.StatusCode != 200 || got.Header.Get(headerProgress) != "" {
		t.Errorf("answered %d, header %v", got.StatusCode, got.Header)
	}
}

// TestProgressKeepsPatience: what takes long and says how far it is does not time out.
func TestProgressKeepsPatience(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		most := time.Minute
		ctx, p, cancel := newIdleWatchdog(t.Context(), most)
		defer cancel()
		for range 5 {
			time.Sleep(most - time.Second)
			p.reset()
		}
		if ctx.Err() != nil {
			t.Fatal("gave up on an operation that tells how far it is")
		}
		time.Sleep(most)
		synctest.Wait()
		if context.Cause(ctx) != context.DeadlineExceeded {
			t.Errorf("after a silent minute the cause is %v", context.Cause(ctx))
		}
	})
}

func TestACallerWhoLeavesEndsTheOperation(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	c, _ := start(t, backendFunc(func(ctx context.Context, s *op.Spec, _ any) (any, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := op.VaultCheck.Call(ctx, c, &op.VaultCheckRequest{}); err == nil {
		t.Error("a call that was given up has an answer")
	}
	if err := <-ended; err != context.Canceled {
		t.Errorf("the operation ended with %v", err)
	}
}

func TestParseProgress(t *testing.T) {
	for text, want := range map[string][]int{"3/12": {3, 12}, "3/0": {3, 0}, "": nil, "3": nil, "x/1": nil, "1/x": nil} {
		done, total, ok := parseProgress(text)
		if got := []int{done, total}; ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("parseProgress(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

// TestNoProgressAfterTheEnd: the connection may still be read when its call was given up.
func TestNoProgressAfterTheEnd(t *testing.T) {
	_, p, cancel := newIdleWatchdog(t.Context(), time.Minute)
	told := 0
	early := p.listen(func(int, int) { told++ })
	for range 2 {
		if err := early(102, textproto.MIMEHeader{headerProgress: {"1/9"}}); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	if told != 1 {
		t.Errorf("told %d times, want once, before the end", told)
	}
}
