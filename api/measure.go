package api

import (
	"bytes"
	"net/http"
	"sync/atomic"

	"emberd/internal/admission"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
)

// counts is what [Limits.Measure] tells beside what limits go by.
type counts struct {
	open     atomic.Int64  // connections
	accepted atomic.Uint64 // of them, ever
	closed   atomic.Uint64 // of them, to make room for others
	refused  metrics.Counts
	problems metrics.Counts // answers, by code
}

// Why requests and connections are refused by the limits, as they are counted.
const (
	refusedQueue      = "queue"      // as many wait already as may
	refusedWait       = "wait"       // it waited longer than it may
	refusedHeld       = "held"       // answers that are not taken take too much memory
	refusedThrottled  = "throttled"  // its caller is slowed down
	refusedStream     = "streams"    // as many are open as may be
	refusedConnection = "connection" // as many are open as may be
	refusedUser       = "user"       // a connection of another user
)

func (c *counts) refuse(why string) { c.refused.Add(metrics.By(why), 1) }

// Measure adds to a page how the daemon's callers are served.
func (l *Limits) Measure(p *metrics.Exposition) {
	running, waiting, callers := l.door.Load()
	p.Gauge("emberd_callers",
		"Callers that sent a request in the last few seconds. A process that uses two access tokens is two callers.")
	p.Sample(float64(callers))
	p.Gauge("emberd_requests", "Running and waiting requests.", "state")
	p.Sample(float64(running), "running")
	p.Sample(float64(waiting), "waiting")
	p.Gauge("emberd_connections", "Open connections.")
	p.Sample(float64(l.counts.open.Load()))
	p.Counter("emberd_connections_total", "Accepted connections.")
	p.Sample(float64(l.counts.accepted.Load()))
	p.Counter("emberd_connections_displaced_total",
		"Connections that the daemon closed to free slots for other callers.")
	p.Sample(float64(l.counts.closed.Load()))
	p.Gauge("emberd_streams", "Open event streams.")
	p.Sample(float64(l.openStreams()))
	p.Counter("emberd_refusals_total", "Requests and connections that the daemon refused, by reason: queue, wait, "+
		"held (unread responses), throttled, streams, connection, or user (process of another user).", "reason")
	p.Counts(&l.counts.refused)
	p.Counter("emberd_problems_total",
		"Error responses, by code. Errors of MCP tools are counted only in emberd_operations_total.", "code")
	p.Counts(&l.counts.problems)
}

func (l *Limits) openStreams() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams
}

// metrics answers with all metrics, to callers with permission to see everything. It does not
// wait for admission, so that a busy daemon answers too.
func (h *handler) metrics(measure func(*metrics.Exposition)) http.HandlerFunc {
	return h.bare(func(w http.ResponseWriter, r *http.Request) {
		if g := op.GrantFrom(r.Context()); !g.SeesAll() {
			h.fail(w, r,
				memory.Errorf(memory.Forbidden,
					"token %s cannot see all memories, but metrics count all of them; use a token that can read all",
					g.Token))
			return
		}
		h.limits.door.Charge(keyOf(op.CallerFrom(r.Context())), admission.Overhead)
		var p metrics.Exposition
		var body bytes.Buffer
		measure(&p)
		_, _ = p.WriteTo(&body) // a buffer takes everything
		answer(w, http.StatusOK, metrics.ContentType, body.Bytes())
	})
}
