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
		TimeType:                        {Type: "string", Format: "date-time"},
		RawType:                         {},
		listType:                        {AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}},
		reflect.TypeFor[memory.ID]():    {Type: "string", Format: "uuid"},
		reflect.TypeFor[memory.Stage](): {Type: "string", Enum: stages},
	}
}

// Infer is [jsonschema.ForType] with the doc tags as descriptions and without
// null, which is neither taken nor given. Types in known have the schemas that it
// says; closed means that a struct may have no members but its own.
func Infer(t reflect.Type, known map[reflect.Type]*jsonschema.Schema, closed bool) (*jsonschema.Schema, error) {
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
		name, _ := JSONName(f)
		if p := schema.Properties[name]; p != nil && !f.Anonymous {
			p.Description = f.Tag.Get("doc")
			bounds := boundsOf(f.Tag)
			bounds.describe(p)
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
