package embedding

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is the http provider: a server of this machine that speaks OpenAI's protocol of
// embeddings.
type server struct {
	at        string // its URL as it is set
	base      string // what paths are set behind, ending in /v1
	model     string
	key       string
	maxTokens int
	prefix    string

	transport *http.Transport
	http      *http.Client

	// mu guards the fields below. It is held to read or set them, never during a request:
	// any number of requests can run at once, and the last answer decides.
	mu       sync.Mutex
	answered time.Time // when it last did, zero after it did not
	rest     serverBackoff
}

// Bounds of one request.
const (
	requestTime = time.Minute // a server may have to load its model first
	maxTexts    = 16
	// steady is how long the model of a server is taken to be the same without asking
	// again: a server does not switch models faster.
	steady = 10 * time.Second
)

func newServer(opt *Options) (*server, error) {
	at, dial, err := locate(opt.URL)
	if err != nil {
		return nil, err
	}
	s := &server{
		at: opt.URL, base: at, model: opt.URLModel, key: opt.Key,
		maxTokens: opt.MaxTokens, prefix: opt.PassagePrefix,
		// No Proxy: those of the environment are other machines.
		transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute},
	}
	s.http = &http.Client{
		Transport:     s.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// locate reads the URL of a server: where its /v1 is, and how to get there.
func locate(text string) (base string, dial dialFunc, err error) {
	at, err := url.Parse(text)
	if err != nil || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return "", nil, errors.New("invalid embedding.url; use http://127.0.0.1:PORT or unix:///path/of/socket; if " +
			"the server requires a key, write the key to a file and set embedding.key_file")
	}
	switch {
	case (at.Scheme == "unix" || at.Scheme == "http+unix") && at.Host == "" && at.Path != "":
		socket := at.Path
		return "http://localhost/v1", func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}, nil
	case at.Scheme != "http" || at.Hostname() == "":
		return "", nil, fmt.Errorf("invalid embedding.url: the scheme %q is not supported, or the host "+
			"is missing; use http://127.0.0.1:PORT or unix:///path/of/socket", at.Scheme)
	case !ofThisMachine(at.Hostname()):
		return "", nil, fmt.Errorf("embedding.url names another machine, %s, but emberd sends texts only "+
			"to this machine; run the server here and use http://127.0.0.1:PORT", at.Hostname())
	}
	path := strings.TrimSuffix(strings.TrimRight(at.Path, "/"), "/embeddings")
	base = (&url.URL{Scheme: "http", Host: at.Host, Path: cmp.Or(path, "/v1")}).String()
	return base, (&net.Dialer{Control: onlyLoopback}).DialContext, nil
}

// ofThisMachine reports the names and addresses of this machine. No other name is ever looked up.
func ofThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// onlyLoopback refuses a connection to anything else: localhost is whatever the resolver
// says.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Unmap().IsLoopback() {
		return errElsewhere
	}
	return nil
}

var errElsewhere = errors.New("the host name resolves to another machine")

// awaits reports whether vectors of an identity came from this server as it is set.
func (s *server) awaits(id Identity) bool {
	return id.Provider == HTTP && id.Server == s.at && (s.model == "" || id.Model == s.model)
}

func (s *server) tokens(_ context.Context, _ Identity, text string) (int, error) {
	return estimate(text), nil
}

func (s *server) loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.answered.IsZero()
}

func (s *server) close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// probe is the text whose vector distinguishes one model from another.
const probe = "The quick brown fox jumps over the lazy dog, and nobody minds."

func (s *server) identify(ctx context.Context, known []Identity) (Identity, error) {
	name, err := s.modelName(ctx)
	if err != nil {
		return Identity{}, err
	}
	vectors, err := s.ask(ctx, name, []string{probe})
	if err != nil {
		return Identity{}, err
	}
	id := Identity{
		Provider: HTTP, Model: name, Server: s.at, Probe: vectors[0], SHA256: digest(vectors[0]),
		MaxTokens: s.maxTokens, Dim: len(vectors[0]), Prefix: s.prefix,
	}
	for _, k := range known {
		if s.awaits(k) && k.Model == name && cosine(k.Probe, id.Probe) >= sameModel {
			id.Probe, id.SHA256 = k.Probe, k.SHA256
			break
		}
	}
	return id, nil
}

