package vault

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// promoted is an edit like that of a promotion.
func promoted(text string) Edit {
	return Edit{
		Set: []Field{
			{"emberd-id", Text("0123")},
			{"emberd-title", Text(text)},
			{"emberd-tags", List("a", text)},
			{"emberd-strength", Number(0.65)},
			{"emberd-core", Checkbox(true)},
			{"emberd-day", Date(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))},
		},
		Regions: []Region{{Name: "related", Text: "- [[A]]\n- [[B]]"}, {Name: "sources", Text: ""}},
	}
}

// undone takes away again what the edit adds to a note that had none of it.
func undone(e Edit) Edit {
	var u Edit
	for _, f := range e.Set {
		u.Unset = append(u.Unset, f.Key)
	}
	for _, r := range slices.Backward(e.Regions) {
		u.Drop = append(u.Drop, r.Name)
	}
	return u
}

func spliced(t rapid.TB, src []byte, e Edit) []byte {
	t.Helper()
	out, err := Splice(src, e)
	if err != nil {
		t.Fatalf("splice %q: %v", src, err)
	}
	return out
}

func TestSpliceInWords(t *testing.T) {
	set := func(fields ...Field) Edit { return Edit{Set: fields} }
	for _, c := range []struct {
		name, before string
		edit         Edit
		after        string
	}{
		{"no frontmatter", "text", set(Field{"k", Text("v")}), "---\nk: \"v\"\n---\ntext"},
		{"empty note", "", set(Field{"k", Text("v")}), "---\nk: \"v\"\n---\n"},
		{"byte-order mark", "\ufefftext\r\n", set(Field{"k", Text("v")}), "\ufeff---\r\nk: \"v\"\r\n---\r\ntext\r\n"},
		{"empty frontmatter", "---\n---\ntext", set(Field{"k", Text("v")}), "---\nk: \"v\"\n---\ntext"},
		{"new keys last", "---\nb: 1 # one\n\n# end\n---\n", set(Field{"k", Text("v")}), "---\nb: 1 # one\n\n# end\nk: \"v\"\n---\n"},
		{"in place", "---\nk:   'old'   # why\nb: 2\n---\n", set(Field{"k", Text("new")}), "---\nk: \"new\"   # why\nb: 2\n---\n"},
		{"over lines", "---\nk: |\n  one\n\n  # two\n\n# mine\nb: 2\n---\n", set(Field{"k", Text("v")}), "---\nk: \"v\"\n\n# mine\nb: 2\n---\n"},
		{"list", "---\nk: [a, b] # why\n---\n", set(Field{"k", List("c", "d")}), "---\nk: # why\n  - \"c\"\n  - \"d\"\n---\n"},
		{"list for a list", "---\nk: # why\n- a\n- b # not ours\n---\n", set(Field{"k", List()}), "---\nk: [] # why\n---\n"},
		{"same in another style", "---\nk: v\nl: [a, 'b']\nm: 1\n---\n",
			set(Field{"k", Text("v")}, Field{"l", List("a", "b")}, Field{"m", Number(1)}), "---\nk: v\nl: [a, 'b']\nm: 1\n---\n"},
		{"not the same", "---\nk: 012\nm: \"1\"\n---\n", set(Field{"k", Text("012")}, Field{"m", Number(1)}), "---\nk: \"012\"\nm: 1\n---\n"},
		{"quoted key", "---\n\"k\" : v\n---\n", set(Field{"k", Text("w")}), "---\n\"k\" : \"w\"\n---\n"},
		{"key in capitals", "---\nKey: v\n---\n", set(Field{"key", Text("w")}), "---\nKey: \"w\"\n---\n"},
		{"indented keys", "---\n  a: 1\n---\n", set(Field{"k", List("x")}), "---\n  a: 1\n  k:\n    - \"x\"\n---\n"},
		{"unset", "---\na: 1\nk:\n  - x\n# b's\nb: 2\n---\n", Edit{Unset: []string{"k", "absent"}}, "---\na: 1\n# b's\nb: 2\n---\n"},
		{"unset the last", "---\nk: v\n---\ntext", Edit{Unset: []string{"k"}, DropEmpty: true}, "text"},
		{"unset and keep the dashes", "---\nk: v\n---\ntext", Edit{Unset: []string{"k"}}, "---\n---\ntext"},
		{"anchors of others", "---\na: &x 1\nb: *x\n---\n", set(Field{"k", Text("v")}), "---\na: &x 1\nb: *x\nk: \"v\"\n---\n"},
		{"dashes in the text", "a\n---\nk: 1\n---\n", set(Field{"k", Text("v")}), "---\nk: \"v\"\n---\na\n---\nk: 1\n---\n"},
		{"region at the end", "a\n", Edit{Regions: []Region{{"r", "x"}}}, "a\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->\n"},
		{"region without a last line end", "a", Edit{Regions: []Region{{"r", "x\n"}}}, "a\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->"},
		{"region in an empty note", "", Edit{Regions: []Region{{"r", ""}}}, "<!-- emberd:r -->\n<!-- /emberd:r -->"},
		{"region behind frontmatter without a line end", "---\na: 1\n---", Edit{Regions: []Region{{"r", ""}}},
			"---\na: 1\n---\n\n<!-- emberd:r -->\n<!-- /emberd:r -->"},
		{"region in place", "a\r\n<!-- emberd:r -->\r\nold\r\n<!-- /emberd:r -->\r\nb", Edit{Regions: []Region{{"r", "x\ny"}}},
			"a\r\n<!-- emberd:r -->\r\nx\r\ny\r\n<!-- /emberd:r -->\r\nb"},
		{"region in code is text", "```\n<!-- emberd:r -->\n<!-- /emberd:r -->\n```\n", Edit{Regions: []Region{{"r", "x"}}},
			"```\n<!-- emberd:r -->\n<!-- /emberd:r -->\n```\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->\n"},
		{"drop in the middle", "a\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->\nb\n", Edit{Drop: []string{"r", "absent"}}, "a\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := spliced(t, []byte(c.before), c.edit)
			if string(out) != c.after {
				t.Errorf("got  %q\nwant %q", out, c.after)
			}
			if again := spliced(t, out, c.edit); !bytes.Equal(again, out) {
				t.Errorf("applied again: %q, want no change", again)
			}
		})
	}
}

