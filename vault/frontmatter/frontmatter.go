// Package frontmatter reads the YAML properties that a note begins with, and changes some of them
// without touching any other byte: comments, the order of keys, quotes and line ends stay.
//
// [Read] accepts any bytes within bounds of size and depth, and its errors hold no text of the
// note. [Changes.Apply] reads its result again before it returns it. If a property of the user
// would change, or if frontmatter is written in a way that allows no such change, it returns an
// [*EditError] and no bytes.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"emberd/vault/lex"
)

// Limits of frontmatter. Only a block of plain "key: value" lines is read beyond
// them, and without YAML.
const (
	maxFrontmatter = 64 << 10 // bytes, also of what aliases may add
	maxKeys        = 1_000
	maxDepth       = 32 // maps and lists within each other
)

// Property is one entry of the frontmatter: its text, and its items if it is a
// list.
type Property struct {
	Key   string
	Text  string
	items []string
	list  bool
	Line  int // within the block, from 1
}

// Fault is the reason why a block is not read.
type Fault struct {
	Line int // within the block, from 1; 0 is the whole
	Text string
}

func (f *Fault) Error() string { return f.Text }

var errTooLarge = errors.New("the frontmatter exceeds the limits")

// Find returns the block between two lines of "---" that a note begins with, and where the body
// starts. A block that is not closed is not frontmatter.
func Find(src []byte) (block []byte, body int, ok bool) {
	first := lex.LineAt(src, 0)
	if !ruler(first) {
		return nil, 0, false
	}
	for at := len(first); at < len(src); {
		line := lex.LineAt(src, at)
		if ruler(line) {
			return src[len(first):at], at + len(line), true
		}
		at += len(line)
	}
	return nil, 0, false
}

// ruler reports whether a line is exactly three dashes; blanks behind them do not matter.
func ruler(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\n")) == "---"
}

// Read reads a block as a YAML map. Scalars keep the text they were
// written with: 007, 1.10 and yes are what they say. The error is a *fault.
func Read(block []byte) ([]Property, error) {
	if len(block) > maxFrontmatter {
		return readFlat(block)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		return nil, syntaxFault(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &Fault{root.Line, "the frontmatter is not a list of keys with values; write each property as a " +
			"key, a colon and a value"}
	}
	keys := 0
	if err := checkNode(root, 1, &keys); errors.Is(err, errTooLarge) {
		return readFlat(block)
	} else if err != nil {
		return nil, err
	}
	r := yamlReader{lines: bytes.SplitAfter(block, []byte("\n")), budget: maxFrontmatter}
	return r.properties(root), nil
}

// syntaxFault returns where YAML failed and, in general terms, why: messages of the library may
// contain names from the note.
func syntaxFault(err error) *Fault {
	line := 0
	_, text, _ := strings.Cut(err.Error(), "yaml: ")
	if n, scanErr := fmt.Sscanf(text, "line %d:", &line); n == 1 && scanErr == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	if text == "" || strings.ContainsAny(text, "'\"\n") {
		return &Fault{line, "the frontmatter is not valid YAML"}
	}
	return &Fault{line, "the frontmatter is not valid YAML: " + text}
}

// checkNode returns an error for what is no property list for Obsidian either, and stops at the
// limits. Aliases are not followed, so it is linear.
func checkNode(n *yaml.Node, depth int, keys *int) error {
	if depth > maxDepth {
		return errTooLarge
	}
	if n.Kind == yaml.MappingNode {
		if err := checkKeys(n, keys); err != nil {
			return err
		}
	}
	for _, child := range n.Content {
		if err := checkNode(child, depth+1, keys); err != nil {
			return err
		}
	}
	return nil
}

func checkKeys(n *yaml.Node, keys *int) error {
	if *keys += len(n.Content) / 2; *keys > maxKeys {
		return errTooLarge
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return &Fault{key.Line, "a key in the frontmatter is not plain text; put quotes around {{…}} and [[…]]"}
		case seen[key.Value]:
			return &Fault{key.Line, "a key appears twice in the frontmatter; remove the duplicate"}
		}
		seen[key.Value] = true
	}
	return nil
}

// yamlReader flattens a checked map.
type yamlReader struct {
	lines  [][]byte
	budget int // bytes that aliases may still add
}

func (r *yamlReader) properties(root *yaml.Node) []Property {
	var all []Property
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		end := len(r.lines) + 1
		if i+2 < len(root.Content) {
			end = root.Content[i+2].Line
		}
		p := Property{Key: key.Value, Line: key.Line}
		r.value(&p, value, end)
		all = append(all, p)
	}
	return all
}

// value fills in a property; end is the line of the next key.
func (r *yamlReader) value(p *Property, n *yaml.Node, end int) {
	if n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.SequenceNode {
		n = n.Alias
	}
	if text, ok := r.scalar(n); ok {
		p.Text = text
		return
	}
	if n.Kind == yaml.SequenceNode {
		p.list = true
		for _, item := range n.Content {
			text, ok := r.scalar(item)
			p.list = p.list && ok
			p.items = append(p.items, text)
		}
		if p.list {
			p.Text = strings.Join(p.items, ", ")
			return
		}
		p.items = nil
	}
	p.Text = r.raw(p.Line, end)
}

// scalar returns the text of a scalar, or of one that an alias stands for.
func (r *yamlReader) scalar(n *yaml.Node) (string, bool) {
	alias := n.Kind == yaml.AliasNode
	if alias {
		n = n.Alias
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", false
	case n.ShortTag() == "!!null":
		return "", true
	}
	if alias {
		if r.budget -= len(n.Value); r.budget < 0 {
			return "", false
		}
	}
	return n.Value, true
}

// raw returns the YAML of a nested value, without its key.
func (r *yamlReader) raw(from, end int) string {
	end = min(end, len(r.lines)+1)
	if from < 1 || from >= end {
		return ""
	}
	text := string(bytes.Join(r.lines[from-1:end-1], nil))
	_, text, _ = strings.Cut(text, ":")
	return strings.TrimSpace(text)
}
