package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
)

// The parts of an OpenAPI 3.1 document that are used here, by the names of its
// specification.
type (
	document struct {
		OpenAPI    string                           `json:"openapi"`
		Info       docInfo                          `json:"info"`
		Servers    []docServer                      `json:"servers"`
		Paths      map[string]map[string]*docAction `json:"paths"` // by path and lower-case method
		Components docComponents                    `json:"components"`
		Security   []map[string][]string            `json:"security"` // one of them is enough
	}
	docInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	docServer struct {
		URL         string `json:"url"`
		Description string `json:"description"`
	}
	docComponents struct {
		Schemas  map[string]*jsonschema.Schema `json:"schemas"`
		Security map[string]docScheme          `json:"securitySchemes"`
	}
	docScheme struct {
		Type        string `json:"type"`
		Scheme      string `json:"scheme"`
		Description string `json:"description"`
	}
	docAction struct {
		ID          string                 `json:"operationId"`
		Summary     string                 `json:"summary"`
		Effect      op.Effect              `json:"x-emberd-effect,omitempty"`
		Parameters  []docParameter         `json:"parameters,omitempty"`
		RequestBody *docBody               `json:"requestBody,omitempty"`
		Responses   map[string]docResponse `json:"responses"` // by status
	}
	docParameter struct {
		Name        string             `json:"name"`
		In          place              `json:"in"`
		Required    bool               `json:"required,omitempty"`
		Description string             `json:"description,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
		Example     json.RawMessage    `json:"example,omitempty"`
	}
	docBody struct {
		Required bool                `json:"required,omitempty"`
		Content  map[string]docMedia `json:"content"` // by media type
	}
	docMedia struct {
		Schema  *jsonschema.Schema `json:"schema"`
		Example json.RawMessage    `json:"example,omitempty"`
	}
	docResponse struct {
		Description string               `json:"description"`
		Headers     map[string]docHeader `json:"headers,omitempty"`
		Content     map[string]docMedia  `json:"content,omitempty"`
	}
	docHeader struct {
		Description string             `json:"description"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
)

const aboutSocket = "The daemon serves this API on a Unix socket: curl --unix-socket \"$SOCK\" " +
	"http://emberd/v1/version. Every response has the header Emberd-Version. A client can send the header " +
	"Emberd-Client (\"<name>/<version> protocol/<n>\"); if the versions are incompatible, the daemon returns an " +
	"error. The header Emberd-Session names the session of the request. The header Emberd-Agent names the program " +
	"that the client works for."

// openAPI writes the document. It depends on nothing but the table of operations
// and the version.
func openAPI(version string) ([]byte, error) {
	all := newSchemas()
	doc := document{
		OpenAPI: "3.1.0",
		Info:    docInfo{"emberd", version, aboutSocket},
		Servers: []docServer{{"http://emberd", "the Unix socket of the daemon"}},
		Paths:   make(map[string]map[string]*docAction),
		Components: docComponents{Security: map[string]docScheme{"token": {"http", "bearer",
			"An access token, which limits what the request can see and change. A request without Authorization " +
				"has full access."}}},
		Security: []map[string][]string{{}, {"token": {}}},
	}
	for _, s := range op.Table() {
		action, err := all.action(shapeOf(s))
		if err != nil {
			return nil, err
		}
		doc.add(s.Method, s.Path, action)
	}
	for _, t := range []reflect.Type{reflect.TypeFor[op.Problem](), reflect.TypeFor[op.Event]()} {
		if _, err := all.of(t, false); err != nil {
			return nil, err
		}
	}
	doc.add(http.MethodGet, op.EventsPath, eventsAction())
	doc.add(http.MethodGet, op.OpenAPIPath, documentAction())
	doc.add(http.MethodGet, op.MetricsPath, metricsAction())
	doc.Components.Schemas = all.components
	return json.MarshalIndent(&doc, "", "  ")
}

func (d *document) add(method, path string, action *docAction) {
	if d.Paths[path] == nil {
		d.Paths[path] = make(map[string]*docAction)
	}
	d.Paths[path][strings.ToLower(method)] = action
	addProblem(action.Responses, http.StatusUnauthorized, string(memory.Forbidden))  // an invalid token
	addProblem(action.Responses, http.StatusTooManyRequests, string(memory.Busy))    // of one caller
	addProblem(action.Responses, http.StatusServiceUnavailable, string(memory.Busy)) // of all: a connection too many
}

func (s *schemas) action(sh *shape) (*docAction, error) {
	spec := sh.spec
	shown, err := sampleOf(sh)
	if err != nil {
		return nil, err
	}
	a := &docAction{ID: spec.Name, Summary: spec.Summary, Effect: spec.Effect}
	for _, f := range sh.fields {
		if f.in == inBody {
			continue
		}
		schema, err := s.of(f.Type, true)
		if err != nil {
			return nil, err
		}
		a.Parameters = append(a.Parameters, docParameter{f.Name, f.in, f.Required, f.Doc, schema, shown.parameter(f)})
	}
	if a.RequestBody, err = s.body(sh, shown.body); err != nil {
		return nil, err
	}
	result, err := s.of(spec.Result, false)
	if err != nil {
		return nil, err
	}
	a.Responses = responses(spec, result, a.RequestBody != nil)
	return a, nil
}

// body describes the members that travel in the body, nil for none.
func (s *schemas) body(sh *shape, example json.RawMessage) (*docBody, error) {
	fields := sh.at(inBody)
	if len(fields) == 0 {
		return nil, nil
	}
	schema := &jsonschema.Schema{
		Type:                 "object",
		Properties:           make(map[string]*jsonschema.Schema),
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fields {
		member, err := s.of(f.Type, true)
		if err != nil {
			return nil, err
		}
		member.Description = f.Doc
		schema.Properties[f.Name] = member
		schema.PropertyOrder = append(schema.PropertyOrder, f.Name)
		if f.Required {
			schema.Required = append(schema.Required, f.Name)
		}
	}
	return &docBody{
		Required: len(schema.Required) > 0,
		Content:  map[string]docMedia{typeJSON: {Schema: schema, Example: example}},
	}, nil
}

// responses lists the answers an operation may give.
func responses(spec *op.Spec, result *jsonschema.Schema, body bool) map[string]docResponse {
	ok := docResponse{Description: "Done.", Content: map[string]docMedia{typeJSON: {Schema: result}}}
	out := make(map[string]docResponse)
	switch spec {
	case op.Save.Spec:
		made := ok
		ok.Description = "An identical request already saved the memory. This is the response to that request."
		ok.Headers = map[string]docHeader{"ETag": text("the revision of the memory, for If-Match")}
		made.Description = "The memory is saved on disk."
		made.Headers = map[string]docHeader{"ETag": ok.Headers["ETag"], "Location": text("the path of the memory")}
		out["201"] = made
	case op.Show.Spec, op.Edit.Spec:
		ok.Headers = map[string]docHeader{"ETag": text("the revision of the memory, for If-Match")}
	}
	out["200"] = ok
	for _, code := range codesOf(spec.Effect) {
		addProblem(out, statusOf(code), string(code))
	}
	if body {
		addProblem(out, http.StatusUnsupportedMediaType, string(memory.Invalid))
	}
	return out
}

func text(description string) docHeader {
	return docHeader{description, &jsonschema.Schema{Type: "string"}}
}

// codesOf lists the errors that operations of an effect may end with.
func codesOf(effect op.Effect) []memory.Code {
	codes := []memory.Code{
		memory.Invalid, memory.TooLarge, memory.NotFound, memory.Ambiguous, memory.Forbidden,
		memory.Incompatible, memory.Busy, memory.Unavailable, memory.Internal,
	}
	if effect != op.Read {
		codes = append(codes, memory.Conflict, memory.Secret, memory.Forgotten, memory.ReadOnly, memory.DiskFull,
			memory.Unknown)
	}
	return codes
}

// addProblem documents a problem; those of one status share a response.
func addProblem(out map[string]docResponse, status int, code string) {
	key := strconv.Itoa(status)
	r, ok := out[key]
	if !ok {
		r = docResponse{
			Description: http.StatusText(status) + ", with code " + code,
			Content: map[string]docMedia{
				typeProblem: {Schema: &jsonschema.Schema{Ref: "#/components/schemas/Problem"}},
			},
		}
	} else if !strings.Contains(r.Description, code) {
		r.Description += " or " + code
	}
	if code == string(memory.Conflict) {
		r.Headers = map[string]docHeader{"ETag": text("if code is \"conflict\": the current revision of the memory")}
	}
	if code == string(memory.Busy) {
		r.Headers = map[string]docHeader{"Retry-After": text(
			"if code is \"busy\": number of seconds to wait before you try again")}
	}
	out[key] = r
}

func eventsAction() *docAction {
	a := &docAction{
		ID:      "events",
		Summary: "Stream the events of the daemon as server-sent events; each data line is an Event in JSON.",
		Effect:  op.Read,
		Parameters: []docParameter{{
			Name: headerLast, In: inHeader, Schema: &jsonschema.Schema{Type: "string"},
			Description: "ID of the last event that you received; if the daemon still has that event, the stream " +
				"resumes after that event",
		}},
		Responses: map[string]docResponse{"200": {
			Description: "A stream that stays open until the client or the daemon closes it. After 15 seconds " +
				"without an event, the daemon sends a comment.",
			Content: map[string]docMedia{typeEvents: {Schema: &jsonschema.Schema{Type: "string"}}},
		}},
	}
	for _, code := range []memory.Code{memory.Invalid, memory.Forbidden, memory.Incompatible, memory.Busy,
		memory.Internal} {
		addProblem(a.Responses, statusOf(code), string(code))
	}
	return a
}

func metricsAction() *docAction {
	a := &docAction{
		ID: "metrics", Summary: "Get the metrics of the daemon in the format of Prometheus.", Effect: op.Read,
		Responses: map[string]docResponse{"200": {
			Description: "The metrics in the Prometheus text format 0.0.4.",
			Content:     map[string]docMedia{metrics.ContentType: {Schema: &jsonschema.Schema{Type: "string"}}},
		}},
	}
	for _, code := range []memory.Code{memory.Invalid, memory.Forbidden, memory.Incompatible} {
		addProblem(a.Responses, statusOf(code), string(code))
	}
	return a
}

func documentAction() *docAction {
	a := &docAction{
		ID: "openapi", Summary: "This document.", Effect: op.Read,
		Responses: map[string]docResponse{"200": {
			Description: "OpenAPI 3.1.",
			Content:     map[string]docMedia{typeJSON: {Schema: &jsonschema.Schema{Type: "object"}}},
		}},
	}
	for _, code := range []memory.Code{memory.Forbidden, memory.Incompatible, memory.Internal} {
		addProblem(a.Responses, statusOf(code), string(code))
	}
	return a
}
