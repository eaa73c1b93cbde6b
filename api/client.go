package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"emberd/memory"
	"emberd/op"
)

// ClientOptions are the settings of a client; nil means all defaults.
type ClientOptions struct {
	Name    string // how the caller asks: cli or mcp; default "go"
	Version string // of the caller; default "devel"
	Session string // which session asks, up to 200 characters; default none
	Token   string // secret of a capability token that every request shows; default none
	// Timeout is for one operation from beginning to end, or since it last told how
	// far it is; default 60 s.
	Timeout time.Duration
	// Patience is how long a call waits for a daemon that is away, as one that is started again; default 0.
	// What the daemon may have done is sent again only if doing it twice is as doing it once: reads, and saves and
	// additions, which get an idempotency key for that.
	Patience time.Duration
}

// Client carries out operations through the socket of a daemon. It is an
// [op.Invoker], and every error it returns of the daemon's or of its own is a
// [memory.Error]; only when ctx ends first, the error is ctx's.
type Client struct {
	socket  string
	self    peerVersion
	session string
	token   string
	timeout time.Duration
	away    patience
	http    *http.Client
	shapes  sync.Map // of *op.Spec, *shape: those of operations that were called
}

// NewClient returns a client for the daemon that listens on socket. Nothing is
// connected before the first call, so that it cannot fail. Close the client to
// let go of idle connections.
func NewClient(socket string, opt *ClientOptions) *Client {
	if opt == nil {
		opt = &ClientOptions{}
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return connect(ctx, socket)
		},
		// Shorter than the server's, which must not close a connection in the very
		// moment when a request goes out on it.
		IdleConnTimeout:     idleTimeout / 2,
		MaxIdleConnsPerHost: 8,
		MaxConnsPerHost:     maxCallerConns / 4,
		DisableCompression:  true,
	}
	return &Client{
		socket:  socket,
		self:    peerVersion{cmp.Or(opt.Name, "go") + "/" + cmp.Or(opt.Version, "devel"), op.Protocol},
		session: opt.Session,
		token:   opt.Token,
		timeout: cmp.Or(opt.Timeout, 60*time.Second),
		away:    patience{most: opt.Patience},
		http:    &http.Client{Transport: transport, CheckRedirect: stay},
	}
}

// shape returns how the request of an operation travels, false for one that is not in the table.
func (c *Client) shape(s *op.Spec) (*shape, bool) {
	if known, ok := c.shapes.Load(s); ok {
		return known.(*shape), true
	}
	if !slices.Contains(op.Table(), s) {
		return nil, false
	}
	sh := shapeOf(s)
	c.shapes.Store(s, sh)
	return sh, true
}

// connect connects to the socket, and waits for room in its queue, which other processes can
// fill.
func connect(ctx context.Context, socket string) (net.Conn, error) {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close lets go of idle connections; running calls go on. It may be called
// more than once, and the client still works afterwards.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Invoke implements [op.Invoker]. A write that was sent but whose answer did not
// come fails with [memory.Unknown]: it may have been carried out.
func (c *Client) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	sh, ok := c.shape(s)
	if !ok {
		return nil, memory.Errorf(memory.Internal, "this client does not support operation %s", s.Name)
	}
	out, err := sh.encode(req)
	if err != nil {
		return nil, err
	}
	if c.away.most > 0 {
		sh.giveKey(out)
	}
	bounded, idle, cancel := newIdleWatchdog(ctx, c.timeout)
	defer cancel()
	res, sent, err := c.attempts(bounded, s, out, idle)
	lost, ok := errors.AsType[*lostError](err)
	switch {
	case !ok:
		return res, err
	case sent && s.Effect != op.Read:
		return nil, memory.Errorf(memory.Unknown,
			"unknown whether the request succeeded, because the response was lost (%w); check before you repeat it",
			lost.cause)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", s.Name, ctx.Err())
	}
	return nil, c.unreached(lost.cause)
}

// attempt sends a request, and reports whether the daemon may have got it if there is no answer.
func (c *Client) attempt(ctx context.Context, s *op.Spec, out *sent, idle *idleWatchdog) (any, bool, error) {
	var gone atomic.Bool
	trace := traceOf(&gone)
	if tell := op.ProgressOf(ctx); tell != nil {
		out.header.Set(headerProgress, "yes")
		trace.Got1xxResponse = idle.listen(tell)
	}
	r, err := c.newRequest(httptrace.WithClientTrace(ctx, trace), s.Method, out)
	if err != nil {
		return nil, false, err
	}
	res, err := c.roundTrip(r, s)
	return res, gone.Load() && !unsent(err), err
}

