package mcphttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/testutil/bubble"
)

// stream is a response to a stream, whose deadlines are kept for the test to see.
type stream struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (s *stream) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }

func TestAQuietStreamIsKeptAlive(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &stream{ResponseRecorder: httptest.NewRecorder()}
		w := newResponder(s)
		w.Header().Set("Content-Type", "text/event-stream")
		if _, err := w.Write([]byte("data: 1\n\n")); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		left := time.Until(s.deadline)
		w.mu.Unlock()
		if left != writeTimeout {
			t.Errorf("a write has %v, want %v", left, writeTimeout)
		}
		time.Sleep(2*heartbeat + time.Second)
		synctest.Wait()
		w.end()
		time.Sleep(heartbeat)
		synctest.Wait()
		if got, want := s.Body.String(), "data: 1\n\n:\n\n:\n\n"; got != want || !s.Flushed {
			t.Errorf("the stream has %q, flushed %t; want %q", got, s.Flushed, want)
		}
	})
}

func TestNothingIsAddedToOtherAnswers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &stream{ResponseRecorder: httptest.NewRecorder()}
		w := newResponder(s)
		http.Error(w, "no", http.StatusNotFound)
		time.Sleep(2 * heartbeat)
		synctest.Wait()
		w.end()
		if got := s.Body.String(); got != "no\n" || s.Code != http.StatusNotFound {
			t.Errorf("answered %d %q", s.Code, got)
		}
	})
}

// session connects one to server under an id, without a client.
func openSession(t *testing.T, server *sdk.Server, id string) {
	t.Helper()
	if _, err := server.Connect(t.Context(), &sdk.StreamableServerTransport{SessionID: id}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		server := sdk.NewServer(&sdk.Implementation{Name: "test"}, nil)
		s := newSessions()
		s.watch(server)
		for _, id := range []string{"idle", "used", "streaming"} {
			openSession(t, server, id)
			if !s.reserve() {
				t.Fatal("no room for a session")
			}
			s.add(id, server, nil)
		}
		s.leave("idle")
		s.leave("used")
		time.Sleep(idleTime - time.Second)
		s.enter("used", nil)
		s.leave("used")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for id, want := range map[string]bool{"idle": false, "used": true, "streaming": true} {
			if got := find(server, id) != nil; got != want {
				t.Errorf("after %v, session %q is there: %t, want %t", idleTime, id, got, want)
			}
		}
		s.close()
		if len(s.open) != 0 || s.call() {
			t.Errorf("%d sessions after the end, want none and no more", len(s.open))
		}
	})
}

func TestSessionsInUseArePushedOutByNone(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "test"}, nil)
	s := newSessions()
	s.watch(server)
	for i := range maxSessions {
		id := strings.Repeat("x", i+1)
		openSession(t, server, id)
		if !s.reserve() {
			t.Fatalf("no room for session %d", i)
		}
		s.add(id, server, nil)
	}
	if s.reserve() {
		t.Error("one more than the most was let in, although all are in use")
	}
	s.leave("x")
	if !s.reserve() {
		t.Error("no room although one is idle")
	}
	s.release()
	s.enter("x", nil) // which was pushed out: nothing
	s.leave("x")
	s.close()
}
