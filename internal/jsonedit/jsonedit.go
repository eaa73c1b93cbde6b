// Package jsonedit changes one member of a JSON text and leaves every other byte as
// it is: order, indentation, line ends, number spellings and comments.
//
// A text is JSON (RFC 8259) or, in the dialect of editors' settings files, JSON with
// // and /* comments */ and commas after the last member. Both may begin with a byte
// order mark. A text of nothing but white space and comments counts as an empty
// object. What is not well-formed is refused with its place, and so is a member that
// is there twice, since readers differ in which they take.
//
// What is added takes over the indentation around it. Nothing here keeps or changes
// the texts it is given.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Dialect says what a text may hold.
type Dialect int

// The dialects.
const (
	Strict   Dialect = iota // JSON
	Comments                // and comments, and commas after last members
)

// Get returns the text of the value at path, a key for each object on the way, and
// whether there is one. In the dialect Comments it may hold comments.
func Get(text []byte, d Dialect, path ...string) ([]byte, bool, error) {
	root, err := parse(text, d)
	if err != nil || root == nil {
		return nil, false, err
	}
	_, m, _, err := root.walk(text, path)
	if err != nil || m == nil {
		return nil, false, err
	}
	return bytes.Clone(text[m.value.start:m.value.end]), true, nil
}

// Set returns text with value, in its JSON, at path. Objects that are missing on the
// way are added; what is there is replaced.
func Set(text []byte, d Dialect, value any, path ...string) ([]byte, error) {
	root, err := parse(text, d)
	if err != nil {
		return nil, err
	}
	style := styleOf(text, root)
	if root == nil {
		return style.begin(text, nest(path, value))
	}
	obj, m, rest, err := root.walk(text, path)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return style.add(text, obj, rest[0], nest(rest[1:], value))
	}
	raw, err := style.render(value, indentation(text, m.key), onOwnLine(text, m.key))
	if err != nil {
		return nil, err
	}
	return splice(text, cut{m.value.start, m.value.end, raw}), nil
}

// Remove returns text without the member at path; without one, text as it is.
func Remove(text []byte, d Dialect, path ...string) ([]byte, error) {
	root, err := parse(text, d)
	if err != nil || root == nil {
		return bytes.Clone(text), err
	}
	obj, m, _, err := root.walk(text, path)
	if err != nil || m == nil {
		return bytes.Clone(text), err
	}
	return splice(text, obj.without(text, m)...), nil
}

// nest wraps value into an object for each key.
func nest(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return value
}

// walk follows path as far as there are objects. It returns the last of them, the
// member at path if it is there, and else the keys that are missing in the object.
func (n *node) walk(text []byte, path []string) (obj *node, m *member, missing []string, err error) {
	obj = n
	for i, key := range path {
		if m, err = obj.member(text, key); err != nil || m == nil {
			return obj, nil, path[i:], err
		}
		if i == len(path)-1 {
			break
		}
		if obj = m.value; !obj.object {
			return nil, nil, nil, fmt.Errorf("%s: %q is no object", place(text, obj.start), key)
		}
	}
	return obj, m, nil, nil
}

// member finds a member of an object.
func (n *node) member(text []byte, key string) (found *member, err error) {
	for i := range n.members {
		m := &n.members[i]
		if m.name != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s: %q is there twice; remove one of them", place(text, m.key), key)
		}
		found = m
	}
	return found, nil
}

// without is what to cut so that a member is gone, with its line if it has one.
func (n *node) without(text []byte, m *member) []cut {
	start, end, previous := m.key, m.value.end, n.start+1
	var cuts []cut
	if i := n.index(m); i > 0 {
		previous = n.members[i-1].comma + 1
		if m.comma < 0 {
			cuts = append(cuts, cut{previous - 1, previous, ""})
		}
	}
	if m.comma >= 0 {
		end = m.comma + 1
	}
	before := len(bytes.TrimRight(text[:start], blanks))
	after := end + len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t"))
	switch {
	case len(n.members) == 1 && before == previous && isBlank(text[end:n.end-1]):
		start, end = n.start+1, n.end-1
	case !bytes.Contains(text[before:start], []byte("\n")), text[after] == '\n', text[after] == '\r',
		text[after] == '}' && !inComment(text[previous:before]):
		start = before
	default: // the first of several in its line
		end = after
	}
	return append(cuts, cut{start, end, ""})
}

