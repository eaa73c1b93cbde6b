package data

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"emberd/op"
)

// mapLine applies rules and a template to one line of JSON.
func mapLine(t *testing.T, line string, template string, rules ...string) (*op.SaveRequest, error) {
	t.Helper()
	m, err := newMapping(rules, template)
	if err != nil {
		t.Fatalf("mapping %q: %v", rules, err)
	}
	object, err := parseObject([]byte(line))
	if err != nil {
		t.Fatalf("line %s: %v", line, err)
	}
	return m.apply(object)
}

func TestMapping(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, template string
		rules                []string
		want                 string // the request without its id
	}{
		{name: "own names", line: `{"content":"a","tags":["x","y"],"core":true,"importance":"high","use_count":3}`,
			want: `{"content":"a","tags":["x","y"],"core":true,"importance":0.7,"use_count":3}`},
		{name: "renamed", line: `{"text":"a","timestamp":1683554160}`,
			rules: []string{"text=content", "timestamp=created_at"},
			want:  `{"content":"a","created_at":"2023-05-08T13:56:00Z"}`},
		{name: "nested", line: `{"content":"a","author":{"name":"Ada","age":36}}`,
			rules: []string{"author.name=entities"},
			want:  `{"content":"a","entities":["Ada"],"meta":{"author":{"name":"Ada","age":36}}}`},
		{name: "literal", line: `{"content":"a","collection":"theirs"}`, rules: []string{"collection:=locomo"},
			want: `{"content":"a","collection":"locomo","meta":{"collection":"theirs"}}`},
		{name: "literal with an equals sign", line: `{"content":"a"}`, rules: []string{"source:=a=b"},
			want: `{"content":"a","source":"a=b"}`},
		{name: "template", line: `{"speaker":"Mel","text":"hi {you}","n":1}`, template: "{speaker}: {text} {{{n}}}",
			want: `{"content":"Mel: hi {you} {1}"}`},
		{name: "an optional key that is not there", line: `{"speaker":"Mel","text":"hi"}`,
			template: "{speaker}: {text} {caption?}",
			want:     `{"content":"Mel: hi"}`},
		{name: "unknown into meta, but for nulls", line: `{"content":"a","x":2,"z":null,"meta":{"y":[1]}}`,
			want: `{"content":"a","meta":{"x":2,"y":[1]}}`},
		{name: "two keys make tags", line: `{"content":"a","k":"one, two","l":["three"]}`,
			rules: []string{"k=tags", "l=tags"},
			want:  `{"content":"a","tags":["one"," two","three"]}`},
		{name: "a dot in a name", line: `{"content":"a","b.c":"d"}`, rules: []string{"b.c=source"},
			want: `{"content":"a","source":"d"}`},
		{name: "null is not set", line: `{"content":"a","source":null,"created_at":null}`,
			want: `{"content":"a"}`},
		{name: "part of the meta goes to a field, a null nowhere",
			line:  `{"content":"a","meta":{"tags":["x"],"context":null,"n":1}}`,
			rules: []string{"meta.tags=tags", "meta.context=context"},
			want:  `{"content":"a","tags":["x"],"meta":{"n":1}}`},
		{name: "into meta by name", line: `{"content":"a","n":1}`, rules: []string{"n=meta.number"},
			want: `{"content":"a","meta":{"number":1}}`},
	} {
		req, err := mapLine(t, c.line, c.template, c.rules...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if req.ID == "" {
			t.Errorf("%s: no id", c.name)
		}
		req.ID = ""
		var want op.SaveRequest
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if got, wanted := marshal(t, req), marshal(t, want); got != wanted {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, wanted)
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMappingRefusesLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, template, want string }{
		{`{"content":""}`, "", "missing content; pass the text to save"},
		{`{"text":"a","id":"1"}`, "", `key "content" not found; the keys are id, text; map the key that contains the text`},
		{`{}`, "", "missing content; pass the text to save"},
		{`{"content":"a","created_at":"soon"}`, "", `created_at: invalid time "soon"`},
		{`{"content":"a","core":"maybe"}`, "", "core must be true or false"},
		{`{"content":"a","strength":"strong"}`, "", "strength is not a number"},
		{`{"content":"a","importance":7}`, "", "use low, normal, high"},
		{`{"content":"a","meta":[1]}`, "", "invalid meta; use a JSON object"},
		{`{"content":"a","x":1,"meta":{"x":2}}`, "", `two values map to meta "x"`},
		{`{"text":"a"}`, "{speaker}: {text}", `key "speaker" of the template not found`},
	} {
		_, err := mapLine(t, c.line, c.template)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.line, err, c.want)
		}
	}
}

func TestMappingRefusesRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules    []string
		template string
		want     string
	}{
		{[]string{"text"}, "", `invalid --map "text"; use KEY=FIELD`},
		{[]string{"=content"}, "", `invalid --map "=content"; use KEY=FIELD`},
		{[]string{"text="}, "", `invalid --map "text="; use KEY=FIELD`},
		{[]string{"text=contents"}, "", `field "contents" not found`},
		{[]string{"a=content", "b=content"}, "", "sets field content twice"},
		{[]string{"a=content"}, "{b}", "--map to content and --content-template cannot be combined"},
		{[]string{"a=meta."}, "", "not found; use one of"},
		{nil, "{b", "write {KEY}"},
		{nil, "b}", "write {KEY}"},
		{nil, "{}", "write {KEY}"},
	} {
		_, err := newMapping(c.rules, c.template)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: error %v, want %q in it", c.rules, c.template, err, c.want)
		}
	}
}

func TestImportIDs(t *testing.T) {
	t.Parallel()
	id := func(line string, rules ...string) string {
		req, err := mapLine(t, line, "", rules...)
		if err != nil {
			t.Fatal(err)
		}
		return string(req.ID)
	}
	const uuid = "0190a5b2-7c3d-7e4f-8a5b-456789abcdef"
	if got := id(`{"content":"a","id":"` + strings.ToUpper(uuid) + `"}`); got != uuid {
		t.Errorf("a UUID of the source became %s, want %s", got, uuid)
	}
	base := id(`{"content":"a","id":"7"}`)
	for name, same := range map[string]string{
		"a number":    id(`{"content":"a","id":7}`),
		"other time":  id(`{"content":"a","id":"7","created_at":1683554160}`),
		"another key": id(`{"content":"a","key":"7"}`, "key=id"),
	} {
		if same != base {
			t.Errorf("%s: id %s, want %s", name, same, base)
		}
	}
	if a, b := id(`{"content":"a","id":"GH-7"}`), id(`{"content":"b","id":"GH-7"}`); a != b {
		t.Errorf("of another text GH-7 is %s, want %s", b, a)
	}
	for name, other := range map[string]string{
		"another id":         id(`{"content":"a","id":"8"}`),
		"another text":       id(`{"content":"b","id":"7"}`),
		"another collection": id(`{"content":"a","id":"7"}`, "collection:=other"),
		"no id":              id(`{"content":"a"}`),
		"no id, with time":   id(`{"content":"a","created_at":1683554160}`),
	} {
		if other == base {
			t.Errorf("%s: the same id %s", name, other)
		}
	}
}

func TestJSONLinesGoesOnAfterBadLines(t *testing.T) {
	t.Parallel()
	in := strings.Join([]string{
		"\ufeff" + `{"n":1}`, "", "  ", `{"n":`, `[1]`, "null", `{"n":"` + "\xff" + `"}`,
		`{"long":"` + strings.Repeat("x", maxLine) + `"}`, `{"n":2}` + "\r", `{"n":3}`,
	}, "\n")
	var good, bad []int
	total := 0
	for l, err := range jsonLines(strings.NewReader(in)) {
		if err != nil {
			t.Fatal(err)
		}
		total += l.bytes
		if l.err != nil {
			bad = append(bad, l.number)
		} else {
			good = append(good, l.number)
		}
	}
	if got, want := marshal(t, good), "[1,9,10]"; got != want {
		t.Errorf("good lines %s, want %s", got, want)
	}
	if got, want := marshal(t, bad), "[4,5,6,7,8]"; got != want {
		t.Errorf("bad lines %s, want %s", got, want)
	}
}

// Whatever a file holds, reading it ends, and what is a line is numbered once.
func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{"", "\n\n", "{}\n{}", `{"a":{"b":[1,null]}}`, "\xff\n", `{"a":1}x`,
		strings.Repeat("[", 200)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		last := 0
		for l, err := range jsonLines(io.LimitReader(strings.NewReader(string(in)), 1<<20)) {
			if err != nil || l.number <= last {
				t.Fatalf("line %d after %d, error %v", l.number, last, err)
			}
			if (l.err == nil) != (l.object != nil) {
				t.Fatalf("line %d: object %v and error %v", l.number, l.object, l.err)
			}
			last = l.number
		}
	})
}

// A spreadsheet writes a date without a format as days: 45,993 is 2 December 2025.
func TestNumbersOfASpreadsheetAreDates(t *testing.T) {
	for text, want := range map[string]string{
		"45993":      "2025-12-02",
		"45993.75":   "2025-12-02T18:00:00",
		"20000":      "1954-10-03",
		"19999":      "19999",
		"80000":      "80000",
		"1764633600": "1764633600",
		"2025-12-02": "2025-12-02",
	} {
		if got := spreadsheetDate(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
