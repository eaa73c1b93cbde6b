package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// listed is a parameter as CortexGraph's API reference lists it, which
// testdata/upstream-cortexgraph.json has of every tool.
type listed struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Required bool            `json:"required"`
	Default  json.RawMessage `json:"default"`
}

// explained are the differences there are, and why.
func explained() map[string]string {
	const code = "CortexGraph's code takes it, its reference does not list it"
	const setting = "a setting is the default, whose own is the listed one"
	return map[string]string{
		"search_memory: status is not listed":                    code,
		"search_memory: include_review_candidates is not listed": code,
		"search_memory: page is not listed":                      code,
		"search_memory: page_size is not listed":                 code,
		"search_memory: preview_length is not listed":            code,

		"cluster_memories: threshold has the default none, listed is 0.83":           setting,
		"cluster_memories: duplicate_threshold has the default none, listed is 0.88": setting,
	}
}

func TestDifferencesToCortexGraphsReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/upstream-cortexgraph.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference map[string][]listed
	if err := json.Unmarshal(raw, &reference); err != nil {
		t.Fatal(err)
	}
	tools := checkedTools(t, CortexGraph)
	var found []string
	for _, name := range slices.Sorted(maps.Keys(reference)) {
		if tool := tools[name]; tool == nil || owner(tool) != CortexGraph {
			found = append(found, name+" is missing")
			continue
		}
		for _, d := range differences(t, tools[name], reference[name]) {
			found = append(found, name+": "+d)
		}
	}
	for name, tool := range tools {
		if reference[name] == nil && slices.Contains(tool.profiles, CortexGraph) {
			found = append(found, name+" is not listed")
		}
	}
	reasons := explained()
	for _, d := range found {
		if reasons[d] == "" {
			t.Errorf("not explained: %s", d)
		}
		delete(reasons, d)
	}
	for d := range reasons {
		t.Errorf("explained and not so: %s", d)
	}
}

// differences compares the parameters of a tool with those that are listed.
func differences(t *testing.T, tool *checked, parameters []listed) []string {
	t.Helper()
	schema, ok := tool.InputSchema.(*jsonschema.Schema)
	if !ok {
		t.Fatalf("the input schema of %s is a %T", tool.Name, tool.InputSchema)
	}
	var out []string
	differ := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	known := make(map[string]bool)
	for _, p := range parameters {
		known[p.Name] = true
		own := schema.Properties[p.Name]
		if own == nil {
			differ("%s is missing", p.Name)
			continue
		}
		if got := kindOf(own); !strings.HasPrefix(p.Type, got) {
			differ("%s is a %s, listed as %s", p.Name, got, p.Type)
		}
		if got := slices.Contains(schema.Required, p.Name); got != p.Required {
			differ("%s is required %v, listed as %v", p.Name, got, p.Required)
		}
		if !same(orNone(own.Default), orNone(p.Default)) {
			differ("%s has the default %s, listed is %s", p.Name, plainDefault(own.Default), plainDefault(p.Default))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !known[name] {
			differ("%s is not listed", name)
		}
	}
	return out
}

// kindOf is the type of a parameter in the words of the list.
func kindOf(s *jsonschema.Schema) string {
	switch {
	case len(s.AnyOf) > 0:
		return "string or array"
	case s.Type == "array":
		return "array[" + s.Items.Type + "]"
	}
	return s.Type
}

// orNone is a default in one spelling, and the word none without one.
func orNone(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage(`"none"`)
	}
	return json.RawMessage(strings.TrimSuffix(string(raw), ".0"))
}

func plainDefault(raw json.RawMessage) string { return strings.Trim(string(orNone(raw)), `"`) }