// digest is the SHA-256 of a vector, little endian, in hex.
func digest(v []float32) string {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// modelName is the model to ask for: the one that is set, else the server's only one. A
// server that does not list its models has but one, whatever its name.
func (s *server) modelName(ctx context.Context) (string, error) {
	if s.model != "" {
		return s.model, nil
	}
	names, err := s.models(ctx)
	switch {
	case err != nil:
		return "", err
	case len(names) > 1:
		return "", fmt.Errorf("the server at %s has %d models; set embedding.url_model to one of them", s.at,
			len(names))
	case len(names) == 0:
		return "", nil
	}
	return names[0], nil
}

func (s *server) embed(ctx context.Context, of Identity, texts []string) ([][]float32, error) {
	if err := s.sameModel(ctx, of); err != nil {
		return nil, err
	}
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, maxTexts) {
		beginnings := make([]string, len(batch))
		for i, text := range batch {
			beginnings[i] = cut(text, s.maxTokens)
		}
		made, err := s.askInParts(ctx, of.Model, beginnings)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, made...)
	}
	if i := slices.IndexFunc(vectors, func(v []float32) bool { return len(v) != of.Dim }); i >= 0 {
		return nil, s.changed(of)
	}
	return vectors, nil
}

// sameModel asks for the probe again if the server may have been given another model
// since it was last heard.
func (s *server) sameModel(ctx context.Context, of Identity) error {
	s.mu.Lock()
	fresh := !s.answered.IsZero() && time.Since(s.answered) < steady
	s.mu.Unlock()
	if fresh {
		return nil
	}
	v, err := s.ask(ctx, of.Model, []string{probe})
	if err != nil {
		return err
	}
	if cosine(v[0], of.Probe) < sameModel {
		return s.changed(of)
	}
	return nil
}

func (s *server) changed(of Identity) error {
	return fmt.Errorf(
		"%w: the server at %s now runs another model under the name %q; emberd computes all embeddings again",
		ErrChanged, s.at, of.Model)
}

// askInParts asks for all texts at once. When the server finds them too large, each is
// asked for alone, and cut by half until the server takes it.
func (s *server) askInParts(ctx context.Context, model string, texts []string) ([][]float32, error) {
	vectors, err := s.ask(ctx, model, texts)
	if !errors.Is(err, errTooLarge) {
		return vectors, err
	}
	vectors = make([][]float32, len(texts))
	for i, text := range texts {
		if vectors[i], err = s.askCutting(ctx, model, text); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

func (s *server) askCutting(ctx context.Context, model, text string) ([]float32, error) {
	for {
		made, err := s.ask(ctx, model, []string{text})
		if err == nil {
			return made[0], nil
		}
		tokens := estimate(text)
		if !errors.Is(err, errTooLarge) || tokens < minTokens {
			return nil, err
		}
		text = cut(text, tokens/2)
	}
}

// ask asks once, unless the server is left alone for having failed just now.
func (s *server) ask(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if err := s.resting(); err != nil {
		return nil, err
	}
	vectors, err := s.post(ctx, model, texts)
	s.noteAnswer(ctx, err)
	return vectors, err
}

// resting is the error that the server failed with so shortly ago that it is not asked.
func (s *server) resting() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rest.now(time.Now())
}

// noteAnswer records whether the server answers.
func (s *server) noteAnswer(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, ErrAway):
		s.answered = time.Time{}
		s.rest.failed(time.Now(), err)
	case ctx.Err() != nil:
	default:
		s.answered = time.Now()
		s.rest = serverBackoff{}
	}
}

// serverBackoff pauses requests to a server that is away, so that not every search waits for it.
type serverBackoff struct {
	until time.Time
	pause time.Duration
	err   error
}

const (
	firstPause = 250 * time.Millisecond
	maxPause   = 30 * time.Second
)

func (r *serverBackoff) now(now time.Time) error {
	if now.Before(r.until) {
		return r.err
	}
	return nil
}

func (r *serverBackoff) failed(now time.Time, err error) {
	r.pause = min(max(2*r.pause, firstPause), maxPause)
	r.until, r.err = now.Add(r.pause), err
}
