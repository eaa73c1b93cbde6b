package repair

import (
	"context"

	"emberd/memory"
	"emberd/stm/record"
)

// Whole reads from the files that were folded, and their histories, the lines with some stamps that
// say all they ever did: what they superseded, too. Files that cannot be read have none. The lines are as
// they are to be written again. The error is that of ctx.
func (f *Folded) Whole(ctx context.Context, wanted map[record.Stamp]bool) (map[record.Stamp]record.Line, error) {
	found := map[record.Stamp]record.Line{}
	if len(wanted) == 0 {
		return found, nil
	}
	for _, name := range f.files {
		err := eachLine(ctx, f.fs, name, func(b []byte) {
			if l, sound := decoded(b); sound && wanted[l.Stamp] && IsWhole(&l) {
				l.Seq, l.Verb, l.By, l.Key, l.KeyHash, l.Audit = 0, Verb, byItself(), "", "", ""
				found[l.Stamp] = l
			}
		})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			continue
		}
	}
	return found, nil
}

// IsWhole reports whether nothing of what a line said or superseded was left out of it.
func IsWhole(l *record.Line) bool {
	if l.Cut || len(l.Changes) == 0 {
		return false
	}
	for i := range l.Changes {
		if c := &l.Changes[i]; c.Op == record.OpSet && c.Prev == nil {
			return false
		}
	}
	return true
}

// byItself is the author of what comes back.
func byItself() []byte { return record.Encode(memory.Actor{Via: record.Itself}) }

// Completed puts whole lines in the place of those that are parts of them, and adds the others that are
// wanted. What a purge forbids stays out. Neither table is changed.
func Completed(parts []record.Line, whole map[record.Stamp]record.Line, gone record.Redaction) []record.Line {
	var out []record.Line
	for _, l := range parts {
		if _, known := whole[l.Stamp]; !known {
			out = append(out, l)
		}
	}
	for _, l := range whole {
		if gone.Keeps(&l) {
			out = append(out, l)
		}
	}
	inOrder(out)
	return out
}
