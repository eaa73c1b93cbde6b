package stm

import (
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Resolve turns what a caller names a memory by into its id: a full id, at least four
// characters of its beginning, of its end or of the beginning of its last eight, which people are
// shown, or an alias as it is written. An id, or a part that
// only one has, counts before an alias of another memory, and what is live before what is
// in the trash. It is an error of code NotFound if nothing is called so, and of code
// Ambiguous if several are. A full id that nothing has is returned as it is.
func (s *Store) Resolve(text string) (memory.ID, error) {
	n := table.Naming(text)
	if n.ID != "" && s.Knows(n.ID) {
		return n.ID, nil
	}
	id, err := s.FindNamed(n)
	if memory.CodeOf(err) == memory.NotFound {
		id, err = n.Only(s.TrashedAs(n))
	}
	return n.OrItself(id, err)
}

// ResolveAmong is [Store.Resolve] where some memories are more likely to be meant: one of
// these that is live and called so counts before all others.
func (s *Store) ResolveAmong(text string, ids []memory.ID) (memory.ID, error) {
	var rows []*table.Row
	for _, id := range ids {
		if row, live := s.Get(id); live {
			rows = append(rows, row)
		}
	}
	if id, err := table.Naming(text).Among(rows); id != "" || err != nil {
		return id, err
	}
	return s.Resolve(text)
}

// ResolveStale is [Store.Resolve] for the memories that [Store.Stale] lists. Those that are
// live nowhere are called what they would be if they were taken.
func (s *Store) ResolveStale(text string) (memory.ID, error) {
	var rows []*table.Row
	for _, w := range s.Stale() {
		if row := s.wal.Review.Preview(w.ID); row != nil {
			rows = append(rows, row)
		}
	}
	if id, err := table.Naming(text).Among(rows); id != "" || err != nil {
		return id, err
	}
	return s.Resolve(text)
}

// ResolvePurged is the one of some purged memories that is named by its id or a part of it.
func ResolvePurged(text string, purged Purges) (memory.ID, error) {
	n := table.Naming(text)
	if n.ID != "" || !n.IsPart() {
		return n.OrItself(n.Only(nil))
	}
	var fit []memory.ID
	for key := range purged {
		if n.Parts().AnyOf(key) {
			fit = append(fit, memory.IDFromBytes(key))
		}
	}
	slices.Sort(fit)
	return n.Only(fit)
}

// Tells reports whether a line of a log says more of a memory than that it was purged, or that its text was saved
// again. A line that cannot be decoded does if it mentions the memory.
func Tells(line []byte, id memory.ID) bool {
	p := record.Redaction{id.Bytes(): record.MaxStamp()}
	l, err := record.Decode(line)
	if err != nil {
		return p.Mentioned(line)
	}
	_, good, is := record.Classify(line, true, l.Stamp.Dev)
	_, _, _, tells := p.Redact(line, good, &l, is)
	return tells
}
