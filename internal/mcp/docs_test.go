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

This page lists the tools of "emberd mcp --tools PROFILE" by profile. A client can call every tool in every profile.
"tools/list" returns the schemas.

In the profiles agent, notes and all, a result is a text for a model, and "structuredContent" is missing. In the
profiles cortexgraph and reference, a result contains the same answer twice: as JSON in "structuredContent", and as
text. Claude Code and other clients that pass on results to a model receive only the text. To receive one form in all
profiles, set "mcp.form" to text or structured. The members after "JSON:" are those of "structuredContent".

In memory_query, the scope notes contains memories and the notes of the vault, and the scope vault contains only notes.
On the command line, "emberd search --scope notes" searches only notes.

An error is a result with the error flag and {"success": false, "message": …}. The message names the parameter, the value
and the bound. In the profile reference, an error is only a message. emberd cuts an answer at 256 KiB: then "truncated" is
true, and "how_to_go_on" explains how to read the rest. Times are RFC 3339; some CortexGraph tools use seconds since
1970. A parameter with the value null counts as missing.
`)
	heads := map[Profile]string{
		Agent: "This profile is the default and contains a few tools for an agent.",
		Notes: "This profile contains the tools of the profile agent, and tools for notes. Agents write only in the folders of the " +
			"settings vault.promoted_folder and vault.agent_folders.",
		CortexGraph: "This profile contains the tools of CortexGraph, with the same names and parameters.",
		Reference:   "This profile contains the tools of the MCP reference memory server.",
		All:         "This profile contains every operation and the tools of CortexGraph.",
	}
	for _, p := range []Profile{Agent, Notes, CortexGraph, Reference, All} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", p, heads[p])
		tools := checkedTools(t, p)
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			if owner(tools[name]) == p {
				documentTool(t, &b, tools[name])
			}
		}
	}
	var reasons []string
	names := map[string][]string{}
	for _, s := range withheldSpecs() {
		why, _ := withheld(s)
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], s.Name)
	}
	b.WriteString("\n## Operations without a tool\n\n| operations | reason |\n|---|---|\n")
	for _, why := range reasons {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(names[why], ", "), why)
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
	rest := strings.TrimPrefix(tool.Description, tool.Title+".")
	fmt.Fprintf(b, "\n### %s\n\n**%s.** %s%s\n\n", tool.Name, tool.Title, strings.TrimSpace(rest), manner(tool))
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
	fmt.Fprintf(b, "JSON: %s.\n", strings.Join(keys, ", "))
}

// manner is what the annotations of a tool say.
func manner(tool *checked) string {
	switch {
	case tool.Annotations.ReadOnlyHint:
		return " *Read-only.*"
	case *tool.Annotations.DestructiveHint:
		return " *Destructive.*"
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