// Case 56: what cannot be read is not rewritten.
func TestCase56BrokenFrontmatterIsNotRewritten(t *testing.T) {
	for before, want := range map[string]Reason{
		"---\na: [1\n---\n":                                  BadFrontmatter,
		"---\na: 1\na: 2\n---\n":                             BadFrontmatter,
		"---\n- a\n---\n":                                    BadFrontmatter,
		"---\n\"a\": 1\n":                                    OpenFrontmatter,
		"---\ntext\n":                                        OpenFrontmatter,
		"---\n{\"a\": 1}\n---\n":                             JSONFrontmatter,
		"---\n{\n  \"a\": 1\n}\n---\n":                       JSONFrontmatter,
		"---\na: 1\n...\nb: 2\n---\n":                        OddFrontmatter,
		"---\na: 1\n--- # next\nb: 2\n---\n":                 OddFrontmatter,
		"---\na: \"\x00\"\n---\n":                            OddFrontmatter,
		"---\na: \xff\n---\n":                                OddFrontmatter,
		"---\na: x\u2028y\n---\n":                            OddFrontmatter,
		"---\nnull\n---\n":                                   OddFrontmatter,
		"---\n!!map\na: 1\n---\n":                            OddFrontmatter,
		"---\nk: &x 1\nb: *x\n---\n":                         SharedValue,
		"---\n? k\n: 1\n---\n":                               OddFrontmatter,
		"---\n" + strings.Repeat("a", 70_000) + ": 1\n---\n": BadFrontmatter,
	} {
		out, err := Splice([]byte(before), Edit{Set: []Field{{"k", Text("v")}}})
		if u, ok := errors.AsType[*Unspliced](err); !ok || u.Reason != want {
			t.Errorf("%.40q: got %q, %v, want it refused: %s", before, out, err, want)
		}
	}
}

func TestRegionsThatAreNotSure(t *testing.T) {
	for before, want := range map[string]Reason{
		"<!-- emberd:r -->\n":                     BadRegion,
		"<!-- /emberd:r -->\n<!-- emberd:r -->\n": BadRegion,
		"<!-- emberd:r -->\n<!-- /emberd:r -->\n<!-- emberd:r -->\n<!-- /emberd:r -->\n": BadRegion,
		"a <!-- emberd:r -->\n<!-- /emberd:r -->\n":                                      BadRegion,
		"<!-- emberd:r -->\n```\n<!-- /emberd:r -->\n":                                   BadRegion,
		"```\ncode\n":     OpenEnd,
		"<!-- a\ncomment": OpenEnd,
	} {
		out, err := Splice([]byte(before), Edit{Regions: []Region{{"r", "x"}}})
		if u, ok := errors.AsType[*Unspliced](err); !ok || u.Reason != want {
			t.Errorf("%q: got %q, %v, want it refused: %s", before, out, err, want)
		}
	}
}

