package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// choices are random bytes that decide what a request looks like, so that a fuzzer which
// changes a byte changes one decision.
type choices struct{ left []byte }

// of returns a number below n, 0 when nothing is left.
func (c *choices) of(n int) int {
	if len(c.left) == 0 || n < 2 {
		return 0
	}
	b := int(c.left[0])
	c.left = c.left[1:]
	return b % n
}

// text is one that means something, or bytes as they come.
func (c *choices) text(known []string) string {
	if i := c.of(len(known) + 1); i < len(known) {
		return known[i]
	}
	n := min(c.of(64), len(c.left))
	s := strings.ToValidUTF8(string(c.left[:n]), "\ufffd")
	c.left = c.left[n:]
	return s
}

// value makes one that fits the schema, or nearly.
func (c *choices) value(d *document, s *jsonschema.Schema, known []string, depth int) any {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = d.Components.Schemas[name]
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[c.of(len(s.Types))]
	}
	switch c.of(24) {
	case 1:
		return nil
	case 2:
		kind = []string{"string", "number", "array", "object", "boolean"}[c.of(5)]
	}
	switch {
	case len(s.Enum) > 0 && c.of(8) != 1:
		return s.Enum[c.of(len(s.Enum))]
	case depth > 5:
		return nil
	case kind == "object":
		return c.object(d, s, known, depth)
	case kind == "array":
		list := []any{}
		for range c.of(4) {
			if s.Items != nil {
				list = append(list, c.value(d, s.Items, known, depth+1))
			}
		}
		return list
	case kind == "integer", kind == "number":
		return json.Number([]string{"0", "1", "-1", "2", "10", "100", "101", "0.5", "1e9", "9223372036854775807", "-1e308", "1e400"}[c.of(12)])
	case kind == "boolean":
		return c.of(2) == 1
	case s.Format == "date-time":
		return []string{"2026-01-31T12:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00", "yesterday"}[c.of(4)]
	}
	return c.text(known)
}

// object has what is required, most often, and some of the rest.
func (c *choices) object(d *document, s *jsonschema.Schema, known []string, depth int) map[string]any {
	out := make(map[string]any)
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if required := slices.Contains(s.Required, name); required && c.of(16) != 1 || !required && c.of(3) == 1 {
			out[name] = c.value(d, s.Properties[name], known, depth+1)
		}
	}
	if s.AdditionalProperties != nil || c.of(32) == 1 {
		out[c.text(known)] = c.text(known)
	}
	return out
}

// wild is the real engine with a small vault behind the real handler, made anew after some
// time, since what is asked of it stays.
type wild struct {
	mu     sync.Mutex
	doc    *document
	fits   map[string]*jsonschema.Resolved
	asked  int
	h      http.Handler
	known  []string
	tables []*op.Spec
	end    func()
}

const askedOfOne = 3_000

