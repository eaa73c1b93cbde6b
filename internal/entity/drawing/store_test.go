package drawing

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
)

// Whatever texts say, the file is XML of known keys, and they come back but for what XML
// cannot hold.
func TestAStoreSaysEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := memory.Memory{ID: memory.DeriveID([]byte("m")), Content: labels().Draw(rt, "content"), Tags: []string{"a", "b"}, Strength: 1.5, UseCount: 3,
			CreatedAt: time.UnixMilli(1e12), Core: true, Source: labels().Draw(rt, "source")}
		r := memory.Relation{From: m.ID, To: m.ID, Type: memory.Related, Kind: labels().Draw(rt, "kind"), Strength: 0.25}
		entity := labels().Draw(rt, "entity")
		doc := readStore(rt, func(s *Store) {
			s.Memory(&m, "a title")
			s.Entity(0, entity)
			s.Relation(&r)
			s.Mention(m.ID, 0)
		})
		nodes, edges := doc.Graph.Nodes, doc.Graph.Edges
		if len(nodes) != 2 || len(edges) != 2 || nodes[0].ID != string(m.ID) || edges[1].Source != string(m.ID) || edges[1].Target != nodes[1].ID {
			rt.Fatalf("nodes %+v, edges %+v", nodes, edges)
		}
		for _, want := range []struct {
			of         []data
			key, value string
		}{{nodes[0].Data, "n_content", m.Content}, {nodes[0].Data, "n_source", m.Source}, {nodes[0].Data, "n_strength", "1.5"}, {nodes[0].Data, "n_core", "true"},
			{nodes[0].Data, "n_use_count", "3"}, {nodes[0].Data, "n_created_at", "2001-09-09T01:46:40Z"}, {nodes[0].Data, "n_tags", "a, b"},
			{nodes[1].Data, "n_label", entity}, {edges[0].Data, "e_kind", r.Kind}, {edges[0].Data, "e_strength", "0.25"}, {edges[1].Data, "e_type", "mentions"}} {
			if got := valueIn(want.of, want.key); got != inXML(want.value) {
				rt.Fatalf("%s is %q, want %q", want.key, got, want.value)
			}
		}
	})
}

func valueIn(all []data, key string) string {
	for _, d := range all {
		if d.Key == key {
			return d.Text
		}
	}
	return ""
}

// readStore reads what write writes, and checks that every key is known.
func readStore(t tester, write func(*Store)) document {
	t.Helper()
	var b strings.Builder
	s := NewStore(&b)
	write(s)
	if err := s.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	var doc document
	if err := xml.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatalf("not XML: %v", err)
	}
	known := make(map[string]bool)
	for _, k := range doc.Keys {
		known[k.For+" "+k.ID] = k.Name != "" && k.Type != ""
	}
	for _, n := range doc.Graph.Nodes {
		for _, d := range n.Data {
			if !known["node "+d.Key] {
				t.Fatalf("data of an unknown key %q", d.Key)
			}
		}
	}
	for _, e := range doc.Graph.Edges {
		for _, d := range e.Data {
			if !known["edge "+d.Key] {
				t.Fatalf("data of an unknown key %q", d.Key)
			}
		}
	}
	return doc
}

type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, xml.UnmarshalError("the disk is full")
	}
	return len(p), nil
}

func TestAnErrorOfTheDiskStays(t *testing.T) {
	s := NewStore(&broken{left: 2_000})
	for range 1_000 {
		s.Entity(1, "Ada Lovelace")
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("Close: %v", err)
	}
}
