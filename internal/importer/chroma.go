package importer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"emberd/internal/sqlitefile"
	"emberd/memory"
)

// Chroma reads a collection of ChromaDB in JSON: what collection.get() returns (ids,
// documents and metadatas, one list each), several of those one after the other or by the
// names of their collections, or one object for each record. The fields of the specification
// "adaptive memory health" are those of its metadata.
func Chroma(r io.Reader, o *Options) (*Result, error) {
	r, sqlite := isSQLite(r)
	if sqlite {
		return nil, errDatabase
	}
	c := &chroma{builder: newBuilder("chroma", o), doc: newDocument(r), byName: map[string][]chromaID{}}
	for {
		t, err := c.doc.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.top(t)
		}
		if err != nil {
			return nil, whole(err)
		}
	}
	c.relate()
	return &c.Result, nil
}

// errDatabase is for a database in place of JSON, which cannot be read from a pipe.
var errDatabase = memory.Errorf(memory.Invalid,
	"cannot read a SQLite database from standard input; pass the file name instead")

// isSQLite reports whether r begins as a database of SQLite does, and returns a reader of all of r.
func isSQLite(r io.Reader) (io.Reader, bool) {
	all := bufio.NewReader(r)
	head, _ := all.Peek(len(sqlitefile.Header)) // the next read tells the error
	return all, string(head) == sqlitefile.Header
}

type chroma struct {
	*builder
	doc    *document
	byName map[string][]chromaID
	links  []chromaLink
}

// chromaID is what has a name in a collection.
type chromaID struct {
	collection string // as the file calls it, "" if it does not say
	id         memory.ID
}

// chromaLink is what a record says of related ones.
type chromaLink struct {
	from       memory.ID
	collection string // where it is kept
	source     string // as the file calls it
	name       string
	to         []string
	at         Place
}

var errNoCollection = memory.Errorf(memory.Invalid,
	"this is not a ChromaDB collection; save the result of collection.get() as JSON, with ids, documents and metadatas")

func (c *chroma) top(t json.Token) error {
	switch t {
	case json.Delim('['):
		return c.doc.elements(func(i int, raw json.RawMessage, line int) error {
			return c.row(raw, Place{Line: line, Path: fmt.Sprintf("[%d]", i)})
		})
	case json.Delim('{'):
		return c.collection("")
	}
	return errNoCollection
}

// columns are the lists of a collection, side by side.
type columns struct {
	ids, documents, metadatas []json.RawMessage
	lines                     []int
	name                      string
	there                     bool // ids were met
	rest                      record
}

// collection reads an object: the lists of a collection, such objects by their names, or one
// record.
func (c *chroma) collection(name string) error {
	cols := columns{name: name, rest: record{}}
	err := c.doc.members(func(key string) error { return c.member(&cols, key) })
	if err != nil {
		return err
	}
	if cols.there {
		return c.pair(&cols)
	}
	if _, ok := cols.rest["id"]; ok {
		c.record(cols.rest, Place{Line: c.doc.lines.at(c.doc.dec.InputOffset())})
		return nil
	}
	if len(cols.rest) > 0 || name != "" {
		return errNoCollection
	}
	return nil
}

func (c *chroma) member(cols *columns, key string) error {
	lists := map[string]*[]json.RawMessage{"ids": &cols.ids, "documents": &cols.documents, "metadatas": &cols.metadatas}
	switch {
	case lists[key] != nil:
		cols.there = cols.there || key == "ids"
		return c.list(lists[key], &cols.lines, key)
	case slices.Contains([]string{"embeddings", "embedding", "uris", "data", "included", "include", "distances"}, key):
		return c.doc.skip()
	case key == "collections":
		return c.several()
	}
	raw, _, err := c.doc.element()
	if err == nil {
		cols.rest[key] = raw
	}
	if key == "name" || key == "collection" {
		cols.name = plain(raw)
	}
	return err
}

// list reads one of the lists, or the null that stands where nothing was asked for.
func (c *chroma) list(to *[]json.RawMessage, lines *[]int, key string) error {
	t, err := c.doc.token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errNoCollection
	}
	return c.doc.elements(func(_ int, raw json.RawMessage, line int) error {
		if raw[0] == '[' {
			return memory.Errorf(memory.Invalid,
				"line %d: %s contains lists, like the result of a query; save the result of collection.get() instead",
				line, key)
		}
		*to = append(*to, raw)
		if key == "ids" {
			*lines = append(*lines, line)
		}
		return nil
	})
}

