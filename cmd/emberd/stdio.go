package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the protocol over standard input and output. When the input ends, what
// was asked before is answered still, as a script expects that pipes its questions
// in; the SDK's own transport drops it.
type stdio struct{ out *os.File }

// Connect implements [mcp.Transport].
func (t stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := (&mcp.IOTransport{Reader: os.Stdin, Writer: t.out}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &stdioConn{Connection: conn, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

type stdioConn struct {
	mcp.Connection
	answered chan struct{} // has something when calls were answered
	once     sync.Once
	closed   chan struct{}

	mu   sync.Mutex
	open int // calls that wait for their answer
}

// Read implements [mcp.Connection]. It tells the end of the input when all calls are
// answered, or when there is no more waiting.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		c.count(1)
	}
	return msg, err
}

// Write implements [mcp.Connection].
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.count(-1)
		select {
		case c.answered <- struct{}{}:
		default: // one is enough
		}
	}
	return err
}

// Close implements [mcp.Connection].
func (c *stdioConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

func (c *stdioConn) count(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += n
	return c.open
}

// drain waits until no call is open, for drainTime at most.
func (c *stdioConn) drain(ctx context.Context) {
	overdue := time.After(drainTime)
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
