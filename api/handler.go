package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"emberd/internal/admission"
	"emberd/internal/contain"
	"emberd/internal/metrics"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// HandlerOptions are the settings of a handler; nil means all defaults.
type HandlerOptions struct {
	Version string       // of the daemon, as it tells its clients; default "devel"
	Logger  *slog.Logger // for internal errors; nil discards
	MCP     http.Handler // of /mcp and /mcp/{profile}; nil for none
	Limits  *Limits      // of the daemon's callers; nil for new ones
	Tokens  Tokens       // nil refuses requests that carry one

	Measure func(*metrics.Exposition) // what /metrics tells; nil for none
	Profile bool                      // whether /debug/pprof/ is there
}

// NewHandler returns the handler of all routes. It answers only requests that
// came through [Serve], which identifies the caller. b must be safe for concurrent
// use.
func NewHandler(b Backend, opt *HandlerOptions) http.Handler {
	if opt == nil {
		opt = &HandlerOptions{}
	}
	h := newHandler(opt.Version, opt.Logger, opt.Limits)
	h.backend, h.tokens, h.admit = b, opt.Tokens, h.welcome
	for _, s := range op.Table() {
		h.handle(s.Method, s.Path, h.operation(shapeOf(s)))
	}
	document := sync.OnceValues(func() ([]byte, error) { return openAPI(h.self.name) })
	h.handle(http.MethodGet, op.OpenAPIPath, h.bare(func(w http.ResponseWriter, r *http.Request) {
		doc, err := document()
		if err != nil {
			h.fail(w, r, err)
			return
		}
		answer(w, http.StatusOK, typeJSON, doc)
	}))
	h.handle(http.MethodGet, op.EventsPath, h.bare(h.events))
	if opt.MCP != nil {
		h.mount(opt.MCP)
	}
	if opt.Measure != nil {
		h.handle(http.MethodGet, op.MetricsPath, h.metrics(opt.Measure))
	}
	if opt.Profile {
		h.profile()
	}
	return h
}

func newHandler(version string, log *slog.Logger, limits *Limits) *handler {
	if limits == nil {
		limits = NewLimits(nil)
	}
	return &handler{
		self:   peerVersion{cmp.Or(version, "devel"), op.Protocol},
		log:    loggerOr(log),
		mux:    http.NewServeMux(),
		limits: limits,
	}
}

// bare refuses parameters for a route that has none.
func (h *handler) bare(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			h.fail(w, r, memory.Errorf(memory.Invalid, "path %s does not accept parameters; omit the query string",
				r.URL.Path))
			return
		}
		next(w, r)
	}
}

func loggerOr(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// handler is immutable but for its limits.
type handler struct {
	backend Backend
	tokens  Tokens
	admit   func(*http.Request) (authenticatedCaller, error) // the caller of a request, or why it is refused
	self    peerVersion
	log     *slog.Logger
	mux     *http.ServeMux
	methods []string // that any route has
	limits  *Limits
}

func (h *handler) handle(method, path string, fn http.HandlerFunc) {
	h.mux.HandleFunc(method+" "+path, fn)
	if !slices.Contains(h.methods, method) {
		h.methods = append(h.methods, method)
	}
}

// ServeHTTP answers a request. If an operation panics, its client gets status 500 with the ID that
// the log has, see [handler.operation]. After any other panic, the answer may have begun, so the
// connection is closed.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	aborted := false
	err := contain.Do(h.log, contain.Request, r.Method, func() error {
		defer func() {
			if r := recover(); r == http.ErrAbortHandler { // a handler's way to close the connection
				aborted = true
			} else if r != nil {
				panic(r)
			}
		}()
		h.serve(w, r)
		return nil
	})
	if err != nil || aborted {
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerVersion, h.self.String())
	caller, err := h.admit(r)
	switch {
	case err != nil:
		h.fail(w, r, err)
	case !h.routed(r):
		h.fail(w, r, h.noRoute(w, r))
	default:
		h.mux.ServeHTTP(w, caller.request(r))
	}
}

// routed reports whether a route is exactly r's. The mux alone would answer HEAD
// as GET, which counts a use, and redirect paths that it can clean up.
func (h *handler) routed(r *http.Request) bool {
	p := r.URL.EscapedPath()
	if r.Method == http.MethodHead || p != path.Clean(p) {
		return false
	}
	_, pattern := h.mux.Handler(r)
	return pattern != ""
}

