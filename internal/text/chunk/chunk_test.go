package chunk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"emberd/internal/testutil/racescale"
)

// unknown is a sign that the tokenizer drops, as models do with what cannot be seen.
const unknown = '\u200b'

// count is a tokenizer that takes eight letters of a word for a token, and every Chinese
// character.
func count(text string) int {
	tokens := 0
	for word := range strings.FieldsSeq(text) {
		narrow := 0
		for _, r := range word {
			if r == unknown {
				continue
			}
			if r >= 0x2e80 {
				tokens++
			} else {
				narrow++
			}
		}
		tokens += (narrow + 7) / 8
	}
	return tokens
}

// section is Markdown under headings that are apart by " > ".
func sectionOf(path, markdown string) Section {
	s := Section{Line: 1, Markdown: markdown}
	if path != "" {
		s.Path = strings.Split(path, " > ")
		s.Markdown = strings.Repeat("#", len(s.Path)) + " " + s.Path[len(s.Path)-1] + "\n" + markdown
	}
	return s
}

// noteOf puts sections below each other.
func noteOf(sections ...Section) *Note {
	line := 1
	for i := range sections {
		sections[i].Line = line
		line += strings.Count(sections[i].Markdown, "\n") + 1
	}
	return &Note{Name: "Journal", Sections: sections}
}

// parts writes chunks but for the first, one a line: line, headings, text.
func parts(chunks []Chunk) string {
	var b strings.Builder
	for _, c := range chunks[1:] {
		body := c.Body
		if c.Again > 0 {
			body = "(" + strings.TrimSpace(body[:c.Again]) + ") " + body[c.Again:]
		}
		fmt.Fprintf(&b, "%d [%s] %s\n", c.Line, strings.Join(c.Heading, " > "), strings.ReplaceAll(body, "\n", "/"))
	}
	return b.String()
}

