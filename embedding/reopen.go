package embedding

import (
	"context"
	"fmt"
	"slices"
)

// Reopen returns an Embedder of the same settings that makes the vectors of one earlier
// identity, by the provider that made them, and none else. It is the caller's to close.
func (e *Embedder) Reopen(id Identity) (*Embedder, error) {
	opt := e.opt
	opt.Providers = e.providersOf(id)
	opt.MaxTokens, opt.PassagePrefix, opt.QueryPrefix = max(id.MaxTokens, minTokens), id.Prefix, id.QueryPrefix
	opt.Model = id.Path
	if id.Server != opt.URL {
		opt.Key = "" // which is another server's
	}
	opt.URL, opt.URLModel = id.Server, id.Model
	again, err := Open(opt)
	if err != nil {
		return nil, fmt.Errorf("cannot reopen the model of earlier embeddings: %w", err)
	}
	for i, l := range again.chain {
		if l.provider != nil {
			again.chain[i].provider = only{l.provider, id}
		}
	}
	again.Keep([]Identity{id})
	return again, nil
}

// providersOf are those that can make the vectors of an identity: of a model's file, all
// engines in the settings that run it, or where these name none, the one that made them
// and the one that needs nothing else.
func (e *Embedder) providersOf(id Identity) []string {
	if id.Path == "" {
		return []string{id.Provider}
	}
	var engines []string
	for _, name := range e.opt.Providers {
		if name == Llama || name == Go {
			engines = append(engines, name)
		}
	}
	if engines == nil {
		engines = slices.Compact([]string{id.Provider, Go})
	}
	return engines
}

// only is a provider whose model must have one identity.
type only struct {
	provider
	identity Identity
}

func (o only) identify(ctx context.Context, known []Identity) (Identity, error) {
	id, err := o.provider.identify(ctx, known)
	if err == nil && id.Key() != o.identity.Key() {
		err = fmt.Errorf("%w: %s, which computed the earlier embeddings, is no longer available", ErrChanged,
			o.identity.Model)
	}
	return id, err
}
