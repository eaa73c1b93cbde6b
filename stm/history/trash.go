package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"emberd/memory"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// maxUnearthed bounds the lines that [Store.Unearth] reads, in bytes.
const maxUnearthed = 32 << 20

// TrashedMemory is a memory of the trash as it was when it was forgotten.
type TrashedMemory struct {
	Memory    memory.Memory
	Fields    map[string]json.RawMessage // every key, JSON by name
	Forgotten time.Time
}

// ReadTrash reads memories of the trash, and each line of the log once: one line may have
// forgotten thousands of them. It gets to the first n ids, at least to one if there is one,
// and to no more than 32 MiB of lines have. Those that are not in the trash are not in found.
// What it returns is the caller's.
func (s *Timeline) ReadTrash(ids []memory.ID) (found map[memory.ID]TrashedMemory, n int, err error) {
	keys, n, err := s.UnearthSome(ids, maxUnearthed)
	if err != nil {
		s.wal.Logger.Warn("skipped memories in the trash, because the log no longer contains their texts", "error", err)
	}
	found = make(map[memory.ID]TrashedMemory, len(keys))
	for id, fields := range keys {
		m, err := s.buriedMemory(id, fields)
		if err != nil {
			return nil, 0, err
		}
		if g, ok := s.Tombstone(id); ok {
			found[id] = TrashedMemory{Memory: m, Fields: fields, Forgotten: g.Stamp.Time()}
		}
	}
	return found, n, nil
}

// ReadTrashed reads a trashed memory as it was.
func (s *Timeline) ReadTrashed(id memory.ID) (memory.Memory, error) {
	keys, err := s.ForgottenFields(id)
	if err != nil {
		return memory.Memory{}, err
	}
	return s.buriedMemory(id, keys)
}

// buriedMemory is a memory of the trash by its keys, with what was counted of it.
func (s *Timeline) buriedMemory(id memory.ID, keys map[string]json.RawMessage) (memory.Memory, error) {
	m, err := record.DecodeDocument(record.Encode(keys))
	if err != nil {
		return m, fmt.Errorf("cannot read memory %s in the trash: %w", id, err)
	}
	m.ID = id
	if m.LastUsed.IsZero() {
		m.LastUsed = m.CreatedAt
	}
	if c := s.wal.Table.Cell(id.Bytes()); c != nil {
		counted := c.Row.Load().Total()
		m.UseCount += counted.Uses
		m.AccessCount += counted.Accesses
		if used := record.Millis(counted.Used); used.After(m.LastUsed) {
			m.LastUsed = used
		}
	}
	return m, nil
}

