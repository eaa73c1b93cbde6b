package embedding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"emberd/internal/bert"
	"emberd/internal/gguf"
)

// local is the go provider: a model file that is loaded when it is first needed, once
// however many need it, and unloaded when it was not used for a while.
type local struct {
	*knownFile
	maxTokens   int
	prefix      string
	unloadAfter time.Duration
	logger      *slog.Logger

	mu      sync.Mutex // never held while a model works or a file is read
	closed  bool
	model   *bert.Model
	loading *load
	users   int
	idle    *time.Timer // set while a model is loaded and not in use
}

// load is one that is under way. It continues when the callers that wait for it do not.
type load struct {
	done chan struct{}
	err  error // once done
}

func newLocal(opt *Options) *local {
	return &local{knownFile: &knownFile{path: opt.Model, check: bert.Preflight}, maxTokens: opt.MaxTokens,
		prefix: opt.PassagePrefix, unloadAfter: opt.UnloadAfter, logger: opt.Logger}
}

func (l *local) loaded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.model != nil
}

func (l *local) identify(context.Context, []Identity) (Identity, error) {
	return l.identity(Go, l.maxTokens, l.prefix)
}

func (l *local) embed(ctx context.Context, of Identity, texts []string) ([][]float32, error) {
	m, err := l.acquire(ctx, of)
	if err != nil {
		return nil, err
	}
	defer l.release()
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v, unknown, err := m.Embed(ctx, text)
		if err != nil {
			return nil, l.judge(err)
		}
		if unknown <= maxUnknown {
			vectors[i] = v
		}
	}
	return vectors, nil
}

// maxUnknown is the share of a text that a model may not know. What it then makes of the
// text is what it makes of all such texts.
const maxUnknown = 0.5

// tokens loads the model to count with its own tokenizer.
func (l *local) tokens(ctx context.Context, of Identity, text string) (int, error) {
	m, err := l.acquire(ctx, of)
	if err != nil {
		return 0, err
	}
	defer l.release()
	return m.Tokens(text), nil
}

// acquire returns the model of an identity, which is loaded until it is released.
func (l *local) acquire(ctx context.Context, of Identity) (*bert.Model, error) {
	for {
		m, wait, err := l.take(of)
		if m != nil || err != nil {
			return m, err
		}
		select {
		case <-wait.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if wait.err != nil {
			return nil, wait.err
		}
	}
}

// take returns the model if it is there, or the load to wait for.
func (l *local) take(of Identity) (*bert.Model, *load, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, ErrClosed
	}
	if l.model != nil && l.model.SHA256() != of.SHA256 {
		if !l.isOf(of) {
			return nil, nil, l.replaced(of)
		}
		l.unload() // it is the file as it was before
	}
	if l.model != nil {
		l.users++
		l.stopIdle()
		return l.model, nil, nil
	}
	if l.loading == nil {
		l.loading = &load{done: make(chan struct{})}
		go l.load(l.loading)
	}
	return nil, l.loading, nil
}

func (l *local) load(this *load) {
	began := time.Now()
	m, err := bert.Open(l.path, &bert.Options{MaxTokens: l.maxTokens})
	if err != nil {
		err = l.judge(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loading, this.err = nil, err
	switch {
	case err != nil:
	case l.closed:
		err = m.Close()
		this.err = errors.Join(ErrClosed, err)
	default:
		l.model = m
		l.found(m.SHA256())
		l.restIdle()
		l.logger.Debug("loaded embedding model", "file", l.path, "took", time.Since(began).Round(time.Millisecond))
	}
	close(this.done)
}

// judge records a file that cannot be used. Its callers learn that there is
// another identity to ask for, of the next provider.
func (l *local) judge(err error) error {
	refused, ok := errors.AsType[*gguf.RefusedError](err)
	switch {
	case ok:
		l.refuse(refused)
		return fmt.Errorf("%w: emberd cannot use the model file: %w", ErrChanged, refused)
	case errors.Is(err, bert.ErrClosed):
		return ErrClosed
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return l.unread(err)
}

func (l *local) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users == 0 && l.model != nil {
		l.restIdle()
	}
}

// restIdle starts the time after which the model is unloaded.
func (l *local) restIdle() {
	l.stopIdle()
	model := l.model
	l.idle = time.AfterFunc(l.unloadAfter, func() {
		l.mu.Lock()
		due := l.model == model && l.users == 0
		if due {
			l.unload()
		}
		l.mu.Unlock()
		if due {
			debug.FreeOSMemory()
		}
	})
}

func (l *local) stopIdle() {
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
}

// unload lets go of the model. The garbage collector alone would give its memory back to
// the system only by and by.
func (l *local) unload() {
	l.stopIdle()
	if l.model == nil {
		return
	}
	_ = l.model.Close() // only lets go
	l.model = nil
	l.logger.Debug("unloaded embedding model", "file", l.path)
}

func (l *local) close() error {
	l.mu.Lock()
	l.closed = true
	under, held := l.loading, l.model != nil
	l.unload()
	l.mu.Unlock()
	if under != nil {
		<-under.done
	}
	if held {
		debug.FreeOSMemory() // the caller may open another one
	}
	return nil
}