// words are n words of one token each, as a sentence.
func words(n int, of string) string {
	return strings.TrimSpace(strings.Repeat(of+" ", n)) + "."
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens int
		note   *Note
		want   string
	}{
		{name: "one part a section", tokens: 50, note: noteOf(
			sectionOf("", words(10, "first")), sectionOf("A", words(10, "second")), sectionOf("A > B", words(10, "third"))),
			want: "1 [] " + words(10, "first") + "\n2 [A] " + words(10, "second") + "\n4 [A > B] " + words(10, "third") + "\n"},
		{name: "markup", tokens: 50, note: noteOf(sectionOf("",
			"**Bold** and [[Page#Part|shown]], [[Page]], [text](http://x.org/y \"z\"), `code`\n> quoted ==mark==\n- [ ] task\n%% hidden %% seen <!-- gone --> too\n100%% sure")),
			want: "1 [] Bold and shown, Page, text, code/quoted mark/task/ seen  too/100%% sure\n"},
		{name: "a comment of several lines keeps the lines below in their place", tokens: 18, note: noteOf(sectionOf("",
			"%% a\n\nb %%"+words(9, "one")+"\n\n"+words(9, "two")+"\n")),
			want: "3 [] " + words(9, "one") + "\n5 [] " + words(9, "two") + "\n"},
		{name: "by paragraph, with a sentence again", tokens: 20, note: noteOf(sectionOf("",
			words(10, "one")+"\n\n"+words(8, "two")+" Short end.\n\n"+words(10, "three"))),
			want: "1 [] " + words(10, "one") + "\n3 [] " + words(8, "two") + " Short end.\n5 [] (Short end.) /" + words(10, "three") + "\n"},
		{name: "a paragraph by sentences", tokens: 23, note: noteOf(sectionOf("",
			words(9, "one")+"\n"+words(9, "two")+" Really?\n"+words(9, "three"))),
			want: "1 [] " + words(9, "one") + "/" + words(9, "two") + " Really?/\n3 [] (Really?) " + words(9, "three") + "\n"},
		{name: "code as a whole", tokens: 15, note: noteOf(sectionOf("",
			"Look at this code\n```go\na b c d\n\n# e f g\n```\nand after it")),
			want: "1 [] Look at this code/a b c d//# e f g\n7 [] and after it\n"},
		{name: "long code by lines", tokens: 10, note: noteOf(sectionOf("", "~~~\na b c d e\nf g h i j\nk l m n o\n~~~")),
			want: "2 [] a b c d e\n3 [] f g h i j\n4 [] k l m n o\n"},
		{name: "a table by rows", tokens: 9, note: noteOf(sectionOf("", "| a | b |\n|---|---|\n| c | d |\n| e | f |\n| g | h |")),
			want: "1 [] a | b//c | d\n4 [] e | f/g | h\n"},
		{name: "a list by items", tokens: 9, note: noteOf(sectionOf("", "- a b c d\n  - e f\n\n- g h i\n- j k l m")),
			want: "1 [] a b c d/  e f/\n4 [] g h i/j k l m\n"},
		{name: "short sections go with what follows under the same heading", tokens: 64, note: noteOf(
			sectionOf("A", ""), sectionOf("A > B", "Yes."), sectionOf("A > C", "No."), sectionOf("D", words(20, "other"))),
			want: "3 [A] B/Yes./C/No.\n7 [D] " + words(20, "other") + "\n"},
		{name: "a heading alone is told by what is below it", tokens: 16, note: noteOf(sectionOf("A", ""), sectionOf("A > B", words(9, "text"))),
			want: "3 [A > B] " + words(9, "text") + "\n"},
		{name: "a heading with nothing", tokens: 16, note: noteOf(sectionOf("Someday", "")), want: "1 [Someday] \n"},
		{name: "Chinese by sentences", tokens: 14, note: noteOf(sectionOf("", "今天天气很好。我们去公园散步吧！你想去吗？")),
			want: "1 [] 今天天气很好。\n1 [] 我们去公园散步吧！\n1 [] 你想去吗？\n"},
		{name: "one word of many letters", tokens: 4, note: noteOf(sectionOf("", strings.Repeat("x", 40))),
			want: "1 [] " + strings.Repeat("x", 20) + "\n1 [] " + strings.Repeat("x", 20) + "\n"},
		{name: "the underline of a heading", tokens: 50, note: noteOf(Section{Path: []string{"A"}, Markdown: "A\n===\ntext\n\n---\nmore"}),
			want: "1 [A] text/---/more\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parts(Cut(c.note, Options{Tokens: c.tokens, Count: count})); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatIsEmbedded(t *testing.T) {
	note := &Note{Name: "2026-03-09", Title: "A walk", Aliases: []string{"hike"}, Tags: []string{"outdoor", "spring"},
		Sections: []Section{sectionOf("Morning > Hills", "We went up.")}}
	got := Cut(note, Options{Tokens: 64, Count: count})
	if want := "A walk\n2026-03-09\nhike\noutdoor, spring"; got[0].Text != want {
		t.Errorf("the name's part is %q, want %q", got[0].Text, want)
	}
	if want := "A walk\nMorning > Hills\nWe went up."; got[1].Text != want {
		t.Errorf("the section's part is %q, want %q", got[1].Text, want)
	}
}

func TestIdentity(t *testing.T) {
	of := func(change func(*Note)) [][]string {
		note := noteOf(sectionOf("A", words(20, "first")), sectionOf("B", words(20, "second")))
		change(note)
		var out [][]string
		for _, c := range Cut(note, Options{Tokens: 64, Count: count}) {
			out = append(out, c.Identity)
		}
		return out
	}
	before := of(func(*Note) {})
	for _, c := range []struct {
		name   string
		change func(*Note)
		same   []int // of the parts: name, A, B
	}{
		{"the file is renamed", func(n *Note) { n.Name = "Diary" }, []int{1, 2}},
		{"it gets a title of its own", func(n *Note) { n.Title = "Diary" }, nil},
		{"its title is its name", func(n *Note) { n.Title = n.Name }, []int{0, 1, 2}},
		{"another section is edited", func(n *Note) { n.Sections[0].Markdown += "\nMore." }, []int{0, 2}},
		{"lines move", func(n *Note) { n.Sections[1].Line += 7 }, []int{0, 1, 2}},
		{"a heading is edited", func(n *Note) { n.Sections[1].Path = []string{"C"} }, []int{0, 1}},
		{"a tag is added", func(n *Note) { n.Tags = []string{"new"} }, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, got := range of(c.change) {
				if want := slices.Contains(c.same, i); slices.Equal(got, before[i]) != want {
					t.Errorf("part %d has the same identity: %v, want %v", i, !want, want)
				}
			}
		})
	}
}

func TestHugeNotesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text string }{
		{"one word", strings.Repeat("x", 1<<20/racescale.Share)},
		{"one sentence", strings.Repeat("word ", 1<<18/racescale.Share)},
		{"sentences", strings.Repeat("A sentence of five words. ", 1<<16/racescale.Share)},
		{"lines of code", "```\n" + strings.Repeat("code\n", 1<<18/racescale.Share)},
		{"items", strings.Repeat("- item\n", 1<<17/racescale.Share)},
		{"paragraphs", strings.Repeat("word\n\n", 1<<17/racescale.Share)},
		{"open comments", strings.Repeat("%% <!--\n", 1<<14/racescale.Share) + "%%"},
		{"open comments in one line", strings.Repeat("<!--", 1<<18/racescale.Share)},
		{"comments in one line", strings.Repeat("%%a", 1<<18/racescale.Share)},
		{"words without a token", strings.Repeat("\u200b ", 1<<18/racescale.Share)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			counted := 0
			got := Cut(noteOf(sectionOf("", c.text)), Options{Tokens: 16, Count: func(text string) int {
				counted += len(text)
				return count(text)
			}})
			if len(got) > Max || len(got) < 2 {
				t.Errorf("got %d parts, want 2 to %d", len(got), Max)
			}
			for i, part := range got {
				if most := 2 * 16 * tokenBytes; len(part.Text) > most {
					t.Errorf("part %d has %d bytes, want at most %d", i, len(part.Text), most)
				}
			}
			if most := 3 << 20; counted > most {
				t.Errorf("the tokens of %d bytes were counted, want at most %d", counted, most)
			}
		})
	}
}

// Headings of which a model knows no sign would else all be one part.
// An empty item at the end of a long list is no item.
func TestEmptyItemsAtTheEndOfAList(t *testing.T) {
	list := strings.Repeat("- one of the items\n", 80) + "\n- \n- "
	got := Cut(noteOf(sectionOf("", list)), Options{Tokens: 40, Count: count})
	if last := got[len(got)-1]; len(got) < 5 || !strings.HasSuffix(last.Body, "one of the items") {
		t.Errorf("%d parts, the last is %q", len(got), last.Body)
	}
}

func TestManyHeadingsAreManyParts(t *testing.T) {
	var all []Section
	for i := range 1 << 14 {
		all = append(all, sectionOf("Top > "+strings.Repeat(string(unknown), 1+i%2), ""))
	}
	if got := Cut(noteOf(all...), Options{Tokens: 64, Count: count}); len(got) != Max {
		t.Errorf("got %d parts, want %d", len(got), Max)
	}
}

// letters are what is left of a text without blanks and marks.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// anyMarkdown is text with everything that blocks are made of.
func anyMarkdown() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"", "", "Some words of a sentence.", "Another one! And a question? Yes", "- item", "  - nested item", "3. third",
		"```", "code := 1", "~~~", "| a | b |", "|---|---|", "> quoted", "今天天气很好。我们去公园吧", "x" + strings.Repeat("y", 90), "100%% sure", "--", "\t", "\xff\x80"})
	return rapid.Map(rapid.SliceOfN(line, 0, 40), func(all []string) string { return strings.Join(all, "\n") })
}

