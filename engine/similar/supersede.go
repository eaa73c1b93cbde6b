package similar

import (
	"encoding/json"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/stm"
)

// Replaced returns the memories that a request names as superseded by id, each once.
func (e *Similar) Replaced(texts []string, id memory.ID) ([]memory.ID, error) {
	if n := len(texts); n > memory.MaxIDs {
		return nil, memory.Errorf(memory.TooLarge, "too many IDs: %d (limit %d); split the request", n,
			memory.MaxIDs).At("supersedes")
	}
	var out []memory.ID
	for _, text := range texts {
		old, err := e.End(text, "supersedes")
		if err == nil {
			err = checkNotSelf(id, old)
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, old) {
			out = append(out, old)
		}
	}
	return out, nil
}

// Supersede adds to set, the changes of m, that m supersedes others, and returns the changes
// of those. row is nil if m is being saved; the caller has locked all rows. A core memory can
// be superseded, because the caller names each memory; it never fades anyway. An unconfirmed
// memory supersedes none.
func (e *Similar) Supersede(m *memory.Memory, row *stm.Row, olds []memory.ID, rows []*stm.Row,
	set map[string]json.RawMessage) ([]stm.Change, error) {
	if len(olds) == 0 {
		return nil, nil
	}
	if err := checkCanSupersede(m); err != nil {
		return nil, err
	}
	bytes := 0
	if row != nil {
		bytes = row.RelationBytes()
	}
	var changes []stm.Change
	for i, old := range olds {
		if rows[i] == nil {
			return nil, core.About(e.Missing(old), "supersedes")
		}
		if row != nil {
			if err := e.circle(row, rows[i]); err != nil {
				return nil, err
			}
		}
		key, value, err := e.supersedes(m.ID, old)
		if err != nil {
			return nil, err
		}
		if row == nil || !row.Has(key) {
			set[key] = value
			bytes += len(key) + len(value)
		}
		if rows[i].SupersededBy() != m.ID {
			changes = append(changes, stm.Change{ID: old, Set: e.PlaceTaken(m.ID)})
		}
	}
	if bytes > memory.MaxRelationsBytes {
		return nil, memory.Errorf(memory.TooLarge,
			"too many bytes in the relations of memory %s: %d (limit %d); remove some relations", m.ID, bytes,
			memory.MaxRelationsBytes).At("supersedes")
	}
	return changes, nil
}

// checkCanSupersede returns an error if a memory cannot supersede others.
func checkCanSupersede(m *memory.Memory) error {
	switch {
	case m.Stage.Cold():
		return memory.Errorf(memory.Conflict, "memory %s is %s and has only a summary, so it cannot supersede "+
			"another memory; to restore its text first, run: emberd rekindle %s", m.ID, m.Stage,
			m.ID.Short()).At("supersedes")
	case m.DataOnly():
		return memory.Errorf(memory.Conflict, "memory %s is unconfirmed and cannot supersede another "+
			"memory; to confirm it, run: emberd edit --confirm %s", m.ID, m.ID.Short()).At("supersedes")
	}
	return nil
}

// CheckSupersede returns an error if by cannot supersede old.
func (e *Similar) CheckSupersede(by, old *stm.Row) error {
	m, err := by.Memory()
	if err != nil {
		return err
	}
	return core.FirstError(checkCanSupersede(&m), checkNotSelf(m.ID, old.ID()), e.circle(by, old))
}

// checkNotSelf returns an error if a memory would supersede itself.
func checkNotSelf(by, old memory.ID) error {
	if by != old {
		return nil
	}
	return memory.Errorf(memory.Invalid, "memory %s cannot supersede itself; pass the ID of the older memory",
		by).At("supersedes")
}

// supersedes returns the relation from a memory to the one that it supersedes.
func (e *Similar) supersedes(by, old memory.ID) (key string, value json.RawMessage, err error) {
	r := memory.Relation{From: by, To: old, Type: memory.Related, Kind: core.KindSupersedes, Strength: 1,
		CreatedAt: core.StampTime(e.Opt.Now()),
		Metadata:  map[string]json.RawMessage{"kind": json.RawMessage(`"` + core.KindSupersedes + `"`)}}
	r.ID = memory.RelationID(r.From, r.To, r.Type, r.Kind)
	value, err = stm.RelationValue(&r)
	return stm.RelationKey(r.ID), value, err
}

// PlaceTaken returns the fields of a superseded memory.
func (e *Similar) PlaceTaken(by memory.ID) map[string]json.RawMessage {
	at, _ := core.StampTime(e.Opt.Now()).MarshalJSON() // cannot fail for the current year
	return map[string]json.RawMessage{core.SupersededBy: json.RawMessage(`"` + string(by) + `"`), core.SupersededAt: at}
}

// circle returns an error if by would supersede a memory that supersedes it.
func (e *Similar) circle(by, old *stm.Row) error {
	for _, s := range core.Successors(e.Stm.Get, by) {
		if s.ID() == old.ID() {
			return memory.Errorf(memory.Conflict, "memory %s already supersedes memory %s, so the reverse is "+
				"not possible; undo the change that added this relation, "+
				"or remove the relation %q that emberd show %s lists", old.ID(), by.ID(), core.KindSupersedes,
				old.ID().Short()).At("supersedes")
		}
	}
	return nil
}

// RestorePlace returns the change of a memory when relations by which others supersede it are
// removed. The latest remaining one decides which memory supersedes it.
func (e *Similar) RestorePlace(old *stm.Row, gone []memory.Relation) map[string]json.RawMessage {
	if !slices.ContainsFunc(gone, func(r memory.Relation) bool {
		return r.From == old.SupersededBy() && r.To == old.ID() && r.IsSupersession()
	}) {
		return nil
	}
	left, _ := e.Stm.RelationsTo(old.ID(), core.OpenedRelations)
	for i := range left {
		r := &left[i]
		if r.IsSupersession() && !slices.ContainsFunc(gone, func(g memory.Relation) bool { return g.ID == r.ID }) {
			return e.PlaceTaken(r.From)
		}
	}
	return map[string]json.RawMessage{core.SupersededBy: json.RawMessage("null"),
		core.SupersededAt: json.RawMessage("null")}
}
