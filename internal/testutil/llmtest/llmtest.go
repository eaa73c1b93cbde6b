// Package llmtest is, for tests, a chat endpoint at a loopback address that answers as the
// test says: well, slowly, wrongly or half.
package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// An Endpoint counts how often it is asked.
type Endpoint struct {
	URL   string
	asked atomic.Int64
}

// Asked is how often it was asked, tries that failed included.
func (e *Endpoint) Asked() int { return int(e.asked.Load()) }

// A Manner is how an endpoint behaves. It is given the instruction and the user's message.
type Manner func(w http.ResponseWriter, r *http.Request, system, user string)

// New serves chats until the test ends.
func New(t testing.TB, manner Manner) *Endpoint {
	t.Helper()
	e := new(Endpoint)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		var sent struct {
			Messages []struct{ Role, Content string }
		}
		if json.NewDecoder(r.Body).Decode(&sent) != nil || len(sent.Messages) != 2 {
			http.Error(w, "an instruction and a message are expected", http.StatusBadRequest)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices when the client leaves
		manner(w, r, sent.Messages[0].Content, sent.Messages[1].Content)
	}))
	t.Cleanup(s.Close)
	e.URL = s.URL
	return e
}

// Says answers with a text.
func Says(answer func(system, user string) string) Manner {
	return func(w http.ResponseWriter, _ *http.Request, system, user string) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": answer(system,
				user)}}},
		})
	}
}

// Status answers with a status, and repeats the user's message as some endpoints do.
func Status(code int) Manner {
	return func(w http.ResponseWriter, _ *http.Request, _, user string) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, user)
	}
}

// HalfABody hangs up within the answer.
func HalfABody() Manner {
	return func(w http.ResponseWriter, _ *http.Request, _, _ string) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "{\"scores`)
	}
}

// HTML answers with a page, as a portal in between does.
func HTML() Manner {
	return func(w http.ResponseWriter, _ *http.Request, _, _ string) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please log in</body></html>")
	}
}

// Hangs does not answer before the client leaves.
func Hangs() Manner {
	return func(_ http.ResponseWriter, r *http.Request, _, _ string) { <-r.Context().Done() }
}
