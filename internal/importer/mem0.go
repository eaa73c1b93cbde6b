package importer

import (
	"context"
	"encoding/json"
	"io"

	"emberd/memory"
)

// Mem0 reads memories of mem0 in JSON: what get_all() returns, or the points of its collection in Qdrant.
func Mem0(r io.Reader, o *Options) (*Result, error) { return Qdrant(r, o) }

// Mem0History reads history.db of mem0, or the folder that contains it: the text that each memory had last, with
// the times of its first and its last change. A memory whose last event is DELETE is left out. The history has no
// metadata and no user_id; the collection in the vector store has, with the same ids.
func Mem0History(ctx context.Context, name string, o *Options) (*Result, error) {
	return readDatabase(ctx, "mem0", name, o, func(d *database) error {
		m := &mem0{database: d, byID: map[string]*mem0Memory{}}
		query := "SELECT rowid AS row, " + d.list("history", "memory_id", "new_memory", "event", "created_at",
			"updated_at", "is_deleted", "actor_id", "role") + " FROM history ORDER BY rowid"
		if err := d.rows(ctx, []string{"history"}, query, m.event); err != nil {
			return err
		}
		m.done()
		return nil
	})
}

type mem0 struct {
	*database
	byID  map[string]*mem0Memory
	order []string
}

// mem0Memory is a memory after the events that were read.
type mem0Memory struct {
	last    record          // the last event
	created json.RawMessage // when the first event happened
	text    string
	deleted bool
	at      Place
}

// event applies one row. Events of a memory stand in the order in which they happened.
func (m *mem0) event(s record, at Place) error {
	id := plain(s["memory_id"])
	if id == "" {
		m.Met++
		m.fail(at, memory.Errorf(memory.Invalid, "the event has no memory_id"))
		return nil
	}
	one := m.byID[id]
	if one == nil {
		one = &mem0Memory{created: s["created_at"]}
		m.byID[id] = one
		m.order = append(m.order, id)
	}
	one.last, one.at = s, at
	one.deleted = plain(s["event"]) == "DELETE" || plain(s["is_deleted"]) == "1"
	if text, ok := s.whole("new_memory"); ok && text != "" {
		one.text = text
	}
	return nil
}

// done makes memories of what the events left.
func (m *mem0) done() {
	deleted := 0
	for _, id := range m.order {
		one := m.byID[id]
		if one.deleted {
			deleted++
			continue
		}
		m.Met++
		made := m.blank()
		made.Content = one.text
		one.last["created_at"] = one.created
		one.last.drop("row", "memory_id", "event", "is_deleted")
		one.last.into(&made, m.o)
		made.ID = m.known(made.Collection, id, "")
		made.Aliases = alsoKnown(made.ID, id)
		m.add(&made, one.at)
	}
	m.leftOut(deleted, "history", "deleted in the source")
}

// leftOut reports how many memories of a table are left out, and why.
func (h *builder) leftOut(n int, table, why string) {
	if n > 0 {
		h.note(Place{Path: table}, "skipped %d: %s", n, why)
	}
}
