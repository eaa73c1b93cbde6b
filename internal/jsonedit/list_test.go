package jsonedit

import (
	"bytes"
	"encoding/json"
	"testing"
)

func ours(element []byte) bool { return bytes.Contains(element, []byte(`"ours"`)) }

// An element that was added and removed leaves the text as it was, byte for byte.
func TestListThereAndBack(t *testing.T) {
	for _, text := range []string{
		`{"a": {"l": [1, 2]}}`, `{"a":{"l":[1,2]}}`, "{\n  \"a\": {\n    \"l\": [\n      {\"b\": 1},\n      2\n    ]\n  }\n}\n",
		"{\r\n\t\"a\": {\r\n\t\t\"l\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n", "{\n  \"a\": {\"l\": [\n    1]}}",
		"{\n  // mine\n  \"a\": {\n    \"l\": [\n      1, // one\n      /* two */ 2,\n      // the end\n    ],\n  },\n}\n",
	} {
		with, err := Append([]byte(text), Comments, map[string]string{"k": "ours"}, "a", "l")
		if err != nil {
			t.Fatal(err)
		}
		elements, err := Elements(with, Comments, "a", "l")
		if err != nil || len(elements) < 2 || !ours(elements[len(elements)-1]) || !json.Valid(elements[0]) {
			t.Errorf("%s became\n%s\nwith the elements %s (%v)", text, with, elements, err)
		}
		back, err := Drop(with, Comments, ours, "a", "l")
		if err != nil || string(back) != text {
			t.Errorf("%s became\n%s\nand then\n%s (%v)", text, with, back, err)
		}
	}
}

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "{\n  \"a\": {\n    \"l\": [\n      true\n    ]\n  }\n}\n"},
		{`{"a":{"l":[]}}`, "{\"a\":{\"l\":[\n  true\n]}}"},
		{"{\n  \"a\": {\n    \"l\": [\n      1\n    ]\n  }\n}\n", "{\n  \"a\": {\n    \"l\": [\n      1,\n      true\n    ]\n  }\n}\n"},
	} {
		if got, err := Append([]byte(tt.text), Strict, true, "a", "l"); err != nil || string(got) != tt.want {
			t.Errorf("%q became %q (%v), want %q", tt.text, got, err, tt.want)
		}
	}
	if _, err := Append([]byte(`{"a":{"l":5}}`), Strict, true, "a", "l"); err == nil || err.Error() != `line 1, column 11: "l" is not a JSON list` {
		t.Errorf("to a number: %v", err)
	}
}

// Elements of others stay, in their places and lines.
func TestDrop(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"l":["ours", 1, "ours", 2]}`, `{"l":[1, 2]}`},
		{"{\"l\":[\n  \"ours\",\n  1\n]}", "{\"l\":[\n  1\n]}"},
		{"{\"l\":[\n  // why\n  \"ours\",\n  1\n]}", "{\"l\":[\n  // why\n  1\n]}"},
		{`{"l":["ours"]}`, `{"l":[]}`}, {`{"m":1}`, `{"m":1}`}, {"", ""},
	} {
		if got, err := Drop([]byte(tt.text), Comments, ours, "l"); err != nil || string(got) != tt.want {
			t.Errorf("%q became %q (%v), want %q", tt.text, got, err, tt.want)
		}
	}
}