// inComment tells whether what stands between two members ends in a // comment.
func inComment(gap []byte) bool {
	for gap = bytes.TrimLeft(gap, blanks); len(gap) > 0; gap = bytes.TrimLeft(gap, blanks) {
		end := "*/"
		if gap[1] == '/' {
			end = "\n"
		}
		_, rest, closed := bytes.Cut(gap[2:], []byte(end))
		if !closed {
			return true
		}
		gap = rest
	}
	return false
}

func (n *node) index(m *member) int {
	for i := range n.members {
		if &n.members[i] == m {
			return i
		}
	}
	return -1
}

// style is how a text is laid out.
type style struct{ unit, newline string }

func styleOf(text []byte, root *node) style {
	s := style{unit: "  ", newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if root != nil && len(root.members) > 0 && onOwnLine(text, root.members[0].key) {
		if unit := indentation(text, root.members[0].key); unit != "" {
			s.unit = unit
		}
	}
	return s
}

// begin writes the first value into a text without any.
func (s style) begin(text []byte, value any) ([]byte, error) {
	raw, err := s.render(value, "", true)
	if err != nil {
		return nil, err
	}
	kept := bytes.TrimRight(text, blanks)
	out := bytes.Clone(kept)
	if len(bytes.TrimPrefix(kept, mark())) > 0 {
		out = append(out, s.newline...)
	}
	return append(append(out, raw...), s.newline...), nil
}

// add puts a new member behind the last one of an object.
func (s style) add(text []byte, obj *node, key string, value any) ([]byte, error) {
	tail := len(bytes.TrimRight(text[:obj.end-1], blanks))
	if len(obj.members) == 0 {
		base := indentation(text, obj.start)
		piece, err := s.piece(key, value, base+s.unit, true)
		return splice(text, cut{tail, obj.end - 1, piece + s.newline + base}), err
	}
	last := &obj.members[len(obj.members)-1]
	own := onOwnLine(text, last.key) || bytes.ContainsAny(text[last.value.end:obj.end-1], "\n")
	piece, err := s.piece(key, value, indentation(text, last.key), own)
	if last.comma >= 0 {
		return splice(text, cut{tail, tail, piece + ","}), err
	}
	return splice(text, cut{last.value.end, last.value.end, ","}, cut{tail, tail, piece}), err
}

// piece is a member with what leads to it.
func (s style) piece(key string, value any, indent string, ownLine bool) (string, error) {
	name, err := s.render(key, "", false)
	if err != nil {
		return "", err
	}
	raw, err := s.render(value, indent, ownLine)
	if ownLine {
		return s.newline + indent + name + ": " + raw, err
	}
	return " " + name + ": " + raw, err
}

// render is the JSON of a value, in one line or with indent before all lines but the
// first.
func (s style) render(value any, indent string, lines bool) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if lines {
		enc.SetIndent(indent, s.unit)
	}
	err := enc.Encode(value)
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", s.newline), err
}

// cut is a piece of a text and what takes its place.
type cut struct {
	start, end int
	with       string
}

// splice carries out cuts, which are in order.
func splice(text []byte, cuts ...cut) []byte {
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, text[at:c.start]...), c.with...)
		at = c.end
	}
	return append(out, text[at:]...)
}

// indentation is the white space that the line around a place begins with.
func indentation(text []byte, at int) string {
	line := text[lineStart(text, at):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// onOwnLine tells whether only white space is before a place in its line, and that
// line is not the first.
func onOwnLine(text []byte, at int) bool {
	start := lineStart(text, at)
	return start > 0 && isBlank(text[start:at])
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func isBlank(text []byte) bool { return len(bytes.Trim(text, blanks)) == 0 }

// place tells where in a text something is, as editors count.
func place(text []byte, at int) string {
	start := lineStart(text, at)
	return fmt.Sprintf("line %d, column %d", bytes.Count(text[:start], []byte("\n"))+1, len([]rune(string(text[start:at])))+1)
}
