// Package page serves the page on which a person looks at the memories, in a browser on the same
// machine: what happened today, search, one memory, decisions, the graph, what fades, callers and
// the health of the daemon. Each view and each button is an operation of package op, called
// through a [Backend]; the page adds no power of its own, and calls only the operations in allowed.
//
// Any web page in the browser can send requests to a port of this machine. So the listener is the
// page's own, a browser needs a code that can be used once, and every request is checked: see
// guard.go for the checks, session.go for codes and cookies, and docs/internals/threat-model.md for the reasons.
//
// Text of memories is data. Templates of html/template escape it, the script sets it as text, and
// characters that cannot be seen are shown as ⟨U+202E⟩ in everything that is sent.
package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"emberd/memory"
	"emberd/op"
)

// Backend carries out operations and reports what happens. The client of the daemon's socket is one.
type Backend interface {
	op.Invoker
	Events(ctx context.Context, after string) iter.Seq2[op.Event, error]
}

// Options are the settings of a page; the zero value means all defaults.
type Options struct {
	Version string           // of the program, shown at the bottom
	Logger  *slog.Logger     // for errors of the server; nil discards
	Now     func() time.Time // default [time.Now]
	Zone    *time.Location   // of the times shown, default [time.Local]
}

// Page is the page with its sessions. Any number of goroutines can use it.
type Page struct {
	backend  Backend
	version  string
	log      *slog.Logger
	now      func() time.Time
	zone     *time.Location
	sessions sessions
	streams  atomic.Int32
	mux      *http.ServeMux
	// templates parses the templates once, when the first view needs them.
	templates func() (*template.Template, error)

	// Set by Bind, from the listener.
	port   string
	hosts  []string
	owners *owners
}

// New returns a page that is not served yet.
func New(b Backend, opt Options) *Page {
	p := &Page{backend: asPage(b, opt.Version), version: cmp.Or(opt.Version, "devel"), log: opt.Logger, now: opt.Now,
		zone: cmp.Or(opt.Zone, time.Local), mux: http.NewServeMux()}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.now == nil {
		p.now = time.Now
	}
	p.sessions.now, p.templates = p.now, sync.OnceValues(p.parse)
	p.routes()
	return p
}

// Listen opens the listener of a page at an address of this machine, such as 127.0.0.1:0, where port 0
// is a free one. It refuses every other address.
func Listen(ctx context.Context, address string) (*net.TCPListener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, memory.Errorf(memory.Invalid,
			"invalid address %q: the page is only for this machine; use 127.0.0.1:PORT or [::1]:PORT", address)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, memory.Errorf(memory.Invalid,
			"another program uses the port of %s; set page.listen to another port, or omit page.listen", address)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the port of the page: %w", err)
	}
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(fmt.Errorf("cannot open the port of the page: unexpected listener type %T",
			ln), ln.Close())
	}
	return tcp, nil
}

// Bind names the listener at which the page is served, and opens what tells whose a connection is. It must be called
// once, before [Page.Serve] and [Page.Address].
func (p *Page) Bind(ln *net.TCPListener) error {
	at, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("the listener address %v is not a TCP address", ln.Addr())
	}
	p.port, p.hosts, p.owners = strconv.Itoa(at.Port), hostsOf(at), openOwners()
	return nil
}

// Address returns an address that opens the page once, within 60 seconds. The code is in the
// fragment, which browsers send to no server. An address from before is no longer valid.
func (p *Page) Address() string { return "http://" + p.hosts[0] + "/#" + p.sessions.newCode() }

// Serve serves the page until ctx ends, and closes the listener. Sessions end with it.
func (p *Page) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:                      p,
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               32 << 10,
		ErrorLog:                     slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	defer p.owners.close()
	err := srv.Serve(ln)
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(fmt.Errorf("cannot serve the page: %w", err), srv.Close())
}

// ServeHTTP checks a request, and answers it if it passes.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, h := range headers {
		w.Header().Set(h[0], h[1])
	}
	if no := p.check(r); no != nil {
		http.Error(w, no.why, no.status)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	p.mux.ServeHTTP(w, r)
}
