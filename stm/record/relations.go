package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"emberd/memory"
)

// A relation is a key of the memory that it starts at: relation. and the 32 hex
// digits of its id. So it is a register of its own, which devices merge without loss,
// and goes to the trash and comes back with that memory. It counts while both of its
// ends are live. Keys that only look like one are kept, and are none.
const RelationPrefix = "relation."

// relationValue is the value of such a key.
type relationValue struct {
	To        memory.ID                  `json:"to"`
	Type      string                     `json:"type"`
	Kind      string                     `json:"kind,omitempty"`
	Strength  float64                    `json:"strength"`
	CreatedAt time.Time                  `json:"created_at"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

// RelationKey is the key that holds a relation, by its id.
func RelationKey(id string) string { return RelationPrefix + strings.TrimPrefix(id, "rel-") }

// IsRelationKey reports whether a key is where a relation belongs, well formed or not.
func IsRelationKey(key string) bool { return strings.HasPrefix(key, RelationPrefix) }

// RelationValue is what that key holds. It fails if the metadata is not JSON.
func RelationValue(r *memory.Relation) (json.RawMessage, error) {
	for name, value := range r.Metadata {
		if !json.Valid(value) {
			return nil, fmt.Errorf("metadata %s is not valid JSON", name)
		}
	}
	return Encode(relationValue{r.To, r.Type, r.Kind, r.Strength, r.CreatedAt.UTC(), r.Metadata}), nil
}

// ParseRelation reads a key of a memory. The caller owns the result.
func ParseRelation(from memory.ID, key string, value []byte) (memory.Relation, error) {
	a, ok := ArrowOf([]byte(key), value)
	if !ok {
		return memory.Relation{}, fmt.Errorf("invalid relation %.60q", key)
	}
	var v relationValue
	if err := json.Unmarshal(value, &v); err != nil {
		return memory.Relation{}, fmt.Errorf("invalid relation %s: %w", key, err)
	}
	return memory.Relation{ID: "rel-" + hex.EncodeToString(a.Rel[:]), From: from, To: memory.IDFromBytes(a.To),
		Type: v.Type,
		Kind: v.Kind, Strength: v.Strength, CreatedAt: v.CreatedAt.UTC(), Metadata: v.Metadata}, nil
}

// Arrow is what the index has of a relation, from the side of its memory.
type Arrow struct {
	Rel, To [16]byte
	At      int64 // Unix milliseconds of its creation
}

// ArrowOf reads a member of a document.
func ArrowOf(name, value []byte) (Arrow, bool) {
	digits, ok := bytes.CutPrefix(name, []byte(RelationPrefix))
	var a Arrow
	if !ok || len(digits) != 2*len(a.Rel) || bytes.ContainsAny(digits, "ABCDEF") {
		return a, false
	}
	if _, err := hex.Decode(a.Rel[:], digits); err != nil {
		return a, false
	}
	to, err := Text(Member(value, "to"))
	if err != nil {
		return a, false
	}
	id, err := memory.ParseID(to)
	a.To = id.Bytes()
	// A time that cannot be read is none, for the order only.
	a.At, _ = MilliField(Member(value, "created_at"))
	return a, err == nil
}
