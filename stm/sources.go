package stm

import (
	"encoding/json"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Learned returns the key of a live memory that is to be set when it is learned once
// more, and its value: [Change] writes them. The row has to be locked, or two that learn
// at the same time are one.
func (s *Store) Learned(r *table.Row, link memory.Source) (key string, value json.RawMessage) {
	return s.learnedBy(r.JSON(), link)
}

// LearnedAnew is [Store.Learned] for a memory with these fields that comes back from the
// trash and is learned once more in doing so.
func (s *Store) LearnedAnew(fields map[string]json.RawMessage, link memory.Source) (key string, value json.RawMessage) {
	return s.learnedBy(record.Encode(fields), link)
}

func (s *Store) learnedBy(doc []byte, link memory.Source) (key string, value json.RawMessage) {
	own := record.Slots(doc, s.wal.Device)
	n := slices.IndexFunc(own, func(h *record.HeldSource) bool { return h != nil && h.Equal(link) })
	if n < 0 {
		n = slices.Index(own, nil)
	}
	if n < 0 {
		n = record.OldestSlot(own)
	}
	return record.SlotKey(s.wal.Device, n), record.Encode(own[n].Learned(link))
}
