package cleanup

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"emberd/memory"
)

func fields(t *testing.T, s string) (out map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The thirteen names of the specification, each at either place and with any value.
func TestManual(t *testing.T) {
	if n := len(AutomationFields()); n != 13 {
		t.Fatalf("there are %d names", n)
	}
	for name := range strings.FieldsSeq("file_path line_number ast_data signature docstring full_name ast_type start_line end_line source_hash parsed_at is_chunk chunk_index") {
		for _, value := range []string{"null", `""`, "0", "false", "{}", `"x"`} {
			with := fields(t, `{"entityType":"documentation","`+name+`":`+value+`}`)
			if Manual(with, nil) || Manual(nil, with) {
				t.Errorf("with %s: %s it is manual", name, value)
			}
		}
		for _, other := range []string{strings.ToUpper(name), "x_" + name, name + "s", " " + name} {
			if with := fields(t, `{"`+other+`":"x"}`); !Manual(with, with) {
				t.Errorf("with %q it is not manual", other)
			}
		}
	}
	for _, s := range []string{`{}`, `{"entityType":"quantum_pattern","name":"Entanglement Strategy"}`, `{"has_implementation":true,"chunk_type":"metadata"}`, `{"nested":{"file_path":"x"}}`, `{"sources":[{"ref":"x"}],"vault_path":"x"}`} {
		if with := fields(t, s); !Manual(with, nil) || !Manual(nil, with) || !Manual(with, with) {
			t.Errorf("%s is not manual", s)
		}
	}
	if !Manual(nil, nil) {
		t.Error("what has no fields is not manual")
	}
}

func TestChunking(t *testing.T) {
	for _, c := range []struct {
		unknown, meta  string
		implementation bool
		chunk          string
	}{
		{`{}`, `{}`, false, ""},
		{`{"has_implementation":true,"chunk_type":"metadata"}`, `{}`, true, "metadata"},
		{`{}`, `{"has_implementation":true,"chunk_type":"implementation"}`, true, "implementation"},
		{`{"has_implementation":false}`, `{"has_implementation":true}`, true, ""},
		{`{"has_implementation":"true","chunk_type":7}`, `{}`, false, ""},
		{`{"chunk_type":"a"}`, `{"chunk_type":"b"}`, false, "a"},
	} {
		if has, chunk := Chunking(fields(t, c.unknown), fields(t, c.meta)); has != c.implementation || chunk != c.chunk {
			t.Errorf("of %s and %s it is %v, %q", c.unknown, c.meta, has, chunk)
		}
	}
}

func TestFixed(t *testing.T) {
	for _, c := range []struct {
		m       memory.Memory
		decided bool
		fixed   bool
	}{
		{memory.Memory{Strength: 1}, false, false},
		{memory.Memory{Strength: 1.79}, false, false},
		{memory.Memory{Strength: 1.8}, false, true},
		{memory.Memory{Core: true}, false, true},
		{memory.Memory{PromotedTo: "notes/a.md"}, false, true},
		{memory.Memory{PromotedAt: time.Unix(1, 0)}, false, false},
		{memory.Memory{}, true, true},
	} {
		if why := Fixed(&c.m, c.decided); (why != "") != c.fixed {
			t.Errorf("%+v, decided %v: %q", c.m, c.decided, why)
		}
	}
}
