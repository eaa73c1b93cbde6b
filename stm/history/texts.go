package history

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
)

// TextEdit is one change of the text of a memory, as its line has it.
type TextEdit struct {
	Stamp record.Stamp
	Verb  string
	// From are the texts that its writer knew, by the stamps of what wrote them: first the one that it
	// replaced, which is Before.
	From         []record.Stamp
	Before, Text string
}

// TextEdits reads the changes of the texts of some memories from the log, histories included, oldest
// first. Changes by earlier versions of emberd, which do not say what their writer knew, are left out.
// It reads all files once.
func (s *Timeline) TextEdits(ctx context.Context, ids []memory.ID) (map[memory.ID][]TextEdit, error) {
	for ctx.Err() == nil {
		names, err := record.LogFiles(s.wal.FS, s.wal.Data)
		if err != nil {
			return nil, err
		}
		found, err := s.textEdits(ctx, names, ids)
		if !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	return nil, context.Cause(ctx)
}

func (s *Timeline) textEdits(ctx context.Context, names []string, ids []memory.ID) (map[memory.ID][]TextEdit,
	error) {
	found := make(map[memory.ID]map[record.Stamp]TextEdit, len(ids))
	for _, id := range ids {
		found[id] = make(map[record.Stamp]TextEdit)
	}
	for _, name := range names {
		for l, err := range record.ReadLogContaining(s.wal.FS, name, []byte(`"from":["`)) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil && s.wal.OwnOrGone(name, err) {
				return nil, err
			}
			if err != nil {
				break // a file of another device is on its way here
			}
			if l.State == record.LineGood {
				s.noteTexts(&l, found)
			}
		}
	}
	out := make(map[memory.ID][]TextEdit, len(found))
	for id, edits := range found {
		out[id] = slices.SortedFunc(maps.Values(edits), func(a, b TextEdit) int { return a.Stamp.Compare(b.Stamp) })
	}
	return out, nil
}

func (s *Timeline) noteTexts(l *record.LogLine, found map[memory.ID]map[record.Stamp]TextEdit) {
	line := l.Line()
	for i := range line.Changes {
		c := &line.Changes[i]
		edits, wanted := found[c.ID]
		if !wanted || s.wal.Table.PurgedAt(c.ID.Bytes()).After(l.Stamp) {
			continue
		}
		from := c.From()
		text, err := record.Text(record.Member(c.Data, record.TextKey))
		prior, bad := c.Superseded()
		if len(from) == 0 || err != nil || bad != nil {
			continue
		}
		before, _ := record.Text(prior.Keys[record.TextKey]) // a memory may have had none
		edits[l.Stamp] = TextEdit{Stamp: l.Stamp, Verb: l.Verb, From: from, Before: before, Text: text}
	}
}

// Apart is a text that was written apart from the one that is shown. Base is the text that both were
// made from, and HasBase is false if the log no longer tells it.
type Apart struct {
	TextEdit
	Base    string
	HasBase bool
}

// TextsApart returns the latest texts that neither led to the shown one nor were made with knowledge of it,
// oldest first. Where the log has lost a part of what led to the shown text, everything older counts as
// known.
func TextsApart(edits []TextEdit, shown record.Stamp) []Apart {
	g := graphOf(edits)
	if g.edits[shown] == nil {
		return nil
	}
	known, lost := g.behind(shown)
	open := slices.DeleteFunc(slices.Clone(edits), func(e TextEdit) bool {
		return known[e.Stamp] || e.Stamp.After(shown) || lost.Compare(e.Stamp) >= 0
	})
	for _, e := range slices.Clone(open) {
		led, _ := g.behind(e.Stamp)
		open = slices.DeleteFunc(open, func(o TextEdit) bool { return o.Stamp != e.Stamp && led[o.Stamp] })
	}
	out := make([]Apart, len(open))
	for i, e := range open {
		out[i].TextEdit = e
		out[i].Base, out[i].HasBase = g.base(&e, known)
	}
	return out
}

// NotBehind reports whether one of the texts was written after the other texts or apart from them: it did not lead to
// any of these. Without any of the others it is false.
func NotBehind(edits []TextEdit, text, others func(string) bool) bool {
	g, known := graphOf(edits), map[record.Stamp]bool{}
	for _, e := range edits {
		if others(e.Text) {
			led, _ := g.behind(e.Stamp)
			maps.Copy(known, led)
		}
	}
	apart := func(e TextEdit) bool { return text(e.Text) && !known[e.Stamp] }
	return len(known) > 0 && slices.ContainsFunc(edits, apart)
}

// textGraph is the texts of a memory by their stamps, each with those that it was made from.
type textGraph struct{ edits map[record.Stamp]*TextEdit }

func graphOf(edits []TextEdit) textGraph {
	g := textGraph{edits: make(map[record.Stamp]*TextEdit, len(edits))}
	for i := range edits {
		g.edits[edits[i].Stamp] = &edits[i]
	}
	return g
}

// behind returns the texts that led to one, itself among them, and the latest of those that the log does
// not have: the first text of the memory, or one that it has lost.
func (g textGraph) behind(at record.Stamp) (known map[record.Stamp]bool, lost record.Stamp) {
	known = map[record.Stamp]bool{at: true}
	for next := []record.Stamp{at}; len(next) > 0; {
		e := g.edits[next[0]]
		if e == nil {
			lost = record.Later(lost, next[0])
		} else {
			for _, from := range e.From {
				if !known[from] {
					known[from] = true
					next = append(next, from)
				}
			}
		}
		next = next[1:]
	}
	return known, lost
}

// base returns the last text on the way to e that led to the shown one, too.
func (g textGraph) base(e *TextEdit, known map[record.Stamp]bool) (string, bool) {
	for e != nil {
		if known[e.From[0]] {
			return e.Before, true
		}
		e = g.edits[e.From[0]]
	}
	return "", false
}
