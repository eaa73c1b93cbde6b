package noteedit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/neutralize"
	"emberd/vault/noteedit"
)

func TestAnotherTextForANote(t *testing.T) {
	const head = "---\nmemory-id: \"m\" # mine\n---\n"
	const region = "<!-- emberd:links -->\nours\n<!-- /emberd:links -->\n"
	for name, c := range map[string]struct {
		note, was, now, want string
		why                  string
	}{
		"the whole text":         {head + "old\n", "old", "new\nmore", head + "new\nmore\n", ""},
		"empty lines stay":       {head + "\n\nold\n\n\n", "old", "new", head + "\n\nnew\n\n\n", ""},
		"no last line end":       {head + "old", "old", "new", head + "new", ""},
		"Windows":                {"\ufeff" + strings.ReplaceAll(head+"old\nold\n", "\n", "\r\n"), "old\nold", "a\nb", "\ufeff" + strings.ReplaceAll(head+"a\nb\n", "\n", "\r\n"), ""},
		"indented":               {head + "    old\n", "    old", "  new", head + "  new\n", ""},
		"a region behind":        {head + "old\n\n" + region, "old", "new", head + "new\n\n" + region, ""},
		"a region before":        {head + region + "\nold\n", "old", "new", head + region + "\nnew\n", ""},
		"plugins' code":          {head + "old\n", "old", "<% x %>", head + "<\\% x %>\n", ""},
		"there was none":         {head, "", "new", head + "new\n", ""},
		"none before a region":   {head + region, "", "new", head + "new\n\n" + region, ""},
		"none, and no line end":  {strings.TrimSuffix(head, "\n"), "", "new", head + "new\n", ""},
		"there already":          {head + "new  \n\n", "old", "new", head + "new  \n\n", ""},
		"changed since":          {head + "newer\n", "old", "new", "", noteedit.TextChanged},
		"around a region":        {head + "old\n" + region + "old\n", "old\nold", "new", "", noteedit.SplitText},
		"would swallow a region": {head + "old\n\n" + region, "old", "```\nopen", "", noteedit.OpenEnd},
	} {
		t.Run(name, func(t *testing.T) {
			e := noteedit.Edit{Body: &noteedit.BodyEdit{Was: c.was, Now: c.now}}
			got, err := noteedit.Splice([]byte(c.note), e)
			if c.why != "" {
				if u, ok := errors.AsType[*frontmatter.EditError](err); !ok || u.Reason != c.why {
					t.Errorf("got %q, %v, want %q", got, err, c.why)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Fatalf("got %q, %v\nwant %q", got, err, c.want)
			}
			if again, err := noteedit.Splice(got, e); err != nil || string(again) != c.want {
				t.Errorf("a second time: %q, %v, want no change", again, err)
			}
		})
	}
}

// Whatever the note and the new text, the note has that text or is refused, and all
// that is not text stays.
func TestAnotherTextForAnyNote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := oddNote.Draw(t, "note")
		src, err := noteedit.Splice(src, noteedit.Edit{Set: []frontmatter.Field{{Key: "memory-id", Value: frontmatter.Text("m")}}})
		if err != nil {
			return
		}
		now := rapid.SampledFrom([]string{"new", "a\n\nb", "```\ncode\n```", "", "---", "\t x", "%%", "<!--"}).Draw(t, "now")
		before := vault.CarriedBy(src)
		out, err := noteedit.Splice(src, noteedit.Edit{Body: &noteedit.BodyEdit{Was: before.Body, Now: now}})
		if _, ok := errors.AsType[*frontmatter.EditError](err); ok {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		after := vault.CarriedBy(out)
		if after.Body != neutralize.Body(now) && after.Body != lex.Bare(now) { // where the note had it already, it stays as it was written
			t.Fatalf("the text is %q, want %q", after.Body, neutralize.Body(now))
		}
		body, _ := bodyOf(src)
		if !bytes.HasPrefix(out, src[:len(src)-len(body)]) {
			t.Fatalf("the frontmatter of %q became that of %q", src, out)
		}
	})
}
