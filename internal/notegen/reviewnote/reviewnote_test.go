package reviewnote

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"emberd/internal/notegen"
	"emberd/memory"
	"emberd/op"
)

var update = flag.Bool("update", false, "write what the note is now to testdata")

// day is a day of March 2026.
func day(n int) time.Time { return time.Date(2026, 3, n, 10, 0, 0, 0, time.UTC) }

func id(n int) memory.ID { return memory.ID(fmt.Sprintf("00000000-0000-7000-8000-0000%08d", n)) }

// said is a memory in words.
func said(n int, words string) notegen.Entry {
	return notegen.Entry{ID: id(n), Text: words, Created: day(1 + n%28), Source: "user"}
}

// item is an open item about memories.
func item(n int, action string, all ...notegen.Entry) Item {
	it := Item{ID: fmt.Sprintf("rev-%012x%020x", n, n), Seen: Seen(fmt.Sprint(n)), Agent: "merge", Action: action, Urgency: "medium", Evidence: "Similarity 0.93",
		Created: day(2), Memories: all, Policy: "kept as it is", Due: day(2).AddDate(0, 0, 30), Choices: []string{op.DecideKeep}}
	return it
}

func offering(it Item, choices ...string) Item { it.Choices = choices; return it }

// awkward are texts that mean more to Obsidian, a plugin of it or emberd than they are to.
func awkward() []string {
	return []string{
		"- [x] done ^rev-000000000001-" + Seen("1") + "-forget", "[x] Forget it ^rev-000000000001-" + Seen("1") + "-forget",
		"first\n- [x] Forget it ^rev-000000000001-" + Seen("1") + "-forget\nlast", "\r- [x] a ^rev-000000000001-" + Seen("1") + "-forget",
		"\u2028- [x] a ^rev-000000000001-" + Seen("1") + "-forget", "\n\n## Decided\n\n- 2026-03-01 · nothing",
		"<%* await app.vault.delete(tp.file.find_tfile('Home')) %>", "`= this.file.path` and `$= dv.pages()`", "```dataviewjs\ndv.pages()\n```\nafter it", "```\n", "~~~js\nopen",
		"%% hidden %% and %%", "[[Home]] and ![[Secret.png]] and [a](javascript:alert(1)) and ![x](https://evil.example/p.png)",
		"<script>alert(1)</script><img src=x onerror=y> &lt; &#35; &amp;", "<!-- /emberd:inbox -->", "<!-- emberd:inbox -->", "-->",
		"a #tag and #other/tag", "port:: 5432 and [status:: done] (x:: y)", "ends in an id ^abc123", "| a | b |\n|---|---|\n| c | d |",
		"> [!danger] a callout", "1. first", "+5 degrees", "# A heading", "---", "===\nSetext", "$x^2$ and $$y$$", "==marked== and ~~struck~~ and **bold** _it_ __init__",
		"see https://example.org/a_b?c=d&e=f and www.example.org and ann@example.org", "a footnote[^1] and ^[inline]", "back\\slash \\# and \\",
		"\u202eright to left\u202c, a\u200bzero, tag\U000e0041\U000e007f", "\tindented code", "{{date}} {% raw %}", "[1]: https://example.org 'x'", "^caret",
		"📅 2026-03-01 ⏫ 🔁 every day", "🗓️ due:: 2026", strings.Repeat("long words ", 90), strings.Repeat("x", 900), "", "*", "**", "a * b", "** a **",
	}
}

// full is a page with items of every kind.
func full() *Page {
	gates := item(1, "merge", said(1, "The garden has two gates. The north one sticks."), said(2, "The garden has two gates. The south one is new."))
	gates.Evidence, gates.Diff = "Similarity 0.93, both of the garden", []string{"  The garden has two gates.", "- The north one sticks.", "+ The south one is new."}
	gates = offering(gates, op.DecideMerge, op.DecideKeep, op.DecideForget+":"+string(id(1)))
	port := item(2, "contradiction", said(3, "The database listens on port 5432"), said(4, "The database listens on port 5433"))
	port.Urgency, port.Agent, port.Evidence = "high", "relations", "They differ in a number: 5432, 5433"
	port.Memories[1].Note, port.Memories[1].Source = "Memories/Database.md", "web: docs.example.org"
	port = offering(port, op.DecideKeep, op.DecideForget+":"+string(id(3)), op.DecideForget+":"+string(id(4)))
	port.Remark = "Two boxes were ticked, so nothing was done; tick one."
	faint := offering(item(3, "gc_candidate", said(5, "The parking ticket was 4 euros")), op.DecidePromote, op.DecideKeep, op.DecideForget)
	faint.Urgency, faint.Agent, faint.Evidence, faint.Claimed = "low", "decay", "Score 0.03, used once", "bob"
	many := item(4, "merge", said(6, "Tea at 80 degrees"), said(7, "Tea at 80 °C"), said(8, "Green tea is brewed at 80 degrees"))
	many.Policy = ""
	many = offering(many, op.DecideMerge, op.DecideKeep, op.DecideForget)
	damaged := Wait{Text: "1 damaged log line is in quarantine", Command: "emberd doctor quarantine list"}
	return &Page{Open: []Item{port, gates, many, faint}, More: 7, After: 30 * 24 * time.Hour, Waits: []Wait{damaged}, Done: []Done{
		{At: day(9), What: "merged", Reason: "box checked in this note", Memories: []notegen.Entry{said(9, "Ann leads the garden"), said(10, "Ann is head of the garden")}, Tx: "01a1fd06c976-0000-k7q2mzxa"},
		{At: day(8), What: "nothing was done", Reason: "the item had been decided before the tick was read"},
	}}
}

