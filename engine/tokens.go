package engine

import (
	"path/filepath"

	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/internal/durable"
)

// enter locks the state folder and reads the access tokens in it.
func enter(o *core.Options) (*durable.Lock, *access.Store, error) {
	lock, err := acquire(o.State)
	if err != nil {
		return nil, nil, err
	}
	tokens := access.OpenStore(o.FS, filepath.Join(o.State, "tokens.json"), o.Now)
	if err := tokens.Damage(); err != nil {
		o.Logger.Warn("tokens unusable", "err", err)
	}
	return lock, tokens, nil
}

// Authorize returns the permissions of the access token with this secret, for [op.WithGrant].
// It returns an error of code Forbidden for an unknown, revoked or expired token.
func (e *Engine) Authorize(secret string) (*access.Grant, error) { return e.Tokens.Grant(secret) }
