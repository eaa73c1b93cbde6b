package history

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

func undoneBefore(tx record.Stamp) error {
	return memory.Errorf(memory.Invalid, "change %s was already undone", tx).At("tx")
}

// restOf returns the steps of an entry that its undo left. It returns an error if there are none, and without
// force one that names them.
func restOf(ctx context.Context, s *Timeline, tx record.Stamp, steps []undoStep, force bool) ([]undoStep, error) {
	done, err := takenBack(ctx, s, tx)
	if err != nil {
		return nil, err
	}
	var rest []undoStep
	for _, st := range steps {
		if st.without(done[st.ID]) {
			rest = append(rest, st)
		}
	}
	items, err := s.preview(rest, true)
	if err != nil {
		return nil, err
	}
	left := make(map[memory.ID]bool)
	for _, item := range items {
		if item.Action != Left {
			left[item.ID] = true
		}
	}
	switch n := len(left); {
	case n == 0:
		return nil, undoneBefore(tx)
	case !force:
		what := "1 memory"
		if n > 1 {
			what = fmt.Sprintf("%d memories", n)
		}
		return nil, memory.Errorf(memory.Invalid, "change %s was already undone, except for %s that changed "+
			"later; to undo the rest of the change too, run: emberd undo --force %s", tx, what, tx).At("tx")
	}
	return rest, nil
}

// takenBack returns the keys of memories that standing undos of an entry wrote. Those of a memory that an undo
// removed or restored are all that it had.
func takenBack(ctx context.Context, s *Timeline, tx record.Stamp) (map[memory.ID]map[string]bool, error) {
	done := make(map[memory.ID]map[string]bool)
	for _, undo := range s.wal.Journal.UndosOf(tx) {
		refs, _ := s.wal.Journal.EntryLines(undo)
		for _, ref := range refs {
			l, err := s.wal.Journal.ReadLine(ref.At, ref.Stamp)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			for i := range l.Changes {
				noteWritten(done, &l.Changes[i])
			}
		}
	}
	return done, nil
}

func noteWritten(done map[memory.ID]map[string]bool, c *record.Change) {
	keys := done[c.ID]
	if keys == nil {
		keys = make(map[string]bool)
		done[c.ID] = keys
	}
	if c.Op != record.OpSet {
		keys[allKeys] = true
	}
	_ = record.EachField(c.Data, func(name, _ []byte) bool {
		keys[string(name)] = true
		return true
	})
}

// allKeys stands for all keys of a memory.
const allKeys = "*"

// without takes out of a step what was done, and reports whether anything is left.
func (st *undoStep) without(done map[string]bool) bool {
	if done[allKeys] || st.Op != record.OpSet {
		return !done[allKeys]
	}
	left := record.Values(st.Data)
	maps.DeleteFunc(left, func(key string, _ json.RawMessage) bool { return done[key] })
	st.Data = record.Encode(left)
	return !onlyTold(left)
}

// markRestored marks the steps that archived a text which emberd brought back by itself since, unchanged: an undo
// passes over that.
func markRestored(s *Timeline, tx record.Stamp, steps []undoStep) error {
	for i := range steps {
		st := &steps[i]
		row := s.wal.Table.Get(st.ID)
		if row == nil || st.Op != record.OpSet || !st.isBack(row) {
			continue
		}
		at, ok := s.wal.Journal.EntryAt(row.StampOf("content"))
		if !ok || !at.After(tx) {
			continue
		}
		moved, err := movedTexts(s, at, map[memory.ID]bool{st.ID: true})
		if err != nil {
			return err
		}
		st.back = moved
	}
	return nil
}

// isBack reports whether a step archived a text that the memory has again.
func (st *undoStep) isBack(row *table.Row) bool {
	none := func(value []byte) bool { return record.Same(value, nil) }
	archived := !none(record.Member(st.Data, textDigest)) && none(st.prior.Keys[textDigest])
	return archived && none(row.Value(textDigest)) && !none(row.Value("content")) &&
		record.Same(row.Value("content"), st.prior.Keys["content"])
}

// inTheWay returns the latest entry that changed since what the steps of an entry would take back, if they can
// take back nothing and that entry is about no other memories.
func inTheWay(s *Timeline, tx record.Stamp, steps []undoStep) (later record.Stamp, found bool, err error) {
	items, err := s.preview(steps, false)
	if err != nil || slices.ContainsFunc(items, func(item UndoneItem) bool { return item.Action != Left }) {
		return later, false, err
	}
	about := make(map[memory.ID]bool)
	for _, item := range items {
		about[item.ID] = true
		row := s.wal.Table.Get(item.ID)
		if row == nil || item.changed == "" {
			continue
		}
		if at, ok := s.wal.Journal.EntryAt(row.StampOf(item.changed)); ok {
			later = record.Later(later, at)
		}
	}
	if !later.After(tx) {
		return later, false, nil
	}
	moved, err := movedTexts(s, later, about)
	return later, moved, err
}

// movedTexts reports whether an entry stands by which emberd archived texts or brought them back by itself, and
// which is about no other memories.
func movedTexts(s *Timeline, tx record.Stamp, about map[memory.ID]bool) (moved bool, err error) {
	refs, undone := s.wal.Journal.EntryLines(tx)
	for _, ref := range refs {
		l, err := s.wal.Journal.ReadLine(ref.At, ref.Stamp)
		if err != nil || undone || !l.Unasked() || l.Ref != (record.Stamp{}) {
			return false, err
		}
		for _, c := range l.Changes {
			if !about[c.ID] {
				return false, nil
			}
			moved = moved || record.Member(c.Data, textDigest) != nil
		}
	}
	return moved, nil
}
