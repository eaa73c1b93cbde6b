// Package embedding turns texts into vectors that are near each other when the texts
// mean about the same.
//
// Vectors come from the first provider of a chain that works:
//
//   - http: a server of this machine that answers OpenAI's POST /v1/embeddings, as
//     llama-server, Ollama and LM Studio do, over loopback TCP or a Unix socket. No
//     other machine is ever asked: other hosts are refused by name, names that lead
//     elsewhere when they are dialled, and redirects and proxies are not followed.
//   - go: a BERT model in a GGUF file, run by package bert in this process.
//   - words: hashed words and letters without any model. It is lexical: texts are near
//     that are spelt alike, whatever they mean.
//
// What makes vectors comparable is their [Identity]: vectors of one identity, by its
// Key, may be compared, whichever provider made them, and no others. A model file that
// was replaced is noticed when it is loaded again, and [ErrChanged] says so before any of
// its vectors is handed out under the old identity. A server's model is known by the
// vector of a text of ours, which is asked for again after each failure and after ten
// seconds without a request; a server that exchanges its model while it answers is not
// found out before that, unless its vectors are of another length.
//
// No text ever appears in an error, a log or a [Status], and neither does anything that
// a server answers.
//
// A model is judged by an exam of ours, for no score of it can be taken on trust: see
// [Grade].
package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Purpose is what a vector is for; some models want the two told apart by a prefix.
type Purpose int

// The purposes. Passages wait for one another, queries and claims for nobody. A claim is
// compared with passages as one of them, so it has their prefix.
const (
	Query Purpose = iota
	Passage
	Claim
)

// The names of providers, in the order in which they are best tried.
const (
	HTTP  = "http"
	Go    = "go"
	Words = "words"
)

// Options are the settings of an Embedder.
type Options struct {
	// Providers are tried in this order. One that is not configured is passed over.
	Providers []string

	Model string // GGUF file of the go provider, "" for none

	// URL is the server of the http provider, "" for none: http://127.0.0.1:PORT, with
	// /v1 or a path that ends in it, or unix:///path/of/socket.
	URL      string
	URLModel string // name that the server knows the model by; "" for its only one
	Key      string // sent to the server as a bearer token, "" for none

	// MaxTokens is how much of a text counts, 16 to 8192; 0 is 256. What is longer is
	// cut, so callers cut it into parts first.
	MaxTokens                  int
	QueryPrefix, PassagePrefix string // set before each text

	// UnloadAfter is how long a model stays in memory unused; 0 is 10 minutes.
	UnloadAfter time.Duration
	Logger      *slog.Logger // nil discards
}

const (
	defaultMaxTokens   = 256
	leastTokens        = 16
	mostTokens         = 8192
	defaultUnloadAfter = 10 * time.Minute
)

// Errors of Ready and Embed. Each comes wrapped in a sentence that says what to do.
var (
	// ErrNone says that no provider can make vectors.
	ErrNone = errors.New("no provider of vectors works")
	// ErrAway says that a provider cannot be reached right now, and may be later: a server
	// that does not run, a model file that is not there.
	ErrAway = errors.New("cannot be reached")
	// ErrChanged says that the model is no longer the one that Ready told of. Every call
	// says so until Ready is asked again, and tells of the new one.
	ErrChanged = errors.New("the model is not the one it was")
	// ErrClosed says that the Embedder was closed.
	ErrClosed = errors.New("the maker of vectors is closed")
)

// provider makes vectors in one way. All methods may be called at once.
type provider interface {
	// identify says whose vectors it makes. It loads no model. Known are identities
	// that vectors are kept of.
	identify(ctx context.Context, known []Identity) (Identity, error)
	// embed returns a vector of length one for each text, nil for one that the model
	// can make nothing of. No text is blank.
	embed(ctx context.Context, of Identity, texts []string) ([][]float32, error)
	// tokens counts what a text takes of MaxTokens.
	tokens(of Identity, text string) int
	loaded() bool
	// awaits reports whether the provider, when it is away, is worth waiting for, since
	// vectors of an identity came from it.
	awaits(Identity) bool
	close() error
}

// Embedder makes vectors by the first of its providers that can. It may be shared.
type Embedder struct {
	opt  Options
	bulk chan struct{} // held while passages are embedded

	chain []link

	mu      sync.Mutex // never held while a provider works
	closed  bool
	known   []Identity
	chosen  *choice
	changed error // that there is no telling whose vectors these are until Ready is asked
	passed  []Passed
	problem error // of the last call, nil if it went well
	grades  map[string]Grade
}

// link is one provider of the chain, or why it cannot be used at all.
type link struct {
	name string
	provider
	unfit error
}

