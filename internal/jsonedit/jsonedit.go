// Package jsonedit changes one member of a JSON text and leaves every other byte as
// it is: order, indentation, line ends, number spellings and comments.
//
// A text is JSON (RFC 8259) or, in the dialect of editors' settings files, JSON with
// // and /* comments */ and commas after the last member. Both may begin with a byte
// order mark. A text that contains only white space and comments counts as an empty
// object. A text that is not well-formed is an error with the place of the fault, and so
// is a member that occurs twice, since readers differ in which they use.
//
// A new member has the indentation of the members around it. No function keeps or
// changes the texts that it receives.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Dialect selects what a text can contain.
type Dialect int

// The dialects.
const (
	Strict   Dialect = iota // JSON
	Comments                // and comments, and commas after last members
)

const (
	blanks = " \t\r\n" // JSON's white space
	mark   = "\xef\xbb\xbf"
)

// Get returns the text of the value at path, a key for each object on the way, and
// whether there is one. In the dialect Comments it can contain comments.
func Get(text []byte, d Dialect, path ...string) ([]byte, bool, error) {
	doc, obj, at, _, err := find(text, d, path)
	if err != nil || doc == nil || at < 0 {
		return nil, false, err
	}
	v := obj.Members[at].Value
	return hujson.Value{Value: v.Value}.Pack(), true, nil
}

// Set returns text with value, in its JSON, at path. It adds objects that are missing on
// the way and replaces a value that exists.
func Set(text []byte, d Dialect, value any, path ...string) ([]byte, error) {
	doc, obj, at, missing, err := find(text, d, path)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Backward(missing[min(1, len(missing)):]) {
		value = map[string]any{key: value}
	}
	s := styleOf(text)
	switch {
	case doc == nil:
		return s.begin(text, map[string]any{path[0]: value})
	case at < 0:
		err = s.add(doc, obj, missing[0], value)
	default:
		m := &obj.Members[at]
		m.Value.Value, err = s.render(value, indentation(doc.text, m.Name.StartOffset), ownLine(m))
	}
	return doc.pack(), err
}

// Remove returns text without the member at path; without one, text as it is. An object on the way that is empty then
// goes too if it is the last in its own, where Set adds one.
func Remove(text []byte, d Dialect, path ...string) ([]byte, error) {
	out := bytes.Clone(text)
	for n := len(path); n > 0; n-- {
		doc, obj, at, _, err := find(out, d, path[:n])
		if err != nil || doc == nil || at < 0 || n < len(path) && !obj.endsEmpty(at) {
			return out, err
		}
		obj.remove(at)
		out = doc.pack()
	}
	return out, nil
}

// endsEmpty reports whether the member is the last one and an object with nothing in it, not even a comment.
func (o *object) endsEmpty(at int) bool {
	v, ok := o.Members[at].Value.Value.(*hujson.Object)
	return ok && at == len(o.Members)-1 && len(v.Members) == 0 && len(bytes.Trim(v.AfterExtra, blanks)) == 0
}

// document is a text that is an object, without its byte order mark.
type document struct {
	text []byte
	root hujson.Value
	mark string
}

// object is an object in a document.
type object struct {
	*hujson.Object
	start int // where it begins
}

func (d *document) pack() []byte { return append([]byte(d.mark), d.root.Pack()...) }

// find parses a text and follows path as far as there are objects. It returns the last
// of them, the place of the member at path or -1, and the keys that are missing in the
// object. A text without any value has no document.
func find(text []byte, d Dialect, path []string) (*document, *object, int, []string, error) {
	doc, err := parse(text, d)
	if err != nil || doc == nil {
		return nil, nil, -1, path, err
	}
	v, key := &doc.root, ""
	for i := range path {
		o, ok := v.Value.(*hujson.Object)
		switch {
		case !ok && i == 0:
			return nil, nil, -1, nil, fmt.Errorf("%s: the text is not a JSON object", doc.place(v.StartOffset))
		case !ok:
			return nil, nil, -1, nil, fmt.Errorf("%s: %q is not a JSON object", doc.place(v.StartOffset), key)
		}
		at := -1
		key = path[i]
		for n := range o.Members {
			name := &o.Members[n].Name
			if literal, _ := name.Value.(hujson.Literal); literal.String() != key { // all names are literals
				continue
			}
			if at >= 0 {
				return nil, nil, -1, nil, fmt.Errorf("%s: %q occurs twice; remove one of them",
					doc.place(name.StartOffset), key)
			}
			at = n
		}
		if at < 0 || i == len(path)-1 {
			return doc, &object{o, v.StartOffset}, at, path[i:], nil
		}
		v = &o.Members[at].Value
	}
	return nil, nil, -1, nil, errors.New("the path is empty")
}

func parse(text []byte, d Dialect) (*document, error) {
	plain, marked := bytes.CutPrefix(text, []byte(mark))
	v, err := hujson.Parse(bytes.Clone(plain))
	if err != nil { // the last line may be a comment without its end
		if ended, again := hujson.Parse(append(bytes.Clone(plain), '\n')); again == nil {
			ended.AfterExtra = bytes.TrimSuffix(ended.AfterExtra, []byte("\n"))
			v, err = ended, nil
		}
	}
	none := false
	if err != nil {
		// A value behind the text makes it well-formed if it is only space and comments.
		behind, again := hujson.Parse(append(bytes.Clone(plain), "\nnull"...))
		if none = again == nil && behind.StartOffset >= len(plain); !none {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
		}
		v = behind
	}
	if d == Strict && !v.IsStandard() {
		return nil, errors.New("comments and trailing commas are not allowed in this file")
	}
	if none {
		return nil, nil
	}
	doc := &document{text: plain, root: v}
	if marked {
		doc.mark = mark
	}
	return doc, nil
}

