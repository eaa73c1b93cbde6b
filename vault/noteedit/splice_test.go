package noteedit_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/noteedit"
)

// promoted is an edit like that of a promotion.
func promoted(text string) noteedit.Edit {
	return noteedit.Edit{
		Set: []frontmatter.Field{
			{Key: "emberd-id", Value: frontmatter.Text("0123")},
			{Key: "emberd-title", Value: frontmatter.Text(text)},
			{Key: "emberd-tags", Value: frontmatter.List("a", text)},
			{Key: "emberd-strength", Value: frontmatter.Number(0.65)},
			{Key: "emberd-day", Value: frontmatter.DateTime(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))},
		},
		Regions: []noteedit.Region{{Name: "related", Text: "- [[A]]\n- [[B]]"}, {Name: "sources", Text: ""}},
	}
}

// undone takes away again what the edit adds to a note that had none of it.
func undone(e noteedit.Edit) noteedit.Edit {
	var u noteedit.Edit
	for _, f := range e.Set {
		u.Unset = append(u.Unset, f.Key)
	}
	for _, r := range slices.Backward(e.Regions) {
		u.Drop = append(u.Drop, r.Name)
	}
	return u
}

func spliced(t rapid.TB, src []byte, e noteedit.Edit) []byte {
	t.Helper()
	out, err := noteedit.Splice(src, e)
	if err != nil {
		t.Fatalf("splice %q: %v", src, err)
	}
	return out
}

