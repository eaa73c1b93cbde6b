package engine_test

import (
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// Names that emberd uses are not to be had in any spelling that some system takes for the same, as a note or as a
// folder, whatever exists: in a young vault the first to take one would keep it.
func TestNamesOfEmberdInAnySpelling(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Agents/a.md": "x\n"})
	h.VaultAgents, h.VaultArchive = []string{"/"}, "Memories/Archivé"
	h.VaultIndex, h.VaultCore, h.ReviewInbox = "Memories/Index.md", "Memories/Core.md", "Lists/Inbox.md"
	e := h.following(t)
	for path, why := range map[string]string{
		"Memories/archivé/a":            "archive folder",
		"Memories/Archive\u0301/a":      "invalid name",
		"Memories/Arch\u200divé/b/a":    "archive folder",
		"Memories/ARCHIVÉ/a.md":         "archive folder",
		"Memories/index":                "emberd writes itself",
		"Memories/index.md":             "emberd writes itself",
		"Memories/Index.MD":             "emberd writes itself",
		"Memories/core.md":              "emberd writes itself",
		"Lists/inbox":                   "emberd writes itself",
		"Memories/Core.md/y.md":         "emberd writes itself",
		"Memories/core.md/deep/y.md":    "emberd writes itself",
		"lists/y":                       "emberd writes itself",
		"memories/y":                    "the folder Memories/ in another spelling",
		"MEMORIES/archivé/y":            "the folder Memories/ in another spelling",
		"Memories/Archivé.md/fine":      "",
		"Memories/Core/fine":            "",
		"Memories/Archives/fine":        "",
		"Deep/Memories/Archivé/fine":    "",
		"Memories/Index of names":       "",
		"Memories/Deep/Index.md":        "",
		"Lists/Inbox.md and more.md":    "",
		"Agents/memories/archivé/x.md ": "invalid name",
	} {
		write := &op.NoteWriteRequest{Path: path, Text: "x", Preview: true}
		move := &op.NoteMoveRequest{Path: "Agents/a.md", To: path, Preview: true}
		if why == "" {
			do(t, e, op.NoteWrite, write)
			do(t, e, op.NoteMove, move)
			continue
		}
		for _, err := range []error{refused(t, e, op.NoteWrite, write), refused(t, e, op.NoteMove, move)} {
			if code := memory.CodeOf(err); !strings.Contains(err.Error(), why) || code != memory.Forbidden && code != memory.Invalid {
				t.Errorf("%q: %v, want %q", path, err, why)
			}
		}
	}
	wantFiles(t, h, "Agents/a.md")
}