func TestEditsThatAreMistakes(t *testing.T) {
	for name, e := range map[string]Edit{
		"key with a colon":    {Set: []Field{{"a: b", Text("")}}},
		"key that is a truth": {Set: []Field{{"no", Text("")}}},
		"capitals":            {Unset: []string{"Key"}},
		"twice":               {Set: []Field{{"k", Text("")}}, Unset: []string{"k"}},
		"region's name":       {Regions: []Region{{Name: "a b"}}},
		"mark in a region":    {Regions: []Region{{"r", "<!-- /emberd:r -->"}}},
		"open code":           {Regions: []Region{{"r", "```\nx"}}},
	} {
		if _, err := Splice(nil, e); err == nil {
			t.Errorf("%s: applied, want an error", name)
		}
	}
}

// oddNote draws notes with everything that makes splicing hard.
var oddNote = rapid.Custom(func(t *rapid.T) []byte {
	newline := rapid.SampledFrom([]string{"\n", "\r\n", "\n", "\r"}).Draw(t, "line ends")
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "", byteOrderMark}).Draw(t, "mark"))
	pick := func(what string, from []string, most int) {
		for range rapid.IntRange(0, most).Draw(t, what) {
			b.WriteString(strings.ReplaceAll(rapid.SampledFrom(from).Draw(t, what), "\n", newline))
		}
	}
	if rapid.Bool().Draw(t, "frontmatter") {
		b.WriteString("---" + newline)
		keys := []string{
			"a: 1\n", "b: 'x # y' # c\n", "tags:\n- a\n- b\n", "l: [a, b]\n", "# comment\n", "\n", "\t\n", "lit: |\n  one\n  # two\n\n",
			"fold: >-\n  x\n\n  y\n", "keep: |+\n  x\n\n\n", "n:\n", "anchor: &x v\n", "alias: *x\n", "nested:\n  a:\n    - b: c\n", "'q u': \"é😀\"\n",
			"date: 2026-01-02\n", "multi: one\n  two\n", "\"emberd-id\": old # mine\n", "emberd-tags: [x]\n", "emberd-title: |\n  old\n\n", "Emberd-Core: false\n",
			"url: https://x.y/#z\n", "? odd\n: v\n", "dq: \"a\n\n  b\"\n", "e: {f: g}\n", "...\n",
		}
		pick("keys", keys, 6)
		b.WriteString("---" + rapid.SampledFrom([]string{newline, newline, " " + newline, ""}).Draw(t, "end"))
	}
	pick("text", []string{"# H\n", "text\n", "\n", "---\n", "```\n", "a `b` *c*\n", "<!-- c -->\n", "é\u2028x\n", "\ttab\n", "  \n", "%%x%%\n"}, 8)
	b.WriteString(rapid.SampledFrom([]string{"", "no end", "x"}).Draw(t, "last"))
	return []byte(b.String())
})

// Case 54: outside what is ours every byte stays, and taking ours away gives the
// note as it was.
func TestCase54SpliceAndUnsplice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := oddNote.Draw(t, "note")
		e := promoted(rapid.String().Draw(t, "title"))
		checkSplice(t, src, e)
	})
}

// checkSplice holds for every note and edit, and reports whether it was applied.
func checkSplice(t rapid.TB, src []byte, e Edit) bool {
	t.Helper()
	given := bytes.Clone(src)
	out, err := Splice(src, e)
	if !bytes.Equal(src, given) {
		t.Fatalf("splice changed its argument")
	}
	if err != nil {
		if _, ok := errors.AsType[*Unspliced](err); !ok {
			t.Fatalf("splice %q: %v", src, err)
		}
		return false
	}
	if again := spliced(t, out, e); !bytes.Equal(again, out) {
		t.Fatalf("applied twice\nfirst  %q\nsecond %q", out, again)
	}
	checkOutside(t, src, out, e)
	checkYAML(t, out, e)
	if !hasAny(src, e) {
		u := undone(e)
		h, err := readHead(src)
		u.DropEmpty = err == nil && !h.found
		if back := spliced(t, out, u); !bytes.Equal(back, src) {
			t.Fatalf("unspliced\ngot  %q\nwant %q", back, src)
		}
	}
	return true
}