func TestSpliceInWords(t *testing.T) {
	set := func(fields ...frontmatter.Field) noteedit.Edit { return noteedit.Edit{Set: fields} }
	for _, c := range []struct {
		name, before string
		edit         noteedit.Edit
		after        string
	}{
		{"no frontmatter", "text", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\nk: \"v\"\n---\ntext"},
		{"empty note", "", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\nk: \"v\"\n---\n"},
		{"byte-order mark", "\ufefftext\r\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "\ufeff---\r\nk: \"v\"\r\n---\r\ntext\r\n"},
		{"empty frontmatter", "---\n---\ntext", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\nk: \"v\"\n---\ntext"},
		{"new keys last", "---\nb: 1 # one\n\n# end\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\nb: 1 # one\n\n# end\nk: \"v\"\n---\n"},
		{"in place", "---\nk:   'old'   # why\nb: 2\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("new")}), "---\nk: \"new\"   # why\nb: 2\n---\n"},
		{"over lines", "---\nk: |\n  one\n\n  # two\n\n# mine\nb: 2\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\nk: \"v\"\n\n# mine\nb: 2\n---\n"},
		{"list", "---\nk: [a, b] # why\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.List("c", "d")}), "---\nk: # why\n  - \"c\"\n  - \"d\"\n---\n"},
		{"list for a list", "---\nk: # why\n- a\n- b # not ours\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.List()}), "---\nk: [] # why\n---\n"},
		{"same in another style", "---\nk: v\nl: [a, 'b']\nm: 1\n---\n",
			set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}, frontmatter.Field{Key: "l", Value: frontmatter.List("a", "b")}, frontmatter.Field{Key: "m", Value: frontmatter.Number(1)}), "---\nk: v\nl: [a, 'b']\nm: 1\n---\n"},
		{"not the same", "---\nk: 012\nm: \"1\"\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("012")}, frontmatter.Field{Key: "m", Value: frontmatter.Number(1)}), "---\nk: \"012\"\nm: 1\n---\n"},
		{"quoted key", "---\n\"k\" : v\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("w")}), "---\n\"k\" : \"w\"\n---\n"},
		{"key in capitals", "---\nKey: v\n---\n", set(frontmatter.Field{Key: "key", Value: frontmatter.Text("w")}), "---\nKey: \"w\"\n---\n"},
		{"indented keys", "---\n  a: 1\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.List("x")}), "---\n  a: 1\n  k:\n    - \"x\"\n---\n"},
		{"unset", "---\na: 1\nk:\n  - x\n# b's\nb: 2\n---\n", noteedit.Edit{Unset: []string{"k", "absent"}}, "---\na: 1\n# b's\nb: 2\n---\n"},
		{"unset the last", "---\nk: v\n---\ntext", noteedit.Edit{Unset: []string{"k"}, DropEmpty: true}, "text"},
		{"unset and keep the dashes", "---\nk: v\n---\ntext", noteedit.Edit{Unset: []string{"k"}}, "---\n---\ntext"},
		{"anchors of others", "---\na: &x 1\nb: *x\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\na: &x 1\nb: *x\nk: \"v\"\n---\n"},
		{"dashes in the text", "a\n---\nk: 1\n---\n", set(frontmatter.Field{Key: "k", Value: frontmatter.Text("v")}), "---\nk: \"v\"\n---\na\n---\nk: 1\n---\n"},
		{"region at the end", "a\n", noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: "x"}}}, "a\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->\n"},
		{"region without a last line end", "a", noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: "x\n"}}}, "a\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->"},
		{"region in an empty note", "", noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: ""}}}, "<!-- emberd:r -->\n<!-- /emberd:r -->"},
		{"region behind frontmatter without a line end", "---\na: 1\n---", noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: ""}}},
			"---\na: 1\n---\n\n<!-- emberd:r -->\n<!-- /emberd:r -->"},
		{"region in place", "a\r\n<!-- emberd:r -->\r\nold\r\n<!-- /emberd:r -->\r\nb", noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: "x\ny"}}},
			"a\r\n<!-- emberd:r -->\r\nx\r\ny\r\n<!-- /emberd:r -->\r\nb"},
		{"region in code is text", "```\n<!-- emberd:r -->\n<!-- /emberd:r -->\n```\n", noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: "x"}}},
			"```\n<!-- emberd:r -->\n<!-- /emberd:r -->\n```\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->\n"},
		{"drop in the middle", "a\n\n<!-- emberd:r -->\nx\n<!-- /emberd:r -->\nb\n", noteedit.Edit{Drop: []string{"r", "absent"}}, "a\nb\n"},
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
	for before, want := range map[string]string{
		"---\na: [1\n---\n":                                  frontmatter.Invalid,
		"---\na: 1\na: 2\n---\n":                             frontmatter.Invalid,
		"---\n- a\n---\n":                                    frontmatter.Invalid,
		"---\n\"a\": 1\n":                                    frontmatter.Unclosed,
		"---\ntext\n":                                        frontmatter.Unclosed,
		"---\n{\"a\": 1}\n---\n":                             frontmatter.InBraces,
		"---\n{\n  \"a\": 1\n}\n---\n":                       frontmatter.InBraces,
		"---\na: 1\n...\nb: 2\n---\n":                        frontmatter.Unusual,
		"---\na: 1\n--- # next\nb: 2\n---\n":                 frontmatter.Unusual,
		"---\na: \"\x00\"\n---\n":                            frontmatter.Unusual,
		"---\na: \xff\n---\n":                                frontmatter.Unusual,
		"---\na: x\u2028y\n---\n":                            frontmatter.Unusual,
		"---\nnull\n---\n":                                   frontmatter.Unusual,
		"---\n!!map\na: 1\n---\n":                            frontmatter.Unusual,
		"---\nk: &x 1\nb: *x\n---\n":                         frontmatter.SharedValue,
		"---\n? k\n: 1\n---\n":                               frontmatter.Unusual,
		"---\n" + strings.Repeat("a", 70_000) + ": 1\n---\n": frontmatter.Invalid,
	} {
		out, err := noteedit.Splice([]byte(before), noteedit.Edit{Set: []frontmatter.Field{{Key: "k", Value: frontmatter.Text("v")}}})
		if u, ok := errors.AsType[*frontmatter.EditError](err); !ok || u.Reason != want {
			t.Errorf("%.40q: got %q, %v, want it refused: %s", before, out, err, want)
		}
	}
}

