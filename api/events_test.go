package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/internal/testutil/dirsnap"
	"emberd/memory"
	"emberd/op"
)

// take receives n events after the one named and returns their ids.
func take(t *testing.T, c *Client, after string, n int) []string {
	t.Helper()
	var ids []string
	for ev, err := range c.Events(t.Context(), after) {
		if err != nil {
			t.Error(err)
			break
		}
		if ids = append(ids, ev.ID+" "+ev.Type); len(ids) == n {
			break
		}
	}
	return ids
}

func TestEventsResume(t *testing.T) {
	c, _ := start(t, newShelf())
	save(t, c, "one")
	save(t, c, "two")
	if got, want := take(t, c, "tx-1", 1), []string{"tx-2 save"}; !slices.Equal(got, want) {
		t.Errorf("after the first: %q, want %q", got, want)
	}
	var all sync.WaitGroup
	all.Go(func() {
		want := []string{"tx-2 save", "tx-3 save", "tx-4 undo"}
		if got := take(t, c, "tx-1", 3); !slices.Equal(got, want) {
			t.Errorf("while it happens: %q, want %q", got, want)
		}
	})
	save(t, c, "three")
	if _, err := op.Undo.Call(t.Context(), c, &op.UndoRequest{}); err != nil {
		t.Error(err)
	}
	all.Wait()
}

func TestEventsArriveWhole(t *testing.T) {
	sent := op.Event{ID: "tx-9", Type: "import", At: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Text: "a\nb: <c> 日本 \u2028"}
	for range 20_000 { // more than a line that most readers take
		sent.IDs = append(sent.IDs, "0199b2d4-6c1e-7a53-9f20-3d1c8a7e5b42")
	}
	stream := ": emberd\n\n" + string(formatEvent(sent)) + ":\n\n"
	more, err := scanEvents(strings.NewReader(stream), func(got op.Event) bool {
		if got.ID != sent.ID || got.Type != sent.Type || !got.At.Equal(sent.At) || got.Text != sent.Text || !slices.Equal(got.IDs, sent.IDs) {
			t.Errorf("got %+v", got)
		}
		return true
	})
	if !more || err != nil {
		t.Errorf("scanEvents = %v, %v; want true, nil", more, err)
	}
	if _, err := scanEvents(strings.NewReader("data: {\n"), func(op.Event) bool { return true }); err == nil {
		t.Error("half an event was taken")
	}
}

func TestEventsEndWithTheServer(t *testing.T) {
	before := runtime.NumGoroutine()
	shelf := newShelf()
	sock, stop := serve(t, NewHandler(shelf, nil), nil)
	c := NewClient(sock, nil)
	save(t, c, "one")
	save(t, c, "two")
	var got []error
	for _, err := range c.Events(t.Context(), "tx-1") {
		got = append(got, err)
		if err == nil { // the stream stands
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], memory.ErrUnavailable) {
		t.Errorf("events ended with %v, want unavailable", got)
	}
	c.Close()
	dirsnap.Goroutines(t, before)
}

func TestEventsEndWithTheContext(t *testing.T) {
	c, _ := start(t, newShelf())
	save(t, c, "one")
	save(t, c, "two")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range c.Events(ctx, "tx-1") {
		if err != nil {
			t.Errorf("a context that ended is no error, got %v", err)
		}
		cancel()
	}
}

func TestStreamsLeaveRoomForCalls(t *testing.T) {
	c, _ := start(t, newShelf())
	save(t, c, "one")
	save(t, c, "two")
	var open, done sync.WaitGroup
	open.Add(maxCallerStreams)
	ctx, cancel := context.WithCancel(t.Context())
	for range maxCallerStreams {
		done.Go(func() {
			own := NewClient(c.socket, nil)
			defer own.Close()
			for ev := range own.Events(ctx, "tx-1") {
				if ev.ID == "tx-2" {
					open.Done()
				}
			}
		})
	}
	open.Wait()
	for _, err := range c.Events(t.Context(), "") {
		if !errors.Is(err, memory.ErrBusy) {
			t.Errorf("one stream too many: %v, want busy", err)
		}
	}
	save(t, c, "three")
	cancel()
	done.Wait()
}

// endless is a Backend with nothing to say, or with more than anyone reads.
type endless struct {
	backendFunc
	ev *op.Event
}

func (e endless) Events(ctx context.Context, _ string) iter.Seq[op.Event] {
	return func(yield func(op.Event) bool) {
		for e.ev != nil && yield(*e.ev) {
		}
		<-ctx.Done()
	}
}

const askEvents = "GET /v1/events HTTP/1.1\r\nHost: emberd\r\n\r\n"

func TestAQuietStreamBeats(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		conn := overPipe(t, endless{}, &peer{})
		write(t, conn, askEvents)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.Header.Get("Content-Type") != typeEvents {
			t.Fatalf("answer %v, %v", resp, err)
		}
		begun := time.Now()
		lines := bufio.NewScanner(resp.Body)
		var beats []time.Duration
		for len(beats) < 20 && lines.Scan() {
			if lines.Text() == ":" {
				beats = append(beats, time.Since(begun))
			}
		}
		for i, at := range beats {
			if want := time.Duration(i+1) * heartbeat; at != want {
				t.Errorf("beat %d came after %v, want %v", i+1, at, want)
			}
		}
		if len(beats) != 20 {
			t.Errorf("%d beats, want 20: %v", len(beats), lines.Err())
		}
	})
}

// sendings is a response that notes when something was sent, and how many events it had.
type sendings struct {
	http.ResponseWriter
	at     []time.Duration
	events []int
	begun  time.Time
}

func (s *sendings) Write(b []byte) (int, error) {
	s.at = append(s.at, time.Since(s.begun))
	s.events = append(s.events, strings.Count(string(b), "event: save\n"))
	return len(b), nil
}

func (*sendings) Flush()                           {}
func (*sendings) SetWriteDeadline(time.Time) error { return nil }

func TestEventsOfAMomentAreSentTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		queue, w := make(chan op.Event, gathered), &sendings{begun: time.Now()}
		charged := 0
		var all sync.WaitGroup
		all.Go(func() { stream(t.Context(), w, queue, func(events int) { charged += events }) })
		time.Sleep(time.Second)
		for range 2*gathered + 1 {
			queue <- op.Event{Type: "save"}
		}
		close(queue)
		all.Wait()
		want := []time.Duration{0, time.Second, time.Second + gatherFor, time.Second + 2*gatherFor}
		if !slices.Equal(w.at, want) || w.events[1]+w.events[2]+w.events[3] != 2*gathered+1 || charged != 2*gathered+1 {
			t.Errorf("sent at %v with %v events of which %d are counted; want at %v, and all", w.at, w.events, charged, want)
		}
	})
}

func TestASlowReaderIsCutOff(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		conn := overPipe(t, endless{ev: &op.Event{ID: "tx", Type: "save"}}, &peer{})
		write(t, conn, askEvents)
		r := bufio.NewReader(conn)
		if _, err := http.ReadResponse(r, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeTimeout + time.Second) // without reading on
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err)
		}
	})
}
