package core

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/stm"
)

// knownFields returns the JSON names of a memory's fields.
var knownFields = sync.OnceValue(func() map[string]bool {
	out := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[memory.Memory]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = true
	}
	return out
})

// UnknownFields returns the fields of a record that emberd keeps but does not use.
func UnknownFields(fields map[string]json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for key, value := range fields {
		if knownFields()[key] || stm.IsRelationKey(key) || stm.IsSourceKey(key) || stm.IsReviewKey(key) {
			continue
		}
		if out == nil {
			out = make(map[string]json.RawMessage)
		}
		out[key] = value
	}
	return out
}

// MetaOf returns the fields in a record's meta.
func MetaOf(fields map[string]json.RawMessage) map[string]json.RawMessage {
	var meta map[string]json.RawMessage
	if raw := fields["meta"]; raw != nil && json.Unmarshal(raw, &meta) != nil {
		return nil // another program may have written another shape
	}
	return meta
}

// IsManual reports whether a person wrote a record, and not an indexer; see [cleanup.Manual].
func IsManual(fields map[string]json.RawMessage) bool {
	return cleanup.Manual(UnknownFields(fields), MetaOf(fields))
}
