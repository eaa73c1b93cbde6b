package importer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"emberd/internal/sqlitefile"
	"emberd/internal/text"
	"emberd/memory"
)

// Qdrant reads points of a collection of Qdrant in JSON: answers of its scroll endpoint, one
// after the other or one a line, lists of points, and the backups that claude_indexer makes
// of manual entries. Payloads are those of the specification "memory cleanup": an entry, or a
// relation between entries by their names. What an indexer left in a payload is kept in meta,
// null or not, so that a cleanup continues to ignore the entry.
func Qdrant(r io.Reader, o *Options) (*Result, error) {
	r, foreign := notJSON(r)
	if foreign != nil {
		return nil, foreign
	}
	q := &qdrant{builder: newBuilder("qdrant", o), doc: newDocument(r), byName: map[string]memory.ID{}}
	for {
		t, err := q.doc.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = q.value(t, "")
		}
		if err != nil {
			return nil, whole(err)
		}
	}
	q.relate()
	if q.next != "" {
		q.note(Place{}, "this file contains only a part of the collection; repeat the "+
			"scroll request with the offset %s, and import that result too", q.next)
	}
	return &q.Result, nil
}

// notJSON returns an error for a file of Qdrant's own, which only Qdrant reads, and a reader of all of r.
func notJSON(r io.Reader) (io.Reader, error) {
	all := bufio.NewReader(r)
	head, _ := all.Peek(tarMark + len("ustar")) // the next read returns the error
	switch {
	case len(head) == tarMark+len("ustar") && string(head[tarMark:]) == "ustar":
		return nil, memory.Errorf(memory.Invalid, "cannot read archives, such as Qdrant snapshots; restore "+
			"the snapshot in Qdrant, and save the JSON response of "+
			"POST /collections/NAME/points/scroll (with_payload: true)")
	case strings.HasPrefix(string(head), sqlitefile.Header):
		return nil, memory.Errorf(memory.Invalid, "this is a SQLite database with Qdrant points in Python's pickle "+
			"format, which emberd cannot read; to write the points as JSON, run: python3 -c 'import "+
			"json,qdrant_client;c=qdrant_client.QdrantClient(path=\"FOLDER\");print(json.dumps([p.model_dump() "+
			"for p in c.scroll(\"NAME\",limit=10**6)[0]],default=str))' >points.json")
	}
	return all, nil
}

// tarMark is where the header of a tar archive says that it is one.
const tarMark = 257

type qdrant struct {
	*builder
	doc    *document
	byName map[string]memory.ID
	links  []qdrantLink
	next   string // the offset of the next page, "" on the last one
}

// qdrantLink is a relation as a payload has it.
type qdrantLink struct {
	from, to, kind string
	at             Place
}

var errNoPoints = memory.Errorf(memory.Invalid, "this is not a list of Qdrant points; save the JSON response "+
	"of POST /collections/NAME/points/scroll (with_payload: true)")

// value reads what may be points, or hold them, after its first token.
func (q *qdrant) value(t json.Token, path string) error {
	switch t {
	case json.Delim('['):
		return q.list(path)
	case json.Delim('{'):
		return q.object(path)
	}
	return errNoPoints
}

// list reads a list of points, or the pair that scroll() of the Python client returns: a list, and the offset of the
// next page.
func (q *qdrant) list(path string) error {
	pair := false
	return q.doc.elements(func(i int, raw json.RawMessage, line int) error {
		at := Place{Line: line, Path: fmt.Sprintf("%s[%d]", path, i)}
		var points []json.RawMessage
		switch {
		case i == 0 && raw[0] == '[' && json.Unmarshal(raw, &points) == nil:
			pair = true
			for n, point := range points {
				q.point(point, Place{Line: line, Path: fmt.Sprintf("%s[%d]", at.Path, n)})
			}
		case i == 1 && pair:
			q.page(raw)
		default:
			q.point(raw, at)
		}
		return nil
	})
}

// object reads an object: one that holds points, or a point.
func (q *qdrant) object(path string) error {
	rest, around := record{}, false
	err := q.doc.members(func(key string) error {
		switch key {
		case "result", "results", "points", "manual_entries", "relation_entries", "unknown_entries":
			around = true
			t, err := q.doc.token()
			if err != nil || t == nil {
				return err
			}
			return q.value(t, strings.TrimPrefix(path+"."+key, "."))
		case "vector", "vectors":
			return q.doc.skip()
		}
		raw, _, err := q.doc.element()
		rest[key] = raw
		if key == "next_page_offset" && err == nil {
			q.page(raw)
			around = true
		}
		return err
	})
	if err != nil || around {
		return err
	}
	if len(rest) == 0 || rest["status"] != nil && rest["payload"] == nil {
		return errNoPoints
	}
	q.take(rest, Place{Line: q.doc.lines.at(q.doc.dec.InputOffset())})
	return nil
}

// page records the offset of the next page. Of several pages the last one counts.
func (q *qdrant) page(offset json.RawMessage) {
	q.next = ""
	if string(offset) != "null" {
		q.next = plain(offset)
	}
}

