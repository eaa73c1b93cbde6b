package tomledit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// expression is a header or a key with its value, and where it is in the text.
type expression struct {
	header          bool
	table           []string // that it is in; of a header nil
	key             []string // from the root
	start, end      int      // without the comment behind it
	value, valueEnd int      // of a key
}

// parse returns the expressions of a document in order.
func parse(text []byte) ([]expression, error) {
	var p unstable.Parser
	p.KeepComments = true
	p.Reset(text)
	var out []expression
	var table []string
	open := -1 // the expression whose end is not known yet
	for p.NextExpression() {
		node := p.Expression()
		start := startOf(text, node)
		if open >= 0 {
			out[open].close(text, start)
			open = -1
		}
		if node.Kind == unstable.Comment {
			continue
		}
		e := expression{start: start, header: node.Kind != unstable.KeyValue}
		keys, after := keysOf(node)
		if e.header {
			table, e.key = keys, keys
		} else {
			e.table, e.key, e.value = table, slices.Concat(table, keys), valueAt(text, after)
		}
		out, open = append(out, e), len(out)
		if comment := node.Next(); comment != nil && comment.Kind == unstable.Comment {
			out[open].close(text, int(comment.Raw.Offset))
			open = -1
		}
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("cannot parse the document: %w", err)
	}
	if open >= 0 {
		out[open].close(text, len(text))
	}
	return out, nil
}

// close sets the end: what is before the next expression, or the comment, without the white space between.
func (e *expression) close(text []byte, next int) {
	e.end = e.start + len(bytes.TrimRight(text[e.start:next], " \t\r\n"))
	e.valueEnd = e.end
}

// startOf returns where an expression begins.
func startOf(text []byte, node *unstable.Node) int {
	if node.Kind == unstable.Comment {
		return int(node.Raw.Offset)
	}
	it := node.Key()
	it.Next()
	start := int(it.Node().Raw.Offset)
	if node.Kind != unstable.KeyValue {
		start = bytes.LastIndexByte(text[:start], '[')
		if start > 0 && text[start-1] == '[' {
			start--
		}
	}
	return start
}

// keysOf returns the keys of an expression, and where the last one ends.
func keysOf(node *unstable.Node) (keys []string, end int) {
	for it := node.Key(); it.Next(); {
		n := it.Node()
		keys = append(keys, string(n.Data))
		end = int(n.Raw.Offset + n.Raw.Length)
	}
	return keys, end
}

// valueAt returns where the value begins behind a key that ends at.
func valueAt(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '=') {
		at++
	}
	return at
}

// begins reports whether a key is path or below it.
func begins(key, path []string) bool {
	return len(key) >= len(path) && slices.Equal(key[:len(path)], path)
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// newline returns how the lines of a text end.
func newline(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
