package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"emberd/internal/text/spelling"
	"emberd/memory"
)

// Check refuses what encoding/json would let pass in silence: text that is
// not UTF-8, halves of surrogate pairs, unknown and repeated names, names in
// another case, missing ones, nulls, and data after the value. It names the place
// of a wrong type, too, and bounds the nesting to [MaxDepth]. known are the members
// that the object may have; what is it for people: "the body", "the arguments".
// Errors are [*memory.Error].
func Check(what string, body []byte, known map[string]Field) error {
	return check(what, body, known, false)
}

// check is Check; with lenient, null stands for an optional member that is left out,
// and 2.0 for the whole number 2.
func check(what string, body []byte, known map[string]Field, lenient bool) error {
	if !utf8.Valid(body) {
		return memory.Errorf(memory.Invalid,
			"%s is not valid UTF-8; convert the text to UTF-8 and send the request again", what)
	}
	if at := loneSurrogate(body); at >= 0 {
		return memory.Errorf(memory.Invalid,
			"%s has an incomplete surrogate pair at byte %d; write both escapes of the pair", what, at)
	}
	if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return memory.Errorf(memory.Invalid, "invalid JSON in %s: %v at byte %d", what, err, syntax.Offset)
		}
		return memory.Errorf(memory.Invalid, "invalid JSON in %s: %v", what, err)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	c := &checker{dec: dec, lenient: lenient}
	tok, err := dec.Token()
	if err != nil {
		return fmt.Errorf("cannot parse the JSON: %w", err)
	}
	if tok != json.Delim('{') {
		return memory.Errorf(memory.Invalid, "%s is %s; send a JSON object", what, kindOf(tok))
	}
	return c.object(known, nil)
}

// loneSurrogate finds a \u escape of half a character. JSON has backslashes in
// strings only, so no parsing is needed.
func loneSurrogate(body []byte) int {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		r, ok := escaped(body[i:])
		switch {
		case !ok:
			i++
		case !utf16.IsSurrogate(r):
			i += 5
		default:
			low, _ := escaped(body[i+6:])
			if utf16.DecodeRune(r, low) == utf8.RuneError {
				return i
			}
			i += 11
		}
	}
	return -1
}

// escaped reads a \uXXXX at the beginning of b.
func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// checker walks JSON that is known to be well formed, beside the type it is for.
type checker struct {
	dec     *json.Decoder
	lenient bool
	path    []step // to the value being checked
}

// step is a member's name, or an index when the name is empty.
type step struct {
	name  string
	index int
}

