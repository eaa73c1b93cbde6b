package core

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault/lex"
	"emberd/vault/neutralize"
)

// ArchivedText is the part of an archived memory that stays in the log.
type ArchivedText struct {
	Stage   memory.Stage // archived or rehydratable
	Path    string       // of the note
	Body    string       // body of the note, "" for the body of a new one
	Summary string
	Terms   []string
	Reason  string // reason of archiving
}

// textEdges returns what restores a text from its note: the white space before and after the part
// that the note keeps, and the offsets in body of characters that the text does not have. ok
// is false if the note would not give the text back byte for byte. That is so for control
// characters, foreign line ends, and so many offsets that the log would save little.
func textEdges(content, body string) (edges []string, ok bool) {
	bare := lex.Bare(content)
	before, after, found := strings.Cut(content, bare)
	put, held := neutralize.Insertions(body, content)
	offsets := encodeOffsets(put)
	if !found || !held || bare == "" || strings.TrimSpace(before+after) != "" || len(offsets) > maxOffsets {
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

// maxOffsets is the size limit of encoded offsets in the log, in bytes.
const maxOffsets = 4 << 10

// FitsNote reports whether a new note would give the text back byte for byte.
func FitsNote(content string) bool {
	_, ok := textEdges(content, neutralize.Body(content))
	return ok
}

// encodeOffsets formats offsets as numbers, each relative to the one before it.
func encodeOffsets(offsets []int) string {
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

// decodeOffsets parses the result of encodeOffsets and stops at the first invalid number.
func decodeOffsets(text string) (offsets []int) {
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

// ArchiveText replaces the text of a warm memory by its summary. If the note would not give
// the text back byte for byte, it changes nothing and returns false.
func ArchiveText(m *memory.Memory, r ArchivedText, now time.Time) bool {
	body := cmp.Or(r.Body, neutralize.Body(m.Content))
	kept, ok := textEdges(m.Content, body)
	if !ok {
		return false
	}
	m.TextDigest, m.TextEdges = rekindle.Digest(body), kept
	m.Content, m.KeyTerms = r.Summary, r.Terms
	m.Stage, m.VaultPath = r.Stage, r.Path
	m.ArchivedAt, m.ArchiveReason = now, r.Reason
	return true
}

// WholeText returns the text of a cold memory whose note has a body.
func WholeText(m *memory.Memory, body string) string {
	if rekindle.Digest(body) == m.TextDigest {
		return textWithin(body, m.TextEdges)
	}
	if len(m.TextEdges) > 2 {
		return neutralize.WithoutInsertions(body, len(decodeOffsets(m.TextEdges[2])))
	}
	return body
}

// RestoreText gives a cold memory its text, which is the body of its note, and a stage.
func RestoreText(m *memory.Memory, body, path string, stage memory.Stage) {
	m.Content, m.Stage, m.VaultPath = WholeText(m, body), stage, path
	m.TextDigest, m.TextEdges, m.KeyTerms = "", nil, nil
	m.ArchivedAt, m.ArchiveReason, m.NoteGone = time.Time{}, "", time.Time{}
	m.ConsolidatedInto = ""
	if m.PromotedTo != "" {
		m.PromotedTo = path
	}
}

// textWithin returns the text from which emberd wrote a note with this body.
func textWithin(body string, edges []string) string {
	if len(edges) > 2 {
		body = neutralize.RemoveInsertions(body, decodeOffsets(edges[2]))
	}
	if len(edges) > 1 {
		body = edges[0] + body + edges[1]
	}
	return body
}

// NotePath returns the path of the note that a memory was promoted to, else of the note that
// its text was archived in, else "".
func NotePath(m *memory.Memory) string { return cmp.Or(m.PromotedTo, m.VaultPath) }
