package api

import (
	"bytes"
	"io"
	"net/http"

	"emberd/internal/admission"
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

// mcp serves what a client asks over the protocol. Streams have places of their own, and
// everything else is looked at before it reaches the protocol's library, which would take
// any of it apart. The calls themselves are within the limits of what carries them out:
// [Limits.Invoker]. A stream ends with the token it was opened with.
func (h *handler) mcp(next http.Handler) http.HandlerFunc {
	return h.bare(func(w http.ResponseWriter, r *http.Request) {
		caller := op.CallerFrom(r.Context())
		caller.Via = "mcp"
		r = r.WithContext(op.WithCaller(r.Context(), caller))
		if r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == mcpListen {
			if err := h.limits.openStream(r.Context(), keyOf(caller)); err != nil {
				h.fail(w, r, err)
				return
			}
			defer h.limits.closeStream(keyOf(caller))
			ctx, cancel := op.GrantFrom(r.Context()).Hold(r.Context())
			defer cancel()
			r = r.WithContext(ctx)
		}
		done, err := h.inspect(w, r)
		if err != nil {
			h.fail(w, r, err)
			return
		}
		defer done()
		next.ServeHTTP(w, r)
	})
}

// inspect reads the body of a request and looks whether it is worth taking apart; done is
// to be called when it has been answered.
func (h *handler) inspect(w http.ResponseWriter, r *http.Request) (done func(), err error) {
	body, done, err := h.readBody(w, r)
	if err != nil {
		return nil, err
	}
	end, err := h.begin(w, r, admission.Short, false)
	if err == nil {
		err = checkMessage(body)
		end()
	}
	if err != nil {
		done()
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return done, nil
}

// checkMessage bounds what the protocol's library has to take apart: how deep and into how
// many values. What is not JSON at all is for the library to refuse. All of it is one pass
// over the bytes, without memory.
func checkMessage(body []byte) error {
	depth, values, messages := 0, 1, 1
	batch := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = endOfText(body, i)
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',':
			if values++; batch && depth == 1 {
				messages++
			}
		}
		switch {
		case depth > maxNesting:
			return memory.Errorf(memory.TooLarge,
				"too many levels of nested JSON in the message (limit %d); reduce the nesting", maxNesting)
		case values > maxValues:
			return memory.Errorf(memory.TooLarge, "too many values in the message (limit %d); send several messages",
				maxValues)
		case messages > maxMessages:
			return memory.Errorf(memory.TooLarge, "too many messages in the batch (limit %d); send several batches",
				maxMessages)
		}
	}
	return nil
}

// endOfText finds the quote that ends the text that begins at from.
func endOfText(body []byte, from int) int {
	for i := from + 1; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(body)
}
