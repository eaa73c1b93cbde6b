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
// A relation can name an entity that does not exist, as in the reference server. Then a memory of that name exists
// ([Mention]) that is not an entity until it is created as one.
//
// The reference server keeps entities and relations in the order in which they were created. Here that order is the
// time of creation in milliseconds, then [Place], then the name.
//
// Any number of goroutines can call the functions.
package refgraph

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"emberd/memory"
	"emberd/op"
)

// Collection is where entities are.
const Collection = memory.EntityCollection

// MaxName bounds the name of an entity, in characters.
const MaxName = 1_000

// The keys in meta of an entity, and in metadata of a relation.
const (
	nameKey      = "name"      // of the entity
	mentionedKey = "mentioned" // true if relations name it and no entity of the name was created
	createdKey   = "created"   // when it was created, in milliseconds since 1970, if that is not when it was saved
	placeKey     = "place"     // among those of the same millisecond; 0 is left out
)

// Entity is what the reference server calls so, in its JSON.
type Entity struct {
	Name         string   `json:"name" min:"1" max:"1000" jsonschema:"name of the entity; two entities cannot have the same name"`
	EntityType   string   `json:"entityType" max:"200" jsonschema:"type of the entity, such as person or project"`
	Observations []string `json:"observations" jsonschema:"facts about the entity, one fact in each observation"`
}

// Relation is what the reference server calls so, in its JSON. From and To are names
// of entities.
type Relation struct {
	From         string `json:"from" jsonschema:"name of the source entity of the relation"`
	To           string `json:"to" jsonschema:"name of the target entity of the relation"`
	RelationType string `json:"relationType" min:"1" max:"100" jsonschema:"type of the relation from the source to the target, as a verb"`
}

// ID returns the id of the memory of an entity.
func ID(name string) memory.ID { return memory.DeriveID([]byte("entity\x00" + name)) }

// CheckName refuses what cannot be the name of an entity.
func CheckName(name string) error {
	if strings.TrimSpace(name) == "" {
		return memory.Errorf(memory.Invalid, "missing entity name").At("name")
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

// Mention returns the request that saves the name of an entity that does not exist, for relations from and to it.
func Mention(name string) (*op.SaveRequest, error) {
	req, err := (&Entity{Name: name}).Save()
	if err == nil {
		req.Meta[mentionedKey] = json.RawMessage("true")
	}
	return req, err
}

// Created returns the request that makes an entity of a mentioned name. The caller fills in ID and IfMatch.
func (e *Entity) Created(now time.Time, place int) *op.EditRequest {
	content := Text(e.Name, e.Observations)
	meta := map[string]json.RawMessage{mentionedKey: json.RawMessage("null")}
	Stamp(meta, now, place)
	return &op.EditRequest{Content: &content, Type: &e.EntityType, Meta: meta}
}

// Stamp records when an entity was created, and its place among those of the same millisecond. All entities of a
// request have one time, although some are saved later than others.
func Stamp(meta map[string]json.RawMessage, now time.Time, place int) {
	meta[createdKey] = number(now.UnixMilli())
	Place(meta, place)
}

func number[N int | int64](n N) json.RawMessage {
	return json.RawMessage(strconv.FormatInt(int64(n), 10))
}

// Place records the place among the entities or relations of the same millisecond.
func Place(meta map[string]json.RawMessage, place int) {
	if place > 0 {
		meta[placeKey] = number(place)
	}
}

// Compare orders the memories of entities as the reference server does.
func Compare(a, b *memory.Memory) int {
	return cmp.Or(cmp.Compare(createdAt(a), createdAt(b)), cmp.Compare(placeIn(a.Meta), placeIn(b.Meta)),
		cmp.Compare(a.Content, b.Content))
}

// CompareRelations orders relations as the reference server does.
func CompareRelations(a, b *memory.Relation) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(placeIn(a.Metadata), placeIn(b.Metadata)),
		cmp.Compare(a.ID, b.ID))
}

func createdAt(m *memory.Memory) (ms int64) {
	if json.Unmarshal(m.Meta[createdKey], &ms) == nil {
		return ms
	}
	return m.CreatedAt.UnixMilli()
}

func placeIn(meta map[string]json.RawMessage) (place int) {
	_ = json.Unmarshal(meta[placeKey], &place) // 0 without one
	return place
}

// NameOf returns the name of an entity or of a mention, "" for another memory.
func NameOf(m *memory.Memory) (name string) {
	if json.Unmarshal(m.Meta[nameKey], &name) != nil || ID(name) != m.ID {
		return ""
	}
	return name
}

// Mentioned reports whether a memory is only a name in relations.
func Mentioned(m *memory.Memory) bool {
	return NameOf(m) != "" && string(m.Meta[mentionedKey]) == "true"
}

// Shortened reports whether the observations of an entity are in a note, and its memory
// has a sentence that is left of them.
func Shortened(m *memory.Memory) bool { return m.Stage.Cold() || m.TextDigest != "" }

// Of returns the entity that a memory is, false if it is none.
func Of(m *memory.Memory) (Entity, bool) {
	name := NameOf(m)
	if name == "" || Mentioned(m) {
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
	text = Lower(text)
	return slices.ContainsFunc(slices.Concat([]string{e.Name, e.EntityType}, e.Observations), func(s string) bool {
		return strings.Contains(Lower(s), text)
	})
}

// Lower returns a text in lower case as JavaScript has it: a sigma at the end of a word is ς, and İ is an i with
// a dot above it.
func Lower(text string) string { return cases.Lower(language.Und).String(text) }