// renew replaces the engine. The caller holds mu.
func (w *wild) renew(t testing.TB) {
	if w.asked++; w.h != nil && w.asked%askedOfOne != 0 {
		return
	}
	if w.end != nil {
		w.end()
	}
	dir, err := os.MkdirTemp("", "wild")
	if err != nil {
		t.Fatal(err)
	}
	opt := engine.DefaultOptions()
	opt.Data, opt.State, opt.Durability = filepath.Join(dir, "data"), filepath.Join(dir, "state"), stm.None
	opt.Vaults = []string{filepath.Join(dir, "Notes")}
	if err := os.MkdirAll(opt.Vaults[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(opt.Vaults[0], "Tide.md"), []byte("# Tide\n\nIt turns at nine. [[Harbour]]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	w.end = func() {
		cancel()
		<-done
		_ = e.Close()
		_ = os.RemoveAll(dir)
	}
	h := NewHandler(e, nil).(*handler)
	h.admit = func(*http.Request) (authenticatedCaller, error) {
		return authenticatedCaller{actor: memory.Actor{Via: "http", Client: "fuzz"}}, nil
	}
	w.h, w.known = h, []string{"the tide turns at nine", "harbour", "Tide.md", "all", "", "tag:harbour \"turns at\" -nine after:2020-01-01", strings.Repeat("x", 5_000), "\x00", "⟨", "../../etc/passwd"}
	for _, text := range []string{"the tide turns at nine", "the tide turns at ten", "the harbour light is green"} {
		res, err := op.Save.Call(ctx, e, &op.SaveRequest{Content: text, Tags: []string{"harbour"}})
		if err != nil {
			t.Fatal(err)
		}
		w.known = append(w.known, string(res.Memory.ID), res.Tx, res.Memory.Rev)
	}
}

// request makes one out of random bytes.
func (w *wild) request(spec *op.Spec, c *choices) *http.Request {
	action := w.doc.actions()[spec.Method+" "+spec.Path]
	target, query := spec.Path, url.Values{}
	for _, p := range action.Parameters {
		text := func() string { return fmt.Sprint(c.value(w.doc, p.Schema, w.known, 4)) }
		switch {
		case p.In == inPath:
			target = strings.ReplaceAll(target, "{"+p.Name+"}", url.PathEscape(c.text(w.known)))
		case p.In == inQuery && (p.Required || c.of(3) == 1):
			query.Set(p.Name, text())
		}
	}
	if c.of(16) == 1 {
		query.Set(c.text(w.known), c.text(w.known))
	}
	var body []byte
	if action.RequestBody != nil {
		body, _ = json.Marshal(c.value(w.doc, bodyOf(action), w.known, 0)) // a number that is none leaves it empty
		if c.of(16) == 1 && len(body) > 0 {
			body[c.of(len(body))] ^= byte(c.of(256))
		}
	}
	r := httptest.NewRequest(spec.Method, "http://emberd/", bytes.NewReader(body))
	at, err := url.Parse(target)
	if err != nil {
		return nil
	}
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = at.Path, at.RawPath, query.Encode()
	if len(body) > 0 {
		r.Header.Set("Content-Type", typeJSON)
	}
	return r
}

// response is the schema of an answer.
func (w *wild) response(t *testing.T, spec *op.Spec, status int, media string) *jsonschema.Resolved {
	key := fmt.Sprint(spec.Name, status)
	if s := w.fits[key]; s != nil {
		return s
	}
	answer, ok := w.doc.actions()[spec.Method+" "+spec.Path].Responses[fmt.Sprint(status)]
	if !ok {
		t.Fatalf("%s answered %d, which is not described", spec.Name, status)
	}
	schema := answer.Content[media].Schema
	w.fits[key] = resolve(t, w.reached(t, schema), schema)
	return w.fits[key]
}

var reference = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// reached is the document with no more than the schemas that one needs, which takes a
// hundredth of the time to make usable.
func (w *wild) reached(t *testing.T, s *jsonschema.Schema) *document {
	out := new(document)
	out.Components.Schemas = make(map[string]*jsonschema.Schema)
	for todo := []*jsonschema.Schema{s}; len(todo) > 0; todo = todo[1:] {
		text, err := json.Marshal(todo[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range reference.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if out.Components.Schemas[name] == nil {
				out.Components.Schemas[name] = w.doc.Components.Schemas[name]
				todo = append(todo, w.doc.Components.Schemas[name])
			}
		}
	}
	return out
}

// FuzzRequests sends requests that follow the OpenAPI document, more or less, to every route
// of the real handler and engine: no fault of our own, every answer as described, no refusal
// that is no sentence.
func FuzzRequests(f *testing.F) {
	w := &wild{fits: make(map[string]*jsonschema.Resolved)}
	text, err := openAPI("test")
	if err != nil {
		f.Fatal(err)
	}
	w.doc = new(document)
	if err := json.Unmarshal(text, w.doc); err != nil {
		f.Fatal(err)
	}
	w.tables = op.Table()
	f.Cleanup(func() {
		if w.end != nil {
			w.end()
		}
	})
	for n := range w.tables {
		f.Add(uint8(n), []byte{0, 0, 1, 2, 0, 1, 1, 1})
	}
	f.Fuzz(func(t *testing.T, n uint8, bytes []byte) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.renew(t)
		w.ask(t, w.tables[int(n)%len(w.tables)], &choices{bytes})
	})
}

func (w *wild) ask(t *testing.T, spec *op.Spec, c *choices) {
	r := w.request(spec, c)
	if r == nil || spec == op.BackupCreate.Spec { // which writes where it is told
		return
	}
	var sent bytes.Buffer
	if r.Body != nil {
		_, _ = sent.ReadFrom(r.Body)
		r.Body = readCloser{bytes.NewReader(sent.Bytes())}
	}
	tell := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s %s %s: %s", r.Method, r.URL, sent.String(), fmt.Sprintf(format, args...))
	}
	got := httptest.NewRecorder()
	w.h.ServeHTTP(got, r)
	media := got.Header().Get("Content-Type")
	if got.Code == http.StatusInternalServerError || media == "" {
		tell("%d %s", got.Code, got.Body)
	}
	if got.Code == http.StatusNotFound && strings.Contains(got.Body.String(), "no route") {
		return // such as that of an empty id
	}
	var answer any
	if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil {
		tell("%v in %s", err, got.Body)
	}
	if err := w.response(t, spec, got.Code, media).Validate(answer); err != nil {
		tell("%v in %.2000s", err, got.Body)
	}
	if p, refused := answer.(map[string]any); refused && media == typeProblem {
		if detail, _ := p["detail"].(string); detail == "" || len(detail) > 2_000 || strings.ContainsAny(detail, "\n\r") || !utf8.ValidString(detail) {
			tell("the refusal is no sentence: %q", detail)
		}
	}
	var m runtime.MemStats
	if w.asked%1_000 == 0 {
		if runtime.ReadMemStats(&m); m.HeapAlloc > 1<<30 {
			tell("the heap has %d bytes", m.HeapAlloc)
		}
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }
