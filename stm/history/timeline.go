package history

import (
	"context"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Timeline reads what the log recorded and reverts it: the journal, the trash, the
// past, purges. It sees the memories of one view.
type Timeline struct {
	wal      *wal.Log
	memories table.MemorySet
	update   Updater
	purged   func(context.Context, map[memory.ID]string) error // nil if no caller needs it
	last     *pastCache
}

// Updater commits a transaction as [Store.Update] does.
type Updater func(ctx context.Context, ids []memory.ID, key string,
	fn func(rows []*table.Row) (*wal.Tx, error)) (wal.Receipt, error)

func NewTimeline(l *wal.Log, m table.MemorySet, update Updater, purged func(context.Context,
	map[memory.ID]string) error) Timeline {
	return Timeline{wal: l, memories: m, update: update, purged: purged, last: &pastCache{}}
}

// In returns the timeline of another view of the same log.
func (s *Timeline) In(m table.MemorySet, update Updater) Timeline {
	t := *s
	t.memories, t.update = m, update
	return t
}

func compareText(a, b memory.ID) int { return strings.Compare(string(a), string(b)) }

// IsHidden reports whether the view hides a memory that is not live. It hides a memory that
// is no longer in the trash, for there are no fields to check.
func (s *Timeline) IsHidden(id memory.ID) bool {
	if s.memories.Sees == nil {
		return false
	}
	keys, err := s.ForgottenFields(id)
	if err != nil {
		return true
	}
	doc := record.Encode(keys)
	h, err := record.FacetsOf(doc)
	return err != nil || !s.memories.Sees(&table.Row{Key: id.Bytes(), Doc: doc, Hot: h})
}

// Knows reports whether a memory is there, live or in the trash.
func (s *Timeline) Knows(id memory.ID) bool {
	_, live := s.memories.Get(id)
	return live || s.Trashed(id)
}

// visible leaves of forgotten texts those of memories that are seen in the trash.
func (s *Timeline) visible(found []ForgottenText) []ForgottenText {
	return slices.DeleteFunc(found, func(f ForgottenText) bool { return s.IsHidden(f.ID) })
}

// Resolve turns what a caller names a memory by into the id of one that was live then, as
// [Store.Resolve] does.
func (p *PastView) Resolve(text string) (memory.ID, error) {
	n := table.Naming(text)
	return n.OrItself(p.FindNamed(n))
}

// TrashedAs are the memories in the trash that are named.
func (s *Timeline) TrashedAs(n table.Named) (ids []memory.ID) {
	kept := func(ids []memory.ID) []memory.ID {
		return slices.DeleteFunc(ids, func(id memory.ID) bool { return !s.InTrash(id) })
	}
	if n.IsPart() {
		ids = kept(s.wal.Table.BuriedWithPart(n.Parts()))
	}
	if len(ids) != 1 {
		if called := kept(s.wal.Table.TrashedByAlias(n.Text)); len(called) > 0 {
			ids = called
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(ids, s.IsHidden)
}