func (h *handler) noRoute(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, m := range h.methods {
		if m == r.Method {
			continue
		}
		try := r.Clone(r.Context())
		try.Method = m
		if h.routed(try) {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) == 0 {
		return refuse(http.StatusNotFound, memory.Errorf(memory.Invalid, "route %q not found; see %s",
			memory.Clip(r.URL.Path), op.OpenAPIPath))
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	return refuse(http.StatusMethodNotAllowed, memory.Errorf(memory.Invalid,
		"path %s does not support the method %s; use %s", memory.Clip(r.URL.Path), memory.Clip(r.Method), list))
}

// operation serves one operation of the table.
func (h *handler) operation(sh *shape) http.HandlerFunc {
	empty := wire.FillerOf(reflect.PointerTo(sh.spec.Result))
	return func(w http.ResponseWriter, r *http.Request) {
		var res any
		var out []byte
		err := contain.Do(h.log, contain.Request, sh.spec.Name, func() (err error) {
			res, out, err = h.take(w, r, sh, empty)
			return err
		})
		if err != nil {
			h.fail(w, r, err)
			return
		}
		release := h.limits.hold(op.CallerFrom(r.Context()), len(out))
		defer release()
		answer(w, dress(w.Header(), res), typeJSON, append(out, '\n'))
	}
}

// take reads a request, carries it out and lets go of its body.
func (h *handler) take(w http.ResponseWriter, r *http.Request, sh *shape,
	empty *wire.NilNormalizer) (res any, out []byte, err error) {
	body, done, err := h.readBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	return h.run(w, r, sh, body, empty)
}

// run decodes a request, invokes its operation and encodes the result. It neither reads the
// body nor sends the answer, so it does not wait for a slow client.
func (h *handler) run(w http.ResponseWriter, r *http.Request, sh *shape, body []byte,
	empty *wire.NilNormalizer) (res any, out []byte, err error) {
	end, err := h.begin(w, r, classOf(sh.spec), sh.spec.Effect == op.Read)
	if err != nil {
		return nil, nil, err
	}
	defer end()
	req, err := sh.decode(r, body)
	if err != nil {
		return nil, nil, err
	}
	ctx, told := newProgressWriter(w, r)
	defer told()
	res, err = h.backend.Invoke(ctx, sh.spec, req)
	if err != nil {
		return nil, nil, err
	}
	empty.Apply(reflect.ValueOf(res))
	out, err = wire.Marshal(res)
	return res, out, err
}

// begin waits until r may be carried out, and tells its caller if it is slowed down.
func (h *handler) begin(w http.ResponseWriter, r *http.Request, class admission.Class,
	read bool) (end func(), err error) {
	leave, why, err := h.limits.begin(r.Context(), class, read, false, costOf(r.Context()))
	if why != "" {
		w.Header().Set(headerThrottled, why)
	}
	if err != nil {
		return nil, err
	}
	mark(r.Context(), true)
	return func() { mark(r.Context(), false); leave() }, nil
}

// dress adds what HTTP has words of its own for and returns the status.
func dress(h http.Header, res any) int {
	switch res := res.(type) {
	case *op.SaveResult:
		h.Set("ETag", strconv.Quote(res.Memory.Rev))
		if !res.Replayed && res.Echo == nil {
			h.Set("Location", strings.Replace(op.Show.Path, "{id}", string(res.Memory.ID), 1))
			return http.StatusCreated
		}
	case *op.ShowResult:
		h.Set("ETag", strconv.Quote(res.Memory.Rev))
	case *op.EditResult:
		h.Set("ETag", strconv.Quote(res.Memory.Rev))
	}
	return http.StatusOK
}

// fail answers with err. It is the only function that logs internal errors.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	h.limits.counts.problems.Add(metrics.By(string(p.Code)), 1)
	if p.Code == memory.Internal {
		h.log.Error("operation failed", "route", r.Pattern, "err", err)
	}
	if p.Code == memory.Conflict && p.Current != "" {
		w.Header().Set("ETag", strconv.Quote(p.Current))
	}
	if p.Status == http.StatusUnauthorized { // RFC 9110, section 11.6.1
		w.Header().Set("WWW-Authenticate", `Bearer realm="emberd"`)
	}
	if p.Code == memory.Busy {
		w.Header().Set("Retry-After", "1")
	}
	body, _ := wire.Marshal(&p) // strings and a number: this cannot fail
	answer(w, p.Status, typeProblem, append(body, '\n'))
}

// answer writes a whole answer. About a client that does not take it nothing
// can be done any more.
func answer(w http.ResponseWriter, status int, media string, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
