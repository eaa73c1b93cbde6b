package jsonedit

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// entry is what the examples add.
var entry = map[string]any{"command": "emberd", "args": []string{"mcp"}}

// additions are texts before and after Set.
var additions = []struct{ name, text, want string }{
	{"nothing", "", `{
  "servers": {
    "emberd": {
      "args": [
        "mcp"
      ],
      "command": "emberd"
    }
  }
}
`},
	{"comments only", "// mine\n", `// mine
{
  "servers": {
    "emberd": {
      "args": [
        "mcp"
      ],
      "command": "emberd"
    }
  }
}
`},
	{"beside others, with tabs", "{\n\t\"servers\": {\n\t\t\"a\": {\"n\": 1.0}\n\t}\n}\n", `{
	"servers": {
		"a": {"n": 1.0},
		"emberd": {
			"args": [
				"mcp"
			],
			"command": "emberd"
		}
	}
}
`},
	{"behind a comment", "{\n  \"servers\": {\n    \"a\": 1 // the first\n  },\n}", `{
  "servers": {
    "a": 1, // the first
    "emberd": {
      "args": [
        "mcp"
      ],
      "command": "emberd"
    }
  },
}`},
	{"behind a comma", "{\n  \"servers\": {\n    \"a\": 1, /* last */\n  },\n}", `{
  "servers": {
    "a": 1, /* last */
    "emberd": {
      "args": [
        "mcp"
      ],
      "command": "emberd"
    },
  },
}`},
	{"in one line", `{"theme":"dark","servers":{"a":1}}`, `{"theme":"dark","servers":{"a":1, "emberd": {"args":["mcp"],"command":"emberd"}}}`},
	{"in place of another", "{\n  \"servers\": {\n    \"emberd\": null, \"b\": 2\n  }\n}", `{
  "servers": {
    "emberd": {
      "args": [
        "mcp"
      ],
      "command": "emberd"
    }, "b": 2
  }
}`},
	{"line ends of Windows", "{\r\n  \"servers\": {}\r\n}\r\n", "{\r\n  \"servers\": {\r\n    \"emberd\": {\r\n      \"args\": [\r\n        \"mcp\"\r\n      ],\r\n      \"command\": \"emberd\"\r\n    }\r\n  }\r\n}\r\n"},
}

