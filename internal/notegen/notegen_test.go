package notegen

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write what the lists are now to testdata")

// day is a day of March 2026.
func day(n int) time.Time { return time.Date(2026, 3, n, 10, 0, 0, 0, time.UTC) }

// entry is a memory in words; n makes its id and its date.
func entry(n int, text string, also ...func(*Entry)) Entry {
	e := Entry{ID: memory.ID(fmt.Sprintf("00000000-0000-7000-8000-0000%08d", n)), Text: text, Importance: 0.5, Created: day(1 + n%28)}
	for _, change := range also {
		change(&e)
	}
	return e
}

func in(section string) func(*Entry)     { return func(e *Entry) { e.Section = section } }
func of(project string) func(*Entry)     { return func(e *Entry) { e.Project = project } }
func weighs(x float64) func(*Entry)      { return func(e *Entry) { e.Importance = x } }
func noted(path string) func(*Entry)     { return func(e *Entry) { e.Note = path } }
func from(source string) func(*Entry)    { return func(e *Entry) { e.Source = source } }
func tagged(tags ...string) func(*Entry) { return func(e *Entry) { e.Tags = tags } }

// awkward are texts that mean more to Obsidian, a plugin of it or emberd than they are to.
func awkward() []string {
	return []string{
		"<%* await app.vault.delete(tp.file.find_tfile('Home')) %>",
		"`= this.file.path` and `$= dv.pages()`",
		"```dataviewjs\ndv.pages()\n```\nafter it",
		"%% hidden %% and %%",
		"[[Home]] and ![[Secret.png]] and [a](javascript:alert(1)) and ![x](https://evil.example/p.png)",
		"<script>alert(1)</script><img src=x onerror=y> &lt; &#35; &amp;",
		"<!-- /emberd:index -->", "<!-- emberd:index -->", "the emberd:index and emberd:core regions",
		"a #tag and #other/tag, C# too", "port:: 5432 and [status:: done] (x:: y)",
		"ends in an id ^abc123", "| a | b |\n|---|---|\n| c | d |", "> [!danger] a callout", "- [x] done", "1. first", "1) first", "+5 degrees", "-5 degrees",
		"# A heading", "---", "===\nSetext", "$x^2$ and $$y$$", "==marked== and ~~struck~~ and **bold** _it_ snake_case_name __init__",
		"see https://example.org/a_b?c=d&e=f and www.example.org and ann@example.org or mailto:bob@example.org",
		"a footnote[^1] and ^[inline]", "back\\slash \\# and \\", "\u202eright to left\u202c, a\u200bzero, tag\U000e0041\U000e007f, \u2028line\u2029",
		"family 👩\u200d👩\u200d👧 and می\u200cخواهم and e\u0301", "\tindented code", "    four blanks", "{{date}} {% raw %}", "[1]: https://example.org 'x'", ": definition", "^caret", "=equals", "~~~\ncode\n~~~",
		strings.Repeat("long words ", 60), strings.Repeat("x", 500), "",
	}
}

func awkwardEntries() []Entry {
	var all []Entry
	for i, text := range awkward() {
		all = append(all, entry(i, text, in("Key Topics"), from(text)))
	}
	return append(all,
		entry(100, "in a section of awkward name", in("[[x]] #y <% z %> | `c`")),
		entry(101, "of an awkward project", of("`x` %% [[p]]")),
		entry(102, "with a note", noted("Memories/Water deeply.md"), of("garden")),
		entry(103, "whose note has a name that no link takes", noted("Memories/C# [1] ^a|b.md"), of("garden")))
}

