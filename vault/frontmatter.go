package vault

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Limits of frontmatter. Only a block of plain "key: value" lines is read beyond
// them, and without YAML.
const (
	maxFrontmatter = 64 << 10 // bytes, also of what aliases may add
	maxKeys        = 1_000
	maxDepth       = 32 // maps and lists within each other
)

// property is one entry of the frontmatter: its text, and its items if it is a
// list.
type property struct {
	key   string
	text  string
	items []string
	list  bool
	line  int // within the block, from 1
}

// fault is why a block is not read.
type fault struct {
	line int // within the block, from 1; 0 is the whole
	text string
}

func (f *fault) Error() string { return f.text }

var errTooLarge = errors.New("beyond the limits")

// findFrontmatter returns the block between two lines of "---" that a note begins
// with, and where the body starts. A block that is not closed is none.
func findFrontmatter(src []byte) (block []byte, body int, ok bool) {
	first := lineAt(src, 0)
	if !ruler(first) {
		return nil, 0, false
	}
	for at := len(first); at < len(src); {
		line := lineAt(src, at)
		if ruler(line) {
			return src[len(first):at], at + len(line), true
		}
		at += len(line)
	}
	return nil, 0, false
}

// ruler is a line of exactly three dashes; blanks behind them do not matter.
func ruler(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\n")) == "---"
}

// readProperties reads a block as a YAML map. Scalars keep the text they were
// written with: 007, 1.10 and yes are what they say. The error is a *fault.
func readProperties(block []byte) ([]property, error) {
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
		return nil, &fault{root.Line, "the frontmatter is not a list of keys with values"}
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

// syntaxFault says where YAML failed, and in general terms why: messages of the
// library may hold names from the note.
func syntaxFault(err error) *fault {
	line := 0
	_, text, _ := strings.Cut(err.Error(), "yaml: ")
	if n, scanErr := fmt.Sscanf(text, "line %d:", &line); n == 1 && scanErr == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	if text == "" || strings.ContainsAny(text, "'\"\n") {
		return &fault{line, "the frontmatter is not valid YAML"}
	}
	return &fault{line, "the frontmatter is not valid YAML: " + text}
}

// checkNode refuses what is no property list for Obsidian either, and stops at the
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
			return &fault{key.Line, "a key in the frontmatter is not a word; put quotes around {{…}} and [[…]]"}
		case seen[key.Value]:
			return &fault{key.Line, "a key appears twice in the frontmatter; keep one"}
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

func (r *yamlReader) properties(root *yaml.Node) []property {
	var all []property
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		end := len(r.lines) + 1
		if i+2 < len(root.Content) {
			end = root.Content[i+2].Line
		}
		p := property{key: key.Value, line: key.Line}
		r.value(&p, value, end)
		all = append(all, p)
	}
	return all
}

// value fills in a property; end is the line of the next key.
func (r *yamlReader) value(p *property, n *yaml.Node, end int) {
	if n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.SequenceNode {
		n = n.Alias
	}
	if text, ok := r.scalar(n); ok {
		p.text = text
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
			p.text = strings.Join(p.items, ", ")
			return
		}
		p.items = nil
	}
	p.text = r.raw(p.line, end)
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

// raw returns the YAML of a value that is nested, without its key.
func (r *yamlReader) raw(from, end int) string {
	end = min(end, len(r.lines)+1)
	if from < 1 || from >= end {
		return ""
	}
	text := string(bytes.Join(r.lines[from-1:end-1], nil))
	_, text, _ = strings.Cut(text, ":")
	return strings.TrimSpace(text)
}