func TestSet(t *testing.T) {
	for _, tt := range additions {
		got, err := Set([]byte(tt.text), Comments, entry, "servers", "emberd")
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got (%v)\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the only one", "{\n  \"emberd\": 1\n}", "{}"},
		{"the only one beside a comment", "{\n  // mine\n  \"emberd\": 1\n}", "{\n  // mine\n}"},
		{"the first", "{\n  \"emberd\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"},
		{"the last", "{\n  \"a\": 1, // one\n  \"emberd\": 2\n}", "{\n  \"a\": 1 // one\n}"},
		{"one in the middle", "{\n  \"a\": 1,\n  \"emberd\": 2,\n  \"b\": 2\n}", "{\n  \"a\": 1,\n  \"b\": 2\n}"},
		{"in one line", `{"a":1, "emberd": 2, "b": 3}`, `{"a":1, "b": 3}`},
		{"the last in a line", `{"a":1, "emberd": 2}`, `{"a":1}`},
		{"the first of a line", "{\n  \"emberd\": 1, \"b\": 2\n}", "{\n  \"b\": 2\n}"},
		{"before its comment", "{ // c\n \"emberd\":1 }", "{ // c\n }"},
		{"not there", `{"a": 1}`, `{"a": 1}`},
		{"nothing", "", ""},
	} {
		got, err := Remove([]byte(tt.text), Comments, "emberd")
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
}

// What Set made goes again, and nothing that others wrote.
func TestSetAndRemoveLeaveNoTrace(t *testing.T) {
	for _, text := range []string{
		"{\n  \"theme\": \"dark\"\n}\n", `{"a":1}`, "{}", "{}\n\n\n", "{\n  \"a\": 1\n} // the end", "{\n\t\"a\": 1,\n}",
		"{\n  \"servers\": {},\n  \"a\": 1\n}\n", "{\n  \"servers\": {\n    // mine\n  }\n}\n",
		"{\n  \"servers\": {\n    \"b\": 1\n  }\n}\n", "{\r\n  \"a\": 1\r\n}\r\n",
	} {
		added, err := Set([]byte(text), Comments, entry, "servers", "emberd")
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if back, err := Remove(added, Comments, "servers", "emberd"); err != nil || string(back) != text {
			t.Errorf("%q became %q and then %q (%v)", text, added, back, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		text string
		d    Dialect
		want string
	}{
		{"[]", Strict, "line 1, column 1: the text is not a JSON object"},
		{"{\n  \"servers\": [1]\n}", Strict, `line 2, column 14: "servers" is not a JSON object`},
		{"{\"servers\": {\"emberd\": 1,\n \"emberd\": 2}}", Strict, `line 2, column 2: "emberd" occurs twice; remove one of them`},
		{"{\n  // mine\n}", Strict, "comments and trailing commas are not allowed in this file"},
		{"// mine", Strict, "comments and trailing commas are not allowed in this file"},
		{"{\"a\": 1,}", Strict, "comments and trailing commas are not allowed in this file"},
		{"{\"a\": 1 \"b\": 2}", Comments, `line 1, column 9: invalid character '"' after object value (expecting ',' or '}')`},
		{"{\"ä\" 1}", Comments, `line 1, column 7: invalid character '1' after object name`},
		{"{a: 1}", Comments, `line 1, column 2: invalid literal: a`},
		{"{\"a\": tru}", Comments, `line 1, column 7: invalid literal: tru`},
		{"{\"a\": \"\\x\"}", Comments, `line 1, column 7: invalid literal: "\x"`},
		{"{\"a\": 1", Comments, `line 1, column 8: parsing object after value: unexpected EOF`},
		{"{} {}", Comments, `line 1, column 4: invalid character '{' after top-level value`},
		{"{ /* }", Comments, `line 1, column 3: parsing comment: unexpected EOF`},
		{"{ / }", Comments, `line 1, column 3: invalid character '/' at start of value`},
		{"{\"a", Comments, `line 1, column 4: parsing string: unexpected EOF`},
	} {
		if _, err := Set([]byte(tt.text), tt.d, entry, "servers", "emberd"); err == nil || err.Error() != tt.want {
			t.Errorf("%.30q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// What was added is there, all else means what it meant, and taking it out again
// gives the bytes there were.
func TestOthersStayAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		before := meaning(t, text)
		servers, _ := before["servers"].(map[string]any)
		_, had := servers["emberd"]

		after, err := Set(text, Comments, entry, "servers", "emberd")
		if err != nil {
			t.Fatalf("set in %s: %v", text, err)
		}
		want := maps.Clone(before)
		want["servers"] = map[string]any{"emberd": meaning(t, []byte(`{"command":"emberd","args":["mcp"]}`))}
		for name, value := range servers {
			if name != "emberd" {
				want["servers"].(map[string]any)[name] = value
			}
		}
		if got := meaning(t, after); !reflect.DeepEqual(got, want) {
			t.Fatalf("set in\n%s\ngives\n%s\nwhich means %v, want %v", text, after, got, want)
		}
		if !isSpread(text, after) && !had {
			t.Fatalf("set in\n%s\ngives\n%s\nwhich lacks a part of it", text, after)
		}

		back, err := Remove(after, Comments, "servers", "emberd")
		if err != nil {
			t.Fatalf("remove from %s: %v", after, err)
		}
		delete(want["servers"].(map[string]any), "emberd")
		got := meaning(t, back)
		if left, there := got["servers"].(map[string]any); len(want["servers"].(map[string]any)) == 0 && (!there || len(left) == 0) {
			delete(got, "servers") // an empty one may stay or go
			delete(want, "servers")
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("remove from\n%s\ngives\n%s\nwhich means %v, want %v", after, back, got, want)
		}
		if !had && len(servers) > 0 && !bytes.Equal(back, text) {
			t.Fatalf("set and remove turn\n%q\ninto\n%q", text, back)
		}
	})
}

// isSpread tells whether after has all bytes of text but white space, in their order.
func isSpread(text, after []byte) bool {
	for _, b := range text {
		if bytes.IndexByte([]byte(blanks), b) >= 0 {
			continue
		}
		at := bytes.IndexByte(after, b)
		if at < 0 {
			return false
		}
		after = after[at+1:]
	}
	return true
}

// The comments of drawn texts; no drawn string looks like one.
const (
	blockComment = "/* c */"
	lineComment  = "// c\n"
)

// meaning is what standard JSON makes of a drawn text.
func meaning(t *rapid.T, text []byte) map[string]any {
	t.Helper()
	plain := strings.ReplaceAll(string(text), blockComment, "")
	plain = regexp.MustCompile(`// c[ \t]*\n`).ReplaceAllString(plain, "\n")
	plain = regexp.MustCompile(`,(\s*[}\]])`).ReplaceAllString(plain, "$1")
	var v map[string]any
	if err := json.Unmarshal([]byte(plain), &v); err != nil {
		t.Fatalf("%s is not well-formed: %v", text, err)
	}
	return v
}

// drawText draws an object as editors and people write them.
func drawText(t *rapid.T) []byte {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b\\n", "servers", "ü", "x-y"}), 0, 4, rapid.ID[string]).Draw(t, "names")
	var b strings.Builder
	drawObject(t, &b, names, func(name string) {
		if name == "servers" {
			inner := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"emberd", "files", "git"}), 0, 3, rapid.ID[string]).Draw(t, "servers")
			drawObject(t, &b, inner, func(string) { b.WriteString(drawValue(t)) })
			return
		}
		b.WriteString(drawValue(t))
	})
	b.WriteString(drawSpace(t))
	return []byte(b.String())
}

func drawObject(t *rapid.T, b *strings.Builder, names []string, value func(name string)) {
	b.WriteString("{" + drawSpace(t))
	for i, name := range names {
		b.WriteString(`"` + name + `"` + drawSpace(t) + ":" + drawSpace(t))
		value(name)
		b.WriteString(drawSpace(t))
		if i < len(names)-1 || rapid.Bool().Draw(t, "comma") {
			b.WriteString("," + drawSpace(t))
		}
	}
	b.WriteString("}")
}

func drawValue(t *rapid.T) string {
	return rapid.SampledFrom([]string{`1.50`, `"}"`, `null`, `[]`, `[1 , {"k":"\u00e4"}]`, `{ "command" : "x" }`, `-0e3`, `"\\"`}).Draw(t, "value")
}

func drawSpace(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{" ", "\n", "\n  ", "\n\t", "", "", blockComment, lineComment}), 0, 3).Draw(t, "space"), "")
}

