package api

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"emberd/op"
)

const headerKey = "Idempotency-Key"

// How long a client waits between two attempts to reach a daemon that is away.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// mostRefused is how often a request is sent that a daemon refuses unread because it stops. A daemon that starts
// again refuses one for a few milliseconds.
const mostRefused = 4

// patience bounds how long calls wait for a daemon that is away.
type patience struct {
	most time.Duration
	// lost is set by a call that waited in vain. Until the daemon answers again, others do not wait.
	lost atomic.Bool
}

// attempts sends a request until it is answered, must not be sent again, or the daemon is away for too long. It
// reports whether the daemon may have got it, as [Client.attempt] does.
func (c *Client) attempts(ctx context.Context, s *op.Spec, out *sent, idle *idleWatchdog) (any, bool, error) {
	until, pause, sent := time.Now().Add(c.away.most), firstPause, false
	for tries := 1; ; tries++ {
		res, now, err := c.attempt(ctx, s, out, idle)
		if !lostToRestart(err) {
			c.away.lost.Store(false)
			return res, sent || now, err
		}
		sent = sent || now
		switch {
		case sent && s.Effect != op.Read && out.header.Get(headerKey) == "":
			return res, sent, err
		case tries == 1 && sent && c.away.most == 0: // a daemon that starts again may hang up once
			continue
		case tries < mostRefused && wasRefused(err) && sleep(ctx, pause): // nothing was done
		case !c.away.wait(ctx, until, pause):
			return res, sent, err
		}
		pause = min(2*pause, longestPause)
	}
}

// wait waits for a pause, and reports whether there is another attempt after it.
func (p *patience) wait(ctx context.Context, until time.Time, pause time.Duration) bool {
	if p.lost.Load() || time.Until(until) < pause {
		p.lost.Store(p.most > 0)
		return false
	}
	return sleep(ctx, pause)
}

// sleep waits for a pause, and reports whether ctx did not end before.
func sleep(ctx context.Context, pause time.Duration) bool {
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// wasRefused reports whether a daemon that stops refused a request unread.
func wasRefused(err error) bool {
	lost, ok := errors.AsType[*lostError](err)
	return ok && errors.Is(lost.cause, errNotTaken)
}

// lostToRestart reports whether there is no answer in the way of a daemon that is away or goes: nobody listens, or
// the connection ended before the answer.
func lostToRestart(err error) bool {
	lost, ok := errors.AsType[*lostError](err)
	if !ok {
		return false
	}
	for _, end := range []error{errNotTaken, fs.ErrNotExist, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNREFUSED,
		syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(lost.cause, end) {
			return true
		}
	}
	return false
}

// unsent reports whether an error says that the daemon did not get the whole request, or refused it unread.
func unsent(err error) bool {
	lost, ok := errors.AsType[*lostError](err)
	if !ok {
		return false
	}
	op, ok := errors.AsType[*net.OpError](lost.cause)
	return errors.Is(lost.cause, errNotTaken) || ok && op.Op == "write"
}

// giveKey gives a request an idempotency key, if its operation has one and it has none.
func (sh *shape) giveKey(out *sent) {
	if out.header.Get(headerKey) != "" {
		return
	}
	for _, f := range sh.fields {
		if f.in == inHeader && f.Name == headerKey {
			out.header.Set(headerKey, rand.Text())
		}
	}
}
