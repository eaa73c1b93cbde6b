package cleanup

import (
	"bytes"
	"encoding/json"

	"emberd/internal/dedupe"
	"emberd/memory"
)

// Manual reports whether a memory does not come from an indexer. By the specification "memory
// cleanup", memories of an indexer have any of thirteen fields, null or not: at the top level
// of the record among the keys that emberd does not know, or in meta. The names are compared
// exactly. Types and categories do not matter.
func Manual(unknown, meta map[string]json.RawMessage) bool {
	for _, name := range AutomationFields() {
		if _, there := unknown[name]; there {
			return false
		}
		if _, there := meta[name]; there {
			return false
		}
	}
	return true
}

// AutomationFields lists the names of the fields that an indexer leaves. It returns a
// fresh slice.
func AutomationFields() []string {
	return []string{"file_path", "line_number", "ast_data", "signature", "docstring", "full_name", "ast_type",
		"start_line", "end_line",
		"source_hash", "parsed_at", "is_chunk", "chunk_index"}
}

// ChunkTypeField is the field that says which type of chunk a memory is, see [Chunking].
const ChunkTypeField = "chunk_type"

// Chunking reads the fields has_implementation and chunk_type of a memory, from where
// [Manual] looks. What is neither true nor a text counts as not there.
func Chunking(unknown, meta map[string]json.RawMessage) (implementation bool, chunkType string) {
	for _, fields := range [...]map[string]json.RawMessage{meta, unknown} {
		implementation = implementation || bytes.Equal(fields[dedupe.ImplementationField], []byte("true"))
		var name string
		if json.Unmarshal(fields[ChunkTypeField], &name) == nil && name != "" {
			chunkType = name
		}
	}
	return implementation, chunkType
}

// FixedStrength is the strength from which on a memory is left as it is.
const FixedStrength = 1.8

// Fixed returns why a cleanup must neither delete a memory, nor merge it away, nor rewrite it, nor
// put another in its place, "" if it may. Decided says that a has_decision relation leads to it.
func Fixed(m *memory.Memory, decided bool) string {
	switch {
	case m.Core:
		return "the memory is a core memory"
	case m.PromotedTo != "":
		return "the memory was promoted to a note"
	case decided:
		return "another memory refers to this memory as a decision"
	case m.Strength >= FixedStrength:
		return "the strength of the memory is 1.8 or more"
	}
	return ""
}
