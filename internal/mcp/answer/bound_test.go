package answer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/internal/mcp/answer"
	"emberd/internal/wire"
)

func TestWhatFitsStaysAsItIs(t *testing.T) {
	raw := json.RawMessage(`{"b":1.50,"a":["<x>"]}`)
	if got := answer.Bound(raw, len(raw), "no"); !bytes.Equal(got, raw) {
		t.Errorf("Bound is %s, want %s", got, raw)
	}
}

func TestListsAreCutAtTheBorderOfAnItem(t *testing.T) {
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf(`{"id":%d,"text":%q}`, i, strings.Repeat("x", 80)))
	}
	raw := json.RawMessage(`{"z":[1,2],"results":[` + strings.Join(items, ",") + `],"total":100}`)
	got := answer.Bound(raw, 4000, "ask for less")
	want := `{"z":[1,2],"results":[` + strings.Join(items[:29], ",") + `],"total":100,"truncated":true,"how_to_go_on":"results has 29 of 100; ask for less"}`
	if string(got) != want {
		t.Errorf("Bound is\n%s\nwant\n%s", got, want)
	}
}

func TestTextsAreCutWithAMark(t *testing.T) {
	raw := json.RawMessage(`{"memory":{"id":"a","content":"` + strings.Repeat("ż", 5000) + `","tags":["b"]},"truncated":false}`)
	got := answer.Bound(raw, 4000, "ask for less")
	var out struct {
		Memory struct {
			ID, Content string
			Tags        []string
		}
		Truncated bool
		Next      string `json:"how_to_go_on"`
	}
	if err := json.Unmarshal(got, &out); err != nil {
		t.Fatal(err)
	}
	if len(got) > 4000 || !strings.HasSuffix(out.Memory.Content, "ż… [cut]") || !out.Truncated || len(out.Memory.Tags) != 1 {
		t.Errorf("%d bytes: %.60s…, truncated %v", len(got), out.Memory.Content, out.Truncated)
	}
	if want := fmt.Sprintf("memory.content is cut: the last %d bytes are missing; ask for less", 10_000-len(strings.TrimSuffix(out.Memory.Content, "… [cut]"))); out.Next != want {
		t.Errorf("next is %q, want %q", out.Next, want)
	}
}

// Whatever an answer is made of, it is cut to the bound, stays JSON and keeps the order
// of its members.
func TestNoAnswerIsUnbounded(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return rapid.StringOfN(rapid.RuneFrom([]rune("a\"\u0001ż<𝄞")), 0, 4000, -1).Draw(t, "text")
		case 1:
			return rapid.SliceOfN(rapid.StringN(0, 100, -1), 0, 300).Draw(t, "list")
		case 2:
			return rapid.MapOfN(rapid.StringN(1, 30, -1), rapid.Int(), 0, 400).Draw(t, "map")
		case 3:
			return []any{map[string]any{"deep": rapid.SliceOfN(rapid.StringN(0, 2000, -1), 0, 5).Draw(t, "deep")}}
		}
		return rapid.Float64().Draw(t, "number")
	})
	const most = 8000
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOfN(value, 0, 8).Draw(t, "fields")
		var b bytes.Buffer
		b.WriteByte('{')
		for i, f := range fields {
			if i > 0 {
				b.WriteByte(',')
			}
			raw, err := wire.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, `"f%d":%s`, i, raw)
		}
		b.WriteByte('}')
		got := answer.Bound(b.Bytes(), most, "ask for less")
		if len(got) > most {
			t.Fatalf("%d bytes are left of %d", len(got), b.Len())
		}
		var out map[string]any
		if err := json.Unmarshal(got, &out); err != nil {
			t.Fatalf("cut to what is no JSON: %v", err)
		}
		at := -1
		for i := range fields {
			next := bytes.Index(got, fmt.Appendf(nil, `"f%d":`, i))
			if next <= at {
				t.Fatalf("f%d is not behind f%d", i, i-1)
			}
			at = next
		}
		if cut := out["truncated"] == true; cut != (b.Len() > most) {
			t.Fatalf("of %d bytes truncated is %v", b.Len(), cut)
		}
	})
}

func TestTextIsCutAtALine(t *testing.T) {
	text := strings.Repeat("a line of the text\n", 100)
	got := answer.Cut(text, 500, "ask for less")
	if want := strings.Repeat("a line of the text\n", 23) + "[truncated: 500 of 1900 bytes; ask for less]"; got != want {
		t.Errorf("Cut is %q", got)
	}
	if got := answer.Cut(strings.Repeat("ż", 500), 501, ""); !utf8.ValidString(got) || len(got) > 501 {
		t.Errorf("Cut is %d bytes, %q", len(got), got)
	}
}
