package repair

import (
	"bytes"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Verb is what the journal says of a line that came back.
const Verb = record.Recovered

// Missing returns the lines that bring what held says into a log whose files add up to have,
// oldest first. They have no numbers. Neither table is changed, and both may be in use.
func Missing(held, have *table.Table) []record.Line {
	lines := missingPurges(held, have)
	gone := Purged(held, have)
	by := byItself()
	for _, cell := range held.Every() {
		row := cell.Row.Load()
		for _, l := range table.Beyond(row, rowIn(have, row.Key)) {
			if gone.Keeps(&l) {
				lines = append(lines, l)
			}
		}
	}
	for i := range lines {
		lines[i].Verb, lines[i].By = Verb, by
	}
	inOrder(lines)
	return joined(lines)
}

// joined makes one line of those with one stamp, as the line that they stand for was: a journal has one line of
// a stamp. Lines that would be too long stay apart, and so do purges.
func joined(lines []record.Line) (out []record.Line) {
	size := 0
	for _, l := range lines {
		n := len(out) - 1
		more := 0
		for _, c := range l.Changes {
			more += len(c.Data) + len(c.Prev) + 256
		}
		if n < 0 || out[n].Stamp != l.Stamp || out[n].Purges() || l.Purges() || size+more > record.MaxLine/2 {
			out, size = append(out, l), more
			continue
		}
		size += more
		to := &out[n]
		to.Op, to.Cut = record.OpAll, to.Cut || l.Cut
		to.Changes, to.Lift = append(to.Changes, l.Changes...), append(to.Lift, l.Lift...)
	}
	return out
}

func inOrder(lines []record.Line) {
	slices.SortStableFunc(lines, func(a, b record.Line) int {
		if c := a.Stamp.Compare(b.Stamp); c != 0 {
			return c
		}
		return bytes.Compare(keyOf(&a), keyOf(&b))
	})
}

// keyOf orders lines of one transaction.
func keyOf(l *record.Line) []byte {
	if len(l.Changes) == 0 {
		return nil
	}
	key := l.Changes[0].ID.Bytes()
	return key[:]
}

func rowIn(t *table.Table, key [16]byte) *table.Row {
	if c := t.Cell(key); c != nil {
		return c.Row.Load()
	}
	return nil
}

// Uses returns the totals of a device that held counts more of than have does, by memory.
func Uses(held, have *table.Table, dev record.Device) map[[16]byte]record.UseTotal {
	more := map[[16]byte]record.UseTotal{}
	for _, cell := range held.Every() {
		row := cell.Row.Load()
		for _, u := range table.UsesBeyond(row, rowIn(have, row.Key)) {
			if u.Dev == dev {
				more[row.Key] = u
			}
		}
	}
	return more
}

// missingPurges are the purges that only held knows.
func missingPurges(held, have *table.Table) (lines []record.Line) {
	for key, p := range held.AllPurges() {
		if !p.Stamp.After(have.PurgedAt(key)) {
			continue
		}
		purge := record.Change{Op: record.OpPurge, ID: memory.IDFromBytes(key)}
		lines = append(lines, record.Line{Version: record.FormatVersion, Op: record.OpPurge, Stamp: p.Stamp,
			Tx: p.Stamp, Changes: []record.Change{purge}})
	}
	return lines
}

// Purged is what neither copy may bring back: of a memory that was purged, what was written
// before that.
func Purged(held, have *table.Table) record.Redaction {
	out := record.Redaction{}
	for _, t := range []*table.Table{held, have} {
		for key, p := range t.AllPurges() {
			out[key] = record.Later(out[key], p.Stamp)
		}
	}
	return out
}
