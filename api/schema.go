package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/memory"
)

// schemas collects the components of the document: one for each struct type,
// under its Go name.
type schemas struct {
	components map[string]*jsonschema.Schema
	done       map[reflect.Type]bool
}

func newSchemas() *schemas {
	return &schemas{make(map[string]*jsonschema.Schema), make(map[reflect.Type]bool)}
}

// componentName is a struct's name in the document. The two memories differ in
// what is derived: [emberd/op.Memory] is the one that callers meet.
func componentName(t reflect.Type) string {
	if t == reflect.TypeFor[memory.Memory]() {
		return "StoredMemory"
	}
	return t.Name()
}

// scalars are the types whose JSON is not what their Go kind suggests.
func scalars() map[reflect.Type]*jsonschema.Schema {
	var stages []any
	for _, s := range memory.Stages() {
		stages = append(stages, string(s))
	}
	return map[reflect.Type]*jsonschema.Schema{
		timeType:                        {Type: "string", Format: "date-time"},
		rawType:                         {},
		reflect.TypeFor[memory.ID]():    {Type: "string", Format: "uuid"},
		reflect.TypeFor[memory.Stage](): {Type: "string", Enum: stages},
	}
}

// of returns the schema of t, with references to components for structs. A
// request is closed: it may have no members but those listed. An answer is
// open, since later versions may say more. A struct in both counts as what it
// is met as first.
func (s *schemas) of(t reflect.Type, closed bool) (*jsonschema.Schema, error) {
	known := scalars()
	if err := s.refer(known, t, closed); err != nil {
		return nil, err
	}
	return infer(t, known, closed)
}

// refer makes known refer to the component of the struct in t, if there is one.
func (s *schemas) refer(known map[reflect.Type]*jsonschema.Schema, t reflect.Type, closed bool) error {
	for t.Kind() != reflect.Struct {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return nil
		}
	}
	if known[t] != nil || t == timeType {
		return nil
	}
	known[t] = &jsonschema.Schema{Ref: "#/components/schemas/" + componentName(t)}
	return s.component(t, closed)
}

// component adds a struct to the components, and those it refers to.
func (s *schemas) component(t reflect.Type, closed bool) error {
	if s.done[t] {
		return nil
	}
	s.done[t] = true
	known := scalars()
	for _, f := range reflect.VisibleFields(t) {
		if name, _ := jsonName(f); f.Anonymous || name == "" {
			continue
		}
		if err := s.refer(known, f.Type, closed); err != nil {
			return err
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			delete(known, f.Type) // its members become members of t
		}
	}
	schema, err := infer(t, known, closed)
	s.components[componentName(t)] = schema
	return err
}

// infer is [jsonschema.ForType] with the doc tags as descriptions and without
// null, which is neither taken nor given.
func infer(t reflect.Type, known map[reflect.Type]*jsonschema.Schema, closed bool) (*jsonschema.Schema, error) {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	withoutNull(schema)
	if t.Kind() != reflect.Struct || schema.Ref != "" {
		return schema, nil
	}
	if !closed {
		schema.AdditionalProperties = nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _ := jsonName(f)
		if p := schema.Properties[name]; p != nil && !f.Anonymous {
			p.Description = f.Tag.Get("doc")
		}
	}
	return schema, nil
}

func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.Index(s.Types, "null"); i >= 0 {
		s.Type = strings.Join(slices.Delete(s.Types, i, i+1), "") // one at most is left
		s.Types = nil
	}
	for _, p := range s.Properties {
		withoutNull(p)
	}
	withoutNull(s.Items)
	withoutNull(s.AdditionalProperties)
}