// at writes the path for people, such as items[3].content.
func (c *checker) at() string {
	var b strings.Builder
	for _, s := range c.path {
		if s.name == "" {
			fmt.Fprintf(&b, "[%d]", s.index)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
	}
	return memory.Clip(b.String())
}

func (c *checker) refuse(format string, args ...any) error {
	at := c.at()
	return memory.Errorf(memory.Invalid, format, append([]any{at}, args...)...).At(at)
}

// value checks the next value, which is to be what f says; a nil type stands for any
// JSON.
func (c *checker) value(f Field) error {
	t := f.Type
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == RawType {
		t = nil
	}
	tok, err := c.dec.Token()
	if err != nil {
		return fmt.Errorf("cannot parse the JSON: %w", err)
	}
	if tok == nil && c.lenient && f.Name != "" && !f.Required {
		return nil
	}
	if n, ok := tok.(json.Number); ok && c.lenient && f.Name != "" && len(c.path) == 1 && isWhole(t) {
		tok = whole(n)
	}
	if t != nil && !fits(tok, t) {
		return c.refuse("%s is %s; give %s", kindOf(tok), Describe(t))
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		if t == listType {
			return nil // a list of one, whose length its bounds are not about
		}
		if why := f.misfit(tok); why != "" {
			return c.refuse("%s %s", why)
		}
		return nil
	}
	if len(c.path) >= MaxDepth {
		return c.refuse("%s has more than %d nested levels; use fewer levels", MaxDepth)
	}
	switch {
	case delim == '[':
		return c.list(f, elem(t))
	case t != nil && t.Kind() == reflect.Struct:
		return c.object(Members(t), nil)
	}
	return c.object(nil, elem(t))
}

func elem(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	return t.Elem()
}

// object checks the members after an opening brace: those of a struct by their
// names in known, those of a map, where known is nil, all as values of type t.
func (c *checker) object(known map[string]Field, t reflect.Type) error {
	seen := make(map[string]bool)
	for c.dec.More() {
		tok, err := c.dec.Token()
		if err != nil {
			return fmt.Errorf("cannot parse the JSON: %w", err)
		}
		name, _ := tok.(string)
		c.path = append(c.path, step{name: name})
		if seen[name] {
			return c.refuse("field %q occurs twice; use the field once")
		}
		seen[name] = true
		member, ok := known[name]
		if known != nil && !ok {
			return Unknown("field", c.at(), name, known)
		}
		if known == nil {
			member.Type = t
		}
		if err := c.value(member); err != nil {
			return err
		}
		c.path = c.path[:len(c.path)-1]
	}
	var missing []string
	for name, f := range known {
		if f.Required && !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		name := slices.Min(missing)
		c.path = append(c.path, step{name: name})
		return c.refuse("missing %s: expected %s", Describe(known[name].Type))
	}
	_, err := c.dec.Token()
	return err
}

// list checks the items after an opening bracket, as values of type t, and how many
// there are.
func (c *checker) list(f Field, t reflect.Type) error {
	n := 0
	for ; c.dec.More(); n++ {
		c.path = append(c.path, step{index: n})
		if err := c.value(Field{Type: t}); err != nil {
			return err
		}
		c.path = c.path[:len(c.path)-1]
	}
	if f.outside(float64(n)) {
		return c.refuse("%s has %d items, %s", n, f.span(" items"))
	}
	_, err := c.dec.Token()
	return err
}

// fits reports whether the value that begins with tok can be a t.
func fits(tok json.Token, t reflect.Type) bool {
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return t.Kind() == reflect.Slice
		}
		return t.Kind() == reflect.Map || t.Kind() == reflect.Struct && t != TimeType
	case string:
		return t.Kind() == reflect.String || t == listType || t == TimeType &&
			new(time.Time).UnmarshalText([]byte(tok)) == nil
	case bool:
		return t.Kind() == reflect.Bool
	case json.Number:
		return fitsNumber(tok.String(), t)
	}
	return false
}

func fitsNumber(text string, t reflect.Type) bool {
	var err error
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		_, err = strconv.ParseInt(text, 10, t.Bits())
	case reflect.Float32, reflect.Float64:
		_, err = ParseFinite(text, t.Bits())
	default:
		return false
	}
	return err == nil
}

// ParseFinite refuses NaN and the infinities, which JSON does not have either.
func ParseFinite(text string, bits int) (float64, error) {
	x, err := strconv.ParseFloat(text, bits)
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		err = strconv.ErrRange
	}
	return x, err
}

// kindOf reports what a value is, for people. Text is not repeated: it may be
// content.
func kindOf(tok json.Token) string {
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a string"
	case bool:
		return strconv.FormatBool(tok)
	case json.Number:
		return "the number " + memory.Clip(tok.String())
	}
	return "null"
}

// Describe reports what a type wants, for people.
func Describe(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == TimeType:
		return "an RFC 3339 time such as 2026-01-31T12:00:00Z"
	case t == listType:
		return "a string or a list of strings"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "a list of strings"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return "a number"
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		return "an object"
	}
	return "a whole number"
}

// maxNamed is how many known names an error lists when none is near.
const maxNamed = 12

// Unknown is the error for a name that nothing has; place is the name with
// where it stands, short enough to be repeated. It tells the name that was
// probably meant or, if none is near, those there are.
func Unknown(what, place, name string, known map[string]Field) error {
	names := slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Or(cmp.Compare(spelling.Distance(name, a), spelling.Distance(name, b)), strings.Compare(a, b))
	})
	says := "omit this name, because no name is valid here"
	switch {
	case len(names) == 0:
	case isNear(name, names[0]):
		says = fmt.Sprintf("did you mean %q?", names[0])
	case len(names) > maxNamed:
		others := "others"
		if len(names) == maxNamed+1 {
			others = "other"
		}
		says = fmt.Sprintf("use one of %s or %d %s", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed, others)
	case len(names) == 1:
		says = "use " + names[0]
	default:
		says = "use one of " + strings.Join(names, ", ")
	}
	return memory.Errorf(memory.Invalid, "unknown %s %q; %s", what, place, says).At(place)
}

// isNear reports whether a name was probably meant by what was given: no more than
// half of it differs, or one begins with the other.
func isNear(given, name string) bool {
	return 2*spelling.Distance(given, name) <= len(given) || strings.HasPrefix(given, name) ||
		strings.HasPrefix(name, given)
}
