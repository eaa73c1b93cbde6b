package reference

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/memory"
)

// conforming returns the function of a tool behind the checks of the reference server: it ignores members that its
// schema does not name, and reports every member of another type in one error.
func conforming(t *tool.Tool) func(context.Context, *tool.Call, json.RawMessage) (any, error) {
	run := t.Run
	return func(ctx context.Context, c *tool.Call, args json.RawMessage) (any, error) {
		known, issues := conform(t.Input, args)
		if len(issues) > 0 {
			return nil, memory.Errorf(memory.Invalid,
				"MCP error -32602: Input validation error: Invalid arguments for tool %s: %s", t.Def.Name,
				strings.Join(issues, "\n"))
		}
		return run(ctx, c, known)
	}
}

// conform returns the members of arguments that a struct has, and what does not fit it.
func conform(in reflect.Type, args json.RawMessage) (known json.RawMessage, issues []string) {
	var value any = map[string]any{}
	if len(bytes.TrimSpace(args)) > 0 && string(args) != "null" {
		dec := json.NewDecoder(bytes.NewReader(args))
		dec.UseNumber()
		if dec.Decode(&value) != nil {
			return args, nil // decoding it reports why
		}
	}
	k := checker{}
	raw, err := wire.Marshal(k.fit(in, value, true, ""))
	if err != nil {
		return args, nil
	}
	return raw, k.issues
}

// checker compares a value with a type, as the schemas of the reference server do.
type checker struct{ issues []string }

// fit returns a value without the members that a type lacks. Without given, there is no value.
func (k *checker) fit(want reflect.Type, value any, given bool, path string) any {
	switch want.Kind() {
	case reflect.Struct:
		if object, ok := value.(map[string]any); ok {
			return k.members(want, object, path)
		}
		k.misfit("object", value, given, path)
	case reflect.Slice:
		list, ok := value.([]any)
		if !ok {
			k.misfit("array", value, given, path)
		}
		for i := range list {
			list[i] = k.fit(want.Elem(), list[i], true, fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		if _, ok := value.(string); !ok {
			k.misfit("string", value, given, path)
		}
	}
	return value
}

func (k *checker) members(want reflect.Type, object map[string]any, path string) any {
	out := make(map[string]any)
	for f := range want.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, given := object[name]
		if !given && strings.Contains(rest, "omitempty") {
			continue
		}
		out[name] = k.fit(f.Type, value, given, strings.TrimPrefix(path+"."+name, "."))
	}
	return out
}

func (k *checker) misfit(want string, value any, given bool, path string) {
	is := "undefined"
	if given {
		is = kindOf(value)
	}
	issue := fmt.Sprintf("Invalid input: expected %s, received %s", want, is)
	if path != "" {
		issue += " at " + path
	}
	k.issues = append(k.issues, issue)
}

// kindOf returns what JavaScript calls the type of a value.
func kindOf(value any) string {
	kind := ""
	switch value.(type) {
	case bool:
		kind = "boolean"
	case json.Number:
		kind = "number"
	case string:
		kind = "string"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	}
	return cmp.Or(kind, "null")
}
