package importer

import (
	"context"

	"emberd/memory"
)

// MCPMemoryService reads the database of mcp-memory-service with the backend sqlite_vec, or the folder that contains
// it: memories with tags, type, metadata and times, and the relations between them. Deleted memories are left out. A
// memory that another one superseded comes in with a relation from that one.
func MCPMemoryService(ctx context.Context, name string, o *Options) (*Result, error) {
	return readDatabase(ctx, "mcp-memory-service", name, o, func(d *database) error {
		m := &mcpMemory{database: d, byHash: map[string]memory.ID{}}
		query := "SELECT id AS row, " + d.list("memories", "content_hash", "content", "tags", "memory_type", "metadata",
			"created_at", "updated_at", "created_at_iso", "updated_at_iso", "deleted_at", "confidence", "last_accessed",
			"superseded_by", "parent_id", "version", "store") + " FROM memories ORDER BY id"
		if err := d.rows(ctx, []string{"memories"}, query, m.memory); err != nil {
			return err
		}
		m.leftOut(m.deleted, "memories", "deleted in the source")
		if err := m.graph(ctx); err != nil {
			return err
		}
		m.relate()
		return nil
	})
}

type mcpMemory struct {
	*database
	byHash  map[string]memory.ID
	links   []mcpLink
	deleted int
}

// mcpLink is a relation between memories by their hashes.
type mcpLink struct {
	from, to, kind string
	at             Place
}

func (m *mcpMemory) memory(s record, at Place) error {
	if s["deleted_at"] != nil {
		m.deleted++
		return nil
	}
	m.Met++
	hash := plain(s["content_hash"])
	s.parse("metadata")
	s.spread("metadata")
	if by := plain(s["superseded_by"]); by != "" {
		m.links = append(m.links, mcpLink{by, hash, memory.KindSupersedes, at})
	}
	made := m.blank()
	made.Content, _ = s.whole("content")
	if plain(s["version"]) == "1" {
		delete(s, "version")
	}
	if plain(s["store"]) != "default" {
		s.rename("store", "collection")
	}
	s.rename("memory_type", "entityType")
	s.rename("last_accessed", "last_accessed_ts")
	for _, key := range []string{"created_at", "updated_at"} {
		if s[key] == nil {
			s.rename(key+"_iso", key)
		}
		delete(s, key+"_iso")
	}
	s.drop("row", "content_hash", "superseded_by", "store")
	s.into(&made, m.o)
	made.ID = m.known(made.Collection, hash, made.Content)
	made.Aliases = alsoKnown(made.ID, hash)
	if m.add(&made, at) {
		m.byHash[hash] = made.ID
	}
	return nil
}

// graph reads the relations that the service found or was told. A relation in both directions counts once.
func (m *mcpMemory) graph(ctx context.Context) error {
	if !m.has("memory_graph", "source_hash") {
		return nil
	}
	met := map[mcpLink]bool{}
	query := "SELECT rowid AS row, " + m.list("memory_graph", "source_hash", "target_hash", "relationship_type") +
		" FROM memory_graph ORDER BY rowid"
	return m.rows(ctx, []string{"memory_graph"}, query, func(s record, at Place) error {
		link := mcpLink{from: plain(s["source_hash"]), to: plain(s["target_hash"]), kind: orElse(
			plain(s["relationship_type"]), memory.Related)}
		back := mcpLink{from: link.to, to: link.from, kind: link.kind}
		if met[link] || link.kind == memory.Related && met[back] {
			return nil
		}
		met[link] = true
		link.at = at
		m.links = append(m.links, link)
		return nil
	})
}

// relate makes relations, once all memories are known. Those of a deleted memory are left out.
func (m *mcpMemory) relate() {
	without := 0
	for _, link := range m.links {
		from, to := m.byHash[link.from], m.byHash[link.to]
		if from == "" || to == "" || from == to {
			without++
			continue
		}
		r := Relation{From: from, To: to, FromName: link.from, ToName: link.to, Place: link.at}
		r.Type, r.Kind = kindOf(link.kind)
		m.Relations = append(m.Relations, r)
	}
	m.leftOut(without, "memory_graph", "relations from or to a memory that was deleted or skipped")
}
