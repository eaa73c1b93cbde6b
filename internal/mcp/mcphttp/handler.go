package mcphttp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp"
	"emberd/op"
)

// Handler answers requests to /mcp, and to /mcp/{profile} where the pattern that it is
// mounted at calls that part of the path profile.
type Handler struct {
	profile  mcp.Profile
	doors    map[mcp.Profile]func() (*door, error) // never changed
	sessions *sessions
}

// door is where the clients of one profile come in. Its server is made when the first
// one does.
type door struct {
	server      *sdk.Server
	sessionful  http.Handler
	sessionless http.Handler
}

// New returns a handler that offers the tools of opt.Profile at /mcp itself. Close it
// to end what clients hold open.
func New(opt mcp.Options) *Handler {
	opt.Profile = cmp.Or(opt.Profile, mcp.Agent)
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Handler{profile: opt.Profile, doors: make(map[mcp.Profile]func() (*door, error)),
		sessions: newSessions()}
	for _, p := range mcp.Profiles() {
		own := opt
		own.Profile = p
		h.doors[p] = sync.OnceValues(func() (*door, error) { return h.open(own) })
	}
	return h
}

func (h *Handler) open(opt mcp.Options) (*door, error) {
	server, err := mcp.New(opt)
	if err != nil {
		return nil, err
	}
	h.sessions.watch(server)
	same := func(*http.Request) *sdk.Server { return server }
	return &door{
		server: server,
		sessionful: sdk.NewStreamableHTTPHandler(same, &sdk.StreamableHTTPOptions{
			Logger: opt.Logger, MaxRequestBodyBytes: maxBody}),
		sessionless: sdk.NewStreamableHTTPHandler(same, &sdk.StreamableHTTPOptions{
			Logger: opt.Logger, MaxRequestBodyBytes: maxBody, Stateless: true, PropagateRequestCancellation: true}),
	}, nil
}

// lasts reports a request whose answer is a stream that ends when its client wants.
func lasts(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get(headerMethod) == "subscriptions/listen"
}

// Close ends every stream, takes no new requests, waits until calls under way are
// answered, and ends every session.
func (h *Handler) Close() { h.sessions.close() }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	profile := cmp.Or(mcp.Profile(r.PathValue("profile")), h.profile)
	open, ok := h.doors[profile]
	if !ok {
		_, err := mcp.ParseProfile(string(profile))
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	d, err := open()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !h.sessions.call() {
		http.Error(w, "the daemon is stopping; to start it again, run: emberd serve", http.StatusServiceUnavailable)
		return
	}
	defer h.sessions.calls.Done()
	if lasts(r) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-h.sessions.stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		r = r.WithContext(ctx)
	}
	out := newResponder(w)
	defer out.end()
	switch id := r.Header.Get(headerSession); {
	case r.Header.Get(headerVersion) >= sessionless:
		d.sessionless.ServeHTTP(out, r)
	case id != "":
		if !h.sessions.enter(id, op.GrantFrom(r.Context())) {
			http.Error(out, "session not found", http.StatusNotFound) // as the SDK puts it
			return
		}
		defer h.sessions.leave(id)
		d.sessionful.ServeHTTP(out, r)
	case r.Method != http.MethodPost:
		d.sessionful.ServeHTTP(out, r) // which refuses it
	default:
		h.begin(d, out, r)
	}
}

// begin serves a request that opens a session, if it succeeds.
func (h *Handler) begin(d *door, out *responder, r *http.Request) {
	if !h.sessions.reserve() {
		out.Header().Set("Retry-After", "60")
		http.Error(out, fmt.Sprintf("too many MCP sessions (limit %d); end a session", maxSessions),
			http.StatusServiceUnavailable)
		return
	}
	id := ""
	out.begin = func(header http.Header) { // before the client knows the id, and could use it
		if id = header.Get(headerSession); id != "" {
			h.sessions.add(id, d.server, op.GrantFrom(r.Context()))
		}
	}
	d.sessionful.ServeHTTP(out, r)
	if id == "" {
		h.sessions.release()
	} else {
		h.sessions.leave(id)
	}
}
