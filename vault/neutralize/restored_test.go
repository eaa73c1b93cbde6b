package neutralize_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/vault/lex"
	"emberd/vault/neutralize"
)

const runs = "Templater: <% tp.date.now() %> and %%todo%%.\nSay <b>it</b>.\n\n```dataview\nlist\n```\nA `= x` and a last line."

// An edit of one line leaves the others as they were saved, without what the note had inserted.
func TestAnEditKeepsTheOtherLines(t *testing.T) {
	t.Parallel()
	body := neutralize.Body(runs)
	edited := strings.Replace(body, "a last line", "another end", 1)
	want := strings.Replace(runs, "a last line", "another end", 1)
	if got := neutralize.Restored(edited, runs); got != want {
		t.Errorf("restored by its lines:\n%s", got)
	}
	at, ok := neutralize.Insertions(body, runs)
	if got := neutralize.WithoutInsertions(edited, len(at)); !ok || got != want {
		t.Errorf("restored by what was inserted:\n%s", got)
	}
	for _, with := range []string{edited + " <% tp.file.title %>", strings.Replace(edited, `\<b>`, "", 1)} {
		if got := neutralize.WithoutInsertions(with, len(at)); got != with {
			t.Errorf("it is not certain what was inserted:\n%s", got)
		}
	}
}

// An edited line loses what the note had inserted, and keeps what a person wrote that looks like it.
func TestAnEditedLineIsUnescaped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, old, new, want string }{
		{"<b>x</b> is bold %%c%%", "is", "was", "<b>x</b> was bold %%c%%"},
		{"<b>x</b> is\nand <% y %>", "and", "or", "<b>x</b> is\nor <% y %>"},
		{`a \<i>b</i> is kept`, "kept", "there", `a \<i>b</i> is there`},
		{"a plain line", "plain", `\<u> plain`, `a \<u> plain line`},
	} {
		body := neutralize.Body(c.text)
		if got := neutralize.Restored(strings.Replace(body, c.old, c.new, 1), c.text); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
}

// What is restored is the text of the note, whatever it was and became.
func TestRestoredIsTheTextOfTheNote(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(rapid.SampledFrom(strings.Split(runs+"\n"+neutralize.Body(runs)+"\n---\n~~~js\n\\<b>", "\n")), rapid.StringN(0, 20, 40))
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
	})
	rapid.Check(t, func(t *rapid.T) {
		was, now := text.Draw(t, "was"), text.Draw(t, "now")
		body := lex.Bare(now)
		if got := neutralize.Restored(body, was); !neutralize.Matches(body, got) {
			t.Fatalf("%q is not the text of %q", got, body)
		}
		made := neutralize.Body(was)
		if got := neutralize.Restored(made, was); got != lex.Bare(was) {
			t.Fatalf("%q came back as %q", was, got)
		}
	})
}
