// Package wire is how Go structs travel as JSON, the same for the socket and for
// tools: strict decoding, whose errors name the place and the next step, the JSON
// schema of a type, and lists that are never null.
//
// A field travels under the name of its json tag and is required unless the tag
// says omitempty or omitzero. More tags bound it, and are in the schema too:
//
//	doc      what it is for
//	min, max of a number, or of the length of a text in characters or of a list
//	enum     the texts that it may be, divided by |
//	default  the JSON value of a field that is left out, with [Decode]
//
// Everything may be called from many goroutines.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxDepth bounds the nesting of what is decoded.
const MaxDepth = 64

// Field is one member of an object.
type Field struct {
	Name     string
	Type     reflect.Type
	Required bool
	Doc      string
	Bounds
}

// The types whose JSON is not what their Go kind suggests.
var (
	TimeType = reflect.TypeFor[time.Time]()
	RawType  = reflect.TypeFor[json.RawMessage]()
	listType = reflect.TypeFor[OneOrMore]()
)

// JSONName is the name of a Go field in JSON, "" for none, and whether the field
// may be missing there.
func JSONName(f reflect.StructField) (name string, optional bool) {
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

// Marshal is [json.Marshal] without its escapes for HTML, which no client needs:
// < stays <.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Members maps the fields of a struct by their names in JSON. The map is read-only: all calls with a type share one.
func Members(t reflect.Type) map[string]Field { return objectOf(t).members }

// object is what the tags of a struct say.
type object struct {
	members  map[string]Field
	defaults []byte // JSON of the members that have one
}

// objects has each [*object] that was asked for, by its type.
var objects sync.Map

func objectOf(t reflect.Type) *object {
	if o, ok := objects.Load(t); ok {
		return o.(*object)
	}
	o, _ := objects.LoadOrStore(t, newObject(t))
	return o.(*object)
}

func newObject(t reflect.Type) *object {
	o := &object{members: make(map[string]Field)}
	defaults := make(map[string]json.RawMessage)
	for _, f := range reflect.VisibleFields(t) {
		name, optional := JSONName(f)
		if name == "" || f.Anonymous {
			continue
		}
		known := Field{Name: name, Type: f.Type, Required: !optional, Doc: f.Tag.Get("doc"), Bounds: boundsOf(f.Tag)}
		o.members[name] = known
		if known.Default != nil {
			defaults[name] = known.Default
		}
	}
	o.defaults, _ = json.Marshal(defaults) // texts of the source that are no JSON fail where they are read
	return o
}
