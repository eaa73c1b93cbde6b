package agent

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A client that asks on and on has so many calls open; the next is read when one is answered.
func TestAgentHasBoundedCallsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &stdioConn{out: io.Discard, lines: make(chan line), answered: make(chan struct{}, 1),
			closed: make(chan struct{})}
		const asked = 3 * maxCalls
		go func() {
			for id := range asked {
				text := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id)
				c.lines <- line{text: text, n: len(text)}
			}
			c.lines <- line{err: io.EOF}
		}()
		calls := make(chan *jsonrpc.Request, asked)
		var end error
		go func() {
			defer close(calls)
			for {
				msg, err := c.Read(t.Context())
				if err != nil {
					end = err
					return
				}
				calls <- msg.(*jsonrpc.Request)
			}
		}()
		synctest.Wait()
		if len(calls) != maxCalls {
			t.Errorf("%d calls are open, want %d", len(calls), maxCalls)
		}
		answered := 0
		for call := range calls {
			if err := c.Write(t.Context(), &jsonrpc.Response{ID: call.ID, Result: []byte("{}")}); err != nil {
				t.Error(err)
			}
			answered++
		}
		if answered != asked || end != io.EOF {
			t.Errorf("%d calls were answered until %v, want %d", answered, end, asked)
		}
	})
}
