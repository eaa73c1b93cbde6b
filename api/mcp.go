package api

import (
	"net/http"

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

// mcp bounds the streams, which would leave no connection for calls, and ends them with
// the token they were opened with.
func (h *handler) mcp(next http.Handler) http.HandlerFunc {
	return h.bare(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == mcpListen {
			if !h.openStream(w, r) {
				return
			}
			defer h.closeStream()
			ctx, cancel := op.GrantFrom(r.Context()).Hold(r.Context())
			defer cancel()
			r = r.WithContext(ctx)
		}
		who := op.CallerFrom(r.Context())
		who.Via = "mcp"
		next.ServeHTTP(w, r.WithContext(op.WithCaller(r.Context(), who)))
	})
}
