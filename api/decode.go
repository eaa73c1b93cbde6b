package api

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/wire"
	"emberd/memory"
)

// decode makes a request of the operation out of r, whose body has been read. Every error
// is about what the client sent.
func (sh *shape) decode(r *http.Request, body []byte) (any, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "the query string is malformed (%v); percent-encode its values", err)
	}
	if err := sh.knows(query); err != nil {
		return nil, err
	}
	req := reflect.New(sh.spec.Request)
	if err := sh.decodeBody(r, body, req.Interface()); err != nil {
		return nil, err
	}
	for _, f := range sh.fields {
		if f.in == inBody {
			continue
		}
		texts, err := f.texts(r, query)
		if err == nil {
			err = f.set(req.Elem().FieldByIndex(f.index), texts)
		}
		if err != nil {
			return nil, err
		}
	}
	return req.Interface(), nil
}

func (sh *shape) knows(query url.Values) error {
	known := sh.queried
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if _, ok := known[name]; !ok {
			return wire.Unknown("parameter", memory.Clip(name), name, known)
		}
	}
	return nil
}

// texts returns the values that r gives a field that does not travel in the body.
func (f *field) texts(r *http.Request, query url.Values) ([]string, error) {
	switch f.in {
	case inPath:
		return []string{r.PathValue(f.Name)}, nil
	case inQuery:
		return query[f.Name], nil
	}
	texts := r.Header.Values(f.Name)
	if f.Name != "If-Match" || len(texts) != 1 {
		return texts, nil
	}
	rev, err := parseETag(texts[0])
	return []string{rev}, err
}

// parseETag reads the If-Match of one revision: quoted as an ETag, or bare.
// A star matches every revision, so it is not a condition.
func parseETag(s string) (string, error) {
	if s == "*" {
		return "", nil
	}
	if strings.HasPrefix(s, "W/") {
		return "", memory.Errorf(memory.Invalid, "If-Match %q is a weak ETag; send the ETag without W/",
			memory.Clip(s)).At("If-Match")
	}
	rev := s
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		rev = s[1 : len(s)-1]
	}
	if rev == "" || strings.ContainsAny(rev, `",`) {
		return "", memory.Errorf(memory.Invalid, "invalid If-Match %q; send exactly one revision",
			memory.Clip(s)).At("If-Match")
	}
	return rev, nil
}

// set stores texts in v. A list takes any number, everything else one; none at
// all leaves v as it is.
func (f *field) set(v reflect.Value, texts []string) error {
	if len(texts) == 0 && f.Required {
		return memory.Errorf(memory.Invalid, "missing %s: expected %s", f.Name, wire.Describe(f.Type)).At(f.Name)
	}
	if len(texts) == 0 {
		return nil
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return memory.Errorf(memory.Invalid, "invalid %s: the text is not UTF-8; send UTF-8 text",
				f.Name).At(f.Name)
		}
	}
	if f.Type.Kind() == reflect.Slice {
		list := reflect.MakeSlice(f.Type, len(texts), len(texts))
		for i, text := range texts {
			if err := f.setText(list.Index(i), text); err != nil {
				return err
			}
		}
		v.Set(list)
		return nil
	}
	if len(texts) > 1 {
		return memory.Errorf(memory.Invalid, "%s is set %d times; set it once", f.Name, len(texts)).At(f.Name)
	}
	return f.setText(v, texts[0])
}

func (f *field) setText(v reflect.Value, text string) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	var err error
	switch {
	case v.Type() == wire.TimeType:
		err = v.Addr().Interface().(*time.Time).UnmarshalText([]byte(text))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
	case v.CanInt():
		var n int64
		n, err = strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
	case v.CanFloat():
		var x float64
		x, err = wire.ParseFinite(text, v.Type().Bits())
		v.SetFloat(x)
	default:
		return memory.Errorf(memory.Internal, "parameter %s has a type that the API does not support", f.Name)
	}
	if err != nil {
		return memory.Errorf(memory.Invalid, "invalid %s %q: expected %s", f.Name, memory.Clip(text),
			wire.Describe(v.Type())).At(f.Name)
	}
	return nil
}

// decodeBody stores the body in req. No body at all is as good as an empty object for an
// operation that requires no field.
func (sh *shape) decodeBody(r *http.Request, body []byte, req any) error {
	known := sh.body
	if len(known) == 0 && len(body) > 0 {
		return memory.Errorf(memory.Invalid, "operation %s does not accept a request body; omit it", sh.spec.Name)
	}
	if len(body) == 0 {
		return sh.mayBeEmpty()
	}
	if err := checkType(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	if err := wire.Check("the body", body, known); err != nil {
		return err
	}
	if err := json.Unmarshal(body, req); err != nil {
		return memory.Errorf(memory.Invalid, "the request body does not match the format of %s: %w", sh.spec.Name, err)
	}
	return nil
}

func (sh *shape) mayBeEmpty() error {
	for _, f := range sh.at(inBody) {
		if f.Required {
			return memory.Errorf(memory.Invalid, "missing request body; send a JSON object with %q", f.Name).At(f.Name)
		}
	}
	return nil
}

// checkType wants to be told that a body is JSON: what a form or a plain text
// field can send without saying so is not taken for a request.
func checkType(header string) error {
	media, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	if err == nil && media == typeJSON && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return refuse(http.StatusUnsupportedMediaType, memory.Errorf(memory.Invalid,
		"invalid content type %q; send the header 'Content-Type: application/json'",
		memory.Clip(header)).At("Content-Type"))
}
