package engine_test

import "testing"

// What is followed and what is read are judged by the same rules, whatever the
// names and the patterns are.
func TestTheSameNotesAreFollowedAndRead(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, name := range []string{
		"note.md", "UPPER.MD", "foo~.md", "#hash.md", "#hash#.md", "~$lock.md", "~syncthing~n.md", "4913.md", ".hidden.md",
		"old~/n.md", "x.tmp/n.md", "#box#/n.md", "~$box/n.md", "old~/x.tmp/n.md", "note.md~", "#auto#", "old~/n.md~",
		".hidden/n.md", "n.swp/n.md", "n.md/n.md", "a.icloud/n.md",
		"drafts/n.md", "sub/drafts/n.md", "drafts.md", "sub/drafts.md",
		"top/n.md", "sub/top/n.md", "draw.excalidraw.md", "a/b/c/z/n.md", "a/z/n.md", "b/z/n.md",
	} {
		names[name] = noteText(name)
	}
	for _, ignore := range [][]string{nil, {"drafts/"}, {"drafts"}, {"drafts.md"}, {"/top"}, {"/top/"}, {"*.excalidraw.md"}, {"a/**/z"}, {"a/**/z/"}, {"**/drafts/**"}, {"sub/*"}} {
		h := vaultHouse(t, names)
		h.VaultIgnore = ignore
		e := h.following(t)
		if wrong := h.audit(t, e); wrong != "" {
			t.Errorf("with the patterns %q: %s", ignore, wrong)
		}
	}
}
