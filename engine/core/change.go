package core

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// ChangedFields returns the sorted names of the fields that an edit set, without the fields
// that emberd maintains.
func ChangedFields(set map[string]json.RawMessage) []string {
	names := make([]string, 0, len(set))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name != "updated_at" && name != "note_seen" && !stm.IsSourceKey(name) && !stm.IsRelationKey(name) &&
			!stm.IsReviewKey(name) {
			names = append(names, name)
		}
	}
	return names
}

// Difference returns the fields that turn before into after; null removes one. It leaves out
// the provenance chain, which View.AddSource writes link by link.
func Difference(before, after map[string]json.RawMessage) map[string]json.RawMessage {
	set := make(map[string]json.RawMessage)
	for key, value := range after {
		if !inChain(key) && !bytes.Equal(before[key], value) {
			set[key] = value
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok && !inChain(key) {
			set[key] = json.RawMessage("null")
		}
	}
	return set
}

// Assign sets field to *value, unless value is nil.
func Assign[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// SplitNames splits a comma-separated list of memory names. An alias may contain commas, so
// SplitNames takes the longest run that is an alias as one name.
func (e *View) SplitNames(list string) []string {
	parts := strings.SplitAfter(list, ",")
	if len(parts) > memory.MaxIDs { // the caller refuses so many
		return parts
	}
	var out []string
	for i := 0; i < len(parts); {
		n := len(parts)
		for ; n > i+1; n-- {
			if run := strings.TrimSpace(strings.TrimSuffix(strings.Join(parts[i:n], ""), ",")); strings.Contains(run,
				",") && e.Stm.Called(run) {
				break
			}
		}
		out = append(out, strings.TrimSuffix(strings.Join(parts[i:n], ""), ","))
		i = n
	}
	return out
}

// ResolveAll returns the IDs of the named memories, each once. It returns an error if there is
// no name or there are more than most.
func (e *View) ResolveAll(texts []string, field string, most int) ([]memory.ID, error) {
	switch n := len(texts); {
	case n == 0 || n == 1 && strings.TrimSpace(texts[0]) == "":
		return nil, memory.Errorf(memory.Invalid, "missing memory ID; run: emberd list, or emberd search").At(field)
	case n > most:
		return nil, memory.Errorf(memory.TooLarge, "too many IDs: %d (limit %d); split the request", n, most).At(field)
	}
	var ids []memory.ID
	seen := make(map[memory.ID]bool)
	for _, text := range texts {
		id, err := e.Stm.Resolve(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			ids = append(ids, id)
		}
		seen[id] = true
	}
	return ids, nil
}

// End returns the ID that one end of a relation names.
func (e *View) End(text, field string) (memory.ID, error) {
	if strings.TrimSpace(text) == "" {
		return "", memory.Errorf(memory.Invalid, "missing %s; pass a memory ID", field).At(field)
	}
	id, err := e.Stm.Resolve(text)
	return id, About(err, field)
}

// About adds the name of a request field to an error.
func About(err error, field string) error {
	if typed, ok := err.(*memory.Error); ok {
		return typed.At(field)
	}
	return err
}

// OpenedRelations is how many relations an opened memory shows in each direction.
const OpenedRelations = 1_000

// RelationsOf returns the relations from and to a memory.
func RelationsOf(in *stm.MemorySet, row *stm.Row) *op.RelationsOf {
	out := &op.RelationsOf{Outgoing: in.Relations(row)}
	if len(out.Outgoing) > OpenedRelations {
		out.Outgoing, out.Truncated = out.Outgoing[:OpenedRelations], true
	}
	var total int
	out.Incoming, total = in.RelationsTo(row.ID(), OpenedRelations)
	out.Truncated = out.Truncated || total > OpenedRelations
	return out
}

// RelationsIn returns RelationsOf, or nil if the memory has no relations.
func RelationsIn(in *stm.MemorySet, row *stm.Row) *op.RelationsOf {
	out := RelationsOf(in, row)
	if len(out.Outgoing)+len(out.Incoming) == 0 {
		return nil
	}
	return out
}
