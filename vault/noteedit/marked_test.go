package noteedit_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// listing is an edit that puts a list into a note that is marked for it.
func listing(text string) noteedit.Edit {
	return noteedit.Edit{Marked: &frontmatter.Field{Key: vault.ListKey, Value: frontmatter.Text("index")}, Regions: []noteedit.Region{{Name: "index", Text: text}}}
}

// A note is only touched with the property that makes it emberd's, however that is written.
func TestMarkedNotes(t *testing.T) {
	list := "\n<!-- emberd:index -->\n- tea\n<!-- /emberd:index -->\n"
	for note, want := range map[string]string{
		"---\nemberd: \"index\"\n---\n":                                                      "---\nemberd: \"index\"\n---\n" + strings.Trim(list, "\n"),
		"---\nemberd: index\ntags: [a]\n---\nmine\n":                                         "---\nemberd: index\ntags: [a]\n---\nmine\n" + list,
		"---\nemberd: 'index' # keep\n---\na" + list + "b":                                   "---\nemberd: 'index' # keep\n---\na" + list + "b",
		"---\nemberd: index\n---\n<!-- emberd:index -->\nold\n<!-- /emberd:index -->\nbelow": "---\nemberd: index\n---\n<!-- emberd:index -->\n- tea\n<!-- /emberd:index -->\nbelow",
	} {
		got, err := noteedit.Splice([]byte(note), listing("- tea"))
		if err != nil || string(got) != want {
			t.Errorf("%q became %q, %v, want %q", note, got, err, want)
		}
	}
	for _, note := range []string{"", "mine\n", "---\ntags: [index]\n---\n", "---\nemberd: core\n---\n", "---\nemberd: [index]\n---\n",
		"---\nemberd: [\n---\n", "emberd:: index\n", "---\nother: 1\n---\n<!-- emberd:index -->\n<!-- /emberd:index -->\n"} {
		_, err := noteedit.Splice([]byte(note), listing("- tea"))
		if u, ok := err.(*frontmatter.EditError); !ok || u.Reason != noteedit.NotMarked {
			t.Errorf("%q: %v, want it left alone", note, err)
		}
	}
}

// Twice is once, and what a human wrote outside of the region is there byte for byte.
func TestAListKeepsWhatIsAroundIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom([]string{"\n", "\r\n", "# Mine\n", "- [[x]]\n", "```\n<!-- emberd:index -->\n```\n", "%%\n", "\ufeff", "a\u2028b", "<!-- mine -->\n", "    \t\n"}),
			rapid.StringN(0, 20, -1))
		human := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") })
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		above, below := "---"+newline+"emberd: index"+newline+"---"+newline+human.Draw(t, "above")+newline, human.Draw(t, "below")
		region := func(text string) string {
			return "<!-- emberd:index -->" + newline + text + newline + "<!-- /emberd:index -->" + newline
		}
		src := above + region("old") + below
		once, err := noteedit.Splice([]byte(src), listing("- tea"))
		if err != nil {
			return // told, and nothing is written
		}
		if string(once) != above+region("- tea")+below {
			t.Fatalf("%q became %q", src, once)
		}
		if twice, err := noteedit.Splice(once, listing("- tea")); err != nil || !bytes.Equal(twice, once) {
			t.Fatalf("the second time: %q, %v", twice, err)
		}
	})
}
