package engine

import (
	"emberd/memory"
	"emberd/op"
)

// waitingFields are the fields of a memory that its note is still to be told.
func (e *Engine) waitingFields(memory.ID) []string { return nil }

// pendingFindings are the changes of notes that wait, as a vault check lists them.
func (e *Engine) pendingFindings() []op.Finding { return nil }
