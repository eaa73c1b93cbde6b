package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// link is one provider of the chain, or why it cannot be used at all.
type link struct {
	name string
	provider
	unfit error
	asked bool // for, although it is unfit
}

// choice is the provider in use.
type choice struct {
	link
	identity Identity
}

// newLink makes a provider. It returns an error only if no change outside can help.
func newLink(name string, opt *Options) (link, error) {
	l := link{name: name}
	switch name {
	case Llama:
		if opt.Model == "" || opt.Engine == "" || opt.Helper == "" {
			l.unfit = errors.New(cmp.Or(opt.NoEngine, "no runtime installed"))
			l.asked = opt.Model != "" && opt.NoEngine != ""
			return l, nil
		}
		p, err := newNative(opt)
		l.provider = p
		return l, err
	case HTTP:
		if opt.URL == "" {
			l.unfit = errors.New("embedding.url is not set")
			return l, nil
		}
		p, err := newServer(opt)
		l.provider = p
		return l, err
	case Go:
		if opt.Model == "" {
			l.unfit = errors.New("embedding.model is not set")
			return l, nil
		}
		l.provider = newLocal(opt)
		return l, nil
	case Static:
		l.provider = static{maxTokens: opt.MaxTokens, prefix: opt.PassagePrefix}
		return l, nil
	case Words:
		l.provider = words{}
		return l, nil
	}
	return l, fmt.Errorf("invalid embedding provider %q; use %s, %s, %s, %s or %s", name, Llama, HTTP, Go, Static,
		Words)
}

// choose returns the first provider that works. If its vectors are not those that were
// before, only a new Ready helps.
func (e *Embedder) choose(ctx context.Context, telling bool) (*choice, error) {
	e.mu.Lock()
	if telling {
		e.changed = nil
	}
	now, known, err := e.chosen, e.known, e.changed
	if e.closed {
		err = ErrClosed
	}
	if err == nil && now != nil && !e.anew {
		defer e.mu.Unlock()
		return e.setChoice(now, telling)
	}
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	chosen, passed, err := e.firstThatWorks(ctx, known)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, ErrClosed
	case e.chosen != now && e.chosen != nil: // another goroutine was faster
		return e.setChoice(e.chosen, telling)
	case err != nil && ctx.Err() != nil: // which says nothing of the providers
		return nil, err
	}
	e.chosen, e.passed, e.problem, e.anew = chosen, passed, err, false
	if err != nil {
		return nil, err
	}
	return e.setChoice(chosen, telling)
}

// setChoice records the choice that the caller gets, and returns it if its vectors are
// comparable with those before. mu must be held.
func (e *Embedder) setChoice(c *choice, telling bool) (*choice, error) {
	if telling {
		e.changed = nil
	}
	if e.changed != nil {
		return nil, e.changed
	}
	if telling || e.told == nil {
		e.told = &c.identity
	}
	if e.told.Key() != c.identity.Key() {
		e.changed = fmt.Errorf("%w: %s now computes the embeddings, so emberd computes all embeddings again",
			ErrChanged, c.name)
		e.problem = e.changed
		return nil, e.changed
	}
	return c, nil
}

func (e *Embedder) firstThatWorks(ctx context.Context, known []Identity) (*choice, []SkippedProvider, error) {
	var passed []SkippedProvider
	var none, unfit noProviderError
	for _, l := range e.chain {
		if l.unfit != nil {
			unfit = append(unfit, fmt.Errorf("%s: %w", l.name, l.unfit))
			if l.asked {
				passed = append(passed, SkippedProvider{Provider: l.name, Reason: l.unfit.Error()})
			}
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
		passed = append(passed, SkippedProvider{Provider: l.name, Reason: err.Error()})
		if errors.Is(err, ErrAway) && slices.ContainsFunc(known, l.awaits) {
			return nil, passed, err
		}
		none = append(none, err)
	}
	if none == nil { // defaults are worth a line only where nothing is set
		none = unfit
	}
	return nil, passed, none
}

// noProviderError contains the reason why each provider of a chain does not work. It is ErrNone, and all that
// these errors are.
type noProviderError []error

func (e noProviderError) Error() string {
	if len(e) == 0 {
		return ErrNone.Error() + "; set a provider in embedding.providers"
	}
	var reasons []string
	for _, reason := range e {
		if !slices.Contains(reasons, reason.Error()) { // of one file that is not there
			reasons = append(reasons, reason.Error())
		}
	}
	if len(reasons) == 1 {
		return reasons[0]
	}
	return ErrNone.Error() + ": " + strings.Join(reasons, "; ")
}

func (e noProviderError) Unwrap() []error { return append([]error{ErrNone}, e...) }

// with does something with the chosen provider, and with the next one where that shows
// that it cannot continue.
func (e *Embedder) with(ctx context.Context, do func(*choice) error) error {
	for tries := len(e.chain); ; tries-- {
		c, err := e.choose(ctx, false)
		if err != nil {
			return err
		}
		if err = do(c); !errors.Is(err, errUnfit) {
			return err
		}
		e.note(c, err)
		if tries == 0 {
			return err
		}
	}
}

// note remembers how a call went. A model that has changed is to be chosen again, by
// Ready: code that compares vectors has to know.
func (e *Embedder) note(c *choice, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(err, context.Canceled) || e.chosen != c {
		return
	}
	e.problem = err
	switch {
	case errors.Is(err, ErrChanged):
		e.chosen, e.changed = nil, err
	case errors.Is(err, errUnfit):
		e.chosen = nil
	}
}
