package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"emberd/op"
)

// maxStreams is how many event streams there can be at once.
const maxStreams = 4

// heartbeat is the longest pause of a stream.
const heartbeat = 20 * time.Second

// events streams what happens, so that the script renews the view: the kind of each event, its
// entry and the IDs of the memories, and no text. The first event, live, says that the daemon is there.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	if p.streams.Add(1) > maxStreams {
		p.streams.Add(-1)
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many views are open (limit 4); close a view", http.StatusServiceUnavailable)
		return
	}
	defer p.streams.Add(-1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	queue := make(chan op.Event)
	go func() { // ends with ctx
		defer close(queue)
		for ev, err := range p.backend.Events(ctx, r.Header.Get("Last-Event-ID")) {
			if err != nil {
				return // the browser connects again
			}
			select {
			case queue <- ev:
			case <-ctx.Done():
				return
			}
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	first := "retry: 3000\n\n"
	if _, err := op.Status.Call(ctx, p.backend, &op.StatusRequest{}); err == nil {
		first = "retry: 3000\nevent: live\ndata: 1\n\n"
	}
	send(ctx, w, first, queue)
}

// send writes the first chunk, and then events until one of the ends is gone.
func send(ctx context.Context, w http.ResponseWriter, chunk string, queue <-chan op.Event) {
	rc := http.NewResponseController(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		_ = rc.SetWriteDeadline(time.Now().Add(heartbeat))
		if _, err := w.Write([]byte(chunk)); err != nil || rc.Flush() != nil {
			return
		}
		select {
		case ev, ok := <-queue:
			if !ok {
				return
			}
			ev.Text = ""
			data, _ := json.Marshal(&ev) // strings and a time: this cannot fail
			chunk = fmt.Sprintf("id: %s\ndata: %s\n\n", ev.ID, data)
		case <-beat.C:
			chunk = ":\n\n"
		case <-ctx.Done():
			return
		}
	}
}