// Index.md and Core.md of every awkward text, and of plain ones, as they are written.
func TestGolden(t *testing.T) {
	plain := []Entry{
		entry(1, "Tea is brewed at 80 degrees", in("Important Facts"), from("kitchen.md")),
		entry(2, "Ann leads the garden project", in("people & entities"), weighs(0.9), noted("Memories/Ann leads.md"), tagged("people/ann")),
		entry(3, "The database listens on port 5432", in("Important Facts"), weighs(0.7), from("web: docs.example.org")),
		entry(4, "Ship the seed list by June", in("Ongoing Threads"), of("garden")),
		entry(5, "Saved from the command line", of("garden")),
		entry(6, "Nobody said where it belongs"),
		entry(7, "Cooking temperatures", in("Recipes")),
	}
	for name, got := range map[string]string{
		"index.md": Index(plain, nil), "core.md": Core(plain, nil), "awkward.md": Index(awkwardEntries(), nil),
	} {
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
	}
}

// rendered parses a list as Obsidian does, and returns the kinds of its nodes and its text.
func rendered(list string) (kinds map[ast.NodeKind]int, words string) {
	src := []byte("<!-- emberd:index -->\n" + list + "<!-- /emberd:index -->\n")
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser().Parse(text.NewReader(src))
	kinds = make(map[ast.NodeKind]int)
	var out strings.Builder
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		kinds[n.Kind()]++
		if leaf, ok := n.(*ast.Text); ok {
			out.Write(leaf.Segment.Value(src))
		}
		return ast.WalkContinue, nil
	})
	return kinds, out.String()
}

// What a memory says is text to a Markdown parser, and to the readers that look for
// their marks without one.
func onlyText(t rapid.TB, list string) {
	t.Helper()
	kinds, _ := rendered(list)
	allowed := []ast.NodeKind{ast.KindDocument, ast.KindParagraph, ast.KindHeading, ast.KindList, ast.KindListItem, ast.KindTextBlock, ast.KindText, ast.KindCodeSpan}
	for kind, n := range kinds {
		if !slices.Contains(allowed, kind) && (kind != ast.KindHTMLBlock || n != 2) {
			t.Errorf("%d of %s in\n%s", n, kind, list)
		}
	}
	for line := range strings.Lines(list) {
		line = strings.ReplaceAll(line, "|note]])", "")
		for _, mark := range []string{"<%", "%%", "]]", "::", "emberd:", "<!--", "$=", "`=", "\n\n"} {
			if strings.Contains(line, mark) {
				t.Errorf("%q in %q", mark, line)
			}
		}
		if at := strings.IndexAny(line, "#^$|[]"); at > 0 && line[at-1] != '\\' && !strings.HasPrefix(line, "## ") && !strings.Contains(line, "([[") {
			t.Errorf("%q stands bare in %q", line[at], line)
		}
	}
}

func TestAwkwardTextsAreText(t *testing.T) {
	for _, text := range awkward() {
		onlyText(t, Index([]Entry{entry(1, text, from(text), in(text))}, nil))
		onlyText(t, Core([]Entry{entry(1, text, from(text))}, nil))
	}
}

// anyEntry draws a memory whose text, section and source are of awkward pieces.
func anyEntry(t *rapid.T) Entry {
	piece := rapid.OneOf(rapid.SampledFrom(awkward()), rapid.SampledFrom(strings.Split("` * _ [ ] ( ) < > # | ~ = $ % ^ : & ! { } \\ \n emberd: www. a 1. - + ://", " ")), rapid.String())
	words := func(label string) string {
		return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, label), ""), "?")
	}
	return Entry{
		ID: memory.ID(fmt.Sprintf("%036d", rapid.IntRange(0, 1e6).Draw(t, "id"))), Text: words("text"), Section: words("section"), Source: words("source"),
		Project: words("project"), Importance: float64(rapid.IntRange(0, 3).Draw(t, "importance")) / 3, Created: day(rapid.IntRange(1, 28).Draw(t, "day")),
		Tags: []string{words("tag")}, Category: words("category"),
	}
}

func TestAnyTextIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(anyEntry), 0, 5, func(e Entry) memory.ID { return e.ID }).Draw(t, "entries")
		onlyText(t, Index(all, nil))
		onlyText(t, Core(all, nil))
	})
}

// The order in which memories come says nothing.
func TestTheSameMemoriesGiveTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(anyEntry), 0, 60, func(e Entry) memory.ID { return e.ID }).Draw(t, "entries")
		index, core := Index(all, nil), Core(all, nil)
		rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if Index(all, nil) != index || Core(all, nil) != core {
			t.Fatal("another order gives other bytes")
		}
	})
}

