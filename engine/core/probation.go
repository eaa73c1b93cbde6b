package core

import (
	"bytes"
	"encoding/json"

	"emberd/stm"
)

// MetaCaptured is the field of a memory's meta that says by which rule a hook kept it.
const MetaCaptured = "captured"

// CapturedBy returns the rule by which a hook kept a memory, "" if no hook did.
func CapturedBy(r *stm.Row) string {
	if !isCaptured(r) {
		return ""
	}
	var meta map[string]json.RawMessage
	var rule string
	_ = json.Unmarshal(r.Value("meta"), &meta) // then it has no such field
	_ = json.Unmarshal(meta[MetaCaptured], &rule)
	return rule
}

// isCaptured reports whether a hook kept a memory.
func isCaptured(r *stm.Row) bool {
	return bytes.Contains(r.Value("meta"), []byte(`"`+MetaCaptured+`"`))
}

// OnProbation reports whether a memory was kept by a hook and did not prove useful yet: it was not used, repeated or
// confirmed. It gets no note, and only a decision, a correction, a preference or an open thread is told at the start of
// a session.
func OnProbation(r *stm.Row) bool {
	if !isCaptured(r) {
		return false
	}
	times, _ := r.Learning()
	return r.UseCount() == 0 && times <= 1 && !r.Has("confirmed_at")
}