func (q *qdrant) point(raw json.RawMessage, at Place) {
	var s record
	if json.Unmarshal(raw, &s) != nil || s == nil {
		q.Met++
		q.fail(at, memory.Errorf(memory.Invalid, "this entry is not a point with an ID and a payload"))
		return
	}
	q.take(s, at)
}

// take takes in a point, or a payload without a point around it.
func (q *qdrant) take(s record, at Place) {
	q.Met++
	name := plain(s["id"])
	payload := s
	if raw, there := s["payload"]; there {
		payload = nil
		if json.Unmarshal(raw, &payload) != nil || payload == nil {
			q.fail(at, memory.Errorf(memory.Invalid,
				"point %.80q has no payload; set with_payload to true in the scroll request", name))
			return
		}
	} else {
		for _, key := range []string{"id", "vector", "vectors", "score", "version", "shard_key"} {
			delete(payload, key)
		}
	}
	if from, to, kind := plain(payload["from"]), plain(payload["to"]), plain(payload["relationType"]); from != "" &&
		to != "" && kind != "" {
		q.links = append(q.links, qdrantLink{from, to, kind, at})
		return
	}
	q.entry(name, payload, at)
}

// entry makes a memory of a payload.
func (q *qdrant) entry(id string, s record, at Place) {
	s.node()
	if s["linked_memory_ids"] != nil && s["entity_type"] != nil {
		q.Met--
		q.note(at, "skipped the mem0 entity %.80q, because emberd finds entities in the texts", plain(s["data"]))
		return
	}
	content := s.content() // before metadata, which may use one of the keys for something else
	s.spread("metadata")
	title := s.text(memory.MaxAlias, "name", "entity_name")
	if content == "" {
		content = orElse(s.content(), observed(title, s))
	}
	if content == "" {
		q.fail(at, memory.Errorf(memory.Invalid,
			"point %.80q has neither content nor observations; keys of the payload: %s", id, keysOf(s)))
		return
	}
	m := q.blank()
	m.Content = content
	s.into(&m, q.o)
	m.ID = q.known(m.Collection, id, content)
	names := []string{id}
	if title != "" {
		q.title(&m, title)
	}
	if _, twice := q.byName[title]; title != "" && !twice {
		q.byName[title] = m.ID
		names = append(names, title)
	}
	m.Aliases = alsoKnown(m.ID, names...)
	q.add(&m, at)
}

// content takes the text of a payload. Beside that of mem0 it drops the forms that mem0 derives from it.
func (s record) content() string {
	if s["memory"] != nil || s["data"] != nil {
		delete(s, "text_lemmatized")
		delete(s, "hash")
	}
	return s.text(anyLength, "content", "document", "page_content", "text", "memory", "data")
}

// node puts the text and the metadata of a node of LlamaIndex into the payload. LlamaIndex writes the node as JSON into
// one text, with links and templates of its own, which are left out.
func (s record) node() {
	var text string
	var node struct {
		Text     json.RawMessage `json:"text"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(s["_node_content"], &text) != nil || json.Unmarshal([]byte(text), &node) != nil {
		return
	}
	for _, own := range []string{"_node_content", "_node_type", "doc_id", "ref_doc_id", "document_id"} {
		delete(s, own)
	}
	if node.Text != nil {
		s["text"] = node.Text
	}
	if s["metadata"] == nil && node.Metadata != nil {
		s["metadata"] = node.Metadata
	}
}

// title keeps the name of an entry in meta, and as the entity that it is about.
func (q *qdrant) title(m *memory.Memory, title string) {
	if m.Meta == nil {
		m.Meta = map[string]json.RawMessage{}
	}
	m.Meta["name"], _ = json.Marshal(title) // texts always encode
	if one, err := memory.NormalizeEntities(append([]string{title}, m.Entities...)); err == nil {
		m.Entities = one
	}
}

// observed returns the text of an entry that has observations in place of one: its name, and a
// list below it.
func observed(title string, s record) string {
	var all []string
	if json.Unmarshal(s["observations"], &all) != nil || len(all) == 0 {
		return ""
	}
	delete(s, "observations")
	var b strings.Builder
	b.WriteString(title)
	for _, one := range all {
		b.WriteString("\n- " + strings.ReplaceAll(strings.TrimSpace(one), "\n", "\n  "))
	}
	return strings.TrimSpace(b.String())
}

// keysOf returns the keys of an object, for a sentence.
func keysOf(s record) string {
	var keys []string
	for key := range s {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(keys) == 0 {
		return "no keys"
	}
	if len(keys) > 12 {
		keys = append(keys[:12], "…")
	}
	return text.OneLine(fmt.Sprintf("%.300s", strings.Join(keys, ", ")))
}

// relate makes relations, once all names are known.
func (q *qdrant) relate() {
	for _, link := range q.links {
		r := Relation{From: q.named(link.from), To: q.named(link.to), FromName: link.from, ToName: link.to,
			Place: link.at}
		r.Type, r.Kind = kindOf(link.kind)
		if r.From == r.To {
			q.note(link.at, "skipped a relation from %.80q to itself", link.from)
			continue
		}
		q.Relations = append(q.Relations, r)
	}
}

func (q *qdrant) named(name string) memory.ID {
	if id, ok := q.byName[name]; ok {
		return id
	}
	return q.id(memory.DefaultCollection, "nowhere", name)
}