// FuzzSet feeds texts that nobody would write. In the strict dialect they are taken
// just when standard JSON takes them.
func FuzzSet(f *testing.F) {
	for _, text := range []string{"", "{}", "{\"servers\": {\"emberd\": [1]}, \"a\": 1e5}", "{\"a\":\"\\ud800\",}", "\xef\xbb\xbf{}", "// c", "{\"a\": {\"b\": [[]]}}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, d := range []Dialect{Strict, Comments} {
			root, err := parse(text, d)
			plain := bytes.TrimPrefix(text, []byte(mark))
			if d == Strict && root != nil && !json.Valid(plain) {
				t.Fatalf("%q is taken, but is not JSON", text)
			}
			if trimmed := bytes.Trim(plain, blanks); json.Valid(plain) && trimmed[0] == '{' && err != nil {
				t.Fatalf("%q is refused: %v", text, err)
			}
			after, err := Set(text, d, entry, "servers", "emberd")
			if err != nil {
				continue
			}
			got, ok, err := Get(after, d, "servers", "emberd", "command")
			if err != nil || !ok || string(got) != `"emberd"` {
				t.Fatalf("set in %q gives %q, where it is %q (%v)", text, after, got, err)
			}
			back, err := Remove(after, d, "servers", "emberd")
			if err != nil {
				t.Fatalf("remove from %q: %v", after, err)
			}
			if _, ok, err := Get(back, d, "servers", "emberd"); ok || err != nil {
				t.Fatalf("remove from %q gives %q, where it still is (%v)", after, back, err)
			}
		}
	})
}

// A value is told as it is written.
func TestGet(t *testing.T) {
	text := []byte("{\"servers\": {\"a\": 1, \"emberd\": {\"command\": \"/bin/x\" /* c */}}}")
	for path, want := range map[string]string{"servers emberd command": `"/bin/x"`, "servers b": "", "servers a": "1", "none at all": ""} {
		got, ok, err := Get(text, Comments, strings.Fields(path)...)
		if err != nil || string(got) != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v (%v), want %q", path, got, ok, err, want)
		}
	}
	if _, _, err := Get(text, Comments, "servers", "a", "deeper"); err == nil {
		t.Error("a number has no members, but one was looked for without complaint")
	}
}
