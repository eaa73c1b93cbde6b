package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"emberd/op"
)

// place is where a request field travels.
type place string

const (
	inPath   place = "path"
	inQuery  place = "query"
	inHeader place = "header"
	inBody   place = "body"
)

// field is one request field as it travels.
type field struct {
	name     string // on the wire
	in       place
	index    []int // of the Go field, through embedded structs
	typ      reflect.Type
	required bool
	doc      string
}

// shape is how the request of an operation travels. Shapes are read-only.
type shape struct {
	spec   *op.Spec
	fields []field
}

func shapeOf(s *op.Spec) *shape {
	sh := &shape{spec: s}
	for _, f := range reflect.VisibleFields(s.Request) {
		if !f.IsExported() || f.Anonymous {
			continue
		}
		if fl, ok := travels(f); ok {
			sh.fields = append(sh.fields, fl)
		}
	}
	return sh
}

// travels reads the tags of a request field; false means that it does not
// travel by itself.
func travels(f reflect.StructField) (field, bool) {
	name, optional := jsonName(f)
	fl := field{index: f.Index, typ: f.Type, doc: f.Tag.Get("doc"), required: name != "" && !optional}
	for _, in := range []place{inPath, inQuery, inHeader} {
		if tag, ok := f.Tag.Lookup(string(in)); ok {
			fl.name, fl.in = tag, in
			fl.required = fl.required || in == inPath
			return fl, true
		}
	}
	fl.name, fl.in = name, inBody
	return fl, name != ""
}

// jsonName is the name of a Go field in JSON, "" for none, and whether the field
// may be missing there.
func jsonName(f reflect.StructField) (name string, optional bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return "", false
	}
	name, rest, _ := strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	opts := strings.Split(rest, ",")
	return name, slices.Contains(opts, "omitempty") || slices.Contains(opts, "omitzero")
}

// at lists the fields that travel in one place.
func (sh *shape) at(in place) []field {
	var out []field
	for _, f := range sh.fields {
		if f.in == in {
			out = append(out, f)
		}
	}
	return out
}

// names maps the fields that travel in one place by name.
func (sh *shape) names(in place) map[string]field {
	known := make(map[string]field)
	for _, f := range sh.at(in) {
		known[f.name] = f
	}
	return known
}

// members maps the fields of a struct by their names in JSON.
func members(t reflect.Type) map[string]field {
	known := make(map[string]field)
	for _, f := range reflect.VisibleFields(t) {
		if name, optional := jsonName(f); name != "" && !f.Anonymous {
			known[name] = field{name: name, in: inBody, typ: f.Type, required: !optional}
		}
	}
	return known
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)
