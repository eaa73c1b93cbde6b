package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"emberd/memory"
)

// Claude reads what Claude remembers: memories.json of an export of the account, or the text
// of a memory as it is shown. A memory is a text of paragraphs and lists below headings, of
// which each paragraph and item becomes one here. Anthropic does not document the format.
func Claude(r io.Reader, o *Options) (*Result, error) {
	c := newClaude(o)
	if err := c.read(r, ""); err != nil {
		return nil, err
	}
	return c.done(), nil
}

// ClaudeArchive reads the archive of an export of the account, or the folder that it was
// unpacked into. Memories of projects get the
// names that the archive has for these.
func ClaudeArchive(ctx context.Context, archive string, o *Options) (*Result, error) {
	c := newClaude(o)
	held, err := readExport(ctx, archive, func(name string) bool {
		return isClaudeMemory(name) ||
			isClaudeProject(name)
	}, func(name string, r io.Reader) error {
		if isClaudeProject(name) {
			return c.projects(r, name)
		}
		return c.read(r, name)
	})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(held, isClaudeMemory) {
		return nil, memory.Errorf(memory.Invalid, "the %s does not contain memories.json; copy the memories from "+
			"Settings > Capabilities > Memory into a text file, and import that file", kindOfExport(archive))
	}
	return c.done(), nil
}

func isClaudeMemory(name string) bool {
	return path.Base(name) == "memories.json" || path.Base(path.Dir(name)) == "memories" && path.Ext(name) == ".json"
}

func isClaudeProject(name string) bool {
	return path.Base(name) == "projects.json" || path.Base(path.Dir(name)) == "projects" && path.Ext(name) == ".json"
}

type claude struct {
	*builder
	names map[string]string // of projects, by their ids
	texts []claudeText
}

// claudeText is a memory before it is taken apart.
type claudeText struct {
	project string // id, "" for none
	source  string
	text    string
	at      Place
}

func newClaude(o *Options) *claude {
	return &claude{builder: newBuilder("claude", o), names: map[string]string{}}
}

func (c *claude) read(r io.Reader, file string) error {
	text, err := readText(r)
	if err != nil {
		return err
	}
	if !looksLikeJSON(text) {
		c.texts = append(c.texts, claudeText{text: text, at: Place{File: file, Line: 1}})
		return nil
	}
	doc := newDocument(strings.NewReader(text))
	for {
		t, err := doc.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.value(doc, t, file)
		}
		if err != nil {
			return whole(err)
		}
	}
}

// value reads one account's memories, or a list of such.
func (c *claude) value(doc *document, t json.Token, file string) error {
	switch t {
	case json.Delim('['):
		return doc.elements(func(i int, raw json.RawMessage, line int) error {
			return c.account(raw, Place{File: file, Line: line, Path: fmt.Sprintf("[%d]", i)})
		})
	case json.Delim('{'):
		s, line := record{}, doc.lines.at(doc.dec.InputOffset())
		err := doc.members(func(key string) (err error) {
			s[key], _, err = doc.element()
			return err
		})
		if err != nil {
			return err
		}
		return c.stated(s, Place{File: file, Line: line})
	}
	return memory.Errorf(memory.Invalid, "this is not a memories.json file of Claude")
}

func (c *claude) account(raw json.RawMessage, at Place) error {
	var s record
	if json.Unmarshal(raw, &s) != nil || s == nil {
		c.Met++
		c.fail(at, memory.Errorf(memory.Invalid, "this entry is not an object with conversations_memory"))
		return nil
	}
	return c.stated(s, at)
}

func (c *claude) stated(s record, at Place) error {
	if s["chat_messages"] != nil {
		return errChats
	}
	delete(s, "account_uuid")
	if text, ok := s.whole("conversations_memory"); ok {
		c.texts = append(c.texts, claudeText{text: text, at: at.in("conversations_memory")})
	}
	var projects map[string]json.RawMessage
	if json.Unmarshal(s["project_memories"], &projects) == nil {
		delete(s, "project_memories")
	}
	for _, id := range slices.Sorted(maps.Keys(projects)) {
		text, ok := record(projects).whole(id)
		if !ok {
			c.odd(at.in("project_memories."+id), projects[id])
			continue
		}
		c.texts = append(c.texts, claudeText{project: id, text: text, at: at.in("project_memories." + id)})
	}
	c.files(s, at)
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if string(s[key]) != "null" {
			c.odd(at.in(key), s[key])
		}
	}
	return nil
}

// files takes memories in that are files with a path and a text.
func (c *claude) files(s record, at Place) {
	var files []json.RawMessage
	if json.Unmarshal(s["memory_files"], &files) != nil {
		return
	}
	delete(s, "memory_files")
	for i, raw := range files {
		var file record
		_ = json.Unmarshal(raw, &file) // of another kind it has no text either
		where := at.in(fmt.Sprintf("memory_files[%d]", i))
		name := file.text(memory.MaxSource, "path", "file_path", "name", "filename")
		text := file.text(anyLength, "content", "text")
		if text == "" {
			c.odd(where, raw)
			continue
		}
		c.texts = append(c.texts, claudeText{source: name, text: text, at: where})
	}
}

// odd tells of something that is not understood.
func (c *claude) odd(at Place, raw json.RawMessage) {
	c.Met++
	c.fail(at, memory.Errorf(memory.Invalid, "unknown format; skipped %d bytes", len(raw)))
}

// whole takes a text of any length.
func (s record) whole(key string) (string, bool) {
	var text *string
	if s[key] == nil || json.Unmarshal(s[key], &text) != nil || text == nil {
		return "", false
	}
	delete(s, key)
	return *text, true
}

// in returns a place within one.
func (p Place) in(key string) Place {
	p.Path = strings.TrimPrefix(p.Path+"."+key, ".")
	return p
}

// projects reads the names of projects, of a list of them or of one.
func (c *claude) projects(r io.Reader, file string) error {
	text, err := readText(r)
	if err != nil {
		return err
	}
	type project struct{ UUID, Name string }
	var several []project
	var one project
	switch {
	case json.Unmarshal([]byte(text), &several) == nil:
	case json.Unmarshal([]byte(text), &one) == nil:
		several = []project{one}
	default:
		c.note(Place{File: file}, "cannot read the project names in this file, so emberd uses the project IDs")
	}
	for _, p := range several {
		if p.UUID != "" && p.Name != "" && memory.CheckText("project", p.Name, memory.MaxName) == nil {
			c.names[p.UUID] = p.Name
		}
	}
	return nil
}

// done takes all texts apart, once the names of projects are known.
func (c *claude) done() *Result {
	for _, t := range c.texts {
		all, _ := blocks(t.text, false)
		for _, b := range all {
			c.block(&t, b)
		}
	}
	return &c.Result
}

func (c *claude) block(t *claudeText, b block) {
	at := t.at
	if at.Path == "" {
		at.Line = b.line
	}
	m, ok := c.memoryOf(b, at.File)
	if !ok {
		return
	}
	m.Project, m.Source = t.project, t.source
	if name := c.names[t.project]; name != "" {
		m.Project = name
	}
	m.ID = c.id(m.Collection, t.project, m.Content)
	c.add(&m, at)
}
