package history

import (
	"context"
	"encoding/json"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// ownValues are the values that emberd gave keys of a memory by itself since an entry made it, by key.
type ownValues map[string][]json.RawMessage

func (o ownValues) has(key string, value json.RawMessage) bool {
	return slices.ContainsFunc(o[key], func(v json.RawMessage) bool { return record.Same(v, value) })
}

// madeMemory is what became of a memory after the entry that made it.
type madeMemory struct {
	step  *undoStep
	row   *table.Row
	wrote map[string]record.Stamp // when each key was written last
	asked map[string]bool         // the keys that a person or an agent wrote
	// archived is the change that took the text out of the memory, and promoted the one that gave it a note.
	archived, promoted undoStep
}

// withOwnChanges tells the steps that made memories what emberd changed of these by itself since, and puts
// before them the steps that bring back the texts that were archived since, so that what goes to the
// trash is whole, and those that take promotions back.
func withOwnChanges(ctx context.Context, s *Timeline, tx record.Stamp, steps []undoStep, force bool) ([]undoStep,
	error) {
	made := changedSince(s, steps)
	if len(made) == 0 {
		return steps, nil
	}
	if err := trace(ctx, s, tx, made); err != nil {
		return steps, ctx.Err() // who asked for what is not known, and all of it counts as asked for
	}
	var first []undoStep
	for i := range steps {
		m := made[steps[i].ID]
		if m == nil || m.step != &steps[i] {
			continue
		}
		before := m.before()
		if m.step.own = m.own(before); force || differsFrom(m.row, m.step.Data, m.step.own) == "" {
			first = append(first, before...)
		}
	}
	return append(first, steps...), nil
}

// changedSince returns the live memories that the steps made and that are not as they were made.
func changedSince(s *Timeline, steps []undoStep) map[memory.ID]*madeMemory {
	made := make(map[memory.ID]*madeMemory)
	for i := range steps {
		st := &steps[i]
		if st.Op != record.OpPut {
			continue
		}
		if row := s.wal.Table.Get(st.ID); row != nil && differsFrom(row, st.Data, nil) != "" {
			made[st.ID] = &madeMemory{step: st, row: row, wrote: make(map[string]record.Stamp),
				asked: make(map[string]bool)}
		}
	}
	return made
}

// trace reads the lines since an entry that changed what it made.
func trace(ctx context.Context, s *Timeline, tx record.Stamp, made map[memory.ID]*madeMemory) error {
	for _, ref := range s.wal.Journal.Since(tx) {
		if ref.Tx == tx {
			continue
		}
		l, err := s.wal.Journal.ReadLine(ref.At, ref.Stamp)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		asked := asks(s, &l)
		for _, c := range l.Changes {
			if m := made[c.ID]; m != nil && c.Op != record.OpDelete {
				if err := m.note(&l, c, asked); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// asks tells of a line which keys a person or an agent asked for.
func asks(s *Timeline, l *record.Line) func(key string) bool {
	_, undone := s.wal.Journal.Lines(l.Tx)
	unasked := l.Unasked() && l.Verb != record.Recovered
	switch {
	case undone || l.Verb == UndoVerb:
		return func(string) bool { return false } // what it brought back, another line wrote
	case unasked && l.Entry().By.Client == record.VaultClient:
		return func(key string) bool { return key != "note_seen" && key != "note_gone" }
	}
	return func(string) bool { return !unasked }
}

// note adds one change of the memory.
func (m *madeMemory) note(l *record.Line, c record.Change, asked func(string) bool) error {
	prior, err := c.Superseded()
	if err != nil {
		return err
	}
	st := undoStep{Change: c, verb: l.Verb, at: l.Stamp, prior: prior}
	return record.EachField(c.Data, func(name, value []byte) bool {
		key := string(name)
		m.wrote[key] = l.Stamp
		m.asked[key] = m.asked[key] || asked(key)
		whole := c.Op == record.OpSet && !l.Cut && !record.Same(value, nil)
		if whole && key == textDigest {
			m.archived = st
		}
		if whole && key == promotedTo && l.Verb != UndoVerb && record.Same(prior.Keys[promotedTo], nil) {
			m.promoted = st
		}
		return true
	})
}

const promotedTo = "promoted_to"

// before returns the steps that come before the memory goes. A text in the note that emberd promoted the memory
// to has none: the note would go with it.
func (m *madeMemory) before() []undoStep {
	archived, promoted := m.row.Value(textDigest) != nil, m.row.Value(promotedTo) != nil
	switch {
	case archived && !promoted && m.archived.at == m.row.StampOf(textDigest):
		return []undoStep{m.archived}
	case promoted && !archived && !m.asked[promotedTo] && m.promoted.at == m.row.StampOf(promotedTo):
		return []undoStep{m.promoted}
	}
	return nil
}

// own returns the values of the keys that nobody asked to change, as they are and as the steps leave them.
func (m *madeMemory) own(steps []undoStep) ownValues {
	own := make(ownValues)
	for key, at := range m.wrote {
		if m.asked[key] || at != m.row.StampOf(key) || len(steps) == 0 && (key == textDigest || key == promotedTo) {
			continue
		}
		own[key] = append(own[key], m.row.Value(key))
		for i := range steps {
			if record.Member(steps[i].Data, key) != nil || goesWithText(key) {
				own[key] = append(own[key], steps[i].prior.Keys[key])
			}
		}
	}
	return own
}
