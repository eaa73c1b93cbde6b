package engine

import (
	"encoding/json"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/stm"
)

// mostCarried is how many memories may have a relation to the parts of one merge: each is
// one more that the merge locks and changes.
const mostCarried = 1000

// carried are the relations that go over to a merged memory from its parts: those that
// started at one of them start at it, those that led to one lead to it. The parts keep
// theirs, for when the merged memory is forgotten and they stand for themselves again.
//
// Of several that become one the strongest counts. What relates parts to each other, or
// merged memories to parts of theirs, is about the parts alone; and what one supersedes
// finds the merged memory by way of it (see successor).
type carried struct {
	into  memory.ID
	parts []memory.ID
	best  map[string]memory.Relation // by id
}

// carry collects the relations of locked parts, or of parts that are about to be locked.
func (e *Engine) carry(into memory.ID, parts []*stm.Row) (*carried, error) {
	c := &carried{into: into, best: make(map[string]memory.Relation)}
	for _, p := range parts {
		c.parts = append(c.parts, p.ID())
	}
	for _, p := range parts {
		for _, r := range e.stm.Relations(p) {
			c.add(r, into, r.To)
		}
		to, total := e.stm.RelationsTo(p.ID(), mostCarried+1)
		if total > mostCarried {
			return nil, memory.Errorf(memory.TooLarge, "%d relations lead to memory %s, and a merge takes over %d at most; remove some, or merge without it", total, p.ID(), mostCarried)
		}
		for _, r := range to {
			c.add(r, r.From, into)
		}
	}
	if n := len(c.others()); n > mostCarried {
		return nil, memory.Errorf(memory.TooLarge, "%d memories are related to those that would be merged, more than %d; merge fewer at once", n, mostCarried)
	}
	return c, nil
}

// add takes over a relation, which goes from and to others now.
func (c *carried) add(r memory.Relation, from, to memory.ID) {
	inside := slices.Contains(c.parts, r.From) && slices.Contains(c.parts, r.To)
	if inside || r.Type == memory.ConsolidatedFrom || isSupersession(&r) {
		return
	}
	r.From, r.To = from, to
	r.ID = memory.RelationID(from, to, r.Type, r.Kind)
	if there, ok := c.best[r.ID]; !ok || r.Strength > there.Strength {
		c.best[r.ID] = r
	}
}

// others are the memories that relations to the merged one start at, by id.
func (c *carried) others() []memory.ID {
	others := make(map[memory.ID]bool)
	for _, r := range c.best {
		if r.From != c.into {
			others[r.From] = true
		}
	}
	return slices.Sorted(maps.Keys(others))
}

// write adds to set what starts at the merged memory, and returns what the log is to say
// of the locked others.
func (c *carried) write(set map[string]json.RawMessage, others []*stm.Row) ([]stm.Change, error) {
	sets := map[memory.ID]map[string]json.RawMessage{c.into: set}
	rows := make(map[memory.ID]*stm.Row, len(others))
	for _, row := range others {
		if row != nil {
			rows[row.ID()], sets[row.ID()] = row, make(map[string]json.RawMessage)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.best)) {
		r := c.best[id]
		if sets[r.From] == nil { // it came, or was forgotten, while the others were being locked
			return nil, memory.Errorf(memory.Conflict, "nothing was merged, for relations of memory %s changed just now; try again", r.From)
		}
		value, err := stm.RelationValue(&r)
		if err != nil {
			return nil, err
		}
		sets[r.From][stm.RelationKey(id)] = value
	}
	var changes []stm.Change
	for _, id := range c.others() {
		if bytes := relationBytes(sets[id]) + rows[id].RelationBytes(); bytes > memory.MaxRelationsBytes {
			return nil, manyRelations(id)
		}
		changes = append(changes, stm.Change{ID: id, Set: sets[id]})
	}
	if relationBytes(set) > memory.MaxRelationsBytes {
		return nil, manyRelations(c.into)
	}
	return changes, nil
}

func manyRelations(id memory.ID) error {
	return memory.Errorf(memory.TooLarge, "the relations of memory %s would have more than %d bytes; remove some of those of the parts", id, memory.MaxRelationsBytes)
}

// relationBytes is how much of what is written are relations.
func relationBytes(set map[string]json.RawMessage) (n int) {
	for key, value := range set {
		if stm.IsRelationKey(key) {
			n += len(key) + len(value)
		}
	}
	return n
}
