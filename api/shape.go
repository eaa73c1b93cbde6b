package api

import (
	"reflect"

	"emberd/internal/wire"
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
	wire.Field
	in    place
	index []int // of the Go field, through embedded structs
}

// shape is how the request of an operation travels. Shapes are read-only.
type shape struct {
	spec    *op.Spec
	fields  []field
	queried map[string]wire.Field // fields in the query, by name
	body    map[string]wire.Field // fields in the body, by name
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
	sh.queried, sh.body = sh.names(inQuery), sh.names(inBody)
	return sh
}

// travels reads the tags of a request field; false means that it is not
// sent.
func travels(f reflect.StructField) (field, bool) {
	name, optional := wire.JSONName(f)
	fl := field{Field: wire.Field{Type: f.Type, Doc: f.Tag.Get("doc"), Required: name != "" && !optional},
		index: f.Index}
	for _, in := range []place{inPath, inQuery, inHeader} {
		if tag, ok := f.Tag.Lookup(string(in)); ok {
			fl.Name, fl.in = tag, in
			fl.Required = fl.Required || in == inPath
			return fl, true
		}
	}
	fl.Name, fl.in = name, inBody
	return fl, name != ""
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
func (sh *shape) names(in place) map[string]wire.Field {
	known := make(map[string]wire.Field)
	for _, f := range sh.at(in) {
		known[f.Name] = f.Field
	}
	return known
}
