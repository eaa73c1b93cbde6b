package jsonedit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Append returns text with value, in its JSON, at the end of the list at path. It adds a list, and the objects on
// the way to it, if there is none.
func Append(text []byte, d Dialect, value any, path ...string) ([]byte, error) {
	doc, list, err := listAt(text, d, path)
	if err != nil {
		return nil, err
	}
	if list == nil {
		return Set(text, d, []any{value}, path...)
	}
	err = styleOf(text).append(doc, list, value)
	return doc.pack(), err
}

// Drop returns text without the elements of the list at path for which match is true of their JSON.
func Drop(text []byte, d Dialect, match func(element []byte) bool, path ...string) ([]byte, error) {
	doc, list, err := listAt(text, d, path)
	if err != nil || list == nil {
		return bytes.Clone(text), err
	}
	for i := len(list.Elements) - 1; i >= 0; i-- {
		if match(standard(list.Elements[i])) {
			list.remove(i)
		}
	}
	return doc.pack(), nil
}

// Elements returns the JSON of the elements of the list at path, without comments; none if there is no list.
func Elements(text []byte, d Dialect, path ...string) (elements [][]byte, err error) {
	_, list, err := listAt(text, d, path)
	if err != nil || list == nil {
		return nil, err
	}
	for _, e := range list.Elements {
		elements = append(elements, standard(e))
	}
	return elements, nil
}

// Keys returns the names of the members of the object at path, in their order; none if there is no member at path.
func Keys(text []byte, d Dialect, path ...string) (keys []string, err error) {
	doc, obj, at, _, err := find(text, d, path)
	if err != nil || doc == nil || at < 0 {
		return nil, err
	}
	v := &obj.Members[at].Value
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s: %q is not a JSON object", doc.place(v.StartOffset), path[len(path)-1])
	}
	for i := range o.Members {
		name, _ := o.Members[i].Name.Value.(hujson.Literal) // all names are literals
		keys = append(keys, name.String())
	}
	return keys, nil
}

// standard returns the JSON of a value without comments.
func standard(v hujson.Value) []byte {
	v = hujson.Value{Value: v.Value}
	v = v.Clone()
	v.Standardize()
	return v.Pack()
}

// list is a list in a document.
type list struct {
	*hujson.Array
	start int
}

// listAt finds a list, nil if there is no member at path.
func listAt(text []byte, d Dialect, path []string) (*document, *list, error) {
	doc, obj, at, _, err := find(text, d, path)
	if err != nil || doc == nil || at < 0 {
		return doc, nil, err
	}
	v := &obj.Members[at].Value
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, nil, fmt.Errorf("%s: %q is not a JSON list", doc.place(v.StartOffset), path[len(path)-1])
	}
	return doc, &list{a, v.StartOffset}, nil
}

// append puts an element behind the last one, in a line of its own if that has one.
func (s style) append(doc *document, l *list, value any) (err error) {
	base := indentation(doc.text, l.start)
	tail := bytes.TrimRight(l.AfterExtra, blanks)
	end := l.AfterExtra[len(tail):]
	lead, own := s.newline+base+s.unit, true
	var e hujson.Value
	if n := len(l.Elements); n > 0 {
		last := &l.Elements[n-1]
		own = bytes.Contains(last.BeforeExtra, []byte("\n"))
		lead = " "
		if own {
			lead = s.newline + indentation(doc.text, last.StartOffset)
		}
		if last.AfterExtra != nil { // a comma behind the last one
			e.AfterExtra = hujson.Extra{}
		}
	} else if len(end) == 0 {
		end = hujson.Extra(s.newline + base)
	}
	e.BeforeExtra = append(bytes.Clone(tail), lead...)
	e.Value, err = s.render(value, strings.TrimLeft(lead, "\r\n"), own)
	l.Elements, l.AfterExtra = append(l.Elements, e), end
	return err
}

// remove removes an element.
func (l *list) remove(at int) {
	e, last := l.Elements[at], at == len(l.Elements)-1
	kept := bytes.TrimRight(e.BeforeExtra, blanks)
	switch {
	case !last && len(kept) == 0 && len(bytes.Trim(l.Elements[at+1].BeforeExtra, blanks)) == 0:
		l.Elements[at+1].BeforeExtra = e.BeforeExtra
	case !last:
		l.Elements[at+1].BeforeExtra = slices.Concat(kept, l.Elements[at+1].BeforeExtra)
	default:
		l.AfterExtra = slices.Concat(kept, l.AfterExtra)
	}
	if last && at > 0 && e.AfterExtra == nil { // the comma before it goes too
		l.Elements[at-1].AfterExtra = nil
	} else if last && at > 0 && l.Elements[at-1].AfterExtra == nil {
		l.Elements[at-1].AfterExtra = hujson.Extra{}
	}
	l.Elements = slices.Delete(l.Elements, at, at+1)
}
