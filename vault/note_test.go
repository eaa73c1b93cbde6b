package vault_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "emberd/internal/testutil/racescale"
	"emberd/vault"
	"emberd/vault/lex"
	"emberd/vault/markdown"
)

func TestMarkup(t *testing.T) {
	for _, c := range []struct {
		name, text                string
		shown, tags, links, block string
	}{
		{name: "plain", text: "one *two* **three** ~~four~~\n", shown: "one two three four"},
		{name: "entities and escapes", text: `a &amp; b \* c` + "\n", shown: "a & b * c"},
		{name: "code span", text: "run `go [[x]] #y` now\n", shown: "run go [[x]] #y now"},
		{name: "fence", text: "```go\n[[x]] #y\n```\nz\n", shown: "[[x]] #y\nz"},
		{name: "fence that never ends", text: "a\n\n```\n[[x]] #y\n", shown: "a\n[[x]] #y"},
		{name: "indented code", text: "a\n\n    [[x]] #y\n\nb\n", shown: "a\n[[x]] #y\nb"},
		{name: "wikilink", text: "see [[Target]].\n", shown: "see Target.", links: "Target"},
		{name: "wikilink with other text", text: "see [[Target|that one]]\n", shown: "see that one (Target)", links: "Target|that one"},
		{name: "wikilink with like text", text: "see [[dir/Target|the target]]\n", shown: "see the target", links: "dir/Target|the target"},
		{name: "heading and block of a target", text: "[[T#H#I]] [[T#^b1]] [[T^b2]] [[#H]]\n", shown: "T H I T T H", links: "T#H#I T^b1 T^b2 #H"},
		{name: "embeds", text: "![[T]] ![[p.png|100x20]] ![[p.png|a cat]]\n", shown: "T p.png a cat (p.png)", links: "!T !p.png !p.png|a cat"},
		{name: "no wikilinks", text: "[[]] [[ ]] [[|a]] \\[[b]] [[c\nd]] [ [e] ]\n", shown: "[[]] [[ ]] [[|a]] [[b]] [[c\nd]] [ [e] ]"},
		{name: "Markdown link", text: "[an example](dir/a%20b.md#h) [web](https://a.example/b.md) [m](mailto:a@b.example)\n", shown: "an example (a b) web m", links: "dir/a b.md#h|an example"},
		{name: "Markdown link in angles", text: "[x](<a b.md>)\n", shown: "x (a b)", links: "a b.md|x"},
		{name: "picture", text: "![alt](p.png) [![badge](b.svg)](https://a.example)\n", shown: "alt (p.png) badge", links: "!p.png|alt !b.svg|badge"},
		{name: "tags", text: "#a #b/c (#d) \"#e\" #ünï #日本 #🎉x #1a\n", shown: "#a #b/c (#d) \"#e\" #ünï #日本 #🎉x #1a", tags: "a b/c d e ünï 日本 🎉x 1a"},
		{name: "no tags", text: "a#b #1 #2024/01 ##c \\#d x/#e\n", shown: "a#b #1 #2024/01 ##c #d x/#e"},
		{name: "a tag is one whatever its case", text: "#Tag #tag #TAG/ #tag/sub\n", shown: "#Tag #tag #TAG/ #tag/sub", tags: "Tag tag/sub"},
		{name: "block ids", text: "para ^p1\n\n- item ^i1\n\n^alone\n\nnot^this ^nor this\n", shown: "para\nitem\nnot^this ^nor this", block: "p1 i1 alone"},
		{name: "callout", text: "> [!note]- Title [[T]]\n> text\n", shown: "Title T\ntext", links: "T"},
		{name: "task", text: "- [ ] open\n- [x] done\n- [>] moved\n", shown: "open\ndone\nmoved"},
		{name: "comments", text: "a %%[[x]]%% b\n\n%%\n#c\n\nd\n%%\n\ne `%%f%%`\n", shown: "a b\ne %%f%%"},
		{name: "comment that never ends", text: "a %%b\n\n%%\nc\n", shown: "a %%b\n%%\nc"},
		{name: "comment with code", text: "%% s\n```\nx\n```\n%%\n\ny\n", shown: "y"},
		{name: "HTML", text: "<div>\n<b>[[x]]</b> y\n</div>\n\na <i>b</i> <!-- #c --> d\n", shown: "[[x]] y\na b d"},
		{name: "table", text: "| a | b |\n|---|---|\n| [[T\\|x]] | #t |\n", shown: "a | b\nx (T) | #t", tags: "t", links: "T|x"},
		{name: "footnotes", text: "text[^1] more\n\n[^1]: the note\n", shown: "text more\nthe note"},
		{name: "math", text: "$a_1 = [[x]]$ and $$\\sum #y$$ for $5 and $6\n\n$$\n[[z]]\n\n#w\n$$\n\nb\n", shown: "$a_1 = [[x]]$ and $$\\sum #y$$ for $5 and $6\n$$\n[[z]]\n#w\n$$\nb"},
		{name: "CRLF and lone CR", text: "a #x\r\nb\rc #y\r", shown: "a #x\nb\nc #y", tags: "x y"},
		{name: "control characters", text: "a\x00b \x1b[31mc\n", shown: "a b [31mc"},
		{name: "references to control characters", text: "a&#4;b &#x1b;[31mc&Tab;d\n", shown: "a b [31mc d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := noteOf(c.text)
			for _, f := range []struct{ what, got, want string }{
				{"text", shown(n), c.shown}, {"tags", tagNames(n), c.tags}, {"links", linkForms(n), c.links}, {"block ids", blockIDs(n), c.block},
			} {
				if f.got != f.want {
					t.Errorf("%s %q, want %q", f.what, f.got, f.want)
				}
			}
			agree(t, c.name, []byte(c.text))
		})
	}
}

