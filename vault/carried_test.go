package vault_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/markdown"
	"emberd/vault/neutralize"
	"emberd/vault/noteedit"
)

const anID = "0192f3a1-b2c3-7d4e-8f5a-6b7c8d9e0f1a"

func parsed(t rapid.TB, text string) *vault.Note {
	t.Helper()
	return vault.Parse(markdown.ReadLines, vault.File{Path: "Memories/Note.md", Size: int64(len(text))}, []byte(text))
}

func TestWhatANoteSaysOfItsMemory(t *testing.T) {
	head := "---\nmemory-id: \"" + anID + "\"\n"
	tests := []struct {
		name, note, body string
		tags             []string
		fields           map[string]string
	}{
		{"body only", head + "---\ntext\n", "text", nil, nil},
		{"no last line end", head + "---\n\n\ntext", "text", nil, nil},
		{"Windows line ends", strings.ReplaceAll(head+"---\none\ntwo  \nthree\n", "\n", "\r\n"), "one\ntwo  \nthree", nil, nil},
		{"byte-order mark", "\ufeff" + head + "---\ntext\n", "text", nil, nil},
		{"properties", head + "tags: [a, b/c]\ncategory: \"decision\"\nstrength: 1.5\nstage: demoted\nother: x\n---\ntext\n", "text",
			[]string{"a", "b/c"}, map[string]string{"category": "decision", "strength": "1.5", "stage": "demoted"}},
		{"inline fields are text", head + "---\nstrength:: 2\n#inline\n", "strength:: 2\n#inline", nil, nil},
		{"comments are text", head + "---\nyes %%no%%\n", "yes %%no%%", nil, nil},
		{"own regions are not", head + "---\nmine\n\n<!-- emberd:links -->\nyours\n<!-- /emberd:links -->\n\nmine too\n", "mine\n\n\nmine too", nil, nil},
		{"a region that is not closed is text", head + "---\n<!-- emberd:links -->\nmine\n", "<!-- emberd:links -->\nmine", nil, nil},
		{"marks in code are text", head + "---\n```\n<!-- emberd:x -->\n<!-- /emberd:x -->\n```\n", "```\n<!-- emberd:x -->\n<!-- /emberd:x -->\n```", nil, nil},
		{"nothing", head + "---\n", "", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := parsed(t, tt.note).Carried
			if c == nil {
				t.Fatal("the note carries nothing")
			}
			if c.ID != anID || c.Body != tt.body || !slices.Equal(c.Tags, tt.tags) || !maps.Equal(c.Fields, tt.fields) {
				t.Errorf("carried %+v, want body %q, tags %q, fields %q", c, tt.body, tt.tags, tt.fields)
			}
		})
	}
}

func TestANoteWithoutAnIDCarriesNothing(t *testing.T) {
	for _, text := range []string{"text", "---\ntags: a\n---\ntext", "---\nmemory-id:\n---\ntext", "---\nmemory-id: [\n---\ntext"} {
		if c := parsed(t, text).Carried; c != nil {
			t.Errorf("%q carries %+v", text, c)
		}
	}
}

func TestWhatPluginsRunIsTakenApart(t *testing.T) {
	for text, want := range map[string]string{
		"plain\r\ntext\r\n\r\n":                     "plain\ntext",
		"<% tp.system.prompt() %>":                  `<\% tp.system.prompt() %>`,
		"```dataviewjs\ndv.pages()\n```":            "```text dataviewjs\ndv.pages()\n```",
		"> ~~~~ dataviewjs\n> x\n> ~~~~":            "> ~~~~ text dataviewjs\n> x\n> ~~~~",
		"`$= dv.current()`":                         "`\\$= dv.current()`",
		"<!-- emberd:links -->":                     `\<!-- emberd :links -->`,
		"<!--  /emberd:links -->":                   `\<!--  /emberd :links -->`,
		"```dataview\nLIST\n```":                    "```text dataview\nLIST\n```",
		"hard  \nbreak and bell\a":                  "hard  \nbreak and bell",
		"\n \n---\nnot: properties\n---\n":          "\\---\nnot: properties\n---",
		"50 % of <5 % and `$HOME` stay as they are": "50 % of <5 % and `$HOME` stay as they are",
	} {
		if got := neutralize.Body(text); got != want {
			t.Errorf("Body(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAComposedNoteCarriesItsBody(t *testing.T) {
	piece := rapid.SampledFrom([]string{"text", "\n", "\r\n", "---", " ", "```", "~~~", "dataviewjs", "<%", "%%", "`$=", "<!-- ", "emberd:x", " -->", "/", "\t", "\x00", "é", "\xff", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		body := neutralize.Body(text)
		if again := neutralize.Body(body); again != body {
			t.Fatalf("Body(%q) = %q, and again %q", text, body, again)
		}
		n := parsed(t, string(noteedit.Compose([]frontmatter.Field{{Key: "memory-id", Value: frontmatter.Text(anID)}, {Key: "tags", Value: frontmatter.List("a", "b")}}, text)))
		if n.Carried == nil || n.Carried.Body != body || n.Frontmatter != vault.ValidFrontmatter || len(n.Carried.Tags) != 2 {
			t.Fatalf("a note of %q carries %+v, want the body %q", text, n.Carried, body)
		}
	})
}
