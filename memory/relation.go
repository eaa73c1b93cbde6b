package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// The six types of relations, from spec "CortexGraph API".
const (
	Related          = "related"
	Causes           = "causes"
	Supports         = "supports"
	Contradicts      = "contradicts"
	HasDecision      = "has_decision"
	ConsolidatedFrom = "consolidated_from"
)

// RelationTypes lists them. It returns a fresh slice.
func RelationTypes() []string {
	return []string{Related, Causes, Supports, Contradicts, HasDecision, ConsolidatedFrom}
}

// Relation reports how one memory stands to another. There is at most one of a type and
// kind from one memory to another, which is what its ID is made of.
type Relation struct {
	ID   string `json:"id"` // "rel-" and 32 hex digits
	From ID     `json:"from"`
	To   ID     `json:"to"`
	Type string `json:"type"`
	// Kind is what relations of other systems are called, in their words.
	Kind      string                     `json:"kind,omitempty"`
	Strength  float64                    `json:"strength"` // 0–1
	CreatedAt time.Time                  `json:"created_at"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

// KindSupersedes is the kind of a relation that leads from a memory to one that it replaces.
const KindSupersedes = "supersedes"

// IsSupersession reports whether the relation says that one memory replaces another.
func (r *Relation) IsSupersession() bool { return r.Type == Related && r.Kind == KindSupersedes }

// Bounds of a relation.
const (
	MaxKind              = 100 // characters
	MaxRelationMetaBytes = 8 << 10
	// MaxRelationsBytes bounds the JSON of all relations that start at one memory, which
	// is some 6,000 without metadata. They go to the trash with it, as one line.
	MaxRelationsBytes = 1 << 20
)

// RelationID is the id of the one relation of this type and kind from a memory to
// another: the first half of a SHA-256 over all four, divided by NUL.
func RelationID(from, to ID, typ, kind string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(from), string(to), typ, kind}, "\x00")))
	return relationMark + hex.EncodeToString(sum[:16])
}

const relationMark = "rel-"

// Short is the beginning of the relation's id, which is enough to name it.
func (r *Relation) Short() string { return r.ID[:min(len(r.ID), len(relationMark)+8)] }

// CheckRelationType refuses what is none of the six.
func CheckRelationType(name string) error {
	if slices.Contains(RelationTypes(), name) {
		return nil
	}
	return Errorf(Invalid, "invalid relation type %q; use one of %s", Clip(name),
		strings.Join(RelationTypes(), ", ")).At("type")
}
