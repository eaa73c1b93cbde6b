package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"emberd/memory"
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
	Entry  Entry // without its memories
	Stamp  Stamp
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
func (s *Store) History(ctx context.Context, id memory.ID) ([]Version, error) {
	if s.sees != nil && !s.knows(id) {
		return nil, nil
	}
	for ctx.Err() == nil {
		names, err := LogFiles(s.fs, s.data)
		if err != nil {
			return nil, err
		}
		lines, err := s.linesAbout(ctx, names, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compaction has replaced a file meanwhile
		}
		if err != nil {
			return nil, err
		}
		at := s.table.purgedAt(id.Bytes())
		maps.DeleteFunc(lines, func(t Stamp, _ LogLine) bool { return at.after(t) })
		return versions(id, lines)
	}
	return nil, context.Cause(ctx)
}

// linesAbout returns the good lines that change a memory, by stamp. Of two lines
// of one stamp, one that compaction cut yields to the whole one.
func (s *Store) linesAbout(ctx context.Context, names []string, id memory.ID) (map[Stamp]LogLine, error) {
	found := map[Stamp]LogLine{}
	for _, name := range names {
		for l, err := range readLog(s.fs, name, []byte(id)) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil && s.ownOrGone(name, err) {
				return nil, err
			}
			if err != nil {
				break // a file of another device is on its way here
			}
			if l.State != LineGood || !l.changes(id) {
				continue
			}
			if have, ok := found[l.Stamp]; !ok || have.Cut && !l.Cut {
				l.Raw = bytes.Clone(l.Raw)
				good, _ := mend(l.Raw)
				// It was decoded before; now its slices alias the copy.
				l.Changes = nil
				_ = l.decode(good)
				found[l.Stamp] = l
			}
		}
	}
	return found, nil
}

// ownOrGone reports whether a file that cannot be read ends the search.
func (s *Store) ownOrGone(name string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		filepath.Base(filepath.Dir(name)) == s.device.String()
}

func (l *LogLine) changes(id memory.ID) bool {
	return slices.ContainsFunc(l.Changes, func(c LogChange) bool { return c.ID == id })
}

// versions adds the lines up in the order of their stamps.
func versions(id memory.ID, lines map[Stamp]LogLine) ([]Version, error) {
	row := &Row{key: id.Bytes()}
	var out []Version
	var alive []byte // the document when the memory was last live
	for _, at := range slices.SortedFunc(maps.Keys(lines), Stamp.Compare) {
		l := lines[at]
		v := Version{Entry: l.Entry(), Stamp: at, Cut: l.Cut}
		if !l.Undoes.IsZero() {
			v.Undoes = l.Undoes.String()
		}
		in := l.line()
		for i := range in.changes {
			if in.changes[i].id != id {
				continue
			}
			before := row
			var err error
			if row, err = merged(before, &in.changes[i], at); err != nil {
				return nil, err
			}
			if v.compare(before, row, alive, &in.changes[i]); v.Action != "" {
				out = append(out, v)
			}
		}
		switch {
		case row.live():
			alive = row.doc
		case alive == nil:
			alive = in.forgotten(id)
		}
	}
	return out, nil
}

// forgotten is the document of a memory that the line deletes, nil if it does
// not, or does not tell.
func (l *line) forgotten(id memory.ID) []byte {
	for i := range l.changes {
		c := &l.changes[i]
		if c.id != id || c.op != opDelete {
			continue
		}
		if prior, err := c.superseded(); err == nil && len(prior.Keys) > 0 {
			return encode(prior.Keys)
		}
	}
	return nil
}

// compare says what became of the memory. What the log no longer tells about
// the time before, the change itself may: its superseded values.
func (v *Version) compare(before, after *Row, alive []byte, c *change) {
	prior, err := c.superseded()
	if err != nil {
		prior = superseded{}
	}
	was := before.doc
	switch {
	case c.buries() && (before.live() || before.rest().tomb.IsZero()):
		v.Action = Forgot
		return
	case c.buries():
		return // forgotten twice, on two devices
	case after.live() && !before.live() && alive == nil && before.rest().tomb.IsZero():
		v.Action = Created
	case after.live() && !before.live():
		v.Action, was = Recovered, alive
	default:
		v.Action = Changed
	}
	v.Fields = differences(was, after.doc, prior.Keys)
	if v.Action == Changed && len(v.Fields) == 0 {
		v.Action = ""
	}
}

// differences lists the keys whose values differ, in the order of names. A key
// that before does not have takes its earlier value from prior.
func differences(before, after []byte, prior map[string]json.RawMessage) []Field {
	old, now := values(before), values(after)
	var out []Field
	for _, key := range slices.Sorted(maps.Keys(both(old, now))) {
		from := old[key]
		if from == nil {
			from = prior[key]
		}
		if !same(from, now[key]) {
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

// values returns the members of a document by name.
func values(doc []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if len(doc) > 0 {
		// A document that was applied has been walked before.
		_ = eachField(doc, func(name, value []byte) bool {
			out[string(name)] = value
			return true
		})
	}
	return out
}
