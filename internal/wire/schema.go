package wire

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/memory"
)

// Scalars are the schemas of types whose JSON is not what their Go kind suggests. The
// caller owns the map.
func Scalars() map[reflect.Type]*jsonschema.Schema {
	var stages []any
	for _, s := range memory.Stages() {
		stages = append(stages, string(s))
	}
	return map[reflect.Type]*jsonschema.Schema{
		TimeType: {Type: "string", Format: "date-time"},
		// else it were true, which few programs take for a schema
		RawType: {Description: "any JSON value"},
		listType: {AnyOf: []*jsonschema.Schema{{Type: "string"},
			{Type: "array", Items: &jsonschema.Schema{Type: "string"}}}},
		reflect.TypeFor[memory.ID]():    {Type: "string", Format: "uuid"},
		reflect.TypeFor[memory.Stage](): {Type: "string", Enum: stages},
	}
}

// Infer is [jsonschema.ForType] with what the tags of fields say. Types in known have
// the schemas that it says. Closed is the schema of what is taken: null is not, and a
// struct may have no members but its own. The other is of what is given: a pointer
// that is never left out may be null there, and nothing else.
func Infer(t reflect.Type, known map[reflect.Type]*jsonschema.Schema, closed bool) (*jsonschema.Schema, error) {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	describer{known, closed}.describe(t, schema)
	return schema, nil
}

// describer completes schemas by the types they were drawn from.
type describer struct {
	known  map[reflect.Type]*jsonschema.Schema
	closed bool
}

func (d describer) describe(t reflect.Type, s *jsonschema.Schema) {
	if s == nil {
		return
	}
	withoutNull(s)
	if s.Ref != "" {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if d.known[t] != nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice:
		d.describe(t.Elem(), s.Items)
	case reflect.Map:
		d.describe(t.Elem(), s.AdditionalProperties)
	case reflect.Struct:
		if !d.closed {
			s.AdditionalProperties = nil
		}
		d.members(t, s)
	}
}

func (d describer) members(t reflect.Type, s *jsonschema.Schema) {
	for _, f := range reflect.VisibleFields(t) {
		name, optional := JSONName(f)
		p := s.Properties[name]
		if p == nil || f.Anonymous {
			continue
		}
		if mayBeAbsent(t, f.Index) {
			s.Required = slices.DeleteFunc(s.Required, func(n string) bool { return n == name })
		}
		null := !d.closed && !optional && f.Type.Kind() == reflect.Pointer && p.Ref == ""
		types := p.Types
		d.describe(f.Type, p)
		if doc := f.Tag.Get("doc"); doc != "" {
			p.Description = doc
		}
		bounds := boundsOf(f.Tag)
		bounds.describe(p)
		if null {
			p.Type, p.Types = "", types
		}
	}
}

// mayBeAbsent reports a field of an embedded pointer, which may be nil.
func mayBeAbsent(t reflect.Type, index []int) bool {
	for i := range len(index) - 1 {
		if t.FieldByIndex(index[:i+1]).Type.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// withoutNull takes null from what a value may be.
func withoutNull(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 {
		rest := slices.Delete(slices.Clone(s.Types), i, i+1)
		s.Type, s.Types = strings.Join(rest, ""), nil // one at most is left
	}
}
