package record

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"sync/atomic"
	"unique"
)

// Labels are the texts that ranking and filters read. Most memories have the same as others, and share them, so they
// are never changed.
type Labels struct {
	Tags                          []string
	Project, Collection, Category string
}

var (
	noLabels Labels
	// lately has labels that memories got lately, by hash.
	lately     [1 << 10]atomic.Pointer[Labels]
	labelsSeed = maphash.MakeSeed()
)

func (l *Labels) equal(other *Labels) bool {
	return l.Project == other.Project && l.Collection == other.Collection && l.Category == other.Category &&
		slices.Equal(l.Tags, other.Tags)
}

// shared returns these labels, or those of another memory that has the same.
func (l Labels) shared() *Labels {
	var h maphash.Hash
	h.SetSeed(labelsSeed)
	for _, s := range append([]string{l.Project, l.Collection, l.Category}, l.Tags...) {
		_, _ = h.WriteString(s) // never fails
		_ = h.WriteByte(0)
	}
	place := &lately[h.Sum64()%uint64(len(lately))]
	if known := place.Load(); known != nil && known.equal(&l) {
		return known
	}
	kept := l
	place.Store(&kept)
	return &kept
}

// take replaces the label of a key, and reports whether it is one.
func (l *Labels) take(name string, value []byte) (is bool, err error) {
	switch name {
	case "tags":
		l.Tags = nil
		err = json.Unmarshal(value, &l.Tags)
		for i, t := range l.Tags {
			l.Tags[i] = unique.Make(t).Value()
		}
	case "project":
		l.Project, err = sharedText(value)
	case "collection":
		l.Collection, err = sharedText(value)
	case "category":
		l.Category, err = sharedText(value)
	default:
		return false, nil
	}
	return true, err
}

func sharedText(value []byte) (string, error) {
	s, err := Text(value)
	return unique.Make(s).Value(), err
}
