package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/op"
)

// operationTools returns a tool for each operation of the table.
func operationTools() []*tool.Tool {
	var out []*tool.Tool
	advise := operationAdvice()
	for _, s := range op.Table() {
		if _, no := withheld(s); !no {
			out = append(out, operationTool(s, advise))
		}
	}
	return out
}

// withheld returns why an operation is not for a model, and whether it is not.
func withheld(s *op.Spec) (why string, no bool) {
	switch s {
	case op.Purge.Spec, op.QuarantineDrop.Spec:
		return "emberd cannot undo this operation, so only a person can request it", true
	case op.Confirm.Spec:
		return "only a person can confirm a text from a tool or the web", true
	case op.AuditForgive.Spec:
		return "only a person can reset the throttling of a caller", true
	case op.EnginePause.Spec, op.EngineResume.Spec:
		return "only a person can pause or resume the computation of embeddings", true
	case op.TokenCreate.Spec, op.TokenList.Spec, op.TokenRevoke.Spec:
		return "only a person can manage access tokens", true
	case op.Hook.Spec:
		return "the coding agent, not the model, sends hook events", true
	case op.SessionList.Spec, op.SessionForget.Spec:
		return "only a person can list or delete the memories that hooks saved", true
	case op.VaultLinks.Spec:
		return "only a person can write links into all notes", true
	case op.Embed.Spec:
		return "a language model cannot use embeddings, so no tool returns them", true
	case op.HealthStale.Spec, op.HealthLowAccess.Spec, op.HealthDuplicates.Spec, op.HealthMerge.Spec, op.Migrate.Spec:
		return "the tools memory_health_…, memory_consolidate and memory_migration_run do the same", true
	case op.Export.Spec, op.Import.Spec:
		return "all memories together are too large for a model; run: emberd export, or emberd import", true
	}
	return "", false
}

// withheldField reports a field of a request that a model cannot set: files are
// written where the person who runs the daemon says.
func withheldField(s *op.Spec, field string) bool {
	return s == op.BackupCreate.Spec && field == "File"
}

// toolNameOf returns the name of an operation's tool.
func toolNameOf(s *op.Spec) string { return strings.ReplaceAll(s.Name, ".", "_") }

// namingTools returns a description with the names of tools in place of those of operations. Operations
// without a dot in their name have tools of the same name.
func namingTools(about string) string {
	pairs := []string{"the operation ", "the tool "}
	for _, s := range op.Table() {
		if strings.Contains(s.Name, ".") {
			pairs = append(pairs, s.Name, toolNameOf(s))
		}
	}
	return strings.NewReplacer(pairs...).Replace(about)
}

// operationTool makes a tool of an operation. Its parameters are the fields of the
// request, wherever they travel over HTTP. What its result is made of is in OpenAPI:
// whole schemas of all results would be most of what every session lists, and few
// models are shown them.
func operationTool(s *op.Spec, advise func(string) string) *tool.Tool {
	name, fields := toolNameOf(s), parameters(s)
	input := make([]reflect.StructField, len(fields))
	for i, f := range fields {
		input[i] = reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
	}
	in := reflect.StructOf(input)
	return &tool.Tool{
		Def:      tool.Definition(name, s.Effect, namingTools(s.Summary)),
		Profiles: []Profile{All},
		Input:    in,
		Output:   s.Result,
		Outlined: true,
		Fill:     wire.FillerOf(reflect.PointerTo(s.Result)),
		Advise:   advise,
		Run: func(ctx context.Context, c *tool.Call, args json.RawMessage) (any, error) {
			given := reflect.New(in)
			if err := wire.DecodeInto("the input of "+name, args, given.Interface()); err != nil {
				return nil, err
			}
			req := s.NewRequest()
			for i, f := range fields {
				reflect.ValueOf(req).Elem().FieldByIndex(f.Index).Set(given.Elem().Field(i))
			}
			return c.Invoke(ctx, s, req)
		},
	}
}

// parameters returns the fields of a request under the names that they have in a tool: that
// of the body, or else of the place where they travel.
func parameters(s *op.Spec) []reflect.StructField {
	var out []reflect.StructField
	for _, f := range reflect.VisibleFields(s.Request) {
		if f.Anonymous || !f.IsExported() || withheldField(s, f.Name) {
			continue
		}
		name, optional := wire.JSONName(f)
		for _, place := range []string{"path", "query", "header"} {
			if at := f.Tag.Get(place); name == "" && at != "" {
				name, optional = strings.ReplaceAll(strings.ToLower(at), "-", "_"), place != "path"
			}
		}
		if name == "" {
			continue
		}
		if optional {
			name += ",omitempty"
		}
		f.Tag = reflect.StructTag(fmt.Sprintf("json:%q doc:%q ", name, namingTools(f.Tag.Get("doc")))) + f.Tag
		out = append(out, f)
	}
	return out
}