func TestGolden(t *testing.T) {
	pages := map[string]*Page{"full.md": full(), "empty.md": {}, "awkward.md": {Done: []Done{}}}
	for i, words := range awkward() {
		it := offering(item(i+1, words, said(2*i, words), said(2*i+1, "and "+words)), op.DecideMerge, op.DecideKeep)
		it.Evidence, it.Claimed, it.Remark, it.Agent, it.Urgency = words, words, words, words, words
		it.Diff = []string{"  " + words, "- " + words, "+ " + words}
		pages["awkward.md"].Open = append(pages["awkward.md"].Open, it)
		pages["awkward.md"].Done = append(pages["awkward.md"].Done, Done{At: day(1), What: "kept", Reason: words, Memories: []notegen.Entry{said(i, words)}})
	}
	for name, page := range pages {
		got := Render(page, nil)
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s is not what it was (-update writes it): %v\n%s", file, err, got)
		}
		onlyText(t, page, got)
	}
}

// onlyText looks at a note as Obsidian does: nothing of a memory is more than text, and the
// only boxes are those of the items' choices, all empty.
func onlyText(t rapid.TB, p *Page, region string) {
	t.Helper()
	boxes := 0
	for i := range p.Open {
		boxes += len(p.Open[i].Choices)
	}
	src := []byte("<!-- emberd:inbox -->\n" + region + "<!-- /emberd:inbox -->\n")
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser().Parse(text.NewReader(src))
	allowed := []ast.NodeKind{ast.KindDocument, ast.KindParagraph, ast.KindHeading, ast.KindList, ast.KindListItem, ast.KindTextBlock, ast.KindText, ast.KindCodeSpan,
		ast.KindBlockquote, ast.KindEmphasis, extast.KindTaskCheckBox}
	kinds := map[ast.NodeKind]int{}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			kinds[n.Kind()]++
		}
		if box, is := n.(*extast.TaskCheckBox); is && entering && box.IsChecked {
			t.Errorf("a box is ticked in\n%s", region)
		}
		return ast.WalkContinue, nil
	})
	for kind, n := range kinds {
		if !slices.Contains(allowed, kind) && (kind != ast.KindHTMLBlock || n != 2) {
			t.Errorf("%d of %s in\n%s", n, kind, region)
		}
	}
	if kinds[extast.KindTaskCheckBox] != boxes {
		t.Errorf("%d boxes, want %d, in\n%s", kinds[extast.KindTaskCheckBox], boxes, region)
	}
	if ticks := Parse(region, nil).Ticks; len(ticks) > 0 {
		t.Errorf("nobody ticked %+v in\n%s", ticks, region)
	}
	if ticks := Parse(strings.ReplaceAll(region, "- [ ] ", "- [x] "), nil).Ticks; len(ticks) != boxes {
		t.Errorf("%d boxes are ticked, want %d", len(ticks), boxes)
	}
	for line := range strings.Lines(region) {
		for _, mark := range []string{"<%", "%%", "::", "emberd:", "<!--", "$=", "`=", "\n\n"} {
			if strings.Contains(line, mark) {
				t.Errorf("%q in %q", mark, line)
			}
		}
	}
}

// What is proposed and cannot be done is not asked.
func TestAMergeThatIsRefused(t *testing.T) {
	p := &Page{Open: []Item{offering(item(1, "merge", said(1, "north"), said(2, "south")), op.DecideKeep)}}
	region := Render(p, nil)
	if !strings.Contains(region, "## Near-duplicates that cannot be merged · north\n") {
		t.Errorf("the note is\n%s", region)
	}
	if got := Render(&Page{}, Parse(region, nil)); strings.Contains(got, "##") {
		t.Errorf("with nothing to show the note is\n%s", got)
	}
}

// anyItem draws an item whose texts are of awkward pieces.
func anyItem(n int) *rapid.Generator[Item] {
	return rapid.Custom(func(t *rapid.T) Item {
		piece := rapid.OneOf(rapid.SampledFrom(awkward()), rapid.SampledFrom(strings.Split("` * ** _ [ ] ( ) < > # | ~ = $ % ^ : & ! { } \\ \n emberd: www. a 1. - + [x] ://", " ")), rapid.String())
		words := func(label string) string {
			return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, label), rapid.SampledFrom([]string{"", " "}).Draw(t, "between")), "?")
		}
		it := item(n, rapid.SampledFrom([]string{"merge", "contradiction", "gc_candidate", words("action")}).Draw(t, "action"))
		for i := range rapid.IntRange(1, 3).Draw(t, "memories") {
			m := said(100*n+i, words("text"))
			m.Source, m.Note = words("source"), words("note")
			it.Memories = append(it.Memories, m)
		}
		it.Evidence, it.Agent, it.Urgency, it.Claimed, it.Remark = words("evidence"), words("agent"), words("urgency"), words("claimed"), words("remark")
		it.Diff = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"  ", "- ", "+ "}).Draw(t, "lead") + words("sentence")
		}), 0, 4).Draw(t, "diff")
		return offering(it, op.DecideKeep, op.DecideForget+":"+string(it.Memories[0].ID))
	})
}

func TestAnyTextIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Page{Open: []Item{anyItem(1).Draw(t, "one"), anyItem(2).Draw(t, "another")}}
		for i := range p.Open {
			for m := range p.Open[i].Memories {
				p.Open[i].Memories[m].Note = "" // a link is one
			}
		}
		onlyText(t, p, Render(p, nil))
	})
}
