package mcp

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/op"
)

// Every operation is a tool unless there is a reason against it, so that a new one
// appears by itself.
func TestEveryOperationIsATool(t *testing.T) {
	tools := checkedTools(t, All)
	for _, s := range op.Table() {
		why, no := withheld(s)
		tool := tools[toolNameOf(s)]
		switch {
		case no && (tool != nil || why == ""):
			t.Errorf("%s is withheld for the reason %q, and there is a tool: %v", s.Name, why, tool != nil)
		case no:
		case tool == nil:
			t.Errorf("%s has no tool", s.Name)
		case tool.Annotations.ReadOnlyHint != (s.Effect == op.Read) || *tool.Annotations.DestructiveHint != (s.Effect == op.Destructive):
			t.Errorf("%s is %s, and its tool says %+v", s.Name, s.Effect, tool.Annotations)
		}
	}
}

// Every parameter of the tools of operations says what it does.
func TestEveryParameterIsDescribed(t *testing.T) {
	for _, s := range op.Table() {
		if _, no := withheld(s); no {
			continue
		}
		for _, f := range parameters(s) {
			if name, _ := wire.JSONName(f); strings.TrimSpace(f.Tag.Get("doc")) == "" {
				t.Errorf("the parameter %s of %s has no description; give its field in package op a doc tag", name, toolNameOf(s))
			}
		}
	}
}

// Descriptions of the tools of operations name tools, not operations.
func TestDescriptionsNameTools(t *testing.T) {
	for name, tool := range checkedTools(t, All) {
		texts := []string{tool.Title, tool.Description}
		for _, p := range tool.InputSchema.(*jsonschema.Schema).Properties {
			texts = append(texts, p.Description)
		}
		for _, s := range op.Table() {
			if strings.Contains(s.Name, ".") && strings.Contains(strings.Join(texts, "\n"), s.Name) {
				t.Errorf("%s names the operation %s, not the tool %s", name, s.Name, toolNameOf(s))
			}
		}
	}
}

// withheldSpecs are the operations that are no tools.
func withheldSpecs() []*op.Spec {
	return slices.DeleteFunc(op.Table(), func(s *op.Spec) bool {
		_, no := withheld(s)
		return !no
	})
}

type narrowing struct {
	Tags []string `json:"tags,omitempty" query:"tag" max:"2" doc:"all of these tags"`
}

type renaming struct {
	ID      string `json:"-" path:"id" doc:"what to rename"`
	IfMatch string `json:"-" header:"If-Match"`
	DryRun  bool   `json:"-" query:"dry_run"`
	narrowing
	Name  string `json:"name"`
	Times *int   `json:"times,omitempty" min:"1" default:"3"`
}

type renamed struct {
	Names []string `json:"names"`
}

// recorder answers every operation with one result and keeps the request.
type recorder struct{ req any }

func (r *recorder) Invoke(_ context.Context, _ *op.Spec, req any) (any, error) {
	r.req = req
	return &renamed{}, nil
}

func thingsRename() *op.Spec {
	return &op.Spec{Name: "things.rename", Effect: op.Destructive, Summary: "Rename a thing.",
		Request: reflect.TypeFor[renaming](), Result: reflect.TypeFor[renamed]()}
}

func TestAToolHasTheFieldsOfARequestWhereverTheyTravel(t *testing.T) {
	renames := operationTool(thingsRename(), nil)
	if err := renames.Describe(); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(renames.Def.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","required":["id","name"],"properties":{` +
		`"id":{"type":"string","description":"what to rename"},"if_match":{"type":"string"},"dry_run":{"type":"boolean"},` +
		`"tags":{"type":"array","description":"all of these tags","maxItems":2,"items":{"type":"string"}},"name":{"type":"string"},` +
		`"times":{"type":"integer","default":3,"minimum":1}},"additionalProperties":false}`
	if renames.Def.Name != "things_rename" || !same(raw, json.RawMessage(want)) {
		t.Errorf("%s takes\n%s\nwant\n%s", renames.Def.Name, raw, want)
	}
}

func TestAToolFillsTheRequest(t *testing.T) {
	renames := operationTool(thingsRename(), nil)
	if err := renames.Describe(); err != nil {
		t.Fatal(err)
	}
	r := new(recorder)
	handler := renames.Handler(&Options{Invoker: r, Form: tool.Structured})
	res, err := handler(t.Context(), &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{
		Arguments: json.RawMessage(`{"id":"a","if_match":"r1","dry_run":true,"tags":["x"],"name":"b"}`)}})
	if err != nil || res.IsError {
		t.Fatalf("the call failed: %v, %+v", err, res)
	}
	want := &renaming{ID: "a", IfMatch: "r1", DryRun: true, narrowing: narrowing{Tags: []string{"x"}}, Name: "b", Times: new(3)}
	if !reflect.DeepEqual(r.req, want) {
		t.Errorf("the request is %+v, want %+v", r.req, want)
	}
	if raw, _ := json.Marshal(res.StructuredContent); !strings.Contains(string(raw), `"names":[],`) {
		t.Errorf("the answer is %s, want a list that is no null", raw)
	}
}

func TestFilesAreWrittenWhereThePersonSays(t *testing.T) {
	for _, f := range parameters(op.BackupCreate.Spec) {
		t.Errorf("a model can set %s of a backup", f.Name)
	}
}

// TestAListOfAllToolsStaysReadable bounds what every session with the profile all reads
// first.
func TestAListOfAllToolsStaysReadable(t *testing.T) {
	s := newSession(t, new(recorder), All)
	const most = 120 << 10
	if n := len(s.ask("tools/list", json.RawMessage(`{}`)).Result); n > most {
		t.Errorf("all tools take %d bytes, more than %d", n, most)
	}
}