func TestSections(t *testing.T) {
	text := "---\ntags: [x]\n---\nintro\n\n# One\na\n## Two `b` [[T|c]] ^id\nd\n\nThree\n---\ne\n# \n> # not this\n"
	for reader, n := range map[string]*vault.Note{"parser": noteOf(text), "line reader": lineNoteOf(text)} {
		var got []string
		for _, s := range n.Sections {
			got = append(got, fmt.Sprintf("%d %d %s: %s", s.Line, s.Level, strings.Join(s.Path, ">"), s.Text))
		}
		want := []string{"4 0 : intro", "6 1 One: a", "8 2 One>Two b c: d", "11 2 One>Three: e", "14 1 : not this"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: sections %q, want %q", reader, got, want)
		}
	}
}

// A heading of several lines, one of which looks like the head of a table.
func TestSectionsBelowATableThatIsNone(t *testing.T) {
	text := "word\nword\n|---|---|\n---"
	for _, s := range noteOf(text).Sections {
		if s.Start > s.End || s.Line != 1+strings.Count(text[:s.Start], "\n") {
			t.Errorf("section %q on line %d is bytes %d to %d", s.Heading, s.Line, s.Start, s.End)
		}
	}
}

// The sections of a note divide its file from the first text to the end.
func TestSectionsDivideTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyNote().Draw(t, "note")
		for _, n := range []*vault.Note{noteOf(text), lineNoteOf(text)} {
			for i, s := range n.Sections {
				if s.Start > s.End || s.End > len(text) {
					t.Fatalf("section %d is bytes %d to %d of %d", i, s.Start, s.End, len(text))
				}
				if i > 0 && s.Start != n.Sections[i-1].End {
					t.Fatalf("section %d begins at %d, want where the last ended, %d", i, s.Start, n.Sections[i-1].End)
				}
				if line := 1 + strings.Count(text[:s.Start], "\n"); line != s.Line {
					t.Fatalf("section %d is said to be on line %d, want %d", i, s.Line, line)
				}
			}
			if last := len(n.Sections) - 1; last >= 0 && n.Sections[last].End != len(text) {
				t.Fatalf("the last section ends at %d, want %d", n.Sections[last].End, len(text))
			}
		}
	})
}

// anyNote draws notes of lines that people write and of the marks that parsers
// trip over.
func anyNote() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"", "", "word", "# Head", "## Head two #t", "text [[A|b]] #tag", "- item ^id", "  - inner", "> quote",
		"> [!note] call", "```", "~~~", "| a | b |", "|---|---|", "---", "===", "%%", "a %%b%% c", "$$", "<div>", "<!--", "-->", "[x](y.md)",
		"    code", "\tcode", "1. one", "key:: value", "[^1]: note", "`a", "*a_", "![[e]]", "***", "\uFEFF", "日本 #日本"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), "\n")
	})
}

