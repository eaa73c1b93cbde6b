package engine

import "emberd/op"

// Handlers returns the handler table, in which tests look for operations without a handler
// and replace one.
func (e *Engine) Handlers() map[string]op.Handler { return e.handlers }
