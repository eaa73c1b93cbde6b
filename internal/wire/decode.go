package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"emberd/memory"
)

// Decode makes a T, a struct, of a JSON object, under the rules of [Check] but that
// null stands for an optional member that is left out, and 2.0 for a member that is the
// whole number 2, which JSON Schema says it is and some clients write. A member that is
// left out is as its default tag says. No JSON at all is an empty object.
func Decode[T any](what string, raw []byte) (*T, error) {
	out := new(T)
	return out, DecodeInto(what, raw, out)
}

// DecodeInto is [Decode] for a type that is known by a pointer to its zero value only.
func DecodeInto(what string, raw []byte, out any) error {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	of := objectOf(reflect.TypeOf(out).Elem())
	if err := check(what, raw, of.members, true); err != nil {
		return err
	}
	if err := json.Unmarshal(of.defaults, out); err != nil {
		return memory.Errorf(memory.Internal, "invalid defaults of %s: %w", what, err)
	}
	if err := json.Unmarshal(wholes(raw, of.members), out); err != nil {
		return memory.Errorf(memory.Invalid, "cannot decode %s: %w", what, err)
	}
	return nil
}

// wholes is checked JSON in which whole numbers of known members are written as such.
func wholes(raw []byte, known map[string]Field) []byte {
	var members map[string]json.RawMessage
	if !bytes.Contains(raw, []byte(".0")) || json.Unmarshal(raw, &members) != nil {
		return raw
	}
	for name, value := range members {
		if t := known[name].Type; isWhole(t) || t.Kind() == reflect.Pointer && isWhole(t.Elem()) {
			members[name] = json.RawMessage(whole(json.Number(value)))
		}
	}
	out, err := Marshal(members) // values that are kept as they are stay so
	if err != nil {
		return raw
	}
	return out
}

// isWhole reports a type of whole numbers.
func isWhole(t reflect.Type) bool {
	return t != nil && reflect.Int <= t.Kind() && t.Kind() <= reflect.Int64
}

// whole is a number without zeros behind its point, if it has nothing else there.
func whole(n json.Number) json.Number {
	before, after, _ := strings.Cut(n.String(), ".")
	if strings.Trim(after, "0") != "" {
		return n
	}
	return json.Number(before)
}

// OneOrMore is a list of texts that may be given as one text.
type OneOrMore []string

// UnmarshalJSON takes a text, a list of texts or null.
func (l *OneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil && string(raw) != "null" {
		*l = OneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}
