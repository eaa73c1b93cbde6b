package engine

import (
	"cmp"
	"strconv"
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
	body    string       // of it, "" for that of a new one
	summary string
	terms   []string
	reason  string // why it was archived
}

// edges are the white space before and behind the part of a text that a note keeps, and
// where in body, that of the note, are characters that the text does not have. ok is false
// for a text that does not come back from the note to the byte: one with control characters
// or foreign line ends, or that is so full of marks that the log would keep little less.
func edges(content, body string) (edges []string, ok bool) {
	bare := vault.Bare(content)
	before, after, found := strings.Cut(content, bare)
	put, held := vault.Insertions(body, content)
	offsets := written(put)
	if !found || !held || bare == "" || strings.TrimSpace(before+after) != "" || len(offsets) > mostOffsets {
		return nil, false
	}
	switch {
	case offsets != "":
		return []string{before, after, offsets}, true
	case before+after != "":
		return []string{before, after}, true
	}
	return nil, true
}

// mostOffsets bounds what the log keeps to make a text of a note again, in bytes.
const mostOffsets = 4 << 10

// keepable reports whether a text comes back from a new note to the byte.
func keepable(content string) bool {
	_, ok := edges(content, vault.Body(content))
	return ok
}

// written are offsets as numbers, each from the one before it.
func written(offsets []int) string {
	var b strings.Builder
	last := 0
	for i, at := range offsets {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(at - last))
		last = at
	}
	return b.String()
}

// offsetsOf reads what written wrote. What is no number ends it.
func offsetsOf(text string) (offsets []int) {
	last := 0
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return offsets
		}
		last += n
		offsets = append(offsets, last)
	}
	return offsets
}

// chill leaves of a warm memory what is left of it. It is false, and nothing is
// changed, when its text would not come back from its note as it is.
func chill(m *memory.Memory, r remains, now time.Time) bool {
	body := cmp.Or(r.body, vault.Body(m.Content))
	kept, ok := edges(m.Content, body)
	if !ok {
		return false
	}
	m.TextDigest, m.TextEdges = rekindle.Digest(body), kept
	m.Content, m.KeyTerms = r.summary, r.terms
	m.Stage, m.VaultPath = r.stage, r.path
	m.ArchivedAt, m.ArchiveReason = now, r.reason
	return true
}

// warm gives a cold memory its text back: the body of its note.
func warm(m *memory.Memory, body, path string, now time.Time) {
	if rekindle.Digest(body) == m.TextDigest {
		body = textWithin(body, m.TextEdges)
	}
	m.Content, m.Stage, m.VaultPath, m.LastUsed = body, memory.Active, path, now
	m.TextDigest, m.TextEdges, m.KeyTerms = "", nil, nil
	m.ArchivedAt, m.ArchiveReason, m.NoteGone = time.Time{}, "", time.Time{}
	m.ConsolidatedInto = ""
	if m.PromotedTo != "" {
		m.PromotedTo = path
	}
}

// textWithin is the text that a note of this body was made of.
func textWithin(body string, edges []string) string {
	if len(edges) > 2 {
		body = vault.WithoutInsertions(body, offsetsOf(edges[2]))
	}
	if len(edges) > 1 {
		body = edges[0] + body + edges[1]
	}
	return body
}

// homeOf is the path of the note that a memory was promoted to or, failing that, that
// its text was archived in; "" if there never was one.
func homeOf(m *memory.Memory) string { return cmp.Or(m.PromotedTo, m.VaultPath) }
