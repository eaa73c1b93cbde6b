package engine

import (
	"encoding/json"
	"maps"

	"emberd/memory"
	"emberd/stm"
)

// carryOut lets the relations of the discarded memory start at the kept one. A relation
// between the two falls away. Whose place the discarded one took, the kept one takes, and
// what was merged into it counts as merged into the kept one.
func (k *discarding) carryOut(at map[memory.ID]*stm.Row) error {
	size := k.kept.RelationBytes()
	for _, r := range k.e.stm.Relations(k.other) {
		to := at[r.To]
		if r.To == k.kept.ID() {
			continue
		}
		if to == nil {
			return k.stirred(r.To)
		}
		if isSupersession(&r) {
			if err := k.e.mayTake(k.kept, to); err != nil {
				return err
			}
			maps.Copy(k.sets[r.To], k.e.placeTaken(k.kept.ID()))
		}
		if r.Type == memory.ConsolidatedFrom && to.Has("consolidated_into") {
			into, err := encode(k.kept.ID())
			if err != nil {
				return err
			}
			k.sets[r.To]["consolidated_into"] = into
		}
		r.From = k.kept.ID()
		n, err := k.start(k.kept, r)
		if err != nil {
			return err
		}
		if size += n; size > memory.MaxRelationsBytes {
			return k.crowded(r.From)
		}
	}
	return nil
}

// carryIn lets relations that lead to the discarded memory lead to the kept one. Those that
// led there stay where they are: they count again when it comes back.
func (k *discarding) carryIn(at map[memory.ID]*stm.Row) error {
	in, _ := k.e.stm.RelationsTo(k.other.ID(), mostMoved)
	for _, r := range in {
		from := at[r.From]
		if r.From == k.kept.ID() || isSupersession(&r) {
			continue
		}
		if from == nil {
			return k.stirred(r.From)
		}
		r.To = k.kept.ID()
		n, err := k.start(from, r)
		if err != nil {
			return err
		}
		if from.RelationBytes()+n > memory.MaxRelationsBytes {
			return k.crowded(r.From)
		}
	}
	return nil
}

// start writes a relation to the memory that it starts at, unless it is there, and returns
// how many bytes that took.
func (k *discarding) start(from *stm.Row, r memory.Relation) (int, error) {
	r.ID = memory.RelationID(r.From, r.To, r.Type, r.Kind)
	key := stm.RelationKey(r.ID)
	if from.Has(key) {
		return 0, nil
	}
	value, err := stm.RelationValue(&r)
	if err != nil {
		return 0, err
	}
	k.sets[r.From][key] = json.RawMessage(value)
	return len(key) + len(value), nil
}

func (k *discarding) stirred(id memory.ID) error {
	return memory.Errorf(memory.Conflict, "the relations of memory %s with %s changed just now, and nothing was done; try again", k.other.ID(), id)
}

func (k *discarding) crowded(id memory.ID) error {
	return memory.Errorf(memory.TooLarge, "the relations of memory %s would have more than %d bytes; remove some first", id, memory.MaxRelationsBytes)
}
