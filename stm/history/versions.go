package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// What a version did to its memory.
const (
	Created   = "created"
	Changed   = "changed"
	Forgot    = "forgotten"
	Recovered = "restored" // it was forgotten and is live again
)

// Version is one version of a memory: what one line of the log did to it.
type Version struct {
	Entry  record.Entry // without its memories
	Stamp  record.Stamp
	Undoes string // journal entry that it takes back, "" none
	Action string // Created, Changed, Forgot or Recovered
	// Fields are the keys that have another value since. A forgotten memory has
	// none: its version before tells them.
	Fields []Field
	// Cut is set where only the newest values are kept and not what they replaced.
	Cut bool
}

// Field is a key with its value before and after, JSON, nil for none.
type Field struct {
	Name     string
	From, To json.RawMessage
}

// History reads every version of a memory from the log, history files included,
// oldest first. Versions older than the history is kept are not there. It reads
// all files, so it is not for loops. Use is not a version.
func (s *Timeline) History(ctx context.Context, id memory.ID) ([]Version, error) {
	if s.memories.Sees != nil && !s.Knows(id) {
		return nil, nil
	}
	for ctx.Err() == nil {
		names, err := record.LogFiles(s.wal.FS, s.wal.Data)
		if err != nil {
			return nil, err
		}
		lines, err := s.linesAbout(ctx, names, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compaction has replaced a file in the meantime
		}
		if err != nil {
			return nil, err
		}
		at := s.wal.Table.PurgedAt(id.Bytes())
		maps.DeleteFunc(lines, func(t record.Stamp, _ record.LogLine) bool { return at.After(t) })
		told := textsTold(id, lines)
		maps.DeleteFunc(told, func(t record.Stamp, _ json.RawMessage) bool { return at.After(t) })
		return versions(id, lines, told)
	}
	return nil, context.Cause(ctx)
}

// linesAbout returns the good lines that change a memory, by stamp. Of two lines
// of one stamp, one that compaction cut yields to the whole one.
func (s *Timeline) linesAbout(ctx context.Context, names []string, id memory.ID) (map[record.Stamp]record.LogLine,
	error) {
	found := map[record.Stamp]record.LogLine{}
	for _, name := range names {
		for l, err := range record.ReadLogContaining(s.wal.FS, name, []byte(id)) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil && s.wal.OwnOrGone(name, err) {
				return nil, err
			}
			if err != nil {
				break // a file of another device is on its way here
			}
			if l.State != record.LineGood || !l.ChangesMemory(id) {
				continue
			}
			if have, ok := found[l.Stamp]; !ok || have.Cut && !l.Cut {
				l.Raw = bytes.Clone(l.Raw)
				good, _ := record.Trim(l.Raw)
				// It was decoded before; now its slices alias the copy.
				l.Changes = nil
				_ = l.Decode(good)
				found[l.Stamp] = l
			}
		}
	}
	return found, nil
}

// textsTold returns the texts that no line has and of which a later line says that it replaced them, by the
// stamps of what wrote them. So an edit is known after the file that had it is gone. The text that is older
// than all lines is told as that which the first of them replaced.
func textsTold(id memory.ID, lines map[record.Stamp]record.LogLine) map[record.Stamp]json.RawMessage {
	told := map[record.Stamp]json.RawMessage{}
	var first record.Stamp
	for at, l := range lines {
		if first.IsZero() || first.After(at) {
			first = at
		}
		in := l.Line()
		for i := range in.Changes {
			from := in.Changes[i].From()
			prior, err := in.Changes[i].Superseded()
			if in.Changes[i].ID == id && len(from) > 0 && err == nil && prior.Keys[record.TextKey] != nil {
				told[from[0]] = prior.Keys[record.TextKey]
			}
		}
	}
	maps.DeleteFunc(told, func(at record.Stamp, _ json.RawMessage) bool {
		l, known := lines[at]
		return known && !lacksText(&l, id) || first.After(at)
	})
	return told
}

