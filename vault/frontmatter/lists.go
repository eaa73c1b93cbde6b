package frontmatter

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// Lists returns the values of those of the properties that a note has: the items of a list of texts, or a text as the
// only item. A link without quotes, which YAML takes for a list in a list, is one item. An empty property has none. The
// error is an [*EditError] for a note whose properties cannot be changed, or in which one of these has another value.
func Lists(note []byte, keys ...string) (map[string][]string, error) {
	h, err := readHead(note)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]string)
	for _, key := range keys {
		if at := h.find(key); at >= 0 {
			items, ok := textsOf(h.entries[at].value)
			if !ok {
				return nil, &EditError{Unusual}
			}
			out[key] = items
		}
	}
	return out, nil
}

// textsOf returns the texts of a scalar or of a list of scalars; ok is false for any other value.
func textsOf(n *yaml.Node) (items []string, ok bool) {
	switch {
	case shared(n) || n.Kind == yaml.AliasNode || n.Kind == yaml.MappingNode:
		return nil, false
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			text, ok := bareLink(item)
			if item.Kind == yaml.ScalarNode {
				text, ok = item.Value, true
			}
			if !ok {
				return nil, false
			}
			items = append(items, text)
		}
	case n.Value != "" && n.ShortTag() != "!!null":
		items = []string{n.Value}
	}
	return items, true
}

// bareLink returns the wikilink that a user wrote without quotes: [[A, B]] is a list of one list of texts.
func bareLink(n *yaml.Node) (text string, ok bool) {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 1 && n.Content[0].Kind == yaml.SequenceNode {
		n = n.Content[0]
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return "", false
	}
	parts := make([]string, len(n.Content))
	for i, part := range n.Content {
		if part.Kind != yaml.ScalarNode {
			return "", false
		}
		parts[i] = part.Value
	}
	return "[[" + strings.Join(parts, ", ") + "]]", true
}
