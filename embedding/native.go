package embedding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"emberd/internal/gguf"
	"emberd/internal/llamawire"
)

// native is the llama provider: llama.cpp in a process of its own, which is started when
// it is first needed, started again when it ends, and ended when it was not used for a
// while. What several ask for is done in the order in which they ask, a text at a time,
// so a query waits for one passage at most.
//
// A caller hands a request over through asks, which has no buffer, and waits for its
// answer or the end of its context. The goroutine of the supervisor does the work, one
// request at a time. The first request starts that goroutine; close closes closing, ends
// a running helper, which interrupts its request, and waits for done.
type native struct {
	*knownFile
	helper, engine string // absolute
	maxTokens      int
	prefix         string
	unconfined     bool
	unloadAfter    time.Duration
	logger         *slog.Logger
	bad            *badPairs
	limits         limits
	clock          clock

	asks    chan ask
	closing chan struct{}
	done    chan struct{} // closed when nothing more is done

	// mu guards the fields below. Callers hold it to read the status, the supervisor to
	// change it, both only for as long as that takes: never while a helper starts, works
	// or ends.
	mu      sync.Mutex
	working bool
	closed  bool
	child   *child // nil while none runs
	greeted bool   // it has the model
	status  NativeStatus
	// condemned is what was last given up in this run.
	condemned pair
}

// limits are how long things may take, and how often they may fail.
type limits struct {
	load      time.Duration // for starting, and
	loadBytes int64         // a second more for so many bytes of the model
	text      time.Duration
	grace     time.Duration // for ending
	// A helper that ends so often within the window is given up.
	crashes int
	window  time.Duration
	// The pause before the next one starts doubles between these.
	firstPause, mostPause time.Duration
}

func usualLimits() limits {
	return limits{load: time.Minute, loadBytes: 20_000_000, text: 30 * time.Second, grace: 2 * time.Second,
		crashes: 3, window: time.Minute, firstPause: 100 * time.Millisecond, mostPause: 30 * time.Second}
}

// loading is the time for a model of so many bytes.
func (l *limits) loading(size int64) time.Duration {
	return l.load + time.Duration(size/l.loadBytes)*time.Second
}

// clock is what time it is, for what is decided by it.
type clock struct {
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
}

// ask is something to ask a helper.
type ask struct {
	of      Identity
	request llamawire.Request
	left    <-chan struct{} // closed when no caller waits for the answer
	answer  chan<- answer   // has room for the one
}

type answer struct {
	reply *llamawire.Reply
	err   error
}

// errUnfit says that a provider cannot continue, and the next of the chain is to be tried.
var errUnfit = errors.New("the embedding provider is not usable")

// unsupportedModelError is why the native engine cannot use a model.
type unsupportedModelError string

func (e unsupportedModelError) Error() string        { return string(e) }
func (e unsupportedModelError) Is(target error) bool { return target == errUnfit }

func newNative(opt *Options) (*native, error) {
	model, err := filepath.Abs(opt.Model) // the helper runs elsewhere
	if err != nil {
		return nil, fmt.Errorf("cannot find the model file %s: %w", opt.Model, err)
	}
	opt.bad.refresh()
	return &native{
		knownFile: &knownFile{path: model, check: gguf.PreflightNative},
		helper:    opt.Helper, engine: opt.Engine, maxTokens: opt.MaxTokens, prefix: opt.PassagePrefix,
		unconfined:  opt.Unconfined,
		unloadAfter: opt.UnloadAfter,
		logger:      opt.Logger, bad: opt.bad, limits: usualLimits(), clock: clock{now: time.Now, after: time.After},
		asks: make(chan ask), closing: make(chan struct{}), done: make(chan struct{}),
		status: NativeStatus{Helper: opt.Helper, Engine: opt.Engine, Unconfined: opt.Unconfined},
	}, nil
}

// identify reads the model's file. Whether the helper can run it shows when it is asked
// for a vector.
func (n *native) identify(context.Context, []Identity) (Identity, error) {
	id, err := n.identity(Llama, n.maxTokens, n.prefix)
	if err != nil {
		return Identity{}, err
	}
	key, err := engineKey(n.helper, n.engine)
	if err != nil {
		return Identity{}, err
	}
	if why := n.bad.why(pair{id.SHA256, key}); why != "" {
		return Identity{}, unsupportedModelError(why)
	}
	return id, nil
}

func (n *native) embed(ctx context.Context, of Identity, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		reply, err := n.ask(ctx, of, llamawire.Request{Text: text})
		if err != nil {
			return nil, err
		}
		if reply.Unknown <= maxUnknown {
			vectors[i] = reply.Vector
		}
	}
	return vectors, nil
}

func (n *native) tokens(ctx context.Context, of Identity, text string) (int, error) {
	reply, err := n.ask(ctx, of, llamawire.Request{Text: text, Count: true})
	if err != nil {
		return 0, err
	}
	return reply.Tokens, nil
}

// ask waits for its turn and the answer. A caller that gives up does not interrupt the helper.
func (n *native) ask(ctx context.Context, of Identity, request llamawire.Request) (*llamawire.Reply, error) {
	if err := n.begin(); err != nil {
		return nil, err
	}
	answers := make(chan answer, 1)
	select {
	case n.asks <- ask{of: of, request: request, left: ctx.Done(), answer: answers}:
	case <-n.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-answers:
		if a.err == errLeft {
			return nil, ctx.Err()
		}
		return a.reply, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts the goroutine that does the work, at the first ask.
func (n *native) begin() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	if !n.working {
		n.working = true
		s := &supervisor{native: n}
		go s.work()
	}
	return nil
}

func (n *native) loaded() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.greeted
}

func (n *native) nativeStatus() *NativeStatus {
	bad := n.bad.list() // before the rest, which is written before it
	n.mu.Lock()
	s, condemned := n.status, n.condemned
	n.mu.Unlock()
	s.Bad = bad
	for _, each := range bad {
		if (pair{each.Model, each.Engine}) == condemned {
			s.GivenUp = each.Why
		}
	}
	return &s
}

func (n *native) close() error {
	n.mu.Lock()
	first, working, running := !n.closed, n.working, n.child
	n.closed = true
	n.mu.Unlock()
	if first {
		close(n.closing)
	}
	if running != nil {
		running.end(n.limits.grace) // which releases the goroutine that waits for it
	}
	if working {
		<-n.done
	}
	return nil
}
