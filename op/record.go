package op

import (
	"bytes"
	"encoding/json"
	"slices"
)

// IsCounter reports whether a field of a [Record] counts or times the use of a
// memory. Counts of two stores may differ where the memory does not.
func IsCounter(field string) bool {
	return slices.Contains([]string{"use_count", "access_count", "last_used", "last_accessed_ts"}, field)
}

// Canonical returns a JSON value in one spelling: members sorted, no spaces, no
// needless escapes, numbers as they are written. What is not JSON stays as it is.
func Canonical(value json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return value
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
