package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"emberd/memory"
)

// ChatGPT reads memories that ChatGPT saved: a list of them in JSON, as memory.json of an
// export of the account has it, or a text with one memory a line, as the list of saved
// memories is copied or an answer lists them. OpenAI documents neither.
func ChatGPT(r io.Reader, o *Options) (*Result, error) {
	c := &chatGPT{builder: newBuilder("chatgpt", o)}
	if err := c.read(r, ""); err != nil {
		return nil, err
	}
	return &c.Result, nil
}

// ChatGPTArchive reads the archive of an export of the account, or the folder that it was
// unpacked into.
func ChatGPTArchive(ctx context.Context, archive string, o *Options) (*Result, error) {
	c := &chatGPT{builder: newBuilder("chatgpt", o)}
	held, err := readExport(ctx, archive, holdsMemories, func(name string, r io.Reader) error {
		return c.read(r, name)
	})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(held, holdsMemories) {
		return nil, memory.Errorf(memory.Invalid, "the %s does not contain memory.json; copy the memories from "+
			"Settings > Personalization > Manage memories into a text file, one per line, and import that file",
			kindOfExport(archive))
	}
	return &c.Result, nil
}

func holdsMemories(name string) bool {
	return slices.Contains([]string{"memory.json", "memories.json", "saved_memories.json"}, path.Base(name))
}

// errChats is for what holds conversations. What was saved of them is not in there as a
// memory, and may have been deleted since.
var errChats = memory.Errorf(memory.Invalid,
	"this file contains conversations but no saved memories; pass the file with the memories, or its archive")

type chatGPT struct{ *builder }

func (c *chatGPT) read(r io.Reader, file string) error {
	text, err := readText(r)
	if err != nil {
		return err
	}
	if !looksLikeJSON(text) {
		all, _ := blocks(text, true)
		for _, b := range all {
			if m, ok := c.memoryOf(b, file); ok {
				m.ID = c.id(m.Collection, "text", m.Content)
				c.add(&m, Place{File: file, Line: b.line})
			}
		}
		return nil
	}
	doc := newDocument(strings.NewReader(text))
	t, err := doc.token()
	if err == nil {
		err = c.value(doc, t, file, "")
	}
	return whole(err)
}

// looksLikeJSON tells JSON from a text that begins with a date in brackets.
func looksLikeJSON(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		return true
	}
	inner, ok := strings.CutPrefix(text, "[")
	inner = strings.TrimSpace(inner)
	return ok && inner != "" && strings.Contains(`{["]`, inner[:1])
}

func (c *chatGPT) value(doc *document, t json.Token, file, at string) error {
	switch t {
	case json.Delim('['):
		return doc.elements(func(i int, raw json.RawMessage, line int) error {
			return c.entry(raw, Place{File: file, Line: line, Path: fmt.Sprintf("%s[%d]", at, i)})
		})
	case json.Delim('{'):
		return c.object(doc, file, at)
	}
	return nil // a null in place of a list
}

// object reads an object with a list of memories in it.
func (c *chatGPT) object(doc *document, file, at string) error {
	found := false
	err := doc.members(func(key string) error {
		switch key {
		case "memories", "memory_entries", "saved_memories", "memory_tool_config", "results", "items", "data":
			found = true
			t, err := doc.token()
			if err != nil {
				return err
			}
			return c.value(doc, t, file, strings.TrimPrefix(at+"."+key, "."))
		case "mapping", "conversations":
			return errChats
		}
		return doc.skip()
	})
	if err == nil && !found {
		err = memory.Errorf(memory.Invalid,
			"this file has no list of memories; use a list of texts, or of objects with content")
	}
	return err
}

// entry takes in one memory: a text, or an object that holds one.
func (c *chatGPT) entry(raw json.RawMessage, at Place) error {
	var s record
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil && text != "":
		s = record{"content": raw}
	case json.Unmarshal(raw, &s) != nil:
		c.Met++
		c.fail(at, memory.Errorf(memory.Invalid, "this entry is neither a text nor an object with a text"))
		return nil
	}
	if s["mapping"] != nil || s["chat_messages"] != nil {
		return errChats
	}
	c.Met++
	if string(s["enabled"]) == "false" {
		c.note(at, "skipped this memory, because it is disabled")
		return nil
	}
	m := c.blank()
	if m.Content = s.text(anyLength, "content", "memory", "text", "value"); m.Content == "" {
		c.fail(at, memory.Errorf(memory.Invalid, "this entry has no text; keys of the entry: %s", keysOf(s)))
		return nil
	}
	name := plain(s["id"])
	delete(s, "id")
	delete(s, "enabled")
	s.into(&m, c.o)
	m.ID = c.id(m.Collection, "text", m.Content)
	if name != "" {
		m.ID = c.known(m.Collection, name, m.Content)
	}
	m.Aliases = alsoKnown(m.ID, name)
	c.add(&m, at)
	return nil
}
