// Package refgraph maps the entities of the memory server in the Model Context
// Protocol's own repository (@modelcontextprotocol/server-memory) to memories.
//
// An entity is a memory of the collection [Collection] whose ID derives from its name, so
// that all callers that create an entity of one name create one memory. Its observations are
// in its content only, also after the user edited its note:
//
//	Ada Lovelace
//	- wrote the first program
//	- an observation
//	  of two lines
//
// The first line is the name, and each item of the list an observation. Other text
// that the user writes below the name is an observation too. [Add] and [Remove] leave the text
// around observations unchanged.
//
// Any number of goroutines can call the functions.
package refgraph

import (
	"encoding/json"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// Collection is where entities are.
const Collection = memory.EntityCollection

// MaxName bounds the name of an entity, in characters.
const MaxName = 1_000

// nameKey is the key in meta that holds an entity's name.
const nameKey = "name"

// Entity is what the reference server calls so, in its JSON.
type Entity struct {
	Name         string   `json:"name" min:"1" max:"1000" jsonschema:"what it is called; there is one entity of a name"`
	EntityType   string   `json:"entityType" max:"200" jsonschema:"what kind of thing it is"`
	Observations []string `json:"observations" jsonschema:"what is known of it, one fact each"`
}

// Relation is what the reference server calls so, in its JSON. From and To are names
// of entities.
type Relation struct {
	From         string `json:"from" jsonschema:"name of the entity that it starts at"`
	To           string `json:"to" jsonschema:"name of the entity that it leads to"`
	RelationType string `json:"relationType" min:"1" max:"100" jsonschema:"how the one stands to the other, as a verb"`
}

// ID returns the id of the memory of an entity.
func ID(name string) memory.ID { return memory.DeriveID([]byte("entity\x00" + name)) }

// CheckName refuses what cannot be the name of an entity.
func CheckName(name string) error {
	if strings.TrimSpace(name) == "" {
		return memory.Errorf(memory.Invalid, "name is empty; an entity needs one").At("name")
	}
	return memory.CheckText("name", name, MaxName)
}

// Save returns the request that saves an entity.
func (e *Entity) Save() (*op.SaveRequest, error) {
	if err := CheckName(e.Name); err != nil {
		return nil, err
	}
	name, err := json.Marshal(e.Name)
	if err != nil {
		return nil, err
	}
	req := &op.SaveRequest{ID: ID(e.Name), Content: Text(e.Name, e.Observations), Collection: Collection,
		Type:     e.EntityType,
		Entities: []string{}, Meta: map[string]json.RawMessage{nameKey: name}, Strength: new(1.0)}
	// A name of emoji alone, or a very long one, is none that entities of memories have.
	if known, err := memory.NormalizeEntities([]string{e.Name}); err == nil {
		req.Entities = known
	}
	// A name with a line feed cannot be an alias.
	if alias, err := memory.NormalizeAliases([]string{e.Name}); err == nil {
		req.Aliases = alias
	}
	return req, memory.CheckContent(req.Content)
}

// Shortened reports whether the observations of an entity are in a note, and its memory
// has a sentence that is left of them.
func Shortened(m *memory.Memory) bool { return m.Stage.Cold() || m.TextDigest != "" }

// Of returns the entity that a memory is, false if it is none.
func Of(m *memory.Memory) (Entity, bool) {
	var name string
	if json.Unmarshal(m.Meta[nameKey], &name) != nil || ID(name) != m.ID {
		return Entity{}, false
	}
	e := Entity{Name: name, EntityType: m.Type}
	if !Shortened(m) {
		e.Observations = Observations(name, m.Content)
	} else if m.Content != title(name) {
		e.Observations = []string{m.Content} // a sentence that is left of them
	}
	return e, true
}

// RelationOf returns a relation between two memories as the reference server has it. Only its
// relations have kinds.
func RelationOf(r *memory.Relation, from, to string) Relation {
	kind := r.Kind
	if kind == "" {
		kind = r.Type
	}
	return Relation{From: from, To: to, RelationType: kind}
}

// Holds reports whether the entity has a text in its name, its type or one of its
// observations, in any case. That is how the reference server searches.
func (e *Entity) Holds(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(slices.Concat([]string{e.Name, e.EntityType}, e.Observations), func(s string) bool {
		return strings.Contains(strings.ToLower(s), text)
	})
}
