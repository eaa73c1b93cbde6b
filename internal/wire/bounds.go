package wire

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/memory"
)

// Bounds are what the tags of a field say about its values.
type Bounds struct {
	Min, Max *float64
	Enum     []string
	Default  json.RawMessage
}

func boundsOf(tag reflect.StructTag) Bounds {
	b := Bounds{Min: number(tag.Get("min")), Max: number(tag.Get("max"))}
	if list := tag.Get("enum"); list != "" {
		b.Enum = strings.Split(list, "|")
	}
	if text, ok := tag.Lookup("default"); ok {
		b.Default = json.RawMessage(text)
	}
	return b
}

// number reads a bound that the source wrote; "" is none.
func number(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// misfit reports how a value lies outside its bounds, "" if it does not, as the end of
// a sentence that begins with its name.
func (b *Bounds) misfit(tok json.Token) string {
	switch tok := tok.(type) {
	case json.Number:
		if n, err := tok.Float64(); err == nil && b.outside(n) {
			return "is " + tok.String() + ", " + b.span("")
		}
	case string:
		if len(b.Enum) > 0 && !slices.Contains(b.Enum, tok) {
			return "is " + strconv.Quote(memory.Clip(tok)) + "; use " + orList(b.Enum)
		}
		if n := utf8.RuneCountInString(tok); b.outside(float64(n)) {
			return "has " + strconv.Itoa(n) + " characters, " + b.span(" characters")
		}
	}
	return ""
}

func (b *Bounds) outside(n float64) bool {
	return b.Min != nil && n < *b.Min || b.Max != nil && n > *b.Max
}

// span writes the bounds out.
func (b *Bounds) span(of string) string {
	text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case b.Min == nil:
		return "more than " + text(*b.Max)
	case b.Max == nil:
		return "less than " + text(*b.Min)
	}
	return "outside " + text(*b.Min) + " to " + text(*b.Max) + of
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// describe adds the bounds to the schema of a field.
func (b *Bounds) describe(s *jsonschema.Schema) {
	if i := slices.IndexFunc(s.AnyOf, func(one *jsonschema.Schema) bool { return one.Type == "array" }); i >= 0 {
		b.describe(s.AnyOf[i]) // a single text is a list of one
		return
	}
	s.Default = b.Default
	for _, word := range b.Enum {
		s.Enum = append(s.Enum, word)
	}
	length := func(n *float64) *int {
		if n == nil {
			return nil
		}
		return new(int(*n))
	}
	switch s.Type {
	case "string":
		s.MinLength, s.MaxLength = length(b.Min), length(b.Max)
	case "array":
		s.MinItems, s.MaxItems = length(b.Min), length(b.Max)
	default:
		s.Minimum, s.Maximum = b.Min, b.Max
	}
}
