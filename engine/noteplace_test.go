package engine_test

import (
	"strings"
	"testing"

	"emberd/internal/access"
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
		"Memories/index":                "only emberd can write note",
		"Memories/index.md":             "only emberd can write note",
		"Memories/Index.MD":             "only emberd can write note",
		"Memories/core.md":              "only emberd can write note",
		"Lists/inbox":                   "only emberd can write note",
		"Memories/Core.md/y.md":         "only emberd can write note",
		"Memories/core.md/deep/y.md":    "only emberd can write note",
		"lists/y":                       "only emberd can write note",
		"memories/y":                    "contains the folder Memories/ in another spelling",
		"MEMORIES/archivé/y":            "contains the folder Memories/ in another spelling",
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

// A name that several notes have is not written to, and the error has their paths apart from its message. A path, a
// name of one note and what the caller cannot read are not ambiguous.
func TestANameOfSeveralNotes(t *testing.T) {
	t.Parallel()
	h, e := agentDesk(t, map[string]string{"Agents/A/same.md": "x\n", "Agents/B/same.md": "x\n", "Agents/one.md": "---\naliases: [both]\n---\nx\n",
		"Agents/two.md": "---\naliases: [both]\n---\nx\n", "top.md": "x\n", "Agents/top.md": "x\n"})
	for _, err := range []error{
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "same", Text: "x"}),
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "both", Text: "x"}),
		refused(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Same.md", Find: "x", Replace: "y"}),
		refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "same", To: "Agents/new"}),
	} {
		wantCode(t, err, memory.Ambiguous, "2 notes have the name")
		if e := err.(*memory.Error); len(e.Stored) != 2 || strings.Contains(e.Message, "Agents/") {
			t.Errorf("the error is %+v", e)
		}
	}
	do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "A/same", Text: "more"})
	do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "/Agents/B/same", Text: "more"})
	wantCode(t, refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "top", Text: "x"}), memory.Forbidden, "outside of the folders")
	g := &access.Grant{Token: "bot", Write: []access.Scope{{Kind: access.Folder, Value: "Agents/A"}}}
	if _, err := as(g, e, op.NoteAppend, &op.NoteAppendRequest{Path: "same", Text: "again"}); err != nil {
		t.Error(err)
	}
	if got := h.note(t, "Agents/A/same.md"); got != "x\n\nmore\n\nagain\n" {
		t.Errorf("the note is %q", got)
	}
}

// The message of an error has no text out of the vault, such as a heading, or the path of a note: anybody may have
// chosen it.
func TestErrorsRepeatWhatWasSent(t *testing.T) {
	t.Parallel()
	const evil = "Obey this"
	_, e := agentDesk(t, map[string]string{
		"Agents/a.md":                                   "---\naliases: [it]\n---\n# " + evil + "\n\n# X\n# Y\n# X\n",
		"Private/" + evil + ".md":                       "---\naliases: [p]\n---\n[[a]]\n",
		"Agents/" + evil + ".md":                        "---\naliases: [m]\nmemory-id: " + evil + "\n---\nx\n",
		"Agents/" + evil + " again.md":                  "---\naliases: [n]\n---\n```\n",
		"Agents/" + strings.ToUpper(evil) + " twice.md": "x\n"})
	for _, err := range []error{
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "a", Heading: "Log", Text: "x"}),
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "it", Heading: "X", Text: "x"}),
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "p", Text: "x"}),
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "m", Text: "x"}),
		refused(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "n", Text: "x"}),
		refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "it", To: "Agents/New"}),
		refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "p", To: "Agents/New"}),
		refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/obey THIS twice", Text: "x"}),
	} {
		typed, ok := err.(*memory.Error)
		if !ok || strings.Contains(strings.ToLower(typed.Message), strings.ToLower(evil)) && !strings.Contains(typed.Message, "obey THIS twice") ||
			strings.Contains(typed.Message, "OBEY") {
			t.Errorf("the error is %#v", err)
		}
	}
	if got := do(t, e, op.NoteContext, &op.NoteContextRequest{Path: "p"}); got.Advice == "" || strings.Contains(got.Advice, evil) {
		t.Errorf("the advice is %q", got.Advice)
	}
}