func hasAny(src []byte, e Edit) bool {
	return slices.ContainsFunc(e.Set, func(f Field) bool { return bytes.Contains(bytes.ToLower(src), []byte(f.Key)) }) ||
		bytes.Contains(src, []byte("emberd:"))
}

// checkOutside takes the own ranges out of both notes, found in another way than
// splicing finds them, and compares what is left.
func checkOutside(t rapid.TB, src, out []byte, e Edit) {
	t.Helper()
	if got, want := withoutOwn(out, e), withoutOwn(src, e); got != want {
		t.Fatalf("bytes that are not ours changed\nbefore %q\nafter  %q\nleft of the first  %q\nleft of the second %q", src, out, want, got)
	}
}

// withoutOwn drops own keys with their lines up to the next key, comments and empty
// lines aside, and own regions. Line ends that were put before a region go too, so
// all are dropped from the end.
func withoutOwn(note []byte, e Edit) string {
	lines := regexp.MustCompile("(?s)[^\r\n]*(\r\n|\n|\r|$)").FindAllString(strings.TrimPrefix(string(note), byteOrderMark), -1)
	var left strings.Builder
	at := 0
	if len(lines) > 0 && strings.TrimRight(lines[0], " \t\r\n") == "---" {
		own := false
		for at = 1; at < len(lines) && strings.TrimRight(lines[at], " \t\r\n") != "---"; at++ {
			line := lines[at]
			text := strings.TrimSpace(line)
			comment := text == "" || text[0] == '#'
			if key, _, ok := strings.Cut(line, ":"); ok && line[0] != ' ' && line[0] != '-' && !comment {
				key = strings.ToLower(strings.Trim(key, "'\" "))
				own = slices.ContainsFunc(e.Set, func(f Field) bool { return f.Key == key })
			} else if !own || line[0] == '#' {
				own = own && comment
				left.WriteString(line)
				continue
			}
			if !own {
				left.WriteString(line)
			} else if _, comment, ok := strings.Cut(line, " # "); ok {
				left.WriteString("#" + strings.TrimRight(comment, "\r\n"))
			}
		}
		at++
	}
	skip := false
	body := strings.Builder{}
	for ; at < len(lines); at++ {
		mark := strings.TrimRight(lines[at], " \t\r\n")
		skip = skip || strings.HasPrefix(mark, "<!-- emberd:")
		if !skip {
			body.WriteString(lines[at])
		}
		skip = skip && !strings.HasPrefix(mark, "<!-- /emberd:")
	}
	// Empty lines within an own literal are ours, between keys they are not: compare
	// what is written, not how many empty lines there are in between.
	head := regexp.MustCompile("[\r\n\t ]+").ReplaceAllString(left.String(), "\n")
	return strings.Trim(head, "\n") + "|" + strings.TrimRight(body.String(), "\r\n")
}

// checkYAML reads the own properties with yaml.v3, which knows YAML 1.1's words and
// 1.2's, and checks that no version could read them as something else, and that
// Obsidian has a type for each.
func checkYAML(t rapid.TB, out []byte, e Edit) {
	t.Helper()
	text, _ := normalize(bytes.TrimPrefix(out, []byte(byteOrderMark)))
	block, _, ok := findFrontmatter(text)
	if !ok {
		t.Fatalf("no frontmatter in %q", out)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		t.Fatalf("the result is not YAML: %v\n%s", err, block)
	}
	values := doc.Content[0].Content
	for _, f := range e.Set {
		at := slices.IndexFunc(values, func(n *yaml.Node) bool { return strings.EqualFold(n.Value, f.Key) })
		if at < 0 || at%2 == 1 {
			t.Fatalf("%s is not in the result", f.Key)
		}
		checkType(t, f, values[at+1])
	}
}

var (
	plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	plainDate   = regexp.MustCompile(`^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?$`)
)

