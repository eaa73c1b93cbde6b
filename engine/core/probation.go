package core

import (
	"bytes"

	"emberd/stm"
)

// MetaCaptured is the field of a memory's meta that says by which rule a hook kept it.
const MetaCaptured = "captured"

// OnProbation reports whether a memory was kept by a hook and did not prove useful yet: it was not used, repeated or
// confirmed. It gets no note, and only a decision, a correction, a preference or an open thread is told at the start of
// a session.
func OnProbation(r *stm.Row) bool {
	if !bytes.Contains(r.Value("meta"), []byte(`"`+MetaCaptured+`"`)) {
		return false
	}
	times, _ := r.Learning()
	return r.UseCount() == 0 && times <= 1 && !r.Has("confirmed_at")
}