func TestOffsetsAreOfTheFile(t *testing.T) {
	text := lex.ByteOrderMark + "# A\r\nb\r\n# C\r\n"
	n := noteOf(text)
	if len(n.Sections) != 2 {
		t.Fatalf("%d sections, want 2", len(n.Sections))
	}
	s := n.Sections[1]
	if got := text[s.Start:s.End]; got != "# C\r\n" || s.Line != 3 {
		t.Errorf("the second section is %q on line %d, want %q on line 3", got, s.Line, "# C\r\n")
	}
}

func TestLargeNote(t *testing.T) {
	line := strings.Repeat("word ", 20) + "\n"
	text := strings.Repeat(line, 2*vault.MaxIndexed/len(line)) + "#end\n"
	n := vault.Parse(markdown.NewParser().Read, vault.File{Path: "n.md", Size: int64(len(text))}, []byte(text)[:vault.MaxIndexed])
	if len(n.Problems) != 1 || !strings.Contains(n.Problems[0].Text, "only the first") {
		t.Errorf("problems %v, want the one that it is too large", n.Problems)
	}
	if end := n.Sections[0].End; end > vault.MaxIndexed || end < vault.MaxIndexed-len(line) || text[end-1] != '\n' {
		t.Errorf("indexed %d bytes, want up to the last whole line of %d", end, vault.MaxIndexed)
	}
}

func TestNotUTF8(t *testing.T) {
	n := noteOf("caf\xe9 #latin\n")
	if got := shown(n); got != "caf? #latin" || len(n.Problems) != 1 {
		t.Errorf("text %q and %d problems, want %q and one", got, len(n.Problems), "caf? #latin")
	}
	for name, data := range map[string][]byte{
		"UTF-16":       []byte("\xff\xfea\x00"),
		"random bytes": bytes.Repeat([]byte("a\xff"), 100),
	} {
		if vault.IsText(data) {
			t.Errorf("%s is taken for text", name)
		}
	}
}

func TestDates(t *testing.T) {
	changed := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"created: 2024-01-05":                time.Date(2024, 1, 5, 0, 0, 0, 0, time.Local),
		"date: 2024-01-05T10:11:12":          time.Date(2024, 1, 5, 10, 11, 12, 0, time.Local),
		"created: 2024-01-05T10:11:12+02:00": time.Date(2024, 1, 5, 8, 11, 12, 0, time.UTC),
		"created: '[[2024-01-05]]'":          time.Date(2024, 1, 5, 0, 0, 0, 0, time.Local),
		"created: soon":                      changed,
	} {
		n := vault.Parse(markdown.NewParser().Read, vault.File{Path: "n.md", ModTime: changed}, []byte("---\n"+text+"\n---\n"))
		if !n.Created.Equal(want) {
			t.Errorf("%s: created %v, want %v", text, n.Created, want)
		}
	}
}

func TestConflictCopiesAreTold(t *testing.T) {
	for name, want := range map[string]int{
		"a.sync-conflict-20240105-101112-ABCDEFG.md": 1, "a (Ann's conflicted copy 2024-01-05).md": 1, "conflict.md": 0,
	} {
		if n := vault.Parse(markdown.NewParser().Read, vault.File{Path: name}, nil); len(n.Problems) != want {
			t.Errorf("%s: %d problems, want %d", name, len(n.Problems), want)
		}
	}
}

// A parser that panics, as one that is nil does, costs the note its layout only.
func TestParserPanicIsContained(t *testing.T) {
	text := "---\ntags: [a]\n---\n# Head\n[[Link]] #b\n"
	n := vault.Parse(markdown.Parser{}.Read, vault.File{Path: "n.md", Size: int64(len(text))}, []byte(text))
	if !n.LineByLine || len(n.Problems) != 1 {
		t.Errorf("read line by line is %v with problems %v, want it and a word about it", n.LineByLine, n.Problems)
	}
	if tagNames(n) != "a b" || linkForms(n) != "Link" || len(n.Sections) != 1 {
		t.Errorf("tags %q, links %q, %d sections; want a b, Link and one", tagNames(n), linkForms(n), len(n.Sections))
	}
}
