package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
)

// stdio is the protocol over standard input and output, a message in each line
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
// The SDK's own transport ends with the first line that is none, and drops what was
// asked before the end of the input. Here the one is answered with an error, and the
// other as ever, as a script expects that pipes its questions in.
type stdio struct{ out *os.File }

// maxMessage bounds a message, in bytes. The daemon takes a fourth of it in one request.
const maxMessage = 16 << 20

// byteOrderMark is what some programs begin their output with.
const byteOrderMark = "\ufeff"

// maxCalls bounds the calls that wait for their answer. The next one is read when one of
// them is answered, so that a client that asks on without reading answers takes no memory.
const maxCalls = 64

// Connect implements [mcp.Transport].
func (t stdio) Connect(context.Context) (mcp.Connection, error) {
	c := &stdioConn{out: t.out, lines: make(chan line), answered: make(chan struct{}, 1), closed: make(chan struct{})}
	// A read of stdin cannot be broken off; this goroutine ends with the next line
	// after Close, or with the process.
	go c.scan(bufio.NewReaderSize(os.Stdin, 64<<10))
	return c, nil
}

type stdioConn struct {
	lines    chan line
	batch    []json.RawMessage // what is left of one; only Read touches it
	greeted  bool              // a message has come; only Read touches it
	answered chan struct{}     // has something when calls were answered
	once     sync.Once
	closed   chan struct{}

	writing sync.Mutex
	out     io.Writer

	mu   sync.Mutex
	open int // calls that wait for their answer
}

// line is one of the input's, or why there are no more.
type line struct {
	text []byte
	n    int // its length, of which text is the beginning if that is beyond maxMessage
	err  error
}

// scan hands out the lines of the input.
func (c *stdioConn) scan(in *bufio.Reader) {
	for first := true; ; first = false {
		text, n, err := cli.ReadLine(in, maxMessage)
		if first {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		if n > 0 {
			err = nil // what is before the end is a line as well
		}
		select {
		case c.lines <- line{text, n, err}:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// SessionID implements [mcp.Connection].
func (*stdioConn) SessionID() string { return "" }

// Read implements [mcp.Connection]. It tells the end of the input when all calls are
// answered, or when there is no more waiting.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		l, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			c.drain(ctx)
		}
		if err != nil {
			return nil, err
		}
		msg, no := l.message()
		switch {
		case no == nil:
			c.greeted = true
			if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
				if err := c.room(ctx); err != nil {
					return nil, err
				}
				c.count(1)
			}
			return msg, nil
		case !c.greeted: // a person at a terminal, or a program that speaks something else
			return nil, errors.New(no.Error.Message)
		case no.idle:
			continue
		}
		if err := c.refuse(no); err != nil {
			return nil, err
		}
	}
}

// next returns the next line that is not blank. The messages of a batch, which the
// protocol had until 2025-03-26, come as a line each, and are answered so.
func (c *stdioConn) next(ctx context.Context) (line, error) {
	for {
		if len(c.batch) > 0 {
			text := c.batch[0]
			c.batch = c.batch[1:]
			return line{text: text, n: len(text)}, nil
		}
		select {
		case l := <-c.lines:
			if l.text = bytes.TrimSpace(l.text); l.err != nil {
				return l, l.err
			}
			if len(l.text) > 0 && (l.text[0] != '[' || json.Unmarshal(l.text, &c.batch) != nil || len(c.batch) == 0) {
				return l, nil
			}
		case <-ctx.Done():
			return line{}, ctx.Err()
		case <-c.closed:
			return line{}, io.EOF
		}
	}
}

// refusal answers what is no message.
type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if it cannot be told
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	idle bool // it would answer an answer, which could go on for ever
}

// message returns the message of a line, or its refusal.
func (l line) message() (jsonrpc.Message, *refusal) {
	no := &refusal{Version: "2.0"}
	no.Error.Code = jsonrpc.CodeInvalidRequest
	switch {
	case l.n > maxMessage:
		no.Error.Message = fmt.Sprintf("too many bytes in the message: %d (limit %d); split the message", l.n,
			maxMessage)
		return nil, no
	case !json.Valid(l.text):
		no.Error.Code, no.Error.Message = jsonrpc.CodeParseError, "the line is not JSON; send one message per line"
		return nil, no
	}
	var head struct{ ID, Method, Result, Error json.RawMessage }
	notObject := json.Unmarshal(l.text, &head)
	msg, err := jsonrpc.DecodeMessage(l.text)
	switch {
	case err != nil:
		no.Error.Message = "the line is not a JSON-RPC 2.0 message: " + err.Error()
	case !exact(head.ID):
		no.Error.Message = "invalid id; use a whole number up to 2^53, or a string"
	default:
		return msg, nil
	}
	if notObject == nil {
		no.idle = head.Method == nil && (head.Result != nil || head.Error != nil)
		if len(head.ID) > 0 && strings.ContainsRune(`"-0123456789`, rune(head.ID[0])) {
			no.ID = head.ID
		}
	}
	return nil, no
}

// exact reports whether an id comes back as it was sent. The library reads a number as a float64 and makes an int64
// of it, which would answer 1.5 as 1, another call perhaps.
func exact(id json.RawMessage) bool {
	var n float64
	return json.Unmarshal(id, &n) != nil || n == math.Trunc(n) && math.Abs(n) <= 1<<53
}

func (c *stdioConn) refuse(no *refusal) error {
	text, err := json.Marshal(no)
	if err != nil {
		return err
	}
	return c.write(text)
}

// Write implements [mcp.Connection].
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if _, ok := msg.(*jsonrpc.Response); ok {
		defer c.answer()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	return c.write(text)
}

func (c *stdioConn) write(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// Close implements [mcp.Connection].
func (c *stdioConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *stdioConn) count(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += n
	return c.open
}

// answer counts a call that was answered.
func (c *stdioConn) answer() {
	c.count(-1)
	select {
	case c.answered <- struct{}{}:
	default: // one is enough
	}
}

// room waits until one more call may be open. What a call itself waits for of the client,
// such as its folders, has a time limit, so that a client that answers in order gets on.
func (c *stdioConn) room(ctx context.Context) error {
	for c.count(0) >= maxCalls {
		select {
		case <-c.answered:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closed:
			return io.EOF
		}
	}
	return nil
}

// drain waits until no call is open, for drainTime at most.
func (c *stdioConn) drain(ctx context.Context) {
	overdue := time.After(daemon.DrainTime)
	for c.count(0) > 0 {
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-overdue:
			return
		}
	}
}
