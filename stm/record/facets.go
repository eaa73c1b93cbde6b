package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"emberd/memory"
)

// Facets holds what ranking and filters read, decoded once.
type Facets struct {
	labels                     *Labels // nil for none
	Created, Updated, LastUsed int64   // Unix milliseconds
	Uses, Accesses             uint32  // imported
	Strength                   float32
	Stage                      Stage
	Core, Promoted             bool
	parts                      Parts
	Home                       uint64 // of a cold memory: hash of the path of its note, 0 for none
}

// Parts are keys of a document that few documents have. Of a row without them the document, which may be in a file,
// need not be read.
type Parts uint8

// The parts. Their values are in snapshots.
const (
	partsKnown Parts = 1 << iota // the others are told; a row of an older snapshot has them not
	HasEntities
	HasDigest
	HasSuccessor
	HasAliases
	HasRelations
	HasReview
)

// PartOf returns the part that a key is, 0 for none.
func PartOf(key string) Parts {
	switch {
	case key == "entities":
		return HasEntities
	case key == textDigest:
		return HasDigest
	case key == SuccessorKey:
		return HasSuccessor
	case key == "aliases":
		return HasAliases
	case IsRelationKey(key):
		return HasRelations
	case IsReviewKey(key):
		return HasReview
	}
	return 0
}

// Lacks reports whether the document surely has none of the parts.
func (h *Facets) Lacks(parts Parts) bool { return h.parts&partsKnown != 0 && h.parts&parts == 0 }

// Parts returns the parts, 0 if they are not known.
func (h *Facets) Parts() Parts { return h.parts }

// SetParts sets what Parts returned.
func (h *Facets) SetParts(parts Parts) { h.parts = parts }

// Labels returns the texts among the facets, which are never changed.
func (h *Facets) Labels() *Labels {
	if h.labels == nil {
		return &noLabels
	}
	return h.labels
}

// Stage is a memory.Stage in one byte.
type Stage uint8

var Stages = [...]memory.Stage{memory.Active, memory.Demoted, memory.Archived, memory.Rehydratable}

func StageOf(s string) Stage {
	return Stage(max(0, slices.Index(Stages[:], memory.Stage(s))))
}

// UseTotal is one device's running total for one memory. Totals only grow, so
// merging two copies takes the larger of each.
type UseTotal struct {
	Dev            Device
	Uses, Accesses int64
	Used, Accessed int64 // Unix milliseconds of the latest
	Opened         int64 // of the latest access that showed the whole memory
}

// DocDepth is how deep a document may nest. The line of its delete, one of
// several, wraps it in four more.
const DocDepth = maxDepth - 4

// checkDoc refuses a document that could not be read back as a memory, and returns its facets.
func checkDoc(doc []byte) (Facets, error) {
	switch {
	case !utf8.Valid(doc):
		return Facets{}, errors.New("a field is not valid UTF-8")
	case skipNested(doc, 0, DocDepth) != len(doc):
		return Facets{}, fmt.Errorf("the fields are nested more than %d levels deep", DocDepth)
	}
	if _, err := DecodeDocument(doc); err != nil {
		return Facets{}, err
	}
	return FacetsOf(doc)
}

func Millis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func Member(doc []byte, key string) []byte {
	var found []byte
	// A document that was applied has been walked before.
	_ = EachField(doc, func(name, value []byte) bool {
		if string(name) == key {
			found = value
			return false
		}
		return true
	})
	return found
}

func FacetsOf(doc []byte) (Facets, error) {
	h, labels := Facets{Strength: 1, parts: partsKnown}, Labels{Collection: memory.DefaultCollection}
	var err, bad error
	if len(doc) > 0 {
		err = EachField(doc, func(name, value []byte) bool {
			bad = h.take(&labels, string(name), value)
			return bad == nil
		})
	}
	h.labels = labels.shared()
	return h, cmp.Or(err, bad)
}

// Take replaces the field of a key.
func (h *Facets) Take(name string, value []byte) error {
	labels := *h.Labels()
	err := h.take(&labels, name, value)
	if !labels.equal(h.Labels()) {
		h.labels = labels.shared()
	}
	return err
}

// take replaces the field of a key, a label in those given.
func (h *Facets) take(labels *Labels, name string, value []byte) error {
	h.parts |= PartOf(name)
	is, err := labels.take(name, value)
	if !is {
		err = h.takeOther(name, value)
	}
	if err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	return nil
}

func (h *Facets) takeOther(name string, value []byte) (err error) {
	switch name {
	case "stage":
		var s string
		s, err = Text(value)
		h.Stage = StageOf(s)
	case "strength":
		var f float64
		f, err = strconv.ParseFloat(string(value), 32)
		h.Strength = float32(f)
	case "core":
		h.Core = string(value) == "true"
	case "promoted_to":
		h.Promoted = len(value) > 2
	case "created_at":
		h.Created, err = MilliField(value)
	case "updated_at":
		h.Updated, err = MilliField(value)
	case "last_used":
		h.LastUsed, err = MilliField(value)
	case "use_count":
		h.Uses, err = countField(value)
	case "access_count":
		h.Accesses, err = countField(value)
	}
	return err
}

func countField(value []byte) (uint32, error) {
	n, err := strconv.ParseUint(string(value), 10, 32)
	return uint32(n), err
}

func MilliField(value []byte) (int64, error) {
	if len(value) < 2 {
		return 0, errSyntax
	}
	t, err := time.Parse(time.RFC3339Nano, string(value[1:len(value)-1]))
	return t.UnixMilli(), err
}
