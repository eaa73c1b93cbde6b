package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/vault/lex"
	"emberd/vault/markdown"
)

// outlines reads a text with both readers.
func outlines(text string) map[string]*markdown.Outline {
	all := map[string]*markdown.Outline{}
	for name, read := range map[string]func(*markdown.Builder){
		"parser": markdown.NewParser().Read, "line reader": markdown.ReadLines, "no parser": markdown.Parser{}.Read,
	} {
		src, _ := lex.Normalize([]byte(text))
		lex.MaskComments(src)
		all[name] = &markdown.Outline{}
		b := markdown.NewBuilder(all[name], src, 0)
		read(b)
		b.Finish()
	}
	return all
}

func TestFields(t *testing.T) {
	const text = "rating:: 5\n- due:: 2024-01-05\n\nin [mood:: good] and (hidden:: yes)\n**bold key**:: [[T]]\n" +
		"not:a:field\nstd::vector http://x::y\n"
	want := []string{"1 rating=5", "2 due=2024-01-05", "4 mood=good", "4 hidden=yes", "5 bold key=T"}
	for name, o := range outlines(text) {
		var got []string
		for _, p := range o.Properties {
			got = append(got, fmt.Sprintf("%d %s=%s", p.Line, p.Key, p.Value))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: fields %q, want %q", name, got, want)
		}
	}
}

func TestManyHeadings(t *testing.T) {
	const maxSections = 10_000
	for name, o := range outlines(strings.Repeat("# h\n", maxSections+5)) {
		if len(o.Sections) > maxSections || len(o.Problems) == 0 {
			t.Errorf("%s: %d sections and %d problems, want at most %d and a word about it",
				name, len(o.Sections), len(o.Problems), maxSections)
		}
	}
}

// A parser that is nil panics; the text is read line by line then.
func TestThePanicOfAParserIsContained(t *testing.T) {
	o := outlines("# Head\n[[Link]] #b\n")["no parser"]
	if !o.LineByLine || len(o.Problems) != 1 || len(o.Links) != 1 || len(o.Tags) != 1 || len(o.Sections) != 1 {
		t.Errorf("read as %+v, want line by line, with a problem, a link, a tag and a section", o)
	}
}

func TestSectionText(t *testing.T) {
	const note = "intro\n\n# One\na\n\nb **c**\n\n# Two\nd\n"
	for _, c := range []struct {
		line, above, most int
		want              string
	}{{1, 0, 100, "intro"}, {3, 0, 100, "a\nb c"}, {3, 1, 100, "a\nb c"}, {8, 0, 100, "d"}, {99, 0, 100, ""}} {
		if got := markdown.SectionText([]byte(note), c.line, c.above, c.most); got != c.want {
			t.Errorf("line %d: %q, want %q", c.line, got, c.want)
		}
	}
}
