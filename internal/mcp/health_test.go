package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"emberd/op"
)

// specTools are the tools of the specification "adaptive memory health" with the parameters
// that its schemas have, and their defaults.
var specTools = map[string]map[string]string{
	"vector_search_knowledge":  {"query": "", "category": "", "min_confidence": "0.0", "top_k": "5", "track_access": "true"},
	"memory_health_stale":      {"days_unused": "30", "collection": `"knowledge"`, "limit": "20"},
	"memory_health_duplicates": {"collection": `"knowledge"`, "similarity_threshold": "0.95", "limit": "20"},
	"memory_consolidate":       {"id1": "", "id2": "", "collection": `"knowledge"`, "keep": `"higher_confidence"`},
	"memory_migration_run":     {"collection": `"knowledge"`},
}

// newTools are those that the specification adds.
const newTools = "memory_consolidate memory_health_duplicates memory_health_stale memory_migration_run"

// The part of the testing checklist of the specification "adaptive memory health" that is
// about tools, by its sentences. The rest is in package engine.
func TestSpec1(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"All 4 new tools registered and callable", specCallable},
		{"Tool count increases from 30 to 34", specCount},
		{"Schemas validate correctly", specSchemas},
		{"Tools callable from Claude with correct parameters", specParameters},
	} {
		t.Run(c.name, c.test)
	}
}

func specCallable(t *testing.T) {
	s := newStructured(t, new(nothingThere), All)
	for name, args := range map[string]string{"memory_health_stale": `{}`, "memory_health_duplicates": `{}`,
		"memory_consolidate": `{"id1":"0190a5b2","id2":"0190a5b3"}`, "memory_migration_run": `{}`} {
		answer := s.ask("tools/call", json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)))
		if answer.Error != nil || !strings.Contains(string(answer.Result), `"success":true`) {
			t.Errorf("%s answers %s, error %v", name, answer.Result, answer.Error)
		}
	}
}

// nothingThere answers every operation with its empty result and keeps the request.
type nothingThere struct{ req any }

func (n *nothingThere) Invoke(_ context.Context, s *op.Spec, req any) (any, error) {
	n.req = req
	return reflect.New(s.Result).Interface(), nil
}

// specCount counts what the names of the specification add to the tools of all, in place of
// the tools of their operations.
func specCount(t *testing.T) {
	var added []string
	for name := range checkedTools(t, All) {
		if _, ok := specTools[name]; ok && name != "vector_search_knowledge" {
			added = append(added, name)
		}
	}
	slices.Sort(added)
	if got := strings.Join(added, " "); got != newTools {
		t.Errorf("added are %s, want %s", got, newTools)
	}
	for _, s := range []*op.Spec{op.HealthStale.Spec, op.HealthDuplicates.Spec, op.HealthMerge.Spec, op.Migrate.Spec} {
		if _, no := withheld(s); !no || checkedTools(t, All)[toolNameOf(s)] != nil {
			t.Errorf("%s is there twice", s.Name)
		}
	}
}

func specSchemas(t *testing.T) {
	tools := checkedTools(t, All)
	for name, want := range specTools {
		raw, err := json.Marshal(tools[name].InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct{ Default json.RawMessage }
			Required   []string
		}
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		for param, otherwise := range want {
			p, ok := schema.Properties[param]
			if must := slices.Contains(schema.Required, param); !ok || string(p.Default) != otherwise || must != (otherwise == "" && param != "category") {
				t.Errorf("%s of %s has the default %s, required %v", param, name, p.Default, must)
			}
		}
	}
}

// specParameters looks at what the operations are asked for what a model gives.
func specParameters(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		want       any
	}{
		{"memory_health_stale", `{}`, &op.HealthStaleRequest{DaysUnused: new(30), Collection: "knowledge", Limit: 20}},
		{"memory_health_stale", `{"days_unused":7,"collection":"house","limit":3}`, &op.HealthStaleRequest{DaysUnused: new(7), Collection: "house", Limit: 3}},
		{"memory_health_duplicates", `{"similarity_threshold":0.9}`, &op.HealthDuplicatesRequest{SimilarityThreshold: new(0.9), Collection: "knowledge", Limit: 20}},
		{"memory_consolidate", `{"id1":"a","id2":"b","keep":"id2"}`, &op.HealthMergeRequest{ID1: "a", ID2: "b", Collection: "knowledge", Keep: "id2"}},
		{"memory_migration_run", `{}`, &op.MigrateRequest{Collection: "knowledge"}},
	} {
		r := new(nothingThere)
		newSession(t, r, All).ask("tools/call", json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.args)))
		got, want := asJSON(t, r.req), asJSON(t, c.want)
		if got != want {
			t.Errorf("%s %s asks for %s, want %s", c.tool, c.args, got, want)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
