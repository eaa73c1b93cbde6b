package drawing

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
)

// Store writes all memories as GraphML, piece by piece: first nodes, then edges, of which
// both ends have to be there. Nothing is kept, so that a store of any size can be written.
// An error stays, and is what [Store.Close] returns; nothing is written after it.
//
// A node of a memory has its id, one of an entity e and its number. What XML cannot hold of
// a text (control characters) is written as U+FFFD.
type Store struct {
	w   io.Writer
	enc *xml.Encoder
	err error
}

func entityNode(number int) string { return "e" + strconv.Itoa(number) }

func storeKeys() []key {
	var out []key
	for _, k := range []struct{ name, typ string }{{"kind", "string"}, {"label", "string"}, {"content", "string"},
		{"tags", "string"}, {"aliases", "string"},
		{"stage", "string"}, {"created_at", "string"}, {"updated_at", "string"}, {"last_used", "string"},
		{"use_count", "long"}, {"strength", "double"},
		{"importance", "double"}, {"confidence", "double"}, {"core", "boolean"}, {"collection", "string"},
		{"project", "string"}, {"category", "string"},
		{"type", "string"}, {"section", "string"}, {"source", "string"}, {"context", "string"}} {
		out = append(out, key{"n_" + k.name, "node", k.name, k.typ})
	}
	for _, k := range []struct{ name, typ string }{{"type", "string"}, {"kind", "string"}, {"strength", "double"},
		{"created_at", "string"}} {
		out = append(out, key{"e_" + k.name, "edge", k.name, k.typ})
	}
	return out
}

// NewStore begins a graph.
func NewStore(w io.Writer) *Store {
	s := &Store{w: w, enc: xml.NewEncoder(w)}
	s.enc.Indent("", "  ")
	s.text(xml.Header)
	s.token(xml.StartElement{Name: xml.Name{Local: "graphml"}, Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: "http://graphml.graphdrawing.org/xmlns"}}})
	for _, k := range storeKeys() {
		s.element("key", k)
	}
	s.token(xml.StartElement{Name: xml.Name{Local: "graph"}, Attr: []xml.Attr{{Name: xml.Name{Local: "id"},
		Value: "emberd"}, {Name: xml.Name{Local: "edgedefault"}, Value: "directed"}}})
	return s
}

func (s *Store) text(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}

func (s *Store) token(t xml.Token) {
	if s.err == nil {
		s.err = s.enc.EncodeToken(t)
	}
}

func (s *Store) element(name string, v any) {
	if s.err == nil {
		s.err = s.enc.EncodeElement(v, xml.StartElement{Name: xml.Name{Local: name}})
	}
}

// Memory writes a memory under a title.
func (s *Store) Memory(m *memory.Memory, title string) {
	n := node{ID: string(m.ID)}
	add := func(name, value string) {
		if value != "" {
			n.Data = append(n.Data, data{"n_" + name, value})
		}
	}
	add("kind", "memory")
	add("label", title)
	add("content", m.Content)
	add("tags", strings.Join(m.Tags, ", "))
	add("aliases", strings.Join(m.Aliases, "\n"))
	add("stage", string(m.Stage))
	add("created_at", stamp(m.CreatedAt))
	add("updated_at", stamp(m.UpdatedAt))
	add("last_used", stamp(m.LastUsed))
	add("use_count", strconv.FormatInt(m.UseCount, 10))
	add("strength", double(m.Strength))
	add("importance", double(m.Importance))
	add("confidence", double(m.Confidence))
	add("core", strconv.FormatBool(m.Core))
	add("collection", m.Collection)
	add("project", m.Project)
	add("category", m.Category)
	add("type", m.Type)
	add("section", m.Section)
	add("source", m.Source)
	add("context", m.Context)
	s.element("node", n)
}

// Entity writes an entity, which edges know by its number.
func (s *Store) Entity(number int, name string) {
	s.element("node", node{ID: entityNode(number), Data: []data{{"n_kind", "entity"}, {"n_label", name}}})
}

// Relation writes a relation between two memories.
func (s *Store) Relation(r *memory.Relation) {
	e := edge{Source: string(r.From), Target: string(r.To), Directed: true, Data: []data{{"e_type", r.Type}}}
	if r.Kind != "" {
		e.Data = append(e.Data, data{"e_kind", r.Kind})
	}
	e.Data = append(e.Data, data{"e_strength", double(r.Strength)})
	if !r.CreatedAt.IsZero() {
		e.Data = append(e.Data, data{"e_created_at", stamp(r.CreatedAt)})
	}
	s.element("edge", e)
}

// Mention writes that a memory names an entity.
func (s *Store) Mention(id memory.ID, entity int) {
	s.element("edge",
		edge{Source: string(id), Target: entityNode(entity), Directed: true, Data: []data{{"e_type", "mentions"}}})
}

// Close ends the graph.
func (s *Store) Close() error {
	s.token(xml.EndElement{Name: xml.Name{Local: "graph"}})
	s.token(xml.EndElement{Name: xml.Name{Local: "graphml"}})
	if s.err == nil {
		s.err = s.enc.Close()
	}
	s.text("\n")
	return s.err
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func double(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
