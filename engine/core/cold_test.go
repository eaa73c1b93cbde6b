package core_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/core"
	_ "emberd/internal/testutil/racescale"
	"emberd/memory"
	"emberd/vault/neutralize"
)

func TestWarmGivesBackWhatChillTook(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.StringMatching(`[ \n\t]{0,3}(\PC|\n|<b>|<%|!\[|%%){1,40}[ \n]{0,3}`)
		before := memory.Memory{Content: texts.Draw(t, "content"), Stage: memory.Demoted}
		m := before
		if !core.ArchiveText(&m,
			core.ArchivedText{Stage: memory.Archived, Path: "Archive/a.md", Summary: "s", Terms: []string{"k"}}, now) {
			if m.Content != before.Content || m.Stage != before.Stage {
				t.Fatalf("a memory that cannot be archived was changed: %+v", m)
			}
			return
		}
		if m.Content != "s" || !m.Stage.Cold() || m.TextDigest == "" {
			t.Fatalf("archived memory is %+v", m)
		}
		core.RestoreText(&m, neutralize.Body(before.Content), "Archive/a.md", memory.Active)
		if m.Content != before.Content {
			t.Fatalf("content = %q, want %q", m.Content, before.Content)
		}
		if m.Stage != memory.Active || m.TextDigest != "" || m.KeyTerms != nil || !m.ArchivedAt.IsZero() {
			t.Fatalf("rekindled memory still has what an archived one has: %+v", m)
		}
	})
}

func TestTextsThatANoteKeeps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"plain":                        true,
		"plain\n":                      true,
		"\n\n  - item\n\n- item\n":     true,
		"a\r\nb":                       false,
		"a\x00b":                       false,
		" \n ":                         false,
		"```dataviewjs\nalert(1)\n```": true,
		"<b>bold</b> and <% x %>":      true,
		strings.Repeat("<b>", 3000):    false,
		"a text that says a text that": true,
		"東京で会った。\nお土産はみかん。\n":              true,
		"---\nnot: frontmatter\n---\ntext": true,
	} {
		if got := core.FitsNote(text); got != want {
			t.Errorf("keepable(%.60q) says %v, want %v", text, got, want)
		}
	}
}
