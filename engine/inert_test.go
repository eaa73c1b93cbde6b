package engine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/overview"
	"emberd/vault"
)

// The lists, the inbox and reports of cleanups show texts by package overview, and notes of
// memories by package vault. What the one takes for more than text is text by the other, too.
func TestListsRunNothingThatNotesDoNot(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.SampledFrom([]string{
		"```dataviewjs\n", "~~~ js-engine\n", "run-python", "`", "``", "$= ", "= this.x", "INPUT[", "BUTTON[x]", "VIEW[", "button-x", "dice: 1d6", "jsx:<X/>", "<%", "%>", "%%", "%",
		"<script>", "<b", ">", "</i>", "<!-- ", "<?", "<![CDATA[", "emberd:x -->", "![", "![[", "](", "](http://x.y/z)", "]]", "[[a|", "$", "$$", "\\", `\style{x}`, `\href{x}{y}`, "---", "\n", " ", "a", "é", "\u202e", "\ufeff",
	}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), ""), "?")
		longest := rapid.IntRange(1, 200).Draw(t, "longest")
		for _, shown := range []string{overview.Inline(text, longest), overview.Title(text, longest)} {
			for _, line := range []string{shown, "- " + shown, "> - " + shown, "a **" + shown + "** · x"} {
				if got := vault.Body(line); got != vault.Bare(line) {
					t.Fatalf("%q is shown as %q, which a note would have as %q", text, line, got)
				}
			}
		}
	})
}
