package dedupe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"emberd/memory"
)

// ImplementationField is the field of a record that says that there is an implementation of
// what the memory describes.
const ImplementationField = "has_implementation"

// A Part is one of the memories that become one, with the relations that start at it and
// those that lead to it.
type Part struct {
	memory.Memory
	Unknown  map[string]json.RawMessage // fields of its record that emberd keeps and does not know
	Outgoing []memory.Relation
	Incoming []memory.Relation
}

// Rules decide how several memories become one.
type Rules struct {
	// Into is the memory that remains: a new one, or one of the parts, which keeps its text.
	Into     memory.ID
	Cohesion float64 // of the parts, 0 to 1; it raises the strength of a new memory
	// Trash says that the parts which do not remain go to the trash instead of the archive.
	Trash bool
	Now   time.Time
}

// A Plan lists what is written when several memories become one. Use [PlanMerge] to make one.
type Plan struct {
	Into    memory.ID
	New     bool          // Into is made by the merge
	Memory  memory.Memory // Into after the merge, with its text, fields and sources
	Unknown map[string]json.RawMessage
	Why     string      // one clause, without words of the memories
	Gone    []memory.ID // the parts that do not remain, in the order of the parts
	// Relations are those to write, by ID. Each starts at Into or leads to it; one that the
	// memory it starts at has already stays as it is.
	Relations []memory.Relation
	// Superseded are the memories that a part in the trash superseded, and Merged those that
	// were merged into it: Into supersedes and contains them from then on.
	Superseded, Merged []memory.ID
}

// PlanMerge plans one memory of several. A new memory has the text and fields that
// CortexGraph's rules make of all parts (see mergeFields) and, if the parts are archived, a
// relation to each of them. One that remains keeps its text and fields, and gets the counts,
// the aliases and the higher confidence of both.
//
// Relations of parts that go start at or lead to the memory that remains; of several that
// become one the strongest counts. Relations between parts go, and so do those of merged
// memories to parts of theirs. What an archived part supersedes or contains is found by way
// of that part, and is carried over from parts in the trash only.
//
// The error has code Invalid for fewer than two parts, and TooLarge if the memory would be
// out of bounds.
func PlanMerge(parts []Part, rules Rules) (*Plan, error) {
	p := &Plan{Into: rules.Into, Why: fmt.Sprintf("merged, with a cohesion of %.2f", rules.Cohesion)}
	i := slices.IndexFunc(parts, func(part Part) bool { return part.ID == rules.Into })
	p.New = i < 0
	for _, part := range parts {
		if part.ID != rules.Into {
			p.Gone = append(p.Gone, part.ID)
		}
	}
	var err error
	if p.New {
		err = p.create(parts, rules)
	} else {
		err = p.keep(parts, i, rules.Now)
	}
	p.carry(parts, rules)
	return p, err
}

// create plans a new memory.
func (p *Plan) create(parts []Part, rules Rules) (err error) {
	members := make([]memory.Memory, len(parts))
	for i, part := range parts {
		members[i] = part.Memory
	}
	p.Memory, err = mergeFields(members, rules.Cohesion)
	p.Memory.ID, p.Memory.ConsolidatedAt = p.Into, rules.Now
	p.keepUnknown(parts)
	return err
}

// keepUnknown unites the unknown fields. Of one that several parts have, the value of the
// oldest part counts, so that an indexer's chunk stays one. There is an implementation if
// any part has one.
func (p *Plan) keepUnknown(parts []Part) {
	newest := slices.Clone(parts)
	slices.SortStableFunc(newest, func(a, b Part) int { return b.CreatedAt.Compare(a.CreatedAt) })
	implemented := false
	p.Unknown = make(map[string]json.RawMessage)
	for _, part := range newest {
		maps.Copy(p.Unknown, part.Unknown)
		for _, fields := range [...]map[string]json.RawMessage{part.Unknown, part.Meta} {
			implemented = implemented || string(fields[ImplementationField]) == "true"
		}
	}
	switch {
	case !implemented:
	case p.Memory.Meta[ImplementationField] == nil || p.Unknown[ImplementationField] != nil:
		p.Unknown[ImplementationField] = json.RawMessage("true")
	default:
		p.Memory.Meta[ImplementationField] = json.RawMessage("true")
	}
}

// keep plans the memory that remains of several, that at a place.
func (p *Plan) keep(parts []Part, kept int, now time.Time) (err error) {
	m := parts[kept].Memory
	from, aliases := m.ConsolidatedFrom, m.Aliases
	for i := range parts {
		if i == kept {
			continue
		}
		o := &parts[i].Memory
		m.Confidence, m.LastAccessed = max(m.Confidence, o.Confidence), memory.Later(m.LastAccessed, o.LastAccessed)
		m.AccessCount += o.AccessCount
		from = slices.Concat(from, o.ConsolidatedFrom, []memory.ID{o.ID})
		aliases = slices.Concat(aliases, o.Aliases)
	}
	m.ConsolidatedFrom = slices.Compact(slices.Sorted(slices.Values(from)))
	m.ConsolidatedAt, m.UpdatedAt = now, now
	m.Aliases, err = memory.NormalizeAliases(aliases)
	p.Memory = m
	return err
}

// carry plans the relations.
func (p *Plan) carry(parts []Part, rules Rules) {
	best := make(map[string]memory.Relation)
	add := func(r memory.Relation, from, to memory.ID) {
		r.ID, r.From, r.To = memory.RelationID(from, to, r.Type, r.Kind), from, to
		if there, ok := best[r.ID]; !ok || r.Strength > there.Strength {
			best[r.ID] = r
		}
	}
	within := func(id memory.ID) bool { return id == p.Into || slices.Contains(p.Gone, id) }
	for i := range parts {
		part := &parts[i]
		if part.ID == p.Into {
			continue
		}
		for _, r := range part.Outgoing {
			if !within(r.To) && (rules.Trash || !r.IsSupersession() && r.Type != memory.ConsolidatedFrom) {
				p.stand(&r)
				add(r, p.Into, r.To)
			}
		}
		for _, r := range part.Incoming {
			if !within(r.From) && !r.IsSupersession() && r.Type != memory.ConsolidatedFrom {
				add(r, r.From, p.Into)
			}
		}
		if p.New && !rules.Trash {
			add(memory.Relation{Type: memory.ConsolidatedFrom, Strength: 1, CreatedAt: rules.Now}, p.Into, part.ID)
		}
	}
	p.Relations = slices.SortedFunc(maps.Values(best),
		func(a, b memory.Relation) int { return cmp.Compare(a.ID, b.ID) })
}

// stand notes what Into supersedes or contains in the place of a part in the trash.
func (p *Plan) stand(r *memory.Relation) {
	switch {
	case r.IsSupersession():
		p.Superseded = append(p.Superseded, r.To)
	case r.Type == memory.ConsolidatedFrom:
		p.Merged = append(p.Merged, r.To)
	}
}

// Sources returns the IDs of the relations from a new memory to its parts, in their order.
func (p *Plan) Sources() []string {
	ids := []string{}
	for _, part := range p.Gone {
		id := memory.RelationID(p.Into, part, memory.ConsolidatedFrom, "")
		if slices.ContainsFunc(p.Relations, func(r memory.Relation) bool { return r.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Others returns the memories beside the parts and Into that the plan changes, ascending.
func (p *Plan) Others() []memory.ID {
	others := slices.Concat(p.Superseded, p.Merged)
	for i := range p.Relations {
		if from := p.Relations[i].From; from != p.Into {
			others = append(others, from)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(others)))
}