// Text that is no Markdown reads in the list as it was saved.
func TestWordsStayWords(t *testing.T) {
	for _, text := range []string{"80% of C++ at 5 o'clock, \"so\" - (yes) & no; snake_case, 3 = 3, a@ b", "R&D, 10:30, e.g. this"} {
		list := Index([]Entry{entry(1, text)}, nil)
		if !strings.Contains(list, "- "+text+" · ") {
			t.Errorf("%q is written as %s", text, list)
		}
	}
	if _, words := rendered(Index([]Entry{entry(1, "C# **b** [[x]]")}, nil)); !strings.Contains(words, `C\# \*\*b\*\* \[\[x\]\]`) {
		t.Errorf("the words are %q", words)
	}
}

func TestBounds(t *testing.T) {
	var all []Entry
	for i := range 10_000 {
		all = append(all, entry(i, strings.Repeat("\\`*[", 500), in(fmt.Sprintf("section %d", i%500)), of("garden")))
	}
	for i := range 500 {
		all = append(all, entry(20_000+i, "words", of("garden")))
	}
	list := Index(all, nil)
	for _, want := range []string{"memories (10500)", "\nThis list omits 480 headings with fewer memories; to list all memories, run: `emberd list`\n", "\n460 more: `emberd list --project garden`\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not say %q", want)
		}
	}
	if core := Core(all, nil); len(list) > 256<<10 || len(core) > 256<<10 {
		t.Errorf("the lists have %d and %d bytes", len(list), len(core))
	}
}

// What is left out under a heading is listed by the command that stands there.
func TestHowToListTheRest(t *testing.T) {
	for section, want := range map[string]string{
		"people & entities": "`emberd list --section 'People & Entities'`", "Recipes": "`emberd list --section Recipes`",
		"": "`emberd list`", "it's": "`emberd list`", "-x": "`emberd list`", "$(reboot)": "`emberd list`", "Küche": "`emberd list`",
	} {
		var all []Entry
		for i := range 42 {
			all = append(all, entry(i, "words", in(section)))
		}
		if list := Index(all, nil); !strings.Contains(list, "\n2 more: "+want+"\n") {
			t.Errorf("of the section %q the list does not say %s", section, want)
		}
	}
}

// The most important comes first, then the latest.
func TestOrder(t *testing.T) {
	list := Index([]Entry{entry(1, "old"), entry(3, "late"), entry(2, "heavy", weighs(0.9))}, nil)
	heavy, late, old := strings.Index(list, "- heavy"), strings.Index(list, "- late"), strings.Index(list, "- old")
	if heavy < 0 || heavy > late || late > old {
		t.Errorf("the order is wrong in\n%s", list)
	}
}

func TestWhatIsJudgedIsNotShown(t *testing.T) {
	judge := func(text string) string {
		if strings.Contains(text, "hunter2") {
			return "it looks like a password"
		}
		return ""
	}
	list := Index([]Entry{entry(1, "first line\nthe key is hunter2", from("door")), entry(2, "tea")}, judge)
	if strings.Contains(list, "first line") || strings.Contains(list, "door") || !strings.Contains(list, "- not shown: it looks like a password · `00000001`") || !strings.Contains(list, "- tea") {
		t.Errorf("got\n%s", list)
	}
}

func TestHeadingOf(t *testing.T) {
	for want, all := range map[string][]Entry{
		Identity: {
			entry(1, "My name is Ann and I live in Bergen"), entry(1, "The user prefers short answers"), entry(1, "whatever", tagged("identity")),
			{Text: "the server is mine", Category: "profile"},
		},
		Projects: {
			entry(1, "The garden project is due in June"), entry(1, "seeds", of("garden")), entry(1, "seeds", in("Ongoing Threads")), entry(1, "my wife", tagged("x", "Projects/garden")),
		},
		Relationships: {entry(1, "Bob is a colleague"), entry(1, "Ann", in("People & Entities")), entry(1, "x", tagged("people/ann"))},
		System: {
			entry(1, "The database listens on port 5432"), entry(1, "no word says where"), entry(1, "x", in("file knowledge")), {Text: "x", Type: "config"},
		},
	} {
		for _, e := range all {
			if got := HeadingOf(&e); got != want {
				t.Errorf("%+v belongs under %s, want %s", e, got, want)
			}
		}
	}
}