func TestRegionsThatAreNotSure(t *testing.T) {
	for before, want := range map[string]string{
		"<!-- emberd:r -->\n":                     noteedit.BadRegion,
		"<!-- /emberd:r -->\n<!-- emberd:r -->\n": noteedit.BadRegion,
		"<!-- emberd:r -->\n<!-- /emberd:r -->\n<!-- emberd:r -->\n<!-- /emberd:r -->\n": noteedit.BadRegion,
		"a <!-- emberd:r -->\n<!-- /emberd:r -->\n":                                      noteedit.BadRegion,
		"<!-- emberd:r -->\n```\n<!-- /emberd:r -->\n":                                   noteedit.BadRegion,
		"```\ncode\n":     noteedit.OpenEnd,
		"<!-- a\ncomment": noteedit.OpenEnd,
	} {
		out, err := noteedit.Splice([]byte(before), noteedit.Edit{Regions: []noteedit.Region{{Name: "r", Text: "x"}}})
		if u, ok := errors.AsType[*frontmatter.EditError](err); !ok || u.Reason != want {
			t.Errorf("%q: got %q, %v, want it refused: %s", before, out, err, want)
		}
	}
}

func TestEditsThatAreMistakes(t *testing.T) {
	for name, e := range map[string]noteedit.Edit{
		"key with a colon":    {Set: []frontmatter.Field{{Key: "a: b", Value: frontmatter.Text("")}}},
		"key that is a truth": {Set: []frontmatter.Field{{Key: "no", Value: frontmatter.Text("")}}},
		"capitals":            {Unset: []string{"Key"}},
		"twice":               {Set: []frontmatter.Field{{Key: "k", Value: frontmatter.Text("")}}, Unset: []string{"k"}},
		"region's name":       {Regions: []noteedit.Region{{Name: "a b"}}},
		"mark in a region":    {Regions: []noteedit.Region{{Name: "r", Text: "<!-- /emberd:r -->"}}},
		"open code":           {Regions: []noteedit.Region{{Name: "r", Text: "```\nx"}}},
	} {
		if _, err := noteedit.Splice(nil, e); err == nil {
			t.Errorf("%s: applied, want an error", name)
		}
	}
}

// oddNote draws notes with everything that makes splicing hard.
var oddNote = rapid.Custom(func(t *rapid.T) []byte {
	newline := rapid.SampledFrom([]string{"\n", "\r\n", "\n", "\r"}).Draw(t, "line ends")
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "", lex.ByteOrderMark}).Draw(t, "mark"))
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
		checkSplice(t, src, rapid.String().Draw(t, "title"))
	})
}

// checkSplice holds for every note and title, and reports whether it was applied.
func checkSplice(t rapid.TB, src []byte, title string) bool {
	t.Helper()
	e := promoted(title)
	given := bytes.Clone(src)
	out, err := noteedit.Splice(src, e)
	if !bytes.Equal(src, given) {
		t.Fatalf("splice changed its argument")
	}
	if err != nil {
		if _, ok := errors.AsType[*frontmatter.EditError](err); !ok {
			t.Fatalf("splice %q: %v", src, err)
		}
		return false
	}
	if again := spliced(t, out, e); !bytes.Equal(again, out) {
		t.Fatalf("applied twice\nfirst  %q\nsecond %q", out, again)
	}
	checkOutside(t, src, out, e)
	checkYAML(t, out, title)
	if !hasAny(src, e) {
		u := undone(e)
		_, found := bodyOf(src)
		u.DropEmpty = !found
		if back := spliced(t, out, u); !bytes.Equal(back, src) {
			t.Fatalf("unspliced\ngot  %q\nwant %q", back, src)
		}
	}
	return true
}

func hasAny(src []byte, e noteedit.Edit) bool {
	return slices.ContainsFunc(e.Set, func(f frontmatter.Field) bool { return bytes.Contains(bytes.ToLower(src), []byte(f.Key)) }) ||
		bytes.Contains(src, []byte("emberd:"))
}

// checkOutside takes the own ranges out of both notes, found in another way than
// splicing finds them, and compares what is left.
func checkOutside(t rapid.TB, src, out []byte, e noteedit.Edit) {
	t.Helper()
	if got, want := withoutOwn(out, e), withoutOwn(src, e); got != want {
		t.Fatalf("bytes that are not ours changed\nbefore %q\nafter  %q\nleft of the first  %q\nleft of the second %q", src, out, want, got)
	}
}

