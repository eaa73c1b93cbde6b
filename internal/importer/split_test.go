package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/vault"
)

// longNote is a note of some 77,000 characters, with headings of three levels.
func longNote() string {
	var b strings.Builder
	b.WriteString("---\npermalink: loom\ntags: [x]\n---\n# The Loom\n\n")
	for _, chapter := range []string{"Warp", "Weft"} {
		fmt.Fprintf(&b, "## %s\n\nabout %s [[b]]\n\n", chapter, chapter)
		for i := range 3 {
			fmt.Fprintf(&b, "### %s %d\n\n%s\n\n", chapter, i, strings.Repeat("words of "+chapter+". ", 700*(1+i%2)))
		}
	}
	b.WriteString("## Empty\n\n## Frame\n\n- made_of [[b]] (oak)\n")
	return b.String()
}

func TestALongNoteIsSplitAtItsHeadings(t *testing.T) {
	t.Parallel()
	dir := folder(t, "loom.md", longNote(), "b.md", "two [[loom]]")
	read := func() *Result {
		h, err := BasicMemory(t.Context(), dir, &BasicMemoryOptions{Options: Options{Now: noon}})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h, again := read(), read()
	var got strings.Builder
	names := map[memory.ID]string{}
	for i, r := range h.Records {
		first, rest, _ := strings.Cut(r.Content, "\n\n")
		second, _, _ := strings.Cut(rest, "\n")
		names[r.ID] = first + "/" + second
		fmt.Fprintf(&got, "%s: %q %.20q tags=%q also=%q\n", place(r.Place), first, second, r.Tags, r.Aliases)
		if r.ID != again.Records[i].ID {
			t.Errorf("read again, %q has another id", first)
		}
	}
	for _, r := range h.Relations {
		fmt.Fprintf(&got, "%.40s -%s%s-> %s\n", names[r.From], r.Type, ":"+r.Kind, names[r.To])
	}
	for _, s := range h.Skips {
		fmt.Fprintf(&got, "%s: %v\n", place(s.Place), s.Err)
	}
	const want = `b.md 0: "b" "two [[loom]]" tags=[] also=["b"]
loom.md 7: "loom > The Loom" "## Warp" tags=["x"] also=["loom"]
loom.md 23: "loom > The Loom" "## Weft" tags=["x"] also=[]
loom.md 39: "loom > The Loom" "## Empty" tags=["x"] also=[]
loom.md 41: "loom > The Loom" "## Frame" tags=["x"] also=[]
loom > The Loom/## Weft -related:part_of-> loom > The Loom/## Warp
loom > The Loom/## Empty -related:part_of-> loom > The Loom/## Warp
loom > The Loom/## Frame -related:part_of-> loom > The Loom/## Warp
b/two [[loom]] -related:links_to-> loom > The Loom/## Warp
loom > The Loom/## Warp -related:links_to-> b/two [[loom]]
loom > The Loom/## Weft -related:links_to-> b/two [[loom]]
loom > The Loom/## Frame -related:made_of-> b/two [[loom]]
loom.md 0: the note has 84197 characters (limit 50000), so emberd splits it at its headings into 4 memories
`
	if got.String() != want {
		t.Errorf("got\n%s", &got)
	}
}

// TestNothingOfALongNoteIsLost splits notes of anything: each part can be saved, has an id of its own, and the parts
// together have all words.
func TestNothingOfALongNoteIsLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		n := 0
		for range rapid.IntRange(1, 8).Draw(rt, "sections") {
			if level := rapid.IntRange(0, 4).Draw(rt, "level"); level > 0 {
				fmt.Fprintf(&b, "%s heading%d\n", strings.Repeat("#", level), rapid.IntRange(0, 2).Draw(rt, "name"))
			}
			space := rapid.SampledFrom([]string{" ", "\n", "\n\n", " äöü ", " 🚀 "}).Draw(rt, "space")
			for range rapid.IntRange(0, 1_000).Draw(rt, "words") {
				n++
				fmt.Fprintf(&b, "w%d%s%s", n, strings.Repeat("ö", 60), space)
			}
			b.WriteString("\n")
		}
		h := readNote(rt, dir, b.String())
		words, ids := map[string]bool{}, map[memory.ID]bool{}
		for _, r := range h.Records {
			if err := memory.CheckContent(r.Content); err != nil || ids[r.ID] {
				rt.Fatalf("%.40q: %v, or its id is there twice", r.Content, err)
			}
			ids[r.ID] = true
			for word := range strings.FieldsSeq(r.Content) {
				words[strings.TrimRight(word, "ö")] = true
			}
		}
		for i := 1; i <= n; i++ {
			if !words[fmt.Sprintf("w%d", i)] {
				rt.Fatalf("word %d of %d is lost", i, n)
			}
		}
		if h.Met != len(h.Records) {
			rt.Fatalf("met %d, and has %d", h.Met, len(h.Records))
		}
	})
}

// The vault reads the beginning of a file, so the report names a note of which that is not all.
func TestTheRestOfAHugeNoteIsReported(t *testing.T) {
	t.Parallel()
	h := noteOf(t, strings.Repeat("words and more words\n", vault.MaxText/20))
	failed := slices.IndexFunc(h.Skips, func(s Skip) bool { return !s.Minor })
	if failed < 0 || !strings.Contains(h.Skips[failed].Err.Error(), "so emberd skipped the rest") || len(h.Records) < 20 {
		t.Errorf("%d memories, and reported %+v", len(h.Records), h.Skips)
	}
}

func TestCutAt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxPart)
	for name, c := range map[string]struct{ text, want string }{
		"what fits":         {long, long},
		"a word":            {long + "x", long},
		"between words":     {long[:len(long)-4] + " x y", long[:len(long)-4] + " "},
		"between paragraph": {long[:len(long)-20] + "\n\nx\ny z" + long, long[:len(long)-20] + "\n\n"},
	} {
		if got := c.text[:cutAt(c.text)]; got != c.want {
			t.Errorf("%s: %d characters, want %d", name, utf8.RuneCountInString(got), utf8.RuneCountInString(c.want))
		}
	}
}

// readNote reads a folder with one note of a text in it.
func readNote(t *rapid.T, dir, text string) *Result {
	name := filepath.Join(dir, "note.md")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, noon, noon); err != nil {
		t.Fatal(err)
	}
	h, err := BasicMemory(t.Context(), dir, &BasicMemoryOptions{Options: Options{Now: noon}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
