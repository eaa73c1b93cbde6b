package mcp

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"emberd/internal/wire"
)

// TestDocumentation holds docs/reference/mcp-tools.md against the tools it is about; -update
// rewrites it.
func TestDocumentation(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`# MCP tools

The tools that "emberd mcp --tools PROFILE" lists, by profile. A client can call every tool in every profile. The
schemas come with "tools/list". "go test ./internal/mcp -run TestDocumentation -update" writes this page.

An error is a result with the error flag and {"success": false, "message": …}. The message names the parameter, the value
and the bound. In the profile reference an error is the message only. emberd cuts an answer at 256 KiB: then "truncated" is
true, and "how_to_go_on" explains how to read the rest. Times are RFC 3339; in the CortexGraph tools some are seconds since
1970. A parameter with the value null counts as missing.
`)
	heads := map[Profile]string{
		Agent:       "Few tools, for an agent that remembers; the default.",
		Notes:       "The tools of agents, and these, which read and write notes in the folders of vault.agent_folders.",
		CortexGraph: "The tools of CortexGraph, as its API reference has them.",
		Reference:   "The tools of the memory server in the protocol's own repository.",
		All:         "Every operation. The tools of CortexGraph are among them.",
	}
	for _, p := range []Profile{Agent, Notes, CortexGraph, Reference, All} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", p, heads[p])
		tools := checkedTools(t, p)
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			if owner(tools[name]) == p {
				documentTool(t, &b, tools[name])
			}
		}
		for _, s := range withheldSpecs() {
			if p == All {
				why, _ := withheld(s)
				fmt.Fprintf(&b, "\nNo tool is %s: %s.\n", s.Name, why)
			}
		}
	}
	golden(t, filepath.Join("..", "..", "docs", "reference", "mcp-tools.md"), b.Bytes())
}

func documentTool(t *testing.T, b *bytes.Buffer, tool *checked) {
	t.Helper()
	in, isSchema := tool.InputSchema.(*jsonschema.Schema)
	out, alsoSchema := tool.OutputSchema.(*jsonschema.Schema)
	if !isSchema || !alsoSchema {
		t.Fatalf("the schemas of %s are a %T and a %T", tool.Name, tool.InputSchema, tool.OutputSchema)
	}
	fmt.Fprintf(b, "\n### %s\n\n**%s.** %s%s\n\n", tool.Name, tool.Title, tool.Description, manner(tool))
	if len(in.Properties) > 0 {
		b.WriteString("| parameter | takes | default | |\n|---|---|---|---|\n")
	}
	for _, name := range ordered(in) {
		p := in.Properties[name]
		must := ""
		if slices.Contains(in.Required, name) {
			must = "required"
		} else if p.Default != nil {
			must = "`" + string(p.Default) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, takes(p), must, strings.ReplaceAll(p.Description, "|", "\\|"))
	}
	if len(in.Properties) > 0 {
		b.WriteByte('\n')
	}
	var keys []string
	for _, name := range ordered(out) {
		keys = append(keys, "`"+name+"`")
	}
	fmt.Fprintf(b, "Answers %s.\n", strings.Join(keys, ", "))
}

// manner is what the annotations of a tool say.
func manner(tool *checked) string {
	switch {
	case tool.Annotations.ReadOnlyHint:
		return " *Only reads.*"
	case *tool.Annotations.DestructiveHint:
		return " *Removes.*"
	}
	return ""
}

// ordered are the members of a schema in the order of the fields they come from.
func ordered(s *jsonschema.Schema) []string {
	if len(s.PropertyOrder) == len(s.Properties) {
		return s.PropertyOrder
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// takes says what a parameter takes.
func takes(s *jsonschema.Schema) string {
	kind := kindOf(s)
	if kind == "" {
		kind = "anything"
	}
	bounds := func(least, most any, of string) string {
		switch {
		case least == nil && most == nil:
			return ""
		case least == nil:
			return fmt.Sprintf(" of at most %v%s", most, of)
		case most == nil:
			return fmt.Sprintf(" of at least %v%s", least, of)
		}
		return fmt.Sprintf(" of %v to %v%s", least, most, of)
	}
	for _, one := range s.AnyOf {
		if one.MaxItems != nil {
			kind += bounds(number(one.MinItems), number(one.MaxItems), " items")
		}
	}
	var words []string
	for _, e := range s.Enum {
		raw, err := wire.Marshal(e)
		if err == nil {
			words = append(words, "`"+string(raw)+"`")
		}
	}
	if len(words) > 0 {
		return strings.Join(words, ", ")
	}
	return kind + bounds(number(s.Minimum), number(s.Maximum), "") + bounds(number(s.MinLength), number(s.MaxLength), " characters") +
		bounds(number(s.MinItems), number(s.MaxItems), " items")
}

// number is what a pointer points at, nil for none.
func number[T int | float64](n *T) any {
	if n == nil {
		return nil
	}
	return plain(float64(*n))
}