// several reads collections: a list of objects, or objects by their names.
func (c *chroma) several() error {
	t, err := c.doc.token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return c.doc.members(func(name string) error {
			return c.one(name)
		})
	case json.Delim('['):
		for c.doc.dec.More() {
			if err := c.one(""); err != nil {
				return err
			}
		}
		_, err := c.doc.token()
		return err
	}
	return errNoCollection
}

// one reads a collection that has to come next.
func (c *chroma) one(name string) error {
	t, err := c.doc.token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errNoCollection
	}
	return c.collection(name)
}

// pair makes records of what stands at the same place of the lists.
func (c *chroma) pair(cols *columns) error {
	for key, list := range map[string][]json.RawMessage{"documents": cols.documents, "metadatas": cols.metadatas} {
		if len(list) > 0 && len(list) != len(cols.ids) {
			return memory.Errorf(memory.Invalid,
				"found %d ids but %d %s; nothing was imported, because each id requires one entry", len(cols.ids),
				len(list), key)
		}
	}
	for i, id := range cols.ids {
		s := record{"id": id}
		if cols.name != "" {
			s["collection"], _ = json.Marshal(cols.name) // texts always encode
		}
		if len(cols.documents) > 0 {
			s["document"] = cols.documents[i]
		}
		if len(cols.metadatas) > 0 {
			s["metadata"] = cols.metadatas[i]
		}
		c.record(s, Place{Line: cols.lines[i], Path: fmt.Sprintf("ids[%d]", i)})
	}
	return nil
}

// row takes in one object of a list of records.
func (c *chroma) row(raw json.RawMessage, at Place) error {
	var s record
	if json.Unmarshal(raw, &s) != nil || s == nil {
		c.Met++
		c.fail(at, memory.Errorf(memory.Invalid, "this entry is not a record with an ID and a text"))
		return nil
	}
	c.record(s, at)
	return nil
}

func (c *chroma) record(s record, at Place) {
	c.Met++
	name := plain(s["id"])
	added := plain(s["chroma:added"]) // of the database, where metadata does not say when
	for _, key := range []string{"id", "embedding", "embeddings", "uri", "data", "chroma:added"} {
		delete(s, key)
	}
	if string(s["metadata"]) == "null" {
		delete(s, "metadata")
	}
	s.spread("metadata")
	content := s.text(anyLength, "document", "text", "content", "full_text", "text_chunk", "chroma:document",
		"page_content")
	if content == "" {
		c.fail(at, memory.Errorf(memory.Invalid, "record %.80q has no text; export the collection with documents",
			name))
		return
	}
	m := c.blank()
	m.Content = content
	links, source := s.names("related_memories"), plain(s["collection"])
	delete(s, "related_memories")
	delete(s, "document") // a null beside the text that stood elsewhere
	s.into(&m, c.o)
	if m.CreatedAt.IsZero() {
		m.CreatedAt, _ = moment(added, c.o.Now)
	}
	m.ID = c.known(m.Collection, name, content)
	m.Aliases = alsoKnown(m.ID, name)
	if len(links) > 0 {
		c.links = append(c.links, chromaLink{m.ID, m.Collection, source, name, links, at})
	}
	if name != "" {
		c.byName[name] = append(c.byName[name], chromaID{source, m.ID})
	}
	c.add(&m, at)
}

// relate makes relations of the lists of related memories, once all ids are known.
func (c *chroma) relate() {
	for _, link := range c.links {
		for _, name := range link.to {
			found := c.named(name, link.source)
			if len(found) > 1 {
				c.note(link.at, "the related memory %.80q matches %d records, so emberd skipped this relation", name,
					len(found))
				continue
			}
			to := c.known(link.collection, name, "") // which another file may have
			if len(found) == 1 {
				to = found[0]
			}
			if to == link.from {
				continue
			}
			c.Relations = append(c.Relations, Relation{From: link.from, To: to, FromName: link.name, ToName: name,
				Type: memory.Related, Place: link.at})
		}
	}
}

// named returns the ids of the records with a name in a collection, or in the other ones if there is none in it.
func (c *chroma) named(name, collection string) []memory.ID {
	var here, elsewhere []memory.ID
	for _, one := range c.byName[name] {
		switch {
		case one.collection != collection && !slices.Contains(elsewhere, one.id):
			elsewhere = append(elsewhere, one.id)
		case one.collection == collection && !slices.Contains(here, one.id):
			here = append(here, one.id)
		}
	}
	if len(here) > 0 {
		return here
	}
	return elsewhere
}