// lacksText reports whether a line made a memory and does not say its text, which compaction leaves to the line that
// archived the memory.
func lacksText(l *record.LogLine, id memory.ID) bool {
	return slices.ContainsFunc(l.Changes, func(c record.LogChange) bool {
		return c.ID == id && c.Op == record.OpPut && record.Member(c.Data, record.TextKey) == nil
	})
}

// withText returns the line with the text of a memory that it made.
func withText(l record.LogLine, id memory.ID, text json.RawMessage) record.LogLine {
	l.Changes = slices.Clone(l.Changes)
	for i, c := range l.Changes {
		if c.ID != id || c.Op != record.OpPut {
			continue
		}
		// The document was walked when it was decoded.
		l.Changes[i].Data, _ = record.WithKeys(c.Data, map[string]json.RawMessage{record.TextKey: text})
	}
	return l
}

// lineTelling is a line that was lost, as far as a later one told its text.
func lineTelling(id memory.ID, text json.RawMessage, at record.Stamp) record.LogLine {
	set := record.LogChange{Op: record.OpSet, ID: id,
		Data: record.Encode(map[string]json.RawMessage{record.TextKey: text})}
	return record.LogLine{Stamp: at, Tx: at, Op: record.OpSet, Cut: true, Changes: []record.LogChange{set}}
}

// versions adds the lines up in the order of their stamps.
func versions(id memory.ID, lines map[record.Stamp]record.LogLine, told map[record.Stamp]json.RawMessage) ([]Version,
	error) {
	for at, text := range told {
		if l, known := lines[at]; known {
			lines[at] = withText(l, id, text)
		} else {
			lines[at] = lineTelling(id, text, at)
		}
	}
	row := &table.Row{Key: id.Bytes()}
	var out []Version
	var alive []byte // the document when the memory was last live
	for _, at := range slices.SortedFunc(maps.Keys(lines), record.Stamp.Compare) {
		l := lines[at]
		v := Version{Entry: l.Entry(), Stamp: at, Cut: l.Cut}
		if !l.Undoes.IsZero() {
			v.Undoes = l.Undoes.String()
		}
		in := l.Line()
		for i := range in.Changes {
			if in.Changes[i].ID != id {
				continue
			}
			before := row
			var err error
			if row, err = table.Merged(before, &in.Changes[i], at); err != nil {
				return nil, err
			}
			if v.compare(before, row, alive, &in.Changes[i]); v.Action != "" {
				out = append(out, v)
			}
		}
		switch {
		case row.Live():
			alive = row.JSON()
		case alive == nil:
			alive = in.Forgotten(id)
		}
	}
	return out, nil
}

// compare reports what became of the memory. What the log no longer tells about
// the time before, the change itself may: its superseded values.
func (v *Version) compare(before, after *table.Row, alive []byte, c *record.Change) {
	prior, err := c.Superseded()
	if err != nil {
		prior = record.Superseded{}
	}
	was := before.JSON()
	switch {
	case c.IsDelete() && (before.Live() || before.Rest().Tomb.IsZero()):
		v.Action = Forgot
		return
	case c.IsDelete():
		return // forgotten twice, on two devices
	case after.Live() && !before.Live() && alive == nil && before.Rest().Tomb.IsZero():
		v.Action = Created
	case after.Live() && !before.Live():
		v.Action, was = Recovered, alive
	default:
		v.Action = Changed
	}
	v.Fields = differences(was, after.JSON(), prior.Keys)
	if v.Action == Changed && len(v.Fields) == 0 {
		v.Action = ""
	}
}

// differences lists the keys whose values differ, in the order of names. A key
// that before does not have takes its earlier value from prior.
func differences(before, after []byte, prior map[string]json.RawMessage) []Field {
	old, now := record.Values(before), record.Values(after)
	var out []Field
	for _, key := range slices.Sorted(maps.Keys(both(old, now))) {
		from := old[key]
		if from == nil {
			from = prior[key]
		}
		if !record.Same(from, now[key]) {
			out = append(out, Field{Name: key, From: bytes.Clone(from), To: bytes.Clone(now[key])})
		}
	}
	return out
}

func both(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
