package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// nobody is an id that no memory of a transcript has; there it is <nobody>.
const nobody = "0199b2d4-6c1e-7a53-9f20-3d1c8a7e5b42"

// TestEveryBadParameterIsRefused makes of each tool's input schema the calls that it
// rules out, and holds what is said of them against testdata/refused.
func TestEveryBadParameterIsRefused(t *testing.T) {
	store := newStore(t, newClock(), nil)
	for _, p := range Profiles() {
		s := newSession(t, store, p)
		for _, name := range slices.Sorted(maps.Keys(s.tools)) {
			if tool := s.tools[name]; owner(tool) == p {
				t.Run(name, func(t *testing.T) { refusals(t, s, tool) })
			}
		}
	}
}

// TestNullArgumentsAreNone calls a tool as clients do that write null for no arguments.
func TestNullArgumentsAreNone(t *testing.T) {
	s := newSession(t, newStore(t, newClock(), nil), Agent)
	answer := s.ask("tools/call", json.RawMessage(`{"name":"memory_status","arguments":null}`))
	if answer.Error != nil || strings.Contains(string(answer.Result), `"isError":true`) {
		t.Errorf("it is answered with %s, %+v", answer.Result, answer.Error)
	}
}

// owner is the profile that answers for a tool that several show.
func owner(tool *checked) Profile { return tool.profiles[0] }

// refusalsOf is where the refusals of a tool are.
func refusalsOf(tool *checked) string {
	return filepath.Join("testdata", "refused", string(owner(tool)), tool.Name+".txt")
}

func refusals(t *testing.T, s *session, tool *checked) {
	var got bytes.Buffer
	pl := player{session: s, t: t}
	for _, bad := range badCalls(t, tool.Tool) {
		args := pl.spelled(bad.args)
		if err := fits(tool.input(), args); err == nil {
			t.Errorf("the schema takes %s", bad.args)
		}
		res, _ := s.callTool(tool.Name, args)
		switch {
		case res == nil || !res.IsError:
			t.Errorf("%s was accepted", bad.args)
		case !strings.Contains(res.text(), bad.names):
			t.Errorf("%s is refused with %s, which does not name %s", bad.args, res.text(), bad.names)
		default:
			fmt.Fprintf(&got, "%s\n\t%s\n", bad.args, res.text())
		}
	}
	golden(t, refusalsOf(tool), got.Bytes())
}

// golden compares what was got with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; make it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; see with -update what of it\ngot:\n%s", file, got)
	}
}

// badCall is a call that a schema rules out, for the sake of one parameter.
type badCall struct{ args, names string }

func badCalls(t *testing.T, tool *sdk.Tool) []badCall {
	schema, ok := tool.InputSchema.(*jsonschema.Schema)
	if !ok {
		t.Fatalf("input schema of %s is a %T", tool.Name, tool.InputSchema)
	}
	good := make(map[string]string)
	for _, name := range schema.Required {
		good[name] = goodValue(schema.Properties[name])
	}
	var out []badCall
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if slices.Contains(schema.Required, name) {
			out = append(out, badCall{with(good, name, ""), name})
		}
		for _, value := range badValues(schema.Properties[name]) {
			out = append(out, badCall{with(good, name, value), name})
		}
	}
	if schema.AdditionalProperties == nil { // as those of the reference server
		return out
	}
	return append(out, badCall{with(good, "no_such_parameter", "1"), "no_such_parameter"})
}

// with writes out the arguments with one of them as given, or left out.
func with(args map[string]string, name, value string) string {
	args = maps.Clone(args)
	delete(args, name)
	if value != "" {
		args[name] = value
	}
	var members []string
	for _, k := range slices.Sorted(maps.Keys(args)) {
		members = append(members, fmt.Sprintf("%q:%s", k, args[k]))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// goodValue is a value that fits a schema.
func goodValue(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		raw, _ := json.Marshal(s.Enum[0])
		return string(raw)
	case len(s.AnyOf) > 0:
		return goodValue(s.AnyOf[0])
	case s.Format == "uuid":
		return `"` + nobody + `"`
	case s.Format == "date-time":
		return `"2026-01-31T12:00:00Z"`
	case s.Type == "string":
		return `"words"`
	case s.Type == "array" && s.Items != nil:
		return "[" + goodValue(s.Items) + "]"
	case s.Type == "object":
		var members []string
		for _, name := range s.Required {
			members = append(members, fmt.Sprintf("%q:%s", name, goodValue(s.Properties[name])))
		}
		return "{" + strings.Join(members, ",") + "}"
	case s.Type == "boolean":
		return "true"
	case s.Minimum != nil:
		return plain(*s.Minimum)
	}
	return "1"
}

// plain writes a number without an exponent.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// badValues are values that do not fit a schema, one for each thing that it asks.
func badValues(s *jsonschema.Schema) []string {
	var out []string
	switch s.Type {
	case "string":
		out = append(out, "5")
	case "integer":
		out = append(out, `"5"`, "1.5")
	case "number":
		out = append(out, `"5"`)
	case "boolean":
		out = append(out, `"yes"`)
	case "array":
		out = append(out, "5")
	case "object":
		out = append(out, "[]")
	case "":
		if len(s.AnyOf) > 0 {
			out = append(out, "{}")
		}
	}
	if len(s.Enum) > 0 {
		out = append(out, `"nonsense"`)
	}
	if s.Minimum != nil {
		out = append(out, plain(*s.Minimum-1))
	}
	if s.Maximum != nil {
		out = append(out, plain(*s.Maximum+1))
	}
	if s.MinLength != nil && *s.MinLength > 0 {
		out = append(out, `""`)
	}
	if s.MaxLength != nil {
		out = append(out, fmt.Sprintf(`"<%d x>"`, *s.MaxLength+1))
	}
	if s.MinItems != nil && *s.MinItems > 0 {
		out = append(out, `[]`)
	}
	if s.MaxItems != nil && s.Items != nil && s.Items.Type == "string" {
		out = append(out, fmt.Sprintf(`[<%d "a">]`, *s.MaxItems+1))
	}
	return out
}

// TestNoRefusalIsOfAToolThatIsGone keeps testdata/refused tidy.
func TestNoRefusalIsOfAToolThatIsGone(t *testing.T) {
	files, err := filepath.Glob("testdata/refused/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, p := range Profiles() {
		for _, tool := range checkedTools(t, p) {
			known[refusalsOf(tool)] = true
		}
	}
	for _, f := range files {
		if !known[f] {
			t.Errorf("%s is of no tool; remove it", f)
		}
	}
}
