package vault

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// listing is an edit that puts a list into a note that is marked for it.
func listing(text string) Edit {
	return Edit{Marked: &Field{ListKey, Text("index")}, Regions: []Region{{Name: "index", Text: text}}}
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
		got, err := Splice([]byte(note), listing("- tea"))
		if err != nil || string(got) != want {
			t.Errorf("%q became %q, %v, want %q", note, got, err, want)
		}
	}
	for _, note := range []string{"", "mine\n", "---\ntags: [index]\n---\n", "---\nemberd: core\n---\n", "---\nemberd: [index]\n---\n",
		"---\nemberd: [\n---\n", "emberd:: index\n", "---\nother: 1\n---\n<!-- emberd:index -->\n<!-- /emberd:index -->\n"} {
		_, err := Splice([]byte(note), listing("- tea"))
		if u, ok := err.(*Unspliced); !ok || u.Reason != NotMarked {
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
		once, err := Splice([]byte(src), listing("- tea"))
		if err != nil {
			return // told, and nothing is written
		}
		if string(once) != above+region("- tea")+below {
			t.Fatalf("%q became %q", src, once)
		}
		if twice, err := Splice(once, listing("- tea")); err != nil || !bytes.Equal(twice, once) {
			t.Fatalf("the second time: %q, %v", twice, err)
		}
	})
}

// A note is one that holds a list by its property, or by the list if no property can be
// read.
func TestNotesThatHoldLists(t *testing.T) {
	for note, want := range map[string]string{
		"---\nemberd: index\n---\n":                                          "index",
		"---\nemberd: core\n---\n":                                           "core",
		"---\nemberd: something\n---\n":                                      "something",
		"---\nemberd: [\n---\n<!-- emberd:core -->\n<!-- /emberd:core -->\n": "core",
		"---\nemberd: [\n---\n<!-- emberd:core -->\nand no end\n":            "core",
		"---\nbroken: [\n---\ntext\n":                                        "",
		"emberd:: index\n":                                                   "",
		"<!-- emberd:index -->\n<!-- /emberd:index -->\n":                    "",
		"---\ntags: a\n---\n<!-- emberd:index -->\n<!-- /emberd:index -->\n": "",
	} {
		if got := noteOf(note).List; got != want {
			t.Errorf("%q holds %q, want %q", note, got, want)
		}
	}
}

func TestDiscard(t *testing.T) {
	d := newDesk(t, files{"a.md": "ours\n", "b.md": "human\n"})
	var backups []string
	for _, name := range []string{"a.md", "b.md"} {
		res, err := d.writer.Update(t.Context(), name, stamp("1"))
		wantOutcome(t, res, err, Written, "")
		backups = append(backups, res.Backup)
	}
	ours := func(note []byte) bool { return string(note) == "ours\n" }
	left, err := d.writer.Discard(backups, ours)
	if err != nil || !slices.Equal(left, backups[:1]) {
		t.Errorf("left %q, %v, want the one that a program may still save to", left, err)
	}
	d.finish(t)
	left, err = d.writer.Discard(nil, ours)
	if err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
	if _, err := os.Stat(backups[0]); err == nil {
		t.Error("the backup that nobody needs is there")
	}
	if got, err := os.ReadFile(backups[1]); string(got) != "human\n" || err != nil {
		t.Errorf("the human's backup is %q, %v", got, err)
	}
	if left, err = d.writer.Discard(backups, ours); err != nil || len(left) > 0 {
		t.Errorf("again: left %q, %v", left, err)
	}
	if _, err := d.writer.Check(context.Background()); err != nil {
		t.Error(err)
	}
}