// ForgottenFields returns every key of a trashed memory, JSON by name, as it was
// when it was forgotten.
func (s *Timeline) ForgottenFields(id memory.ID) (map[string]json.RawMessage, error) {
	all, _, err := s.UnearthSome([]memory.ID{id}, 0)
	keys, there := all[id]
	if err == nil && !there {
		err = journal.NotTrashed(id)
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// trashLine is a line of the log, and those of the memories that it forgot that are asked for.
type trashLine struct {
	table.TombstoneRef
	ids map[memory.ID]bool
}

// UnearthSome returns the keys of memories of the trash by their ids, and how many ids it got
// to before their lines would have had more than so many bytes. The error is that of the lines that
// cannot be read; the memories of the others are there all the same.
func (s *Timeline) UnearthSome(ids []memory.ID, limit int64) (keys map[memory.ID]map[string]json.RawMessage, n int,
	unread error) {
	plots, size := make(map[record.Place]*trashLine), int64(0)
	for ; n < len(ids); n++ {
		g, ok := s.Tombstone(ids[n])
		if !ok || !s.InTrash(ids[n]) {
			continue
		}
		if plots[g.At] == nil {
			if size += int64(g.At.N); size > limit && len(plots) > 0 {
				break
			}
			plots[g.At] = &trashLine{TombstoneRef: g, ids: make(map[memory.ID]bool)}
		}
		plots[g.At].ids[ids[n]] = true
	}
	keys = make(map[memory.ID]map[string]json.RawMessage)
	for _, p := range plots {
		err := s.readTrashLine(p, keys)
		if err != nil { // a compaction may have moved the line since
			err = s.retryTrashLine(p, keys)
		}
		unread = errors.Join(unread, err)
	}
	return keys, n, unread
}

// retryTrashLine reads each memory of a line where it is now, unless it was purged since.
func (s *Timeline) retryTrashLine(p *trashLine, keys map[memory.ID]map[string]json.RawMessage) error {
	for id := range p.ids {
		g, ok := s.Tombstone(id)
		if !ok {
			continue
		}
		if err := s.readTrashLine(&trashLine{TombstoneRef: g, ids: map[memory.ID]bool{id: true}}, keys); err != nil {
			return err
		}
	}
	return nil
}

// readTrashLine reads a line and adds the keys of the memories that are asked for.
func (s *Timeline) readTrashLine(p *trashLine, keys map[memory.ID]map[string]json.RawMessage) error {
	l, err := s.wal.Journal.ReadLine(p.At, p.Stamp)
	if err != nil {
		return err
	}
	for i := range l.Changes {
		c := &l.Changes[i]
		if c.Op != record.OpDelete || !p.ids[c.ID] {
			continue
		}
		was, err := c.Superseded()
		if err != nil {
			return err
		}
		keys[c.ID] = s.revived(c.ID, was.Keys)
		delete(p.ids, c.ID)
	}
	for id := range p.ids {
		return memory.Errorf(memory.Internal,
			"the log record that deleted memory %s does not contain the ID of the memory", id)
	}
	return nil
}

// revived returns the keys of a forgotten memory with what other devices wrote
// or removed after it was forgotten.
func (s *Timeline) revived(id memory.ID, keys map[string]json.RawMessage) map[string]json.RawMessage {
	cell := s.wal.Table.Cell(id.Bytes())
	if cell == nil || cell.Row.Load().Live() {
		return keys
	}
	row, out := cell.Row.Load(), map[string]json.RawMessage{}
	maps.Copy(out, keys)
	for _, later := range row.Rest().Regs {
		if delete(out, later.Key); row.Value(later.Key) != nil {
			out[later.Key] = row.Value(later.Key)
		}
	}
	return out
}

// Restore brings memories back from the trash: all, or none.
func (s *Timeline) Restore(ctx context.Context, ids []memory.ID, by memory.Actor) (wal.Receipt, error) {
	return s.update(ctx, ids, "", func(rows []*table.Row) (*wal.Tx, error) {
		tx := &wal.Tx{Verb: restoreVerb, By: by}
		keys, _, err := s.UnearthSome(ids, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			if rows[i] != nil {
				return nil, memory.Errorf(memory.Invalid, "cannot restore memory %s, because it is not deleted", id)
			}
			set, there := keys[id]
			if !there {
				return nil, journal.NotTrashed(id)
			}
			tx.Changes = append(tx.Changes, wal.Change{ID: id, Set: set, Allowed: true})
		}
		return tx, nil
	})
}

// Trash lists what can be restored, newest first.
func (s *Timeline) Trash() []journal.TrashItem {
	oldest := s.wal.Now().Add(-s.wal.TrashKeep)
	var items []journal.TrashItem
	s.wal.Table.Mu.RLock()
	for key, g := range s.wal.Table.Graves {
		if at := g.Stamp.Time(); at.After(oldest) {
			items = append(items, journal.TrashItem{ID: memory.IDFromBytes(key), Forgotten: at,
				Until: at.Add(s.wal.TrashKeep), Entry: g.Tx.String()})
		}
	}
	s.wal.Table.Mu.RUnlock()
	slices.SortFunc(items, func(a, b journal.TrashItem) int {
		if c := b.Forgotten.Compare(a.Forgotten); c != 0 {
			return c
		}
		return compareText(a.ID, b.ID)
	})
	return items
}

// Trashed reports whether id can be restored.
func (s *Timeline) Trashed(id memory.ID) bool { return s.InTrash(id) && !s.IsHidden(id) }

// InTrash is [Timeline.Trashed] without the view.
func (s *Timeline) InTrash(id memory.ID) bool {
	g, ok := s.Tombstone(id)
	return ok && g.Stamp.Time().After(s.wal.Now().Add(-s.wal.TrashKeep))
}

func (s *Timeline) Tombstone(id memory.ID) (table.TombstoneRef, bool) {
	s.wal.Table.Mu.RLock()
	defer s.wal.Table.Mu.RUnlock()
	g, ok := s.wal.Table.Graves[id.Bytes()]
	return g, ok
}

// Forgetting returns the line of the journal that moved a memory to the trash.
func (s *Timeline) Forgetting(id memory.ID) (record.Entry, error) {
	g, ok := s.Tombstone(id)
	if !ok || !s.InTrash(id) {
		return record.Entry{}, journal.NotTrashed(id)
	}
	l, err := s.wal.Journal.ReadLine(g.At, g.Stamp)
	return l.Entry(), err
}

// ForgottenText is a memory that was forgotten with a certain text.
type ForgottenText struct {
	ID memory.ID
	At time.Time // when
}

// ForgottenAs lists the memories that a caller deleted, purged ones too, whose
// text was this one but for case, white space and how its characters are composed:
// latest first. Memories that were brought back are not among them, nor are those
// whose text was saved again on purpose, see [Tx].Again. It takes one HMAC for each
// device that ever wrote such a line, and no look at the disk; a fingerprint takes
// some 115 bytes of memory.
func (s *Timeline) ForgottenAs(text string) (found []ForgottenText) {
	if !s.wal.Table.HasPrints() {
		return nil
	}
	for _, p := range s.wal.Prints.PrintsOf(text) {
		for _, row := range s.wal.Table.Printed(p) {
			if f := row.Rest().Forgot; !row.Live() && f.Counts() && f.Print == p {
				found = append(found, ForgottenText{ID: row.ID(), At: f.At.Time()})
			}
		}
	}
	slices.SortFunc(found, func(a, b ForgottenText) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	return s.visible(found)
}