// remove removes a member, with its line if it has one.
func (o *object) remove(at int) {
	m, last := o.Members[at], at == len(o.Members)-1
	follow := &o.AfterExtra
	if !last {
		follow = &o.Members[at+1].Name.BeforeExtra
	}
	kept := bytes.TrimRight(m.Name.BeforeExtra, blanks)
	space := m.Name.BeforeExtra[len(kept):]
	rest := bytes.TrimLeft(*follow, " \t")
	switch {
	case len(o.Members) == 1 && len(kept) == 0 && len(bytes.TrimLeft(rest, blanks)) == 0:
		*follow = nil
	case !bytes.Contains(space, []byte("\n")), len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r'),
		len(rest) == 0 && last && !inComment(kept):
		*follow = slices.Concat(kept, *follow)
	default: // the first of several in its line
		*follow = slices.Concat(kept, space, rest)
	}
	if last && at > 0 && m.Value.AfterExtra == nil { // the comma before it goes too
		previous := &o.Members[at-1].Value
		*follow = slices.Concat(previous.AfterExtra, *follow)
		previous.AfterExtra = nil
	} else if last && at > 0 && o.Members[at-1].Value.AfterExtra == nil {
		o.Members[at-1].Value.AfterExtra = hujson.Extra{}
	}
	o.Members = slices.Delete(o.Members, at, at+1)
}

// inComment reports whether white space and comments end in a // comment.
func inComment(extra []byte) bool {
	_, err := hujson.Parse(append(bytes.Clone(extra), "null"...))
	return err != nil
}

// style is how a text is laid out.
type style struct{ unit, newline string }

func styleOf(text []byte) style {
	s := style{unit: "  ", newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	doc, err := parse(text, Comments)
	if err != nil || doc == nil {
		return s
	}
	if o, ok := doc.root.Value.(*hujson.Object); ok && len(o.Members) > 0 && ownLine(&o.Members[0]) {
		if unit := indentation(doc.text, o.Members[0].Name.StartOffset); unit != "" {
			s.unit = unit
		}
	}
	return s
}

// begin writes the first value into a text without any.
func (s style) begin(text []byte, value any) ([]byte, error) {
	raw, err := s.render(value, "", true)
	out := bytes.TrimRight(text, blanks)
	if len(bytes.TrimPrefix(out, []byte(mark))) > 0 {
		out = append(bytes.Clone(out), s.newline...)
	}
	return slices.Concat(out, raw, []byte(s.newline)), err
}

// add puts a new member behind the last one of an object.
func (s style) add(doc *document, obj *object, key string, value any) (err error) {
	base := indentation(doc.text, obj.start)
	lead, end, own := s.newline+base+s.unit, s.newline+base, true
	var m hujson.ObjectMember
	tail := bytes.TrimRight(obj.AfterExtra, blanks)
	if n := len(obj.Members); n > 0 {
		last := &obj.Members[n-1]
		own = ownLine(last) || bytes.Contains(obj.AfterExtra, []byte("\n")) ||
			bytes.Contains(last.Value.AfterExtra, []byte("\n"))
		lead, end = " ", string(obj.AfterExtra[len(tail):])
		if own {
			lead = s.newline + indentation(doc.text, last.Name.StartOffset)
		}
		if last.Value.AfterExtra != nil { // a comma behind the last one
			m.Value.AfterExtra = hujson.Extra{}
		}
	}
	m.Name.BeforeExtra = append(bytes.Clone(tail), lead...)
	if m.Name.Value, err = s.render(key, "", false); err != nil {
		return err
	}
	m.Value.BeforeExtra = hujson.Extra(" ")
	m.Value.Value, err = s.render(value, strings.TrimPrefix(lead, s.newline), own)
	obj.Members, obj.AfterExtra = append(obj.Members, m), hujson.Extra(end)
	return err
}

// render returns the JSON of a value, in one line or with indent before all lines but
// the first.
func (s style) render(value any, indent string, lines bool) (hujson.Literal, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if lines {
		enc.SetIndent(indent, s.unit)
	}
	err := enc.Encode(value)
	return hujson.Literal(strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", s.newline)), err
}

// indentation returns the white space that the line around a place begins with.
func indentation(text []byte, at int) string {
	line := text[lineStart(text, at):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine reports whether a member begins a line.
func ownLine(m *hujson.ObjectMember) bool {
	return bytes.HasSuffix(bytes.TrimRight(m.Name.BeforeExtra, " \t"), []byte("\n"))
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// place names a place in a text as editors count.
func (d *document) place(at int) string {
	start := lineStart(d.text, at)
	return fmt.Sprintf("line %d, column %d", bytes.Count(d.text[:start], []byte("\n"))+1,
		len([]rune(string(d.text[start:at])))+1)
}
