package engine

import (
	"cmp"
	"strings"
	"time"

	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
)

// remains are what is left of a memory whose text is in a note.
type remains struct {
	stage   memory.Stage // archived or rehydratable
	path    string       // of the note
	summary string
	terms   []string
	reason  string // why it was archived
}

// edges splits a text into the part that a note keeps and the white space before and
// behind it. It is false for a text that a note does not keep to the byte: one with
// control characters, foreign line ends, or what a plugin would run.
func edges(content string) (before, after string, ok bool) {
	body := vault.Body(content)
	before, after, ok = strings.Cut(content, body)
	return before, after, ok && body != "" && strings.TrimSpace(before+after) == ""
}

// chill leaves of a warm memory what is left of it. It is false, and nothing is
// changed, when its text would not come back from a note as it is.
func chill(m *memory.Memory, r remains, now time.Time) bool {
	before, after, ok := edges(m.Content)
	if !ok {
		return false
	}
	m.TextDigest = rekindle.Digest(vault.Body(m.Content))
	m.TextEdges = nil
	if before+after != "" {
		m.TextEdges = []string{before, after}
	}
	m.Content, m.KeyTerms = r.summary, r.terms
	m.Stage, m.VaultPath = r.stage, r.path
	m.ArchivedAt, m.ArchiveReason = now, r.reason
	return true
}

// warm gives a cold memory its text back: the body of its note.
func warm(m *memory.Memory, body, path string, now time.Time) {
	if rekindle.Digest(body) == m.TextDigest && len(m.TextEdges) == 2 {
		body = m.TextEdges[0] + body + m.TextEdges[1]
	}
	m.Content, m.Stage, m.VaultPath, m.LastUsed = body, memory.Active, path, now
	m.TextDigest, m.TextEdges, m.KeyTerms = "", nil, nil
	m.ArchivedAt, m.ArchiveReason, m.NoteGone = time.Time{}, "", time.Time{}
	m.ConsolidatedInto = ""
	if m.PromotedTo != "" {
		m.PromotedTo = path
	}
}

// homeOf is the path of the note that a memory was promoted to or, failing that, that
// its text was archived in; "" if there never was one.
func homeOf(m *memory.Memory) string { return cmp.Or(m.PromotedTo, m.VaultPath) }