// traceOf notes whether the daemon may have got the request. A second connection is made only if nothing was
// written to the first, which a daemon that is gone had left behind.
func traceOf(gone *atomic.Bool) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { gone.Store(false) },
		WroteHeaders: func() { gone.Store(true) },
	}
}

// lostError is a failure to get an answer, of whatever kind.
type lostError struct{ cause error }

func (e *lostError) Error() string { return e.cause.Error() }

func (c *Client) newRequest(ctx context.Context, method string, out *sent) (*http.Request, error) {
	var body io.Reader
	if out.body != nil {
		body = bytes.NewReader(out.body)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://emberd"+out.url, body)
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "make a request: %w", err)
	}
	r.Header = unrepeated(out.header)
	if out.body != nil {
		r.Header.Set("Content-Type", typeJSON)
	}
	r.Header.Set(headerClient, c.self.String())
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	caller := op.CallerFrom(ctx)
	if session := cmp.Or(caller.Session, c.session); session != "" {
		r.Header.Set(headerSession, session)
	}
	if caller.Client != "" {
		r.Header.Set(headerAgent, caller.Client)
	}
	return r, nil
}

// unrepeated returns a copy of a header in which package http does not see an idempotency key: it would repeat the
// request by itself, so that it were not known whether a daemon got it.
func unrepeated(header http.Header) http.Header {
	h := header.Clone()
	if key := h.Get(headerKey); key != "" {
		h.Del(headerKey)
		h[strings.ToLower(headerKey)] = []string{key}
	}
	return h
}

// do sends a request. Its errors do not contain the address, whose query can be private text.
func (c *Client) do(r *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(r)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return nil, e.Err
	}
	if err == nil && resp.StatusCode == http.StatusRequestTimeout {
		return nil, errors.Join(errNotTaken, resp.Body.Close())
	}
	return resp, err
}

func (c *Client) roundTrip(r *http.Request, s *op.Spec) (any, error) {
	resp, err := c.do(r)
	if err != nil {
		return nil, &lostError{err}
	}
	defer resp.Body.Close()
	if why := resp.Header.Get(headerThrottled); why != "" {
		op.Notify(r.Context(), slowedDown(why))
	}
	if s != op.Version.Spec { // which tells the protocol in every one
		if err := c.checkDaemon(resp.Header); err != nil {
			return nil, err
		}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &lostError{err}
	case len(body) > maxAnswer:
		return nil, memory.Errorf(memory.TooLarge,
			"too many bytes in the response to %s (limit %d); request less data at once", s.Name, maxAnswer)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, errorFrom(resp.StatusCode, body)
	}
	res := s.NewResult()
	if err := json.Unmarshal(body, res); err != nil {
		return nil, memory.Errorf(memory.Internal, "the response to %s has an unexpected format: %w", s.Name, err)
	}
	return res, nil
}

// checkDaemon returns an error unless the answer came from a compatible daemon.
func (c *Client) checkDaemon(h http.Header) error {
	daemon, ok := parsePeerVersion(h.Get(headerVersion))
	if !ok {
		return memory.Errorf(memory.Incompatible,
			"the program listening on %s is not emberd; set EMBERD_HOME to the folder of the running daemon", c.socket)
	}
	return checkCompatible(c.self, daemon)
}

// unreached says in one sentence why no answer came and what to do.
func (c *Client) unreached(err error) error {
	if long := checkSocketPath(c.socket); long != nil {
		return long
	}
	const next = "start the daemon with \"emberd serve\", or set EMBERD_HOME to the folder of the running daemon"
	dial, _ := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED): // or a daemon left its socket behind
		return memory.Errorf(memory.Unavailable, "no daemon is listening on %s; %s", c.socket, next)
	case errors.Is(err, fs.ErrPermission):
		return memory.Errorf(memory.Unavailable, "cannot connect to socket %s: permission denied; %s", c.socket, next)
	case errors.Is(err, context.DeadlineExceeded):
		return memory.Errorf(memory.Unavailable, "the daemon on %s did not answer within %v; run: emberd status",
			c.socket, c.timeout)
	case dial != nil && dial.Op == "dial":
		return memory.Errorf(memory.Unavailable, "cannot connect to the daemon on %s (%w); %s", c.socket, dial.Err,
			next)
	}
	return memory.Errorf(memory.Unavailable,
		"the daemon on %s closed the connection (%w); the daemon might be restarting, so try again", c.socket, err)
}
