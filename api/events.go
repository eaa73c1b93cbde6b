package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// events streams what happens as server-sent events (WHATWG HTML, section 9.2),
// until the client leaves, takes longer than writeTimeout for one event, shows a token
// that ends, or the server stops.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	grant := op.GrantFrom(r.Context())
	if !grant.Whole() { // events name memories of every scope
		h.fail(w, r,
			memory.Errorf(memory.Forbidden,
				"token %s cannot see all memories, so it cannot receive events; use search or list instead",
				grant.Token))
		return
	}
	key := keyOf(op.CallerFrom(r.Context()))
	if err := h.limits.openStream(r.Context(), key); err != nil {
		h.fail(w, r, err)
		return
	}
	defer h.limits.closeStream(key)
	charge := func(events int) {
		h.limits.door.Charge(key, sendCost+time.Duration(events)*eventCost)
		h.limits.door.Wait(r.Context(), key, heartbeat)
	}
	w.Header().Set("Content-Type", typeEvents)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)

	ctx, cancel := grant.Hold(r.Context())
	var source sync.WaitGroup
	defer source.Wait()
	defer cancel()
	queue := make(chan op.Event, gathered)
	source.Go(func() {
		defer close(queue)
		for ev := range h.backend.Events(ctx, r.Header.Get(headerLast)) {
			select {
			case queue <- ev:
			case <-ctx.Done():
				return
			}
		}
	})
	stream(ctx, w, queue, charge)
}

// stream writes events and heartbeats, the first event at once and what follows within
// gatherFor of it together: each write wakes a program, and sixteen streams of a busy store
// would have the daemon do little else. A client that is gone or too slow shows as a failed
// write, which ends the stream and needs no other answer.
func stream(ctx context.Context, w http.ResponseWriter, queue <-chan op.Event, charge func(events int)) {
	stop := stopping(ctx)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	rc := http.NewResponseController(w)
	for chunk := []byte(": emberd\n\n"); ; {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(chunk); err != nil || rc.Flush() != nil {
			return
		}
		soonest := time.Now().Add(gatherFor)
		select {
		case ev, ok := <-queue:
			if !ok || !sleepUntil(soonest, ctx.Done(), stop) {
				return
			}
			var events int
			chunk, events = gather(formatEvent(ev), queue)
			charge(events)
			beat.Reset(heartbeat)
		case <-beat.C:
			chunk = []byte(":\n\n")
		case <-ctx.Done():
			return
		case <-stop:
			return
		}
	}
}

// gather adds the events that are there already, and tells how many it has then.
func gather(chunk []byte, queue <-chan op.Event) ([]byte, int) {
	for n := 1; n < gathered; n++ {
		select {
		case ev, ok := <-queue:
			if !ok { // the next read says so again
				return chunk, n
			}
			chunk = append(chunk, formatEvent(ev)...)
		default:
			return chunk, n
		}
	}
	return chunk, gathered
}

// sleepUntil reports false if one of the two was closed before.
func sleepUntil(t time.Time, over, stop <-chan struct{}) bool {
	if time.Until(t) <= 0 {
		return true
	}
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-over:
	case <-stop:
	}
	return false
}

// formatEvent writes an event. JSON has no line ends of its own, and ids and
// types are single words.
func formatEvent(ev op.Event) []byte {
	var b bytes.Buffer
	if ev.ID != "" {
		fmt.Fprintf(&b, "id: %s\n", ev.ID)
	}
	data, _ := wire.Marshal(&ev) // strings and a time: this cannot fail
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", ev.Type, data)
	return b.Bytes()
}

// Events returns what happens at the daemon from now on, preceded by what
// happened after the event named, as far as the daemon still knows. The sequence
// may be used once; it blocks between events. It ends when ctx does, and
// otherwise with an error, after which it can be resumed with the ID of the last
// event that came.
func (c *Client) Events(ctx context.Context, after string) iter.Seq2[op.Event, error] {
	return func(yield func(op.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		err := c.receive(ctx, after, func(ev op.Event) bool { return yield(ev, nil) })
		if err != nil && ctx.Err() == nil {
			yield(op.Event{}, err)
		}
	}
}

// receive passes events to yield until it returns false, which is not an error.
func (c *Client) receive(ctx context.Context, after string, yield func(op.Event) bool) error {
	r, err := c.newRequest(ctx, http.MethodGet, &sent{url: op.EventsPath, header: make(http.Header)})
	if err != nil {
		return err
	}
	r.Header.Set("Accept", typeEvents)
	if after != "" {
		r.Header.Set(headerLast, after)
	}
	resp, err := c.do(r)
	if err != nil {
		return c.unreached(err)
	}
	defer resp.Body.Close()
	if err := c.checkDaemon(resp.Header); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // if it is cut short, the error says so
		return errorFrom(resp.StatusCode, body)
	}
	more, err := scanEvents(resp.Body, yield)
	if !more {
		return nil
	}
	if err == nil {
		err = io.EOF
	}
	return memory.Errorf(memory.Unavailable,
		"the event stream of %s ended (%w); resume the stream after the last event that you received", c.socket, err)
}

// scanEvents reads events up to the end of r; more is false when yield wanted no
// more of them. Only data lines count: the JSON repeats the other fields.
func scanEvents(r io.Reader, yield func(op.Event) bool) (more bool, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var ev op.Event
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			return true, fmt.Errorf("cannot read an event: %w", err)
		}
		if !yield(ev) {
			return false, nil
		}
	}
	return true, lines.Err()
}
