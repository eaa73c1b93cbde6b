package data

import (
	"context"

	"emberd/internal/cli"
	"emberd/op"
)

// flight is a batch that the daemon works at while the next one is read.
type flight[Item, Res any] struct {
	items []Item
	at    []int // the line of each
	done  chan struct{}
	res   *Res
	err   error
}

// sendOff sends a batch of items from such lines. The caller waits for its answer, and until then changes neither the
// request nor the items.
func sendOff[Item, Req, Res any](ctx context.Context, s *cli.App, o op.Op[Req, Res], req *Req, items []Item,
	at []int) *flight[Item, Res] {
	f := &flight[Item, Res]{items: items, at: at, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.res, f.err = cli.Call(ctx, s, o, req)
	}()
	return f
}

// answer waits for the daemon.
func (f *flight[Item, Res]) answer() (*Res, error) {
	<-f.done
	return f.res, f.err
}
