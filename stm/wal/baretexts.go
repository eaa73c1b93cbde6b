package wal

import (
	"context"
	"fmt"
	"maps"

	"emberd/stm/record"
	"emberd/stm/repair"
)

// A table has no text of what is in the trash, and no earlier values. What comes back from one is parts of
// the lines that were lost, and whole lines only files have: histories and backups.

// completed adds to lines what a copy holds and the table does not, and whole lines of which the log has
// parts, or would have.
func (h healer) completed(ctx context.Context, lines []record.Line, held *repair.Folded) ([]record.Line, error) {
	lines = append(lines, repair.Missing(held.Table, h.Table)...)
	wanted := h.parts()
	for i := range lines {
		if !repair.IsWhole(&lines[i]) {
			wanted[lines[i].Stamp] = true
		}
	}
	whole, err := held.Whole(ctx, wanted)
	if err != nil {
		return nil, err
	}
	lines = repair.Completed(lines, whole, repair.Purged(held.Table, h.Table))
	return h.undeleted(lines), nil
}

// parts returns the stamps of the lines that came back in part.
func (h healer) parts() map[record.Stamp]bool {
	parts := map[record.Stamp]bool{}
	for _, r := range h.Journal.CutLines() {
		if l, err := h.Journal.ReadLine(r.At, r.Stamp); err == nil && l.Verb == repair.Verb {
			parts[r.Stamp] = true
		}
	}
	return parts
}

// CameBackInPart reports whether some changes came back without what they replaced, which a backup may have.
func (s *Log) CameBackInPart() bool { return len(healer{s}.parts()) > 0 }

// BareTrash counts the memories of the trash that came back without their texts, which no list of it has.
func BareTrash(s *Log) int { return len(healer{s}.bareNow()) }

// bareNow returns the memories that could be restored from the trash if their texts had come back, less
// those that the user has given up.
func (h healer) bareNow() map[[16]byte]record.Stamp {
	bare := h.Table.BareSince(h.Now().Add(-h.TrashKeep))
	maps.DeleteFunc(bare, h.Quarantine.GaveUp)
	return bare
}

// bareWarning is "" if no text is missed.
func bareWarning(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "a memory in the trash was restored without its text; to look for the text in the backups, run: " +
			"emberd doctor log repair"
	}
	return fmt.Sprintf("%d memories in the trash were restored without their texts; to "+
		"look for the texts in the backups, run: emberd doctor log repair", n)
}