// withoutOwn drops own keys with their lines up to the next key, comments and empty
// lines aside, and own regions. Line ends that were put before a region go too, so
// all are dropped from the end.
func withoutOwn(note []byte, e noteedit.Edit) string {
	lines := regexp.MustCompile("(?s)[^\r\n]*(\r\n|\n|\r|$)").FindAllString(strings.TrimPrefix(string(note), lex.ByteOrderMark), -1)
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
				own = slices.ContainsFunc(e.Set, func(f frontmatter.Field) bool { return f.Key == key })
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
func checkYAML(t rapid.TB, out []byte, title string) {
	t.Helper()
	text, _ := lex.Normalize(bytes.TrimPrefix(out, []byte(lex.ByteOrderMark)))
	block, _, ok := frontmatter.Find(text)
	if !ok {
		t.Fatalf("no frontmatter in %q", out)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		t.Fatalf("the result is not YAML: %v\n%s", err, block)
	}
	values := doc.Content[0].Content
	for _, f := range promoted(title).Set {
		at := slices.IndexFunc(values, func(n *yaml.Node) bool { return strings.EqualFold(n.Value, f.Key) })
		if at < 0 || at%2 == 1 {
			t.Fatalf("%s is not in the result", f.Key)
		}
		checkType(t, f.Key, title, values[at+1])
	}
}

var (
	plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	plainDate   = regexp.MustCompile(`^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?$`)
)

// checkType checks one value of an edit that promoted made with a title.
func checkType(t rapid.TB, key, title string, n *yaml.Node) {
	t.Helper()
	title = strings.ReplaceAll(strings.ToValidUTF8(title, "\uFFFD"), "<%", "< %")
	switch key {
	case "emberd-id":
		checkText(t, n, "0123")
	case "emberd-title":
		checkText(t, n, title)
	case "emberd-tags":
		if n.Kind != yaml.SequenceNode || len(n.Content) != 2 {
			t.Fatalf("%s is no list of 2", key)
		}
		checkText(t, n.Content[0], "a")
		checkText(t, n.Content[1], title)
	case "emberd-strength":
		if !plainNumber.MatchString(n.Value) || n.Style != 0 {
			t.Fatalf("%s: %q is not a number in every version of YAML", key, n.Value)
		}
	case "emberd-day":
		if !plainDate.MatchString(n.Value) || n.Style != 0 {
			t.Fatalf("%s: %q is no date of Obsidian's", key, n.Value)
		}
	default:
		t.Fatalf("%s is not a property of the edit", key)
	}
}

func checkText(t rapid.TB, n *yaml.Node, want string) {
	t.Helper()
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	if n.Kind != yaml.ScalarNode || n.Value != want || !quoted && frontmatter.Ambiguous(n.Value) {
		t.Fatalf("text %q reads as %q, style %d", want, n.Value, n.Style)
	}
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte("---\na: 1 # c\n---\ntext"), "title")
	f.Add([]byte("\ufeff---\r\nemberd-tags: [a]\r\n---\r\n"), "\x00: #")
	f.Add([]byte("<!-- emberd:related -->\n<!-- /emberd:related -->"), "---")
	f.Fuzz(func(t *testing.T, src []byte, title string) {
		e := promoted(title)
		out, err := noteedit.Splice(src, e)
		if err != nil {
			if _, ok := errors.AsType[*frontmatter.EditError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if again := spliced(t, out, e); !bytes.Equal(again, out) {
			t.Fatalf("applied twice\nfirst  %q\nsecond %q", out, again)
		}
		checkYAML(t, out, title)
		before, had := bodyOf(src)
		after, _ := bodyOf(out)
		if !hasAny(src, e) && !bytes.HasPrefix(after, before) {
			t.Fatalf("the text changed: %q, was %q", out, src)
		}
		if !hasAny(src, e) {
			u := undone(e)
			u.DropEmpty = !had
			if back := spliced(t, out, u); !bytes.Equal(back, src) {
				t.Fatalf("unspliced %q, want %q", back, src)
			}
		}
		if utf8.Valid(src) && !utf8.Valid(out) {
			t.Fatal("the result is not UTF-8")
		}
	})
}

// bodyOf returns what is behind the frontmatter, and whether there is one.
func bodyOf(src []byte) (body []byte, found bool) {
	at := lex.TextStart(src)
	text, _ := lex.Normalize(src[at:])
	_, from, found := frontmatter.Find(text)
	return src[at+from:], found
}
