package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"emberd/vault"
	"emberd/vault/markdown"
)

// bomb is a note that a parser may take very long over.
type bomb struct {
	name       string
	text       string
	lineByLine bool
}

func bombs() []bomb {
	x := strings.Repeat
	var staircase, steps, ladder, stairs strings.Builder
	for i := range 500 {
		fmt.Fprintf(&staircase, "%s- level\n", x("  ", i))
	}
	for i := range 30 {
		fmt.Fprintf(&steps, "%s- level\n", x("  ", i))
	}
	for i := range 1400 {
		ladder.WriteString(x("`", i+1) + " ")
	}
	for i := range 20_000 {
		fmt.Fprintf(&stairs, "[^%d]: note\n\n", i)
	}
	return []bomb{
		{"table of 2,000 columns and rows, 12 KB", x("|a", 2000) + "|\n" + x("|-", 2000) + "|\n" + x("|\n", 2000), true},
		{"table of 9,000 columns", x("|a", 9000) + "|\n" + x("|-", 9000) + "|\n", false},
		{"emphasis *a_, 80 KB", x("*a_ ", 20_000), true},
		{"emphasis **x", x("**x", 20_000), true},
		{"emphasis a**b", x("a**b", 100_000), true},
		{"emphasis at the limit", x(x("*a_", 900)+"\n\n", 9), false},
		{"emphasis, one paragraph at the limit", x("*a_", 2800), false},
		{"strike ~~a", x("~~a ", 40_000), true},
		{"links [a](b", x("[a](b", 20_000), true},
		{"links at the limit", x("[a](b", 2400), false},
		{"paragraphs of links at the limit", x(x("[a](b", 240)+"\n\n", 100), false},
		{"closed links", x("[a](b)", 20_000), true},
		{"empty links [](", x("[](", 20_000), true},
		{"reference links [a][a]", "[a]: b\n\n" + x("[a][a]", 20_000), true},
		{"reference definitions", x("[a]: b\n", 40_000), true},
		{"spaced reference definitions", x("[a]: b\n\n", 100_000), true},
		{"pictures ![", x("![", 40_000), true},
		{"nested pictures", x("![a", 10_000) + x("](x)", 10_000), true},
		{"nested lists by indentation", staircase.String(), true},
		{"deep list within the limits", steps.String(), false},
		{"nested lists on a line", x("- ", 5_000) + "x\n", true},
		{"nested ordered lists on a line", x("1. ", 5_000) + "x\n", true},
		{"long list", x("- a\n", 200_000), true},
		{"nested quotes", x("> ", 5_000) + "x\n", true},
		{"quotes without spaces", x(">", 100_000) + "x\n", true},
		{"quotes of 30 on many lines", x(x(">", 30)+"x\n", 20_000), true},
		{"quotes within lists", x("> - ", 3_000) + "x\n", true},
		{"wikilinks [[", x("[[", 100_000), true},
		{"wikilinks [[a", x("[[a", 100_000), true},
		{"wikilinks closed", x("[[a]] ", 50_000), true},
		{"embeds ![[", x("![[", 100_000), true},
		{"closing ]]", x("]]", 200_000), false},
		{"footnotes [^", x("[^", 50_000), true},
		{"footnote references", x("[^1]", 50_000) + "\n\n[^1]: x\n", true},
		{"footnote definitions", stairs.String(), false},
		{"nested footnotes", x("[^a]: ", 2_000) + "x\n", false},
		{"backticks of rising length", ladder.String(), true},
		{"single backticks", x("` `` ", 50_000), true},
		{"code marks at the limit", x("`a``b", 100) + x("x", 900_000), false},
		{"angle brackets <", x("<", 200_000), true},
		{"tags <a ", x("<a ", 100_000), true},
		{"tags <a before much text", x("<a ", 1_990) + x("a", 900_000), true},
		{"tags <a before one long word", x("<a ", 20) + x("a", 900_000), true},
		{"a long word in quotes", `<a b="` + x("a>", 450_000), true},
		{"tags <a at the limit", x("<a ", 20) + x("a", 199_900), false},
		{"tags that are short", x("<b>a</b> <i c='>'>d\n\n", 40_000), true},
		{"short tags at the limit", x("<b>a</b> <i c='>'>d\n\n", 18_000), false},
		{"comments <!--", x("x <!-- ", 50_000), true},
		{"declarations <?", x("x <? ", 50_000), true},
		{"autolinks <a:", x("<a:b", 50_000), true},
		{"one long line", x("word ", 200_000), false},
		{"one long word", x("x", 1_000_000), false},
		{"lines", x("x\n", 500_000), true},
		{"lines at the limit", x("- x\n", 25_000), false},
		{"blank lines", x("\n", 1_000_000), false},
		{"headings", x("# \n", 300_000), true},
		{"underlined headings", x("a\n=\n", 200_000), true},
		{"backslashes", x(`\`, 1_000_000), false},
		{"entities", x("&amp;", 200_000), false},
		{"ampersands", x("&", 1_000_000), false},
		{"tags #", x("#", 1_000_000), false},
		{"tags #a", x("#a ", 300_000), false},
		{"dollars", x("$", 1_000_000), false},
		{"formulas $a", x("$a ", 300_000), false},
		{"blocks of formulas", x("$$a\n\n", 200_000), true},
		{"comments %%", x("%%", 500_000), false},
		{"comments a %%", x("a %% ` ", 100_000), true},
		{"fields ::", x("a:: b\n", 150_000), true},
		{"fields [a:: b]", x("(a:: b) ", 100_000), false},
		{"colons", x("::", 500_000), false},
		{"block ids", x("a ^b\n\n", 150_000), true},
		{"carets", x(" ^", 500_000), false},
		{"tables", x("|a|\n|-|\n\n", 6_000), false},
		{"delimiter rows", x("|-|-|\n", 100_000), true},
		{"fences", x("```\n", 200_000), true},
		{"indented code", x("    a\n\n", 150_000), true},
		{"open HTML", x("<div>\n", 150_000), true},
		{"tabs", x("\t", 1_000_000), false},
		{"indented tabs in a list", "- a\n" + x("\t\tb\n\n", 200_000), true},
		{"frontmatter of brackets", "---\na: " + x("[", 60_000) + "\n---\n", false},
		{"frontmatter of braces", "---\na: " + x("{", 60_000) + "\n---\n", false},
		{"frontmatter of maps", "---\n" + x("{a: ", 15_000) + "\n---\n", false},
		{"frontmatter of dashes", "---\n" + x("- ", 30_000) + "\n---\n", false},
		{"frontmatter of keys", "---\n" + x("? ", 30_000) + "\n---\n", false},
		{"frontmatter of comments", "---\n" + x("# a\n", 16_000) + "a: b\n---\n", false},
		{"frontmatter of anchors", "---\n" + x("- &a b\n", 9_000) + "\n---\n", false},
		{"frontmatter of aliases", "---\na: &a " + x("x", 30_000) + "\nb: [" + x("*a,", 10_000) + "]\n---\n", false},
		{"frontmatter of quotes", "---\na: \"" + x("\\u0041", 10_000) + "\"\n---\n", false},
		{"frontmatter of short keys", "---\n" + x("a: b\n", 13_000) + "---\n", false},
		{"frontmatter of 200,000 keys", "---\n" + manyKeys(200_000) + "---\n", false},
		{"frontmatter of aliases of aliases", "---\n" + laughs(40) + "---\n", false},
		{"1 MiB of brackets", x("[", 1<<20), true},
		{"frontmatter of 1 MiB of brackets", "---\na: " + x("[", 1<<20) + "\n---\n", false},
		{"frontmatter that is large", "---\n" + x("a", 1_000_000) + ": b\n---\n", false},
	}
}

// manyKeys are properties with names of their own.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

// laughs are lists that name the one before nine times each ("billion laughs").
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString("l0: &l0 [ha]\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s*l%d]\n", i, i, strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 8), i-1)
	}
	return b.String()
}

