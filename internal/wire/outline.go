package wire

import "github.com/google/jsonschema-go/jsonschema"

// Outline is a schema of an object without what its members are made of in turn: their
// names, types, bounds and descriptions stay, and of lists whether they are of scalars.
// Whatever fits the whole schema fits its outline.
func Outline(s *jsonschema.Schema) *jsonschema.Schema {
	out := *s
	out.Defs, out.Properties = nil, make(map[string]*jsonschema.Schema, len(s.Properties))
	for name, p := range s.Properties {
		out.Properties[name] = shallow(p)
	}
	return &out
}

// shallow is the schema of one member without what is below it.
func shallow(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Ref != "" {
		return &jsonschema.Schema{Type: "object", Description: s.Description}
	}
	out := *s
	out.Properties, out.Required, out.PropertyOrder, out.AdditionalProperties = nil, nil, nil, nil
	if s.Items != nil && (s.Items.Ref != "" || s.Items.Type == "object" || s.Items.Type == "array") {
		out.Items = nil
	}
	return &out
}
