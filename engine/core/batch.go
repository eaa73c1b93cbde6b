package core

import (
	"encoding/json"
	"slices"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// ChunkBytes is how much of a batch one transaction contains: far below the longest line of
// stm, and enough that many items share one sync.
const ChunkBytes = 512 << 10

// CheckBatch returns an error about a field of the request if a batch of n things is empty or
// too large.
func CheckBatch(n int, things, field string) error {
	switch {
	case n > op.MaxBatch:
		return memory.Errorf(memory.TooLarge, "too many %s in the batch: %d (limit %d); split the batch", things, n,
			op.MaxBatch).At(field)
	case n == 0:
		return memory.Errorf(memory.Invalid, "the batch has no %s; pass at least one", things).At(field)
	}
	return nil
}

// Chunk returns how many items of a batch, at least one, the next transaction contains. It
// stops before an ID that occurs again, so that the second item finds the first saved.
func Chunk[T any](all []T, measure func(T) (memory.ID, int)) int {
	size, ids := 0, make(map[memory.ID]bool)
	for i, one := range all {
		id, n := measure(one)
		if size += n; i > 0 && (size > ChunkBytes || ids[id]) {
			return i
		}
		ids[id] = true
	}
	return len(all)
}

// AddAliases returns a change that gives the memory of row, nil for none, the aliases that it
// lacks, and whether there are any. It leaves out aliases beyond [memory.MaxAliases]. An
// earlier version imported memories without aliases.
func AddAliases(row *stm.Row, names []string) (stm.Change, bool) {
	if row == nil || len(names) == 0 {
		return stm.Change{}, false
	}
	all := row.Aliases()
	before := len(all)
	for _, name := range names {
		if len(all) < memory.MaxAliases && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	raw, _ := Encode(all) // texts always encode
	return stm.Change{ID: row.ID(), Set: map[string]json.RawMessage{"aliases": raw}, Allowed: true}, len(all) > before
}

// CheckRelation returns an error for a field of a relation out of bounds.
func CheckRelation(r *memory.Relation) error {
	return FirstError(
		memory.CheckRelationType(r.Type),
		memory.CheckText("kind", r.Kind, memory.MaxKind),
		memory.CheckRange("strength", r.Strength, 0, 1),
		CheckObject("metadata", r.Metadata, memory.MaxRelationMetaBytes),
	)
}
