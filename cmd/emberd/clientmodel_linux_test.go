package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// mockModel is a model API that requests one tool call after the other, and keeps the results
// that the client gives it.
type mockModel struct {
	protocol modelProtocol
	calls    []toolUse
	before   func() // runs before a call is requested, nil for nothing

	mu      sync.Mutex
	results []string // of the calls, as the model receives them
	shown   string   // the first request with tools, JSON
}

// toolUse is a call that the model requests.
type toolUse struct {
	server string // the words before the name of the tool, by which the client knows its server
	name   string
	input  string // the arguments, JSON
}

// modelProtocol is the protocol in which a client speaks to a model.
type modelProtocol struct {
	// results returns the results of all calls in a request, in their order.
	results func(request []byte) []string
	// answer streams the nth call, or a text without one.
	answer func(w io.Writer, n int, call *toolUse)
}

// ServeHTTP answers with the call whose result is not in the request yet, and with a text when
// all are there. Requests without tools, such as for a title, get a text.
func (m *mockModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req struct{ Tools []json.RawMessage }
	if err != nil || json.Unmarshal(body, &req) != nil {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	n, call := 0, (*toolUse)(nil)
	if len(req.Tools) > 0 {
		n, call = m.next(body)
	}
	if call != nil && m.before != nil {
		m.before()
	}
	m.protocol.answer(w, n, call)
}

// next keeps what a request contains, and returns the number of the next call and the call.
func (m *mockModel) next(body []byte) (int, *toolUse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown == "" {
		m.shown = string(body)
	}
	results := m.protocol.results(body)
	if len(results) > len(m.results) {
		m.results = results
	}
	if len(results) < len(m.calls) {
		return len(results), &m.calls[len(results)]
	}
	return len(results), nil
}

// received returns the results so far and the first request with tools.
func (m *mockModel) received() (results []string, shown string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.results, m.shown
}

// resultText returns the text of a result that is a string or a list of texts, which it puts on
// lines of their own, and any other result as its JSON.
func resultText(result json.RawMessage) string {
	var text string
	if json.Unmarshal(result, &text) == nil {
		return text
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(result, &blocks) != nil {
		return string(result)
	}
	var texts []string
	for _, b := range blocks {
		if b.Text == "" {
			return string(result)
		}
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

// writeEvent writes a server-sent event, whose name may be "".
func writeEvent(w io.Writer, name, data string) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
}

// jsonOf returns a value as JSON.
func jsonOf(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // maps and strings of this test
	}
	return strings.TrimSuffix(b.String(), "\n")
}
