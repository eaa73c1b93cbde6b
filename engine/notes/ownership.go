package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
	"emberd/vault/neutralize"
)

// Owns reports whether a note with the ID of a memory is the memory's without the user's
// confirmation: the log names its path, and not as that of a deleted note, or it says what the
// memory's note says. Anyone who writes to the vault can put an ID into a note, so the ID alone
// decides nothing.
func Owns(m *memory.Memory, note *vault.Note) bool {
	return m.NoteGone.IsZero() && note.Path == core.NotePath(m) || SaysSame(m, note.Carried)
}

// DigestsOf returns the SHA-256 of notes as they were last read, by path, without those that were not.
func (n *VaultNotes) DigestsOf(paths []string) map[string][sha256.Size]byte {
	out := make(map[string][sha256.Size]byte, len(paths))
	index, _ := n.Current()
	for _, path := range paths {
		if cursor, known := index.Cursor(path); known {
			out[path] = cursor.Digest
		} else if sum, err := hex.DecodeString(n.Archive.State(path).Digest); err == nil && len(sum) == sha256.Size {
			out[path] = [sha256.Size]byte(sum)
		}
	}
	return out
}

// SaysSame reports whether a note has in each field what was last read in the memory's note, or what
// emberd would write, so that it changes nothing of the memory.
func SaysSame(m *memory.Memory, c *vault.Carried) bool {
	now, same := Fingerprints(c), Agreed(m, c)
	return !slices.ContainsFunc(NoteFields(),
		func(field string) bool { return same[field] == "" && m.NoteSeen[field] != now[field] })
}

// Agreed returns the fingerprints of the fields in which the memory and the note agree. A
// field without one counts as edited by the user, and note sync applies it.
func Agreed(m *memory.Memory, c *vault.Carried) map[string]string {
	seen := Fingerprints(c)
	tags, err := memory.NormalizeTags(c.Tags)
	if err != nil || !slices.Equal(tags, m.Tags) {
		delete(seen, "tags")
	}
	if !agreesInText(m, c.Body) {
		delete(seen, core.ContentField)
	}
	if c.Fields["category"] != m.Category {
		delete(seen, "category")
	}
	if text, ok := c.Fields["strength"]; ok {
		if x, err := strconv.ParseFloat(text, 64); err != nil || x != m.Strength {
			delete(seen, "strength")
		}
	}
	if text, ok := c.Fields["stage"]; ok {
		if stage, err := memory.ParseStage(text); err != nil || stage != m.Stage {
			delete(seen, "stage")
		}
	}
	return seen
}

// agreesInText reports whether a note's text is the memory's, or the archived text of a cold
// memory.
func agreesInText(m *memory.Memory, body string) bool {
	if core.Shortened(m) {
		return rekindle.Digest(body) == m.TextDigest
	}
	return neutralize.Matches(body, m.Content)
}