func checkType(t rapid.TB, f Field, n *yaml.Node) {
	t.Helper()
	switch f.Value.kind {
	case textKind:
		checkText(t, n, f.Value.text)
	case listKind:
		if n.Kind != yaml.SequenceNode || len(n.Content) != len(f.Value.items) {
			t.Fatalf("%s is no list of %d", f.Key, len(f.Value.items))
		}
		for i, item := range n.Content {
			checkText(t, item, f.Value.items[i])
		}
	case numberKind:
		if !plainNumber.MatchString(n.Value) || n.Style != 0 {
			t.Fatalf("%s: %q is not a number in every version of YAML", f.Key, n.Value)
		}
	case checkboxKind:
		if n.Value != "true" && n.Value != "false" || n.Style != 0 {
			t.Fatalf("%s: %q is not a truth value in every version of YAML", f.Key, n.Value)
		}
	case dateKind:
		if !plainDate.MatchString(n.Value) || n.Style != 0 {
			t.Fatalf("%s: %q is no date of Obsidian's", f.Key, n.Value)
		}
	}
}

func checkText(t rapid.TB, n *yaml.Node, want string) {
	t.Helper()
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	if n.Kind != yaml.ScalarNode || n.Value != want || !quoted && ambiguous(n.Value) {
		t.Fatalf("text %q reads as %q, style %d", want, n.Value, n.Style)
	}
}

func TestValuesAreWrittenPlainly(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct {
		value Value
		want  string
	}{
		{Text(`say "hi" \ there`), ` "say \"hi\" \\ there"`},
		{Text("a\nb\tc\rd\x00"), ` "a\nb\tc\x0Dd\x00"`},
		{Text("\u0085\u2028\ufeff\u202e\U000e0041é😀"), ` "\u0085\u2028\uFEFF\u202E` + "\U000e0041" + `é😀"`},
		{Text("\xff"), ` "` + "\ufffd" + `"`},
		{Number(3), " 3"}, {Number(0.1), " 0.1"}, {Number(1e21), " 1000000000000000000000"}, {Number(math.Inf(1)), " 0"},
		{Checkbox(false), " false"}, {Date(at), " 2026-01-02"}, {DateTime(at), " 2026-01-02T03:04:05"}, {List(), " []"},
	} {
		if got := c.value.render("", "", "\n"); got != c.want+"\n" {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What YAML 1.1 or 1.2 reads as more than text is never taken for text.
func TestAmbiguousWords(t *testing.T) {
	for _, s := range []string{
		"", "~", "Null", "yes", "NO", "On", "y", "true", "012", "0o14", "0x1F", "0b1", "1_000", "1.10", "1e3", "-.5", "+1", ".inf", "-.INF", ".NaN",
		"2024-01-01", "2024-01-01T10:00:00Z", "190:20:30", "=", "<<",
	} {
		if !ambiguous(s) {
			t.Errorf("%q is taken for text", s)
		}
	}
	for _, s := range []string{"word", "a1", "one two", "-ish", "v1.2", "nothing"} {
		if ambiguous(s) {
			t.Errorf("%q is not taken for text", s)
		}
	}
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte("---\na: 1 # c\n---\ntext"), "title")
	f.Add([]byte("\ufeff---\r\nemberd-tags: [a]\r\n---\r\n"), "\x00: #")
	f.Add([]byte("<!-- emberd:related -->\n<!-- /emberd:related -->"), "---")
	f.Fuzz(func(t *testing.T, src []byte, title string) {
		e := promoted(title)
		out, err := Splice(src, e)
		if err != nil {
			if _, ok := errors.AsType[*Unspliced](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if again := spliced(t, out, e); !bytes.Equal(again, out) {
			t.Fatalf("applied twice\nfirst  %q\nsecond %q", out, again)
		}
		checkYAML(t, out, e)
		before, after := mustHead(t, src), mustHead(t, out)
		if !hasAny(src, e) && !bytes.HasPrefix(after.src[after.body:], before.src[before.body:]) {
			t.Fatalf("the text changed: %q, was %q", out, src)
		}
		if !hasAny(src, e) {
			u := undone(e)
			u.DropEmpty = !before.found
			if back := spliced(t, out, u); !bytes.Equal(back, src) {
				t.Fatalf("unspliced %q, want %q", back, src)
			}
		}
		if utf8.Valid(src) && !utf8.Valid(out) {
			t.Fatal("the result is not UTF-8")
		}
	})
}

func mustHead(t *testing.T, src []byte) *head {
	t.Helper()
	h, err := readHead(src)
	if err != nil {
		t.Fatal(fmt.Errorf("spliced although the frontmatter cannot be read: %w", err))
	}
	return h
}