// choice is the provider in use.
type choice struct {
	link
	identity Identity
}

// Open checks the settings. It loads no model and opens no connection.
func Open(opt Options) (*Embedder, error) {
	if opt.MaxTokens == 0 {
		opt.MaxTokens = defaultMaxTokens
	}
	if opt.UnloadAfter == 0 {
		opt.UnloadAfter = defaultUnloadAfter
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case opt.MaxTokens < leastTokens || opt.MaxTokens > mostTokens:
		return nil, fmt.Errorf("a vector cannot be made of at most %d tokens; choose %d to %d", opt.MaxTokens, leastTokens, mostTokens)
	case opt.UnloadAfter < 0:
		return nil, fmt.Errorf("a model cannot be unloaded before it is used: the time until then is %s", opt.UnloadAfter)
	}
	e := &Embedder{opt: opt, bulk: make(chan struct{}, 1), grades: make(map[string]Grade)}
	for _, name := range opt.Providers {
		l, err := newLink(name, &e.opt)
		if err != nil {
			return nil, err
		}
		e.chain = append(e.chain, l)
	}
	return e, nil
}

// newLink makes a provider. Only what no change outside can mend is an error.
func newLink(name string, opt *Options) (link, error) {
	l := link{name: name}
	switch name {
	case HTTP:
		if opt.URL == "" {
			l.unfit = errors.New("embedding.url names no server")
			return l, nil
		}
		p, err := newServer(opt)
		l.provider = p
		return l, err
	case Go:
		if opt.Model == "" {
			l.unfit = errors.New("embedding.model names no model file")
			return l, nil
		}
		l.provider = newLocal(opt)
		return l, nil
	case Words:
		l.provider = words{}
		return l, nil
	}
	return l, fmt.Errorf("there is no provider of vectors called %q; use %s, %s or %s", name, HTTP, Go, Words)
}

// Keep tells of the identities that vectors are kept of, which replace those told of
// before. Call it before Ready: a server among them is waited for when it is away, and
// not passed over, and its model is known again.
func (e *Embedder) Keep(known []Identity) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = slices.Clone(known)
}

// Ready says whose vectors the Embedder makes: those of the first provider that works.
// That stays the same until ErrChanged. An error that is ErrAway may go away by itself,
// others only by a change of the settings.
func (e *Embedder) Ready(ctx context.Context) (Identity, error) {
	e.mu.Lock()
	e.changed = nil
	e.mu.Unlock()
	c, err := e.choose(ctx)
	if err != nil {
		return Identity{}, err
	}
	return c.identity, nil
}

func (e *Embedder) choose(ctx context.Context) (*choice, error) {
	e.mu.Lock()
	chosen, known, closed, changed := e.chosen, e.known, e.closed, e.changed
	e.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case changed != nil:
		return nil, changed
	case chosen != nil:
		return chosen, nil
	}
	chosen, passed, err := e.firstThatWorks(ctx, known)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	if e.chosen != nil { // somebody else was faster
		return e.chosen, nil
	}
	if err != nil && ctx.Err() != nil { // which says nothing of the providers
		return nil, err
	}
	e.chosen, e.passed, e.problem = chosen, passed, err
	return chosen, err
}

func (e *Embedder) firstThatWorks(ctx context.Context, known []Identity) (*choice, []Passed, error) {
	var passed []Passed
	var none, unfit noneError
	for _, l := range e.chain {
		if l.unfit != nil {
			unfit = append(unfit, fmt.Errorf("%s: %w", l.name, l.unfit))
			continue
		}
		id, err := l.identify(ctx, known)
		if err == nil {
			id.QueryPrefix = e.opt.QueryPrefix
			return &choice{l, id}, passed, nil
		}
		if ctx.Err() != nil {
			return nil, passed, ctx.Err()
		}
		passed = append(passed, Passed{Provider: l.name, Reason: err.Error()})
		if errors.Is(err, ErrAway) && slices.ContainsFunc(known, l.awaits) {
			return nil, passed, err
		}
		none = append(none, err)
	}
	if none == nil { // what nobody set is worth telling only where nothing is set
		none = unfit
	}
	return nil, passed, none
}

// noneError holds why each provider of a chain does not work. It is ErrNone, and all that
// these errors are.
type noneError []error

func (e noneError) Error() string {
	if len(e) == 0 {
		return ErrNone.Error() + "; name one in embedding.providers"
	}
	if len(e) == 1 {
		return e[0].Error()
	}
	reasons := make([]string, len(e))
	for i, reason := range e {
		reasons[i] = reason.Error()
	}
	return ErrNone.Error() + ": " + strings.Join(reasons, "; ")
}

func (e noneError) Unwrap() []error { return append([]error{ErrNone}, e...) }

// Embed returns one vector of length one for each text. It is nil for a text that no
// vector can be made of: a blank one, or one of which the model does not know the half.
// What is longer than MaxTokens counts with its beginning. Queries and claims never
// wait for passages. On an error there are no vectors at all.
func (e *Embedder) Embed(ctx context.Context, p Purpose, texts []string) ([][]float32, error) {
	c, err := e.choose(ctx)
	if err != nil {
		return nil, err
	}
	return e.embedWith(ctx, c, p, texts)
}

func (e *Embedder) embedWith(ctx context.Context, c *choice, p Purpose, texts []string) ([][]float32, error) {
	prefix := e.opt.PassagePrefix
	switch p {
	case Query:
		prefix = e.opt.QueryPrefix
	case Passage:
		select {
		case e.bulk <- struct{}{}:
			defer func() { <-e.bulk }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	vectors, err := embedAll(ctx, c, prefix, texts)
	e.note(c, err)
	return vectors, err
}

// embedAll leaves out the blank texts.
func embedAll(ctx context.Context, c *choice, prefix string, texts []string) ([][]float32, error) {
	var said []string
	var at []int
	for i, text := range texts {
		if text = clean(text, c.identity.MaxTokens); text != "" {
			said, at = append(said, prefix+text), append(at, i)
		}
	}
	vectors := make([][]float32, len(texts))
	if len(said) == 0 {
		return vectors, nil
	}
	made, err := c.embed(ctx, c.identity, said)
	if err != nil {
		return nil, err
	}
	for i, v := range made {
		vectors[at[i]] = v
	}
	return vectors, nil
}

// mostBytes is more than any token takes of a text, but for words without end.
const mostBytes = 64

// clean brings the part of a text that can count into one form: Unicode's composed one,
// which tokenizers expect.
func clean(text string, maxTokens int) string {
	if most := mostBytes * cmp.Or(maxTokens, mostTokens); len(text) > most {
		text = text[:most]
	}
	return strings.TrimSpace(norm.NFC.String(strings.ToValidUTF8(text, "")))
}

// note remembers how a call went. A model that has changed is to be chosen anew, by
// Ready: those who compare vectors have to know.
func (e *Embedder) note(c *choice, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(err, context.Canceled) || e.chosen != c {
		return
	}
	e.problem = err
	if errors.Is(err, ErrChanged) {
		e.chosen, e.changed = nil, err
	}
}

// Tokens says how much of MaxTokens a text takes as a passage: by the model's own tokenizer when the
// model is a file, which is loaded for it, else by an estimate that is rather too high.
func (e *Embedder) Tokens(text string) int {
	e.mu.Lock()
	c := e.chosen
	e.mu.Unlock()
	text = e.opt.PassagePrefix + text
	if c == nil {
		return estimate(text)
	}
	return c.tokens(c.identity, text)
}

// MaxTokens is how much of a text counts, with the two marks that models set around it.
func (e *Embedder) MaxTokens() int { return e.opt.MaxTokens }

// Reopen returns an Embedder of the same settings that makes the vectors of one earlier
// identity, by the provider that made them, and none else. It is the caller's to close.
func (e *Embedder) Reopen(id Identity) (*Embedder, error) {
	opt := e.opt
	opt.Providers = []string{id.Provider}
	opt.MaxTokens, opt.PassagePrefix, opt.QueryPrefix = max(id.MaxTokens, leastTokens), id.Prefix, id.QueryPrefix
	opt.Model = id.Path
	if id.Server != opt.URL {
		opt.Key = "" // which is another server's
	}
	opt.URL, opt.URLModel = id.Server, id.Model
	again, err := Open(opt)
	if err != nil {
		return nil, fmt.Errorf("open the model of earlier vectors again: %w", err)
	}
	for i, l := range again.chain {
		again.chain[i].provider = only{l.provider, id}
	}
	again.Keep([]Identity{id})
	return again, nil
}

// only is a provider whose model must have one identity.
type only struct {
	provider
	identity Identity
}

func (o only) identify(ctx context.Context, known []Identity) (Identity, error) {
	id, err := o.provider.identify(ctx, known)
	if err == nil && id.Key() != o.identity.Key() {
		err = fmt.Errorf("%w: %s made earlier vectors and is gone", ErrChanged, o.identity.Model)
	}
	return id, err
}

// Close unloads what is loaded. Calls under way end with an error or a vector.
func (e *Embedder) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed, e.chosen = true, nil
	e.mu.Unlock()
	var errs []error
	for _, l := range e.chain {
		if l.provider != nil {
			errs = append(errs, l.close())
		}
	}
	return errors.Join(errs...)
}
