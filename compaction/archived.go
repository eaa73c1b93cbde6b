package compaction

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"emberd/stm/record"
)

// What archiving leaves behind would outweigh it: the line that archived a memory has its text as what it superseded,
// the line that saved the memory has it too, and both would go into the history whole, beside what is left of them. So
//
//   - a line that archived a memory stays whole for as long as the history is kept, so that an undo finds the text, and
//     the line that saved the memory loses the text, which no undo of it needs;
//   - a change of the stage alone stays as it is, which is shorter than a copy in the history;
//   - lines about archived memories are packed, see [record.Line].

// archivedText is the text of an archived memory, as the line has it that archived it.
type archivedText struct {
	at  record.Stamp
	sum [sha256.Size]byte
}

const (
	digestKey = "text_digest" // what archiving writes
	stageKey  = "stage"
)

// textSum identifies the text in a document, false if it has none.
func textSum(doc []byte) (sum [sha256.Size]byte, ok bool) {
	value := record.Member(doc, record.TextKey)
	if value == nil {
		return sum, false
	}
	text, err := record.Text(value)
	return sha256.Sum256([]byte(text)), err == nil
}

// noteArchived takes note of the text that a change took out of the log, if it is the latest that archived the memory.
func (r *folded) noteArchived(f *Fold, c *record.Change, at record.Stamp) {
	if c.Prev == nil || !at.After(r.archived.at) || !c.Archives() {
		return
	}
	if sum, ok := textSum(record.Member(c.Prev, "d")); ok {
		r.own(f).archived = archivedText{at, sum}
	}
}

// archivedNow returns the text that a memory has in a note, and in the line that archived it; the zero value if it was
// restored or edited since.
func (r *folded) archivedNow() archivedText {
	if a := r.archived; !a.at.IsZero() && r.stampOf(digestKey) == a.at && r.stampOf(record.TextKey) == a.at {
		return a
	}
	return archivedText{}
}

// stampOf returns the stamp of a key that was written apart from the rest, zero for none.
func (r *folded) stampOf(key string) record.Stamp {
	for _, g := range r.regs {
		if g.key == key {
			return g.stamp
		}
	}
	return record.Stamp{}
}

// kept is what a compaction keeps of a change.
type kept struct {
	*record.Change      // nil for nothing
	whole          bool // an undo needs nothing else
	lost           bool // something goes that belongs into the history
}

// keptOf is what is kept of a change whose rest belongs into the history.
func keptOf(c *record.Change, whole bool) kept { return kept{c, whole, !whole} }

// aged returns what is kept of a change by the rules of archiving, false if these do not apply.
func (e *recordFilter) aged(c *record.Change, row *folded, at record.Stamp, superseded []string) (kept, bool) {
	if e.now.Sub(at.Time()) >= e.historyKeep {
		return kept{}, false
	}
	a := row.archivedNow()
	switch {
	case c.Prev != nil && !a.at.IsZero() && at == a.at:
		return kept{Change: c, whole: true}, true
	case stageAlone(c), c.Prev == nil && len(superseded) == 1 && superseded[0] == stageKey:
		return kept{Change: c, whole: true}, true
	case a.at.After(at) && a.hasAll(c, superseded):
		data, err := record.WithKeys(c.Data, map[string]json.RawMessage{record.TextKey: record.Null})
		return kept{Change: &record.Change{Op: c.Op, ID: c.ID, Data: data}, whole: true}, err == nil
	}
	return kept{}, false
}

// hasAll reports whether a line that archived a memory has all of what counts no more of what the memory was saved
// with.
func (a *archivedText) hasAll(c *record.Change, superseded []string) bool {
	if c.Op != record.OpPut || c.Prev != nil || !slices.Contains(superseded, record.TextKey) {
		return false
	}
	sum, ok := textSum(c.Data)
	return ok && sum == a.sum && !slices.ContainsFunc(superseded, func(key string) bool {
		return key != record.TextKey && key != stageKey
	})
}

// part is the rest of a change, nil if nothing is left of it.
func part(c *record.Change, left []byte, row *folded, at record.Stamp) *record.Change {
	if len(left) == 2 && (c.Op != record.OpPut || at != row.born) {
		return nil
	}
	return &record.Change{Op: c.Op, ID: c.ID, Data: left}
}

// stageAlone reports whether a change says nothing but the stage of a memory.
func stageAlone(c *record.Change) bool {
	if c.Op != record.OpSet {
		return false
	}
	alone := true
	_ = record.EachField(c.Data, func(name, _ []byte) bool { // it was walked before
		alone = string(name) == stageKey
		return alone
	})
	return alone
}
