package api

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"

	"emberd/internal/access"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
)

// LoopbackOptions are the settings of [NewLoopback].
type LoopbackOptions struct {
	Addr    net.Addr     // of the listener, whose port requests must be addressed to
	Token   string       // of the port itself, whose holder may do everything; "" is nobody's
	Tokens  Tokens       // the other tokens that are taken; nil for none
	MCP     http.Handler // of /mcp and /mcp/{profile}
	Version string       // of the daemon, as it tells its clients; default "devel"
	Logger  *slog.Logger // for faults of our own; nil discards
	Limits  *Limits      // of the daemon's callers; nil for new ones

	Measure func(*metrics.Page) // what /metrics tells; nil for none
}

// ListenLoopback opens a port of this machine's own addresses, from which nothing goes
// out to a network. Any user of the machine can connect to it, and so can web pages by
// way of their reader's browser: [NewLoopback] tells who is who.
func ListenLoopback(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, memory.Errorf(memory.Invalid, "listen %s is not an address of this machine alone; use 127.0.0.1:PORT", addr)
	}
	config := &net.ListenConfig{}
	config.SetMultipathTCP(false) // which the sandbox does not see, and nobody needs on one machine
	ln, err := config.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, memory.Errorf(memory.Unavailable, "another program listens on %s; stop it, or choose another port for the setting listen", addr)
	case err != nil:
		return nil, memory.Errorf(memory.Unavailable, "%s cannot be listened on (%w); choose another port for the setting listen", addr, err)
	}
	return ln, nil
}

// NewLoopback returns the handler of a loopback port, for [ServeLoopback]. It serves MCP
// and metrics and nothing else, to requests that are addressed to the port itself, carry its token or
// a capability token as a bearer token (RFC 6750), and were not made by a page of another site. To a page
// of any other site it looks as if it were not there: no answer allows sharing (CORS).
func NewLoopback(opt *LoopbackOptions) http.Handler {
	h := newHandler(opt.Version, opt.Logger, opt.Limits)
	_, port, _ := net.SplitHostPort(opt.Addr.String()) // which a listener gives in this form
	g := &guard{token: []byte(opt.Token), tokens: opt.Tokens}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		g.hosts = append(g.hosts, net.JoinHostPort(name, port))
	}
	h.admit = g.admit
	h.mount(opt.MCP)
	if opt.Measure != nil {
		h.handle(http.MethodGet, op.MetricsPath, h.metrics(opt.Measure))
	}
	return h
}

// guard decides who is served at a port.
type guard struct {
	hosts  []string // that requests may be addressed to
	token  []byte
	tokens Tokens
}

// admit refuses pages before it looks at the token, so that none can try tokens.
func (g *guard) admit(r *http.Request) (visitor, error) {
	if !slices.Contains(g.hosts, r.Host) {
		return visitor{}, memory.Errorf(memory.Forbidden, "host %q is not this port; address requests to http://%s/mcp", memory.Clip(r.Host), g.hosts[0]).At("Host")
	}
	for _, origin := range r.Header["Origin"] {
		if origin != "http://"+r.Host {
			return visitor{}, memory.Errorf(memory.Forbidden, "a request from %q comes from a web page; emberd does not serve those", memory.Clip(origin)).At("Origin")
		}
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return visitor{}, memory.Errorf(memory.Forbidden, "a request made %q comes from a web page; emberd does not serve those", memory.Clip(site)).At("Sec-Fetch-Site")
		}
	}
	// Who can read a token is the daemon's own user, or was given it by them.
	v := visitor{actor: memory.Actor{UID: os.Geteuid()}}
	token, ok := bearer(r)
	switch {
	case ok && len(g.token) > 0 && subtle.ConstantTimeCompare([]byte(token), g.token) == 1:
		return v, nil
	case ok && g.tokens != nil && strings.HasPrefix(token, access.Prefix):
		return v.shows(token, g.tokens)
	}
	return v, unauthorised("the token is missing or wrong; send Authorization: Bearer and the token that emberd status tells the file of")
}