func anyNote(t *rapid.T) *Note {
	var sections []Section
	var path []string
	if rapid.Bool().Draw(t, "preamble") {
		sections = append(sections, sectionOf("", anyMarkdown().Draw(t, "text")))
	}
	for range rapid.IntRange(0, 6).Draw(t, "sections") {
		level := rapid.IntRange(0, min(len(path), 3)).Draw(t, "level")
		path = append(slices.Clone(path[:level]), rapid.SampledFrom([]string{"A", "B", "Long heading of six words here", "标题"}).Draw(t, "heading"))
		sections = append(sections, sectionOf(strings.Join(path, " > "), anyMarkdown().Draw(t, "text")))
	}
	return noteOf(sections...)
}

func TestNothingIsLostAndNothingIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		note, opt := anyNote(t), Options{Tokens: rapid.IntRange(6, 64).Draw(t, "tokens"), Count: count}
		chunks := Cut(note, opt)
		checkChunks(t, note, opt, chunks)
		if len(chunks) == Max {
			return
		}
		var want, got string
		for _, s := range note.Sections {
			for _, b := range blocksOf(s) {
				want += letters(b.text)
			}
		}
		for _, c := range chunks[1:] {
			got += letters(c.Body[c.Again:])
		}
		if !subsequence(want, got) {
			t.Fatalf("the parts hold %q, want all of %q", got, want)
		}
	})
}

// subsequence reports whether all of part is in text, in its order: headings may be between.
func subsequence(part, text string) bool {
	rest := []rune(part)
	for _, r := range text {
		if len(rest) > 0 && rest[0] == r {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// checkChunks checks what holds for every note.
func checkChunks(t interface{ Fatalf(string, ...any) }, note *Note, opt Options, chunks []Chunk) {
	last := 0
	for _, s := range note.Sections {
		last = s.Line + strings.Count(s.Markdown, "\n")
	}
	line := 1
	for i, c := range chunks[1:] {
		if tokens := count(c.Text); tokens > opt.Tokens {
			t.Fatalf("part %d has %d tokens, want at most %d: %q", i+1, tokens, opt.Tokens, c.Text)
		}
		if c.Line < line || c.Line > last {
			t.Fatalf("part %d begins in line %d, want %d to %d", i+1, c.Line, line, last)
		}
		line = c.Line
		if c.Again < 0 || c.Again > len(c.Body) || i == 0 && c.Again != 0 {
			t.Fatalf("%d bytes of part %d are said again, want 0 to %d", c.Again, i+1, len(c.Body))
		}
		if tokens, most := count(c.Body[:c.Again]), float64(opt.Tokens)*overlapShare; float64(tokens) > most {
			t.Fatalf("%d tokens of part %d are said again, want at most %v", tokens, i+1, most)
		}
	}
}

func TestEditsElsewhereKeepIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := anyNote(t), sectionOf("Edited", anyMarkdown().Draw(t, "edited"))
		long := sectionOf("Long", words(60, "long"))
		opt := Options{Tokens: 64, Count: count}
		has := make(map[string]bool)
		for _, c := range Cut(noteOf(append(slices.Clone(before.Sections), long)...), opt) {
			has[strings.Join(c.Identity, "\x00")] = true
		}
		parts := Cut(noteOf(append(slices.Clone(before.Sections), long, after)...), opt)
		for _, c := range parts {
			if strings.HasPrefix(c.Body, "Edited") || len(c.Heading) > 0 && c.Heading[0] == "Edited" {
				break
			}
			if !has[strings.Join(c.Identity, "\x00")] {
				t.Fatalf("the part %q got another identity by what was added below", c.Body)
			}
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add("A", "text\n\n- item\n  more\n```\ncode", uint8(20))
	f.Add("", "| a | b |\n|--|--|\n| c | d |\n> quote\n%% open", uint8(6))
	f.Add("A > B", "\xff\xfe%%\n<!--\n-->\n今天。好", uint8(0))
	f.Fuzz(func(t *testing.T, path, markdown string, tokens uint8) {
		note, opt := noteOf(sectionOf(path, markdown)), Options{Tokens: int(tokens), Count: count}
		chunks := Cut(note, opt)
		if len(chunks) > Max {
			t.Errorf("got %d parts, want at most %d", len(chunks), Max)
		}
		if tokens >= 8 && len(path) < 100 {
			checkChunks(t, note, opt, chunks)
		}
	})
}
