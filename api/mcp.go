package api

import (
	"net/http"

	"emberd/memory"
	"emberd/op"
)

// mcpListen is the method, in the header Mcp-Method, whose answer is a stream that
// lasts as long as its client wants.
const mcpListen = "subscriptions/listen"

// mount serves the Model Context Protocol, whose requests do not derive from the table
// of operations.
func (h *handler) mount(mcp http.Handler) {
	serve := h.mcp(mcp)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		h.handle(method, "/mcp", serve)
		h.handle(method, "/mcp/{profile}", serve)
	}
}

// mcp bounds the streams, which would leave no connection for calls.
func (h *handler) mcp(next http.Handler) http.HandlerFunc {
	return h.bare(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == mcpListen {
			select {
			case h.streams <- struct{}{}:
				defer func() { <-h.streams }()
			default:
				h.fail(w, r, memory.Errorf(memory.Busy, "%d event streams are open, which is the most; close one", maxStreams))
				return
			}
		}
		who := op.CallerFrom(r.Context())
		who.Via = "mcp"
		next.ServeHTTP(w, r.WithContext(op.WithCaller(r.Context(), who)))
	})
}
