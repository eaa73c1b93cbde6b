package engine

import (
	"encoding/json"
	"slices"

	"emberd/memory"
	"emberd/stm"
)

// The kind of relation that leads from a memory to one whose place it takes, and the keys
// by which that one knows. A relation that goes takes the keys along, see [Engine.unrelate].
const (
	kindSupersedes = "supersedes"
	supersededBy   = "superseded_by"
	supersededAt   = "superseded_at"
)

// replaced are the memories that a request names to be superseded by id, each once.
func (e *Engine) replaced(texts []string, id memory.ID) ([]memory.ID, error) {
	if n := len(texts); n > memory.MaxIDs {
		return nil, memory.Errorf(memory.TooLarge, "%d ids are given, more than %d; do it in parts", n, memory.MaxIDs).At("supersedes")
	}
	var out []memory.ID
	for _, text := range texts {
		old, err := e.end(text, "supersedes")
		if err == nil {
			err = notItself(id, old)
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

// supersede adds to set, what is written to m, that it takes the place of others, and
// returns what is written to them. The row of m is nil while it is being saved; all rows
// are locked. Core memories can be superseded, since somebody says so of each; they never
// fade all the same. What a tool or the web said takes no place before it is confirmed.
func (e *Engine) supersede(m *memory.Memory, row *stm.Row, olds []memory.ID, rows []*stm.Row, set map[string]json.RawMessage) ([]stm.Change, error) {
	if len(olds) == 0 {
		return nil, nil
	}
	if err := mayTakePlaces(m); err != nil {
		return nil, err
	}
	bytes := 0
	if row != nil {
		bytes = row.RelationBytes()
	}
	var changes []stm.Change
	for i, old := range olds {
		if rows[i] == nil {
			return nil, about(e.missing(old), "supersedes")
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
			changes = append(changes, stm.Change{ID: old, Set: e.placeTaken(m.ID)})
		}
	}
	if bytes > memory.MaxRelationsBytes {
		return nil, memory.Errorf(memory.TooLarge, "the relations of memory %s would have %d bytes, and may not have more than %d; remove some", m.ID, bytes, memory.MaxRelationsBytes).At("supersedes")
	}
	return changes, nil
}

// mayTakePlaces refuses a memory that cannot take the place of another.
func mayTakePlaces(m *memory.Memory) error {
	switch {
	case m.Stage.Cold():
		return memory.Errorf(memory.Conflict, "memory %s is %s, and a summary takes no place of another memory; bring its text back first, with emberd rekindle %s", m.ID, m.Stage, m.ID.Short()).At("supersedes")
	case m.DataOnly():
		return memory.Errorf(memory.Conflict, "memory %s is what a tool or the web said, and takes the place of no other memory before somebody says that it holds, with emberd confirm %s", m.ID, m.ID.Short()).At("supersedes")
	}
	return nil
}

// mayTake refuses what cannot take the place of another that is there.
func (e *Engine) mayTake(by, old *stm.Row) error {
	m, err := by.Memory()
	if err != nil {
		return err
	}
	return firstError(mayTakePlaces(&m), notItself(m.ID, old.ID()), e.circle(by, old))
}

// notItself refuses that a memory takes its own place.
func notItself(by, old memory.ID) error {
	if by != old {
		return nil
	}
	return memory.Errorf(memory.Invalid, "memory %s cannot supersede itself; name the one whose place it takes", by).At("supersedes")
}

// supersedes is the relation from a memory to the one whose place it takes.
func (e *Engine) supersedes(by, old memory.ID) (key string, value json.RawMessage, err error) {
	r := memory.Relation{From: by, To: old, Type: memory.Related, Kind: kindSupersedes, Strength: 1, CreatedAt: stampTime(e.opt.Now()),
		Metadata: map[string]json.RawMessage{"kind": json.RawMessage(`"` + kindSupersedes + `"`)}}
	r.ID = memory.RelationID(r.From, r.To, r.Type, r.Kind)
	value, err = stm.RelationValue(&r)
	return stm.RelationKey(r.ID), value, err
}

// placeTaken is what a memory holds whose place another takes.
func (e *Engine) placeTaken(by memory.ID) map[string]json.RawMessage {
	at, _ := stampTime(e.opt.Now()).MarshalJSON() // of this millennium
	return map[string]json.RawMessage{supersededBy: json.RawMessage(`"` + string(by) + `"`), supersededAt: at}
}

// circle refuses that a memory takes the place of one that took its own.
func (e *Engine) circle(by, old *stm.Row) error {
	for _, s := range successors(e.stm.Get, by) {
		if s.ID() == old.ID() {
			return memory.Errorf(memory.Conflict, "memory %s took the place of %s, which cannot take its place in turn; undo that first, or remove the relation %q that emberd show %s lists",
				old.ID(), by.ID(), kindSupersedes, old.ID().Short()).At("supersedes")
		}
	}
	return nil
}

// isSupersession reports whether a relation says that one memory takes the place of another.
func isSupersession(r *memory.Relation) bool {
	return r.Type == memory.Related && r.Kind == kindSupersedes
}

// placeBack is what is written to a memory when relations go that say that others took its
// place: the latest of those that stay says who has it.
func (e *Engine) placeBack(old *stm.Row, gone []memory.Relation) map[string]json.RawMessage {
	if !slices.ContainsFunc(gone, func(r memory.Relation) bool {
		return r.From == old.SupersededBy() && r.To == old.ID() && isSupersession(&r)
	}) {
		return nil
	}
	left, _ := e.stm.RelationsTo(old.ID(), openedRelations)
	for i := range left {
		r := &left[i]
		if isSupersession(r) && !slices.ContainsFunc(gone, func(g memory.Relation) bool { return g.ID == r.ID }) {
			return e.placeTaken(r.From)
		}
	}
	return map[string]json.RawMessage{supersededBy: json.RawMessage("null"), supersededAt: json.RawMessage("null")}
}
