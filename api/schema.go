package api

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/internal/wire"
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

// componentName returns a struct's name in the document. The two memories differ in
// what is derived: [emberd/op.Memory] is the one that callers meet.
func componentName(t reflect.Type) string {
	if t == reflect.TypeFor[memory.Memory]() {
		return "StoredMemory"
	}
	return t.Name()
}

// of returns the schema of t, with references to components for structs. A
// request is closed: it may have no members but those listed. An answer is
// open, since later versions may say more. A struct in both counts as what it
// is met as first.
func (s *schemas) of(t reflect.Type, closed bool) (*jsonschema.Schema, error) {
	known := wire.Scalars()
	if err := s.refer(known, t, closed); err != nil {
		return nil, err
	}
	return wire.Infer(t, known, closed)
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
	if known[t] != nil || t == wire.TimeType {
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
	known := wire.Scalars()
	for _, f := range reflect.VisibleFields(t) {
		if name, _ := wire.JSONName(f); f.Anonymous || name == "" {
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
	schema, err := wire.Infer(t, known, closed)
	s.components[componentName(t)] = schema
	return err
}
