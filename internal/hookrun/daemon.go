package hookrun

import (
	"context"
	"errors"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// daemon is the one that is told of events, and the spool that keeps them while it is away.
type daemon struct {
	client *api.Client
	spool  spool
}

// connect finds the daemon as other commands do. Nothing is dialled yet.
func (h *hook) connect() (*daemon, error) {
	c, err := h.app.Load()
	if err != nil {
		return nil, err
	}
	token, err := h.app.Token()
	if err != nil {
		return nil, err
	}
	client := api.NewClient(c.Socket, &api.ClientOptions{Name: "hook", Version: cli.BuildVersion(), Token: token,
		Timeout: longest})
	return &daemon{client, spoolIn(c.State)}, nil
}

// call tells the daemon of an event. The audit has it under the name of the agent.
func (d *daemon) call(ctx context.Context, r *op.HookRequest) (*op.HookResult, error) {
	return op.Hook.Call(op.WithCaller(ctx, memory.Actor{Client: "hook/" + r.Agent}), d.client, r)
}

// away reports whether an error says that the daemon did not take the event, and may do so later.
func away(err error) bool {
	switch memory.CodeOf(err) {
	case memory.Unavailable, memory.Unknown, memory.Busy, memory.ReadOnly, memory.DiskFull:
		return err != nil
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// maxDrained bounds how many lines of the spool one hook hands over.
const maxDrained = 20

// before returns a context that ends some time before another one.
func before(ctx context.Context, rest time.Duration) (context.Context, context.CancelFunc) {
	end, _ := ctx.Deadline()
	return context.WithDeadline(ctx, end.Add(-rest))
}

// drainBefore is drain that leaves the rest of the time.
func (d *daemon) drainBefore(ctx context.Context, rest time.Duration) {
	short, cancel := before(ctx, rest)
	defer cancel()
	d.drain(short)
}

// drain hands over what the spool has, oldest first, while there is time.
func (d *daemon) drain(ctx context.Context) {
	var gone []spooled
	for _, line := range d.spool.first(maxDrained) {
		if d.spool.wasOff(line.Agent, line.Session) {
			gone = append(gone, line)
			continue
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < spare {
			break
		}
		r := op.HookRequest{Agent: line.Agent, Event: line.Event, Session: line.Session, Project: line.Project,
			Folder: line.Folder, Messages: bounded(transcriptOf(line.Agent, line.Transcript))}
		if _, err := d.call(ctx, &r); away(err) {
			break
		}
		gone = append(gone, line) // what the daemon refuses now, it refuses always
	}
	d.spool.remove(gone)
}
