package core

import (
	"bytes"

	"emberd/stm"
)

// MetaCaptured is the field of a memory's meta that says by which rule a hook kept it.
const MetaCaptured = "captured"

// OnProbation reports whether a memory was kept by a hook and did not prove useful yet: nobody used, repeated or
// confirmed it. It is in no note and, unless a person said it as a wish, in no start of a session.
func OnProbation(r *stm.Row) bool {
	if !bytes.Contains(r.Value("meta"), []byte(`"`+MetaCaptured+`"`)) {
		return false
	}
	times, _ := r.Learning()
	return r.UseCount() == 0 && times <= 1 && !r.Has("confirmed_at")
}
