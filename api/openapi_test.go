package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/op"
)

func openAPIOf(t *testing.T) *document {
	t.Helper()
	text, err := openAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	doc := new(document)
	if err := json.Unmarshal(text, doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// actions lists the operations of the document by method and path.
func (d *document) actions() map[string]*docAction {
	all := make(map[string]*docAction)
	for path, methods := range d.Paths {
		for method, action := range methods {
			all[strings.ToUpper(method)+" "+path] = action
		}
	}
	return all
}

func TestTheDocumentIsServedAndStable(t *testing.T) {
	_, sock := start(t, newShelf())
	first := ask(t, sock, "GET /v1/openapi.json HTTP/1.1")
	for range 5 {
		again, err := openAPI("devel")
		if err != nil || first.body != string(again) {
			t.Fatalf("the document differs from time to time (%v)", err)
		}
	}
	if first.StatusCode != http.StatusOK || first.Header.Get("Content-Type") != typeJSON {
		t.Errorf("%d %s", first.StatusCode, first.Header.Get("Content-Type"))
	}
}

func TestTheDocumentHasEveryOperation(t *testing.T) {
	actions := openAPIOf(t).actions()
	if want := len(op.Table()) + 3; len(actions) != want {
		t.Errorf("%d operations, want %d", len(actions), want)
	}
	for _, s := range op.Table() {
		a := actions[s.Method+" "+s.Path]
		if a == nil || a.ID != s.Name || a.Effect != s.Effect || a.Summary != s.Summary {
			t.Errorf("%s is described as %+v", s.Name, a)
		}
	}
}

func TestEveryDescribedRouteAnswers(t *testing.T) {
	limits := NewLimits(nil)
	sock, _ := serve(t, NewHandler(newShelf(), &HandlerOptions{Limits: limits, Measure: limits.Measure}), &ServeOptions{Limits: limits})
	for route, action := range openAPIOf(t).actions() {
		if action.ID == "events" {
			continue // does not end by itself; see the tests of events
		}
		route = strings.ReplaceAll(route, "{id}", "0199b2d4")
		got := ask(t, sock, route+" HTTP/1.1")
		if got.StatusCode == http.StatusMethodNotAllowed || strings.Contains(got.body, "no route") {
			t.Errorf("%s: %d %s", route, got.StatusCode, got.body)
		}
		if _, ok := action.Responses[fmt.Sprint(got.StatusCode)]; !ok {
			t.Errorf("%s answered %d, which is not described", route, got.StatusCode)
		}
	}
}

// What may meet any request: a token that is no good, and too much asked by one or by all.
func TestRefusalsAreDescribedEverywhere(t *testing.T) {
	for route, action := range openAPIOf(t).actions() {
		for status, want := range map[string]string{"401": "forbidden", "429": "busy", "503": "busy"} {
			if r := action.Responses[status]; !strings.Contains(r.Description, want) {
				t.Errorf("%s: %s is described as %q, want code %s", route, status, r.Description, want)
			}
		}
		if action.Responses["429"].Headers["Retry-After"].Description == "" {
			t.Errorf("%s: 429 has no Retry-After", route)
		}
	}
}

func TestEveryProblemIsDescribed(t *testing.T) {
	doc := openAPIOf(t)
	_, sock := start(t, newShelf())
	problem := resolve(t, doc, &jsonschema.Schema{Ref: "#/components/schemas/Problem"})
	for _, c := range badRequests {
		answer := ask(t, sock, c.request)
		if err := problem.Validate(decoded(t, answer.body)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		route, _, _ := strings.Cut(c.request, " HTTP/1.1")
		route, _, _ = strings.Cut(strings.Replace(route, "/0199", "/{id}", 1), "?")
		if action := doc.actions()[route]; action != nil {
			if _, ok := action.Responses[fmt.Sprint(answer.StatusCode)]; !ok {
				t.Errorf("%s: %s answered %d, which is not described", c.name, route, answer.StatusCode)
			}
		}
	}
}

// specimen is a value that fits a schema.
func specimen(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprintf("%q", s.Enum[0])
	case s.Format == "date-time":
		return `"2026-01-31T12:00:00Z"`
	case s.Type == "string":
		return `"x"`
	case s.Type == "integer":
		return "1"
	case s.Type == "number":
		return "0.5"
	case s.Type == "boolean":
		return "true"
	case s.Type == "array":
		return "[]"
	}
	return "{}"
}

// everyName collects the parameters and members of all operations.
func everyName(d *document) []string {
	names := map[string]bool{"nonsense": true, "": true}
	for _, a := range d.actions() {
		for _, p := range a.Parameters {
			names[p.Name] = true
		}
		for name := range bodyOf(a).Properties {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func bodyOf(a *docAction) *jsonschema.Schema {
	if a.RequestBody == nil {
		return &jsonschema.Schema{}
	}
	return a.RequestBody.Content[typeJSON].Schema
}

// The decoder accepts a name exactly where the document has it.
func TestTheDecoderTakesWhatIsDescribed(t *testing.T) {
	doc := openAPIOf(t)
	_, sock := start(t, newShelf())
	for _, s := range op.Table() {
		action := doc.actions()[s.Method+" "+s.Path]
		line := s.Method + " " + strings.ReplaceAll(s.Path, "{id}", "0199b2d4")
		described := make(map[string]string)
		for _, p := range action.Parameters {
			if p.In == inQuery {
				described[p.Name] = strings.Trim(specimen(p.Schema), `"`)
				if p.Schema.Type == "array" {
					described[p.Name] = strings.Trim(specimen(p.Schema.Items), `"`)
				}
			}
		}
		for _, name := range everyName(doc) {
			value, want := described[name]
			got := ask(t, sock, line+"?"+name+"="+value+" HTTP/1.1")
			if taken := !isRefusal(got); taken != want {
				t.Errorf("%s, parameter %q: taken %v, described %v: %s", s.Name, name, taken, want, got.body)
			}
			if action.RequestBody == nil {
				continue
			}
			schema, want := bodyOf(action).Properties[name]
			if schema == nil {
				schema = &jsonschema.Schema{}
			}
			got = ask(t, sock, fmt.Sprintf("%s HTTP/1.1%s{%q:%s}", line, jsonBody, name, specimen(schema)))
			if taken := !isRefusal(got); taken != want {
				t.Errorf("%s, member %q: taken %v, described %v: %s", s.Name, name, taken, want, got.body)
			}
		}
	}
}

// isRefusal reports whether the decoder did not take a name or its value.
func isRefusal(a answered) bool {
	return strings.Contains(a.body, "unknown ") || strings.Contains(a.body, "; give ") && !isMissing(a, "")
}

// isMissing reports whether the answer is that name is missing.
func isMissing(a answered, name string) bool {
	return strings.Contains(a.body, "missing "+name) && strings.Contains(a.body, ": expected ")
}

// What the document requires may not be left out, and nothing else is missed.
func TestTheDecoderWantsWhatIsRequired(t *testing.T) {
	doc := openAPIOf(t)
	_, sock := start(t, newShelf())
	for _, s := range op.Table() {
		action := doc.actions()[s.Method+" "+s.Path]
		request := s.Method + " " + strings.ReplaceAll(s.Path, "{id}", "0199b2d4") + " HTTP/1.1"
		body := bodyOf(action)
		required := slices.Clone(body.Required)
		for _, p := range action.Parameters {
			if p.Required && p.In != inPath {
				required = append(required, p.Name)
			}
		}
		// without is the request with all that the body needs but name.
		without := func(name string) string {
			if action.RequestBody == nil {
				return request
			}
			var members []string
			for _, n := range body.Required {
				if n != name {
					members = append(members, fmt.Sprintf("%q:%s", n, specimen(body.Properties[n])))
				}
			}
			return request + jsonBody + "{" + strings.Join(members, ",") + "}"
		}
		if got := ask(t, sock, without("")); isMissing(got, "") != (len(required) > len(body.Required)) {
			t.Errorf("%s requires %q, and answers %s", s.Name, required, got.body)
		}
		for _, name := range required {
			if got := ask(t, sock, without(name)); !isMissing(got, name) {
				t.Errorf("%s without %s: %s", s.Name, name, got.body)
			}
		}
	}
}

// resolve makes a schema of the document usable. Its answers are open; closed,
// they also show members that are not described.
func resolve(t *testing.T, d *document, s *jsonschema.Schema) *jsonschema.Resolved {
	t.Helper()
	root := s.CloneSchemas()
	root.Defs = make(map[string]*jsonschema.Schema)
	for name, c := range d.Components.Schemas {
		c = c.CloneSchemas()
		c.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		root.Defs[name] = c
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	local := new(jsonschema.Schema)
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("#/components/schemas/"), []byte("#/$defs/")), local); err != nil {
		t.Fatal(err)
	}
	resolved, err := local.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestResultsFitTheirSchemas(t *testing.T) {
	doc := openAPIOf(t)
	c, sock := start(t, newShelf())
	id := string(save(t, c, "one", "tag").Memory.ID)
	gone := string(save(t, c, "two").Memory.ID)
	for _, request := range []string{
		"POST /v1/memories" + jsonBody + `{"content":"three","meta":{"a":[1,null]}}`,
		"POST /v1/memories/batch" + jsonBody + `{"items":[{"content":"four"},{"content":""}]}`,
		"POST /v1/memories/batch" + jsonBody + `{"items":[]}`,
		"GET /v1/search?q=one&explain=true",
		"GET /v1/search?q=nothing",
		"GET /v1/memories/" + id,
		"GET /v1/memories",
		"GET /v1/memories?tag=none",
		"PATCH /v1/memories/" + id + jsonBody + `{"content":"changed"}`,
		"PATCH /v1/memories/" + id + jsonBody + `{}`,
		"DELETE /v1/memories/" + gone + "?dry_run=true",
		"DELETE /v1/memories/" + gone,
		"GET /v1/trash",
		"POST /v1/trash/restore" + jsonBody + `{"ids":["` + gone + `"]}`,
		"GET /v1/trash",
		"POST /v1/undo" + jsonBody + `{"dry_run":true}`,
		"POST /v1/undo",
		"POST /v1/relations" + jsonBody + `{"from":"` + id + `","to":"` + gone + `","type":"related"}`,
		"POST /v1/relations/batch" + jsonBody + `{"items":[{"from":"` + id + `","to":"` + gone + `","type":"related"}]}`,
		"GET /v1/graph?status=all",
		"GET /v1/memories/open?id=" + id + "&id=none",
		"GET /v1/status",
		"GET /v1/stats",
		"GET /v1/version",
	} {
		line, rest, _ := strings.Cut(request, "\n")
		if rest != "" {
			rest = "\n" + rest
		}
		got := ask(t, sock, line+" HTTP/1.1"+rest)
		route, _, _ := strings.Cut(strings.NewReplacer(id, "{id}", gone, "{id}").Replace(line), "?")
		answer, ok := doc.actions()[route].Responses[fmt.Sprint(got.StatusCode)]
		if !ok || got.StatusCode >= 300 {
			t.Errorf("%s: %d %s", line, got.StatusCode, got.body)
			continue
		}
		if err := resolve(t, doc, answer.Content[typeJSON].Schema).Validate(decoded(t, got.body)); err != nil {
			t.Errorf("%s: %v in %s", line, err, got.body)
		}
		for name := range answer.Headers {
			if got.Header.Get(name) == "" {
				t.Errorf("%s: no %s", line, name)
			}
		}
	}
}

func TestExamplesFitTheirSchemas(t *testing.T) {
	doc := openAPIOf(t)
	shown := 0
	for route, action := range doc.actions() {
		for _, p := range action.Parameters {
			if p.Example != nil {
				shown++
				if err := resolve(t, doc, p.Schema).Validate(decoded(t, string(p.Example))); err != nil {
					t.Errorf("%s, %s: %v", route, p.Name, err)
				}
			}
		}
		if action.RequestBody != nil && action.RequestBody.Content[typeJSON].Example != nil {
			shown++
			media := action.RequestBody.Content[typeJSON]
			if err := resolve(t, doc, media.Schema).Validate(decoded(t, string(media.Example))); err != nil {
				t.Errorf("%s: %v", route, err)
			}
		}
	}
	if shown < 6 {
		t.Errorf("%d examples, want some", shown)
	}
}

// Nothing in the document speaks of null, and every reference leads somewhere.
func TestSchemasAreTidy(t *testing.T) {
	doc := openAPIOf(t)
	text, err := openAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(`"null"`)) {
		t.Error("the document has a type null")
	}
	for piece := range strings.SplitSeq(string(text), `"#/components/schemas/`) {
		name, _, _ := strings.Cut(piece, `"`)
		if strings.Contains(piece[:len(name)], "{") {
			continue // the text before the first reference
		}
		if doc.Components.Schemas[name] == nil {
			t.Errorf("no component %q", name)
		}
	}
	hit := doc.Components.Schemas["Hit"]
	// A hit of a note alone has nothing of a memory.
	for name, always := range map[string]bool{"content": false, "rev": false, "rank": true, "created_at": false} {
		if hit.Properties[name] == nil || slices.Contains(hit.Required, name) != always {
			t.Errorf("%s of a hit is %v, required %v, want %v", name, hit.Properties[name], slices.Contains(hit.Required, name), always)
		}
	}
	if got := doc.Components.Schemas["SaveRequest"].Properties["content"].Description; !strings.HasPrefix(got, "text of the memory") {
		t.Errorf("content is described as %q", got)
	}
}
