// Package embedding turns texts into vectors that are near each other when the texts
// mean about the same.
//
// Vectors come from the first provider of a chain that works:
//
//   - llama: llama.cpp, which runs a model in a GGUF file in a process of its own, the
//     helper emberd-llama beside this program. Native code may crash, hang or be killed:
//     the helper is watched, a text is tried once more, and a model that brings an
//     engine down time and again is left to the next provider, and remembered.
//   - http: a server of this machine that answers OpenAI's POST /v1/embeddings, as
//     llama-server, Ollama and LM Studio do, over loopback TCP or a Unix socket. No
//     other machine is ever asked: other hosts are refused by name, names that lead
//     elsewhere when they are dialled, and redirects and proxies are not followed.
//   - go: a BERT model in a GGUF file, run by package bert in this process.
//   - static: a table of this program with a vector for each word, of package staticmodel.
//   - words: hashed words and letters without any model. It is lexical: texts are near
//     that are spelt alike, whatever they mean.
//
// What makes vectors comparable is their [Identity]: vectors of one identity, by its
// Key, may be compared, whichever provider made them, and no others. A model file that
// was replaced is noticed when it is loaded again, one that was written into while llama
// has it mapped at the next text, and [ErrChanged] says so before any of the new vectors
// is handed out under the old identity. A server's model is known by the
// vector of a text of ours, which is asked for again after each failure and after ten
// seconds without a request; a server that exchanges its model while it answers is not
// found out before that, unless its vectors are of another length. The providers llama
// and go make vectors of one identity from one file, so one may take over from the other.
//
// No text ever appears in an error, a log or a [Status], and neither does anything that
// a server answers. What a helper printed before it crashed does: nothing of a text is in it.
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

// Purpose is what a vector is for; some models want the two distinguished by a prefix.
type Purpose int

// The purposes. Passages wait for one another; queries and claims do not wait. A claim is
// compared with passages as one of them, so it has their prefix.
const (
	Query Purpose = iota
	Passage
	Claim
)

// The names of providers, in the order in which they are best tried.
const (
	Llama  = "llama"
	HTTP   = "http"
	Go     = "go"
	Static = "static"
	Words  = "words"
)

// Options are the settings of an Embedder.
type Options struct {
	// Providers are tried in this order. One that is not configured is passed over.
	Providers []string

	Model string // GGUF file of the llama and go providers, "" for none

	// Helper is the program emberd-llama and Engine the folder of llama.cpp's libraries,
	// both absolute, for the llama provider; "" for none. NoEngine is then why there is
	// none, in a sentence for Passed; "" where no caller asked for one. Memory is the file
	// that remembers which model brings which engine down, "" to know it until Close.
	Helper, Engine, NoEngine, Memory string
	// Unconfined has the helper load the libraries outside of its sandbox, as the user wants it.
	Unconfined bool

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

	bad *badPairs // shared with the embedder of earlier vectors
}

const (
	defaultMaxTokens   = 256
	minTokens          = 16
	maxTokens          = 8192
	defaultUnloadAfter = 10 * time.Minute
)

// Errors of Ready and Embed. Each comes wrapped in a sentence that says what to do.
var (
	// ErrNone says that no provider can make vectors.
	ErrNone = errors.New("no embedding provider works")
	// ErrAway says that a provider cannot be reached right now, and may be later: a server
	// that does not run, a model file that is not there.
	ErrAway = errors.New("is not available")
	// ErrChanged says that the model is no longer the one that Ready described. Every call
	// says so until Ready is asked again, and describes the new one.
	ErrChanged = errors.New("the embedding model has changed")
	// ErrClosed says that the Embedder was closed.
	ErrClosed = errors.New("the embedding provider is closed")
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
	tokens(ctx context.Context, of Identity, text string) (int, error)
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
	anew    bool      // chosen is to be looked at again
	told    *Identity // whose vectors are handed out, nil before there were any
	changed error     // that there is no telling whose vectors these are until Ready is asked
	passed  []SkippedProvider
	problem error // of the last call, nil if it went well
	grades  map[string]Calibration
}

// Open checks the settings, and reads Memory. It loads no model and opens no connection.
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
	case opt.MaxTokens < minTokens || opt.MaxTokens > maxTokens:
		return nil, fmt.Errorf("embedding.max_tokens %d is out of range (%d to %d)", opt.MaxTokens, minTokens,
			maxTokens)
	case opt.UnloadAfter < 0:
		return nil, fmt.Errorf("invalid time until emberd unloads an idle model: %s; use 0 or more", opt.UnloadAfter)
	}
	if opt.bad == nil {
		opt.bad = newBadPairs(opt.Memory, opt.Logger)
	}
	e := &Embedder{opt: opt, bulk: make(chan struct{}, 1), grades: make(map[string]Calibration)}
	for _, name := range opt.Providers {
		l, err := newLink(name, &e.opt)
		if err != nil {
			return nil, err
		}
		e.chain = append(e.chain, l)
	}
	return e, nil
}

// Keep sets the identities that vectors are kept of, which replace those set
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
	c, err := e.choose(ctx, true)
	if err != nil {
		return Identity{}, err
	}
	return c.identity, nil
}

// Retry forgets which models bring which engines down, and has the providers tried again
// from the first on. If that is one whose vectors are of another identity, that is
// ErrChanged.
func (e *Embedder) Retry(ctx context.Context) error {
	e.opt.bad.forget()
	e.mu.Lock()
	e.anew = true
	e.mu.Unlock()
	_, err := e.choose(ctx, false)
	return err
}

// Embed returns one vector of length one for each text. It is nil for a text that no
// vector can be made of: a blank one, or one of which the model does not know the half.
// What is longer than MaxTokens counts with its beginning. Queries and claims wait
// for one passage at most. On an error there are no vectors at all.
func (e *Embedder) Embed(ctx context.Context, p Purpose, texts []string) (vectors [][]float32, err error) {
	err = e.with(ctx, func(c *choice) error {
		vectors, err = e.embedWith(ctx, c, p, texts)
		return err
	})
	return vectors, err
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

// maxBytes is more than any token takes of a text, but for words without end.
const maxBytes = 64

// clean brings the part of a text that can count into one form: Unicode's composed one,
// which tokenizers expect.
func clean(text string, limit int) string {
	if most := maxBytes * cmp.Or(limit, maxTokens); len(text) > most {
		text = text[:most]
	}
	return strings.TrimSpace(norm.NFC.String(strings.ToValidUTF8(text, "")))
}

// Tokens reports how much of MaxTokens a text takes as a passage: by the model's own tokenizer when the
// model is a file, which is loaded for it, else by an estimate that is rather too high. That does,
// too, where ctx is done before the tokenizer has its turn.
func (e *Embedder) Tokens(ctx context.Context, text string) int {
	text = e.opt.PassagePrefix + text
	e.mu.Lock()
	known := e.told != nil
	e.mu.Unlock()
	if !known {
		return estimate(text)
	}
	var n int
	err := e.with(ctx, func(c *choice) (err error) {
		n, err = c.tokens(ctx, c.identity, text)
		return err
	})
	if err != nil {
		return estimate(text)
	}
	return n
}

// MaxTokens is how much of a text counts, with the two marks that models set around it.
func (e *Embedder) MaxTokens() int { return e.opt.MaxTokens }

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
