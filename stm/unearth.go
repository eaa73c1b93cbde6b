package stm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"time"

	"emberd/memory"
)

// mostUnearthed bounds the lines that [Store.Unearth] reads, in bytes.
const mostUnearthed = 32 << 20

// Buried is a memory of the trash as it was when it was forgotten.
type Buried struct {
	Memory    memory.Memory
	Fields    map[string]json.RawMessage // every key, JSON by name
	Forgotten time.Time
}

// Unearth reads memories of the trash, and each line of the log once: one line may have
// forgotten thousands of them. It gets to the first n ids, at least to one if there is one,
// and to no more than 32 MiB of lines have. Those that are not in the trash are not in found.
// What it returns is the caller's.
func (s *Store) Unearth(ids []memory.ID) (found map[memory.ID]Buried, n int, err error) {
	keys, n, err := s.unearthSome(ids, mostUnearthed)
	if err != nil {
		return nil, 0, err
	}
	found = make(map[memory.ID]Buried, len(keys))
	for id, fields := range keys {
		m, err := s.buriedMemory(id, fields)
		if err != nil {
			return nil, 0, err
		}
		if g, ok := s.grave(id); ok {
			found[id] = Buried{Memory: m, Fields: fields, Forgotten: g.stamp.Time()}
		}
	}
	return found, n, nil
}

// Forgotten reads a trashed memory as it was.
func (s *Store) Forgotten(id memory.ID) (memory.Memory, error) {
	keys, err := s.unearth(id)
	if err != nil {
		return memory.Memory{}, err
	}
	return s.buriedMemory(id, keys)
}

// buriedMemory is a memory of the trash by its keys, with what was counted of it.
func (s *Store) buriedMemory(id memory.ID, keys map[string]json.RawMessage) (memory.Memory, error) {
	m, err := decodeMemory(encode(keys))
	if err != nil {
		return m, fmt.Errorf("memory %s in the trash: %w", id, err)
	}
	m.ID = id
	if m.LastUsed.IsZero() {
		m.LastUsed = m.CreatedAt
	}
	if c := s.table.cell(id.Bytes()); c != nil {
		counted := c.row.Load().total()
		m.UseCount += counted.uses
		m.AccessCount += counted.accesses
		if used := milli(counted.used); used.After(m.LastUsed) {
			m.LastUsed = used
		}
	}
	return m, nil
}

// ForgottenFields returns every key of a trashed memory, JSON by name, as it was
// when it was forgotten.
func (s *Store) ForgottenFields(id memory.ID) (map[string]json.RawMessage, error) {
	return s.unearth(id)
}

// unearth returns every key of a memory as it was when it was forgotten.
func (s *Store) unearth(id memory.ID) (map[string]json.RawMessage, error) {
	all, _, err := s.unearthSome([]memory.ID{id}, 0)
	keys, there := all[id]
	if err == nil && !there {
		err = notTrashed(id)
	}
	return keys, err
}

// plot is a line of the log, and those of the memories that it forgot that are asked for.
type plot struct {
	grave
	ids map[memory.ID]bool
}

// unearthSome returns the keys of memories of the trash by their ids, and how many ids it got
// to before their lines would have had more than so many bytes.
func (s *Store) unearthSome(ids []memory.ID, most int64) (keys map[memory.ID]map[string]json.RawMessage, n int, err error) {
	plots, size := make(map[place]*plot), int64(0)
	for ; n < len(ids); n++ {
		g, ok := s.grave(ids[n])
		if !ok || !s.buried(ids[n]) {
			continue
		}
		if plots[g.at] == nil {
			if size += int64(g.at.n); size > most && len(plots) > 0 {
				break
			}
			plots[g.at] = &plot{grave: g, ids: make(map[memory.ID]bool)}
		}
		plots[g.at].ids[ids[n]] = true
	}
	keys = make(map[memory.ID]map[string]json.RawMessage)
	for _, p := range plots {
		err := s.dig(p, keys)
		if err != nil { // a compaction may have moved the line since
			err = s.digAgain(p, keys)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return keys, n, nil
}

// digAgain reads each memory of a line where it is now, unless it was purged since.
func (s *Store) digAgain(p *plot, keys map[memory.ID]map[string]json.RawMessage) error {
	for id := range p.ids {
		g, ok := s.grave(id)
		if !ok {
			continue
		}
		if err := s.dig(&plot{grave: g, ids: map[memory.ID]bool{id: true}}, keys); err != nil {
			return err
		}
	}
	return nil
}

// dig reads a line and adds the keys of the memories that are asked for.
func (s *Store) dig(p *plot, keys map[memory.ID]map[string]json.RawMessage) error {
	l, err := s.readLine(p.at, p.stamp)
	if err != nil {
		return err
	}
	for i := range l.changes {
		c := &l.changes[i]
		if c.op != opDelete || !p.ids[c.id] {
			continue
		}
		was, err := c.superseded()
		if err != nil {
			return err
		}
		keys[c.id] = s.revived(c.id, was.Keys)
		delete(p.ids, c.id)
	}
	for id := range p.ids {
		return memory.Errorf(memory.Internal, "the log line that forgot %s does not name it", id)
	}
	return nil
}

// revived returns the keys of a forgotten memory with what other devices wrote
// or removed after it was forgotten.
func (s *Store) revived(id memory.ID, keys map[string]json.RawMessage) map[string]json.RawMessage {
	cell := s.table.cell(id.Bytes())
	if cell == nil || cell.row.Load().live() {
		return keys
	}
	row, out := cell.row.Load(), map[string]json.RawMessage{}
	maps.Copy(out, keys)
	for _, later := range row.rest().regs {
		if delete(out, later.key); row.value(later.key) != nil {
			out[later.key] = row.value(later.key)
		}
	}
	return out
}

// Restore brings memories back from the trash: all, or none.
func (s *Store) Restore(ctx context.Context, ids []memory.ID, by memory.Actor) (Receipt, error) {
	return s.Update(ctx, ids, "", func(rows []*Row) (*Tx, error) {
		tx := &Tx{Verb: "restore", By: by}
		keys, _, err := s.unearthSome(ids, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			if rows[i] != nil {
				return nil, memory.Errorf(memory.Invalid, "memory %s is not in the trash: it is live", id)
			}
			set, there := keys[id]
			if !there {
				return nil, notTrashed(id)
			}
			tx.Changes = append(tx.Changes, Change{ID: id, Set: set, Allowed: true})
		}
		return tx, nil
	})
}