// Facts as people tell agents about themselves come under the heading where they would
// be looked for, and in the order in which they were told.
func TestACoreAsPeopleTellIt(t *testing.T) {
	want := []struct {
		heading string
		facts   []string
	}{
		{Identity, []string{
			"My name is Yann Moreau", "I work as a staff engineer at an energy company in Erlangen", "I was born on 12 March 1987 in Lyon", "The user speaks French, German and English",
			"My time zone is Europe/Berlin", "I am allergic to peanuts", "I prefer answers in French, code comments in English", "The user prefers tabs over spaces", "My home address is Lindenweg 4",
		}},
		{Projects, []string{
			"My main project is a memory daemon", "The turbine dashboard must be released in June", "The repository lives at home", "My goal this year is to run a marathon",
		}},
		{Relationships, []string{
			"The user's wife is called Lena", "Our daughter Mia was born in 2019", "My manager is Katrin Vogel", "My brother Paul lives in Montreal", "My wife’s birthday is 3 September",
			"My friend Ingrid co-maintains the parser", "Dr. Weiss is my dentist",
		}},
		{System, []string{
			"I use Neovim as my editor", "Always run the tests before committing", "Never push to my project's main branch", "The production database listens on port 5432",
			"My laptop has 32 GB", "Backups go to the NAS every night", "Use metric units", "My shell is fish",
		}},
	}
	var all []Entry
	for _, part := range want {
		for _, fact := range part.facts {
			all = append(all, Entry{ID: entry(len(all), "").ID, Text: fact, Project: "here", Created: day(1).Add(time.Duration(len(all)) * time.Minute)})
		}
	}
	_, list, _ := strings.Cut(Core(all, nil), "\n## ")
	for i, got := range strings.Split(list, "\n## ") {
		heading, lines, _ := strings.Cut(got, "\n\n")
		var facts []string
		for line := range strings.Lines(lines) {
			text, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " · ")
			facts = append(facts, text)
		}
		if heading != want[i].heading || !slices.Equal(facts, want[i].facts) {
			t.Errorf("under %s there is\n%q\nwant under %s\n%q", heading, facts, want[i].heading, want[i].facts)
		}
	}
}

func TestEntryOf(t *testing.T) {
	m := memory.Memory{ID: entry(1, "").ID, Content: strings.Repeat("é", 5000), Origin: memory.FromWeb, CreatedAt: day(1),
		Sources: []memory.Source{{Kind: "web"}, {Kind: "web", Ref: "https://example.org/a/tea.html"}}}
	e := EntryOf(&m)
	if e.Source != "web: tea.html" || len(e.Text) != looked || !bytes.HasSuffix([]byte(e.Text), []byte("é")) {
		t.Errorf("source %q, %d bytes of text", e.Source, len(e.Text))
	}
	for want, m := range map[string]memory.Memory{
		"":         {},
		"user":     {Origin: memory.FromUser},
		"tool":     {Origin: memory.FromTool},
		"notes.md": {Source: "notes.md", Origin: memory.FromAgent, Sources: []memory.Source{{Ref: "other.md"}}},
	} {
		if got := EntryOf(&m).Source; got != want {
			t.Errorf("source %q, want %q", got, want)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	var all []Entry
	for i := range 10_000 {
		all = append(all, entry(i, "Tea is brewed at 80 degrees, and number "+fmt.Sprint(i), in([]string{"Key Topics", "Important Facts", "", "Recipes"}[i%4]), of(fmt.Sprintf("p%d", i%30))))
	}
	for b.Loop() {
		Index(all, nil)
	}
}
