package memory

import (
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

// Relation says how one memory stands to another. There is at most one of a type and
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

// CheckRelationType refuses what is none of the six.
func CheckRelationType(name string) error {
	if slices.Contains(RelationTypes(), name) {
		return nil
	}
	return Errorf(Invalid, "relation_type is %q; use one of %s", clip(name), strings.Join(RelationTypes(), ", ")).At("type")
}
