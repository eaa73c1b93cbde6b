package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// sent is a request as it travels.
type sent struct {
	url    string // path and query, escaped
	header http.Header
	body   []byte // JSON, nil for none
}

// encode is the inverse of decode. It refuses what would not arrive as it was.
func (sh *shape) encode(req any) (*sent, error) {
	v := reflect.ValueOf(req)
	if v.Type() != reflect.PointerTo(sh.spec.Request) {
		return nil, memory.Errorf(memory.Internal, "operation %s received a request of the wrong type %T", sh.spec.Name,
			req)
	}
	v = v.Elem()
	if err := checkText("", v); err != nil {
		return nil, err
	}
	out := &sent{header: make(http.Header)}
	path, query := sh.spec.Path, make(url.Values)
	for _, f := range sh.fields {
		texts := f.format(v.FieldByIndex(f.index))
		var err error
		switch f.in {
		case inPath:
			path, err = f.fill(sh.spec.Method, path, texts)
		case inQuery:
			if len(texts) > 0 {
				query[f.Name] = texts
			}
		case inHeader:
			err = f.head(out.header, texts)
		}
		if err != nil {
			return nil, err
		}
	}
	out.url = path
	if len(query) > 0 {
		out.url += "?" + query.Encode()
	}
	if len(out.url) > maxHeader/2 {
		return nil, memory.Errorf(memory.TooLarge,
			"too many bytes in the parameters of %s: %d (limit %d); shorten the parameters", sh.spec.Name, len(out.url),
			maxHeader/2)
	}
	var err error
	out.body, err = sh.encodeBody(v)
	return out, err
}

// fill puts the value into the pattern of the path. Dots would be taken for
// steps in it. A name that is spelt like the path of another operation has a
// space before it, which names are read without.
func (f *field) fill(method, pattern string, texts []string) (string, error) {
	if texts[0] == "" || texts[0] == "." || texts[0] == ".." {
		return "", memory.Errorf(memory.Invalid, "invalid %s %q; run: emberd list, or emberd search", f.Name,
			texts[0]).At(f.Name)
	}
	path := strings.Replace(pattern, "{"+f.Name+"}", url.PathEscape(texts[0]), 1)
	if slices.ContainsFunc(op.Table(), func(s *op.Spec) bool { return s.Method == method && s.Path == path }) {
		path = strings.Replace(pattern, "{"+f.Name+"}", "%20"+url.PathEscape(texts[0]), 1)
	}
	return path, nil
}

func (f *field) head(h http.Header, texts []string) error {
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
			text != strings.TrimSpace(text) {
			return memory.Errorf(memory.Invalid, "invalid %s %q: it begins or ends with white space, or "+
				"contains a control character; remove these characters", f.Name, memory.Clip(text)).At(f.Name)
		}
		if f.Name == "If-Match" {
			if strings.Contains(text, `"`) {
				return memory.Errorf(memory.Invalid,
					"invalid revision %q: it contains a quotation mark; remove the quotation mark",
					memory.Clip(text)).At(f.Name)
			}
			text = `"` + text + `"`
		}
		h.Add(f.Name, text)
	}
	return nil
}

// format writes a field that does not travel in the body; nothing for a zero
// value, unless it must be there. A pointer to one is not zero.
func (f *field) format(v reflect.Value) []string {
	if f.in == inBody || v.IsZero() && !f.Required {
		return nil
	}
	if v.Kind() == reflect.Slice {
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = formatText(v.Index(i))
		}
		return texts
	}
	return []string{formatText(reflect.Indirect(v))}
}

func formatText(v reflect.Value) string {
	switch {
	case v.Type() == wire.TimeType:
		return v.Interface().(time.Time).Format(time.RFC3339Nano)
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return v.String()
}

// encodeBody writes the members that travel in the body; nil when the operation
// has none.
func (sh *shape) encodeBody(v reflect.Value) ([]byte, error) {
	known := sh.body
	if len(known) == 0 {
		return nil, nil
	}
	whole, err := wire.Marshal(v.Interface())
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "cannot encode the request of %s as JSON: %w", sh.spec.Name, err)
	}
	if len(known) == len(wire.Members(sh.spec.Request)) {
		return whole, nil
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(whole, &body); err != nil {
		return nil, fmt.Errorf("cannot decode the request of %s: %w", sh.spec.Name, err)
	}
	for name := range body {
		if _, ok := known[name]; !ok {
			delete(body, name)
		}
	}
	return wire.Marshal(body)
}

// checkText refuses text that is not UTF-8, which encoding/json would replace in
// silence. at is the place of v in the request.
func checkText(at string, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.String:
		return memory.CheckText(at, v.String(), math.MaxInt)
	case v.Type() == wire.RawType:
		return memory.CheckText(at, string(v.Bytes()), math.MaxInt)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return checkText(at, v.Elem())
	case v.Kind() == reflect.Struct && v.Type() != wire.TimeType:
		return checkMembers(at, v)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if err := checkText(fmt.Sprintf("%s[%d]", at, i), v.Index(i)); err != nil {
				return err
			}
		}
	case v.Kind() == reflect.Map:
		for it := v.MapRange(); it.Next(); {
			name := at + "." + memory.Clip(it.Key().String())
			if err := cmp.Or(checkText(name, it.Key()), checkText(name, it.Value())); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkMembers(at string, v reflect.Value) error {
	for f, member := range v.Fields() {
		if member.IsZero() {
			continue // it has no text
		}
		place := at
		if !f.Anonymous {
			fl, ok := travels(f)
			if !ok {
				continue
			}
			if at != "" && fl.in != inBody {
				return memory.Errorf(memory.Invalid,
					"%s of %s cannot be part of this request; send this field in a separate request", fl.Name,
					at).At(fl.Name)
			}
			place = strings.TrimPrefix(at+"."+fl.Name, ".")
		}
		if err := checkText(place, member); err != nil {
			return err
		}
	}
	return nil
}