// It is case 62, as far as a count can tell; BenchmarkBombs has the times. The choice of
// reader is by count, so it is the same on every machine.
func TestBombsChooseTheReader(t *testing.T) {
	read := markdown.NewParser().Read
	for _, b := range bombs() {
		n := vault.Parse(read, vault.File{Path: "bomb.md", Size: int64(len(b.text))}, []byte(b.text))
		if n.LineByLine != b.lineByLine {
			t.Errorf("%s: read line by line is %v, want %v", b.name, n.LineByLine, b.lineByLine)
		}
		if told := len(n.Problems) > 0; n.LineByLine && !told {
			t.Errorf("%s: read line by line without a word", b.name)
		}
	}
}

func BenchmarkBombs(b *testing.B) {
	read := markdown.NewParser().Read
	for _, bomb := range bombs() {
		b.Run(bomb.name, func(b *testing.B) {
			data := []byte(bomb.text)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				vault.Parse(read, vault.File{Path: "bomb.md", Size: int64(len(data))}, data)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms")
		})
	}
}

// BenchmarkNote reads a note as people write them.
func BenchmarkNote(b *testing.B) {
	page := "## Heading %d\n\nA paragraph of *plain* text with a [[Note %d|link]], a #tag/%d and `code`, long enough to be\n" +
		"wrapped over two lines as notes are.\n\n- an item with a [page](https://example.org/%d)\n- [ ] a task ^t%d\n\n> a quote\n\n"
	var text strings.Builder
	text.WriteString("---\ntags: [a, b]\naliases:\n  - Other name\ncreated: 2024-01-05\n---\n# Title\n\n")
	for i := range 12 {
		fmt.Fprintf(&text, page, i, i, i, i, i)
	}
	data := []byte(text.String())
	for name, read := range map[string]func(*markdown.Builder){"parser": markdown.NewParser().Read, "line reader": markdown.ReadLines} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				vault.Parse(read, vault.File{Path: "n.md", Size: int64(len(data))}, data)
			}
		})
	}
}
