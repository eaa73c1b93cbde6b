package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func show(entries []entry) string {
	var b strings.Builder
	for _, e := range entries {
		switch {
		case e.null:
			fmt.Fprintf(&b, "%d %s null; ", e.line, e.key)
		case e.list != nil:
			fmt.Fprintf(&b, "%d %s %q; ", e.line, e.key, e.list)
		default:
			fmt.Fprintf(&b, "%d %s %s; ", e.line, e.key, e.text)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestReadYAML(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty file", "", ""},
		{"comments only", "# nothing\n\n", ""},
		{"nothing but a null", "~\n", ""},
		{"only a document marker", "---\n", ""},
		{"nested", "decay:\n  model: exponential\n  beta: 0.5\n", "2 decay.model exponential; 3 decay.beta 0.5"},
		{"flow", "decay: {model: exponential}", "1 decay.model exponential"},
		{"dotted", "decay.model: exponential", "1 decay.model exponential"},
		{"both", "decay.model: x\ndecay: {beta: 1}", "1 decay.model x; 2 decay.beta 1"},
		{"scalars stay text", "a: 0777\nb: 1_000\nc: 3.10\nd: yes\ne: 2001-01-01\nf: 0x1F\n",
			"1 a 0777; 2 b 1_000; 3 c 3.10; 4 d yes; 5 e 2001-01-01; 6 f 0x1F"},
		{"quotes", `a: "x: #y"` + "\nb: 'it''s'\nc: ''\nd: 'null'\n", "1 a x: #y; 2 b it's; 3 c ; 4 d null"},
		{"nulls", "a:\nb: ~\nc: null\nd: {}\n", "1 a null; 2 b null; 3 c null; 4 d null"},
		{"lists", "a: [x, 2]\nb:\n  - y\nc: []\n", `1 a ["x" "2"]; 2 b ["y"]; 4 c []`},
		{"BOM", "\ufeffa: 1\n", "1 a 1"},
		{"CRLF", "a: 1\r\nb:\r\n  c: 2\r\n", "1 a 1; 3 b.c 2"},
		{"no final newline", "a: 1", "1 a 1"},
		{"tab between and after", "a:\t1\t# note\nb: 2\t\n", "1 a 1; 2 b 2"},
		{"closed document", "---\na: 1\n...\n", "2 a 1"},
	}
	for _, tt := range tests {
		got, err := readYAML("f", []byte(tt.text))
		if err != nil || show(got) != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.name, show(got), err, tt.want)
		}
	}
}

func TestReadYAMLRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"duplicate key", "a: 1\nb: 2\na: 3\n", "f:3: a is set here and on line 1; remove one of the lines"},
		{"duplicate group", "a:\n  x: 1\na:\n  y: 1\n", "f:3: a is set here and on line 1; remove one of the lines"},
		{"duplicate in two spellings", "a.x: 1\na:\n  x: 2\n", "f:3: a.x is set here and on line 1; remove one of the lines"},
		{"alias", "a: &x [1]\nb: *x\n", "f:2: aliases (*name) are not supported; repeat the value instead"},
		{"alias of itself", "a: &x {b: *x}\n", "f:1: aliases (*name) are not supported; repeat the value instead"},
		{"alias in a list", "a: &x 1\nb: [*x]\n", "f:2: a list can contain only plain values"},
		{"second document", "a: 1\n---\nb: 2\n", "f:2: a config file must contain only one YAML document; remove the others"},
		{"list at the top", "- a\n", "f:1: a config file must consist of key: value lines"},
		{"word at the top", "\nhello\n", "f:2: a config file must consist of key: value lines"},
		{"list as a key", "? [a]\n: 1\n", "f:1: a key must be a name such as decay.model"},
		{"empty key", `"": 1`, "f:1: a key must be a name such as decay.model"},
		{"list in a list", "a:\n  - - 1\n", "f:2: a list can contain only plain values"},
		{"mapping in a list", "a:\n- b: 1\n", "f:2: a list can contain only plain values"},
		{"null in a list", "a: [x, ]\nb: [x, ~]\n", "f:2: a list can contain only plain values"},
		{"tab", "a:\n\tb: 1\n", "f:2: invalid YAML: found character that cannot start any token"},
		{"not UTF-8", "a: 1\nb: \xff\n", "f: invalid YAML: invalid leading UTF-8 octet"},
		{"NUL", "a: 1\nb: \x00\n", "f: invalid YAML: control characters are not allowed"},
		{"open list on line 1", "a: [1", "f:1: invalid YAML: did not find expected ',' or ']'"},
		{"lost quote on line 3", "a: 1\n\nb: \"x\n", "f:3: invalid YAML: found unexpected end of stream"},
		{"stray text", "a: 1\nb\n", "f:2: invalid YAML: could not find expected ':'"},
		{"broken second document", "a: 1\n---\n]\n", "f:2: invalid YAML: did not find expected node content"},
		{"alias without anchor", "a: *x\n", "f: invalid YAML: unknown anchor 'x' referenced"},
		{"several faults at once", "a: {}\nb: 1\nb: 2\nc: [[]]\n",
			"f:3: b is set here and on line 2; remove one of the lines\nf:4: a list can contain only plain values"},
	}
	for _, tt := range tests {
		if _, err := readYAML("f", []byte(tt.text)); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got  %v\n want %s", tt.name, err, tt.want)
		}
	}
}

func TestReadYAMLSize(t *testing.T) {
	text := []byte("a: 1\n" + strings.Repeat("#", MaxFile-6) + "\n")
	if _, err := readYAML("f", text); err != nil {
		t.Errorf("%d bytes: got %v, want them read", len(text), err)
	}
	_, err := readYAML("f", append(text, '\n'))
	if want := "f is too large for a config file (limit 64 KiB)"; err == nil || err.Error() != want {
		t.Errorf("one byte more: got %v, want %q", err, want)
	}
}

// FuzzReadYAML feeds the reader anything. What it accepts must be flat, within
// the limits, without duplicates, and read the same a second time.
func FuzzReadYAML(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		given := bytes.Clone(data)
		entries, err := readYAML("f", data)
		if !bytes.Equal(data, given) {
			t.Fatal("the reader changed its input")
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f") {
				t.Errorf("error %q does not begin with the name of the file", err)
			}
			return
		}
		if len(data) > MaxFile {
			t.Errorf("%d bytes were read", len(data))
		}
		lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + bytes.Count(data, []byte("\u0085")) +
			bytes.Count(data, []byte("\u2028")) + bytes.Count(data, []byte("\u2029")) + 1
		seen := map[string]bool{}
		for _, e := range entries {
			if e.key == "" || seen[e.key] || e.line < 1 || e.line > lines {
				t.Errorf("entry %+v is nameless, doubled or outside the %d lines", e, lines)
			}
			seen[e.key] = true
		}
		again, err := readYAML("f", data)
		if err != nil || !slices.EqualFunc(entries, again, func(a, b entry) bool { return show([]entry{a}) == show([]entry{b}) }) {
			t.Errorf("second reading: got %v, %v; want %v", again, err, entries)
		}
	})
}
