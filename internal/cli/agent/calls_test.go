package agent

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"emberd/internal/testutil/bubble"
)

// A client that asks on and on has so many calls open; the next is read when one is answered.
func TestAgentHasBoundedCallsOpen(t *testing.T) {
	t.Parallel()
	bubble.Test(t, func(t *testing.T) {
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

// An id that would come back as another one is refused with itself.
func TestIDsComeBackAsTheyAre(t *testing.T) {
	for id, fine := range map[string]bool{"1": true, "-7": true, `"a"`: true, "9007199254740992": true, "1.5": false,
		"123456789012345678901234567890": false, "1e300": false} {
		text := []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		msg, no := line{text: text, n: len(text)}.message()
		if (msg != nil) != fine || (no == nil) != fine {
			t.Errorf("id %s: message %v, refused %v", id, msg, no)
		}
		if no != nil && (string(no.ID) != id || no.Error.Code != -32600) {
			t.Errorf("id %s is refused with the id %s and code %d", id, no.ID, no.Error.Code)
		}
	}
}

// A byte order mark before the first message is passed over.
func TestAByteOrderMarkIsNoMessage(t *testing.T) {
	c := &stdioConn{lines: make(chan line), closed: make(chan struct{})}
	go c.scan(bufio.NewReader(strings.NewReader("\ufeff{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")))
	l := <-c.lines
	close(c.closed)
	if msg, no := l.message(); msg == nil || no != nil {
		t.Errorf("%q is refused: %+v", l.text, no)
	}
}
