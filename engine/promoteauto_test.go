package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/notesync"
	"emberd/memory"
	"emberd/op"
)

// wantProperty looks for a line among a note's properties.
func wantProperty(t testing.TB, note, line string) {
	t.Helper()
	head, _, _ := strings.Cut(strings.TrimPrefix(note, "---\n"), "\n---\n")
	if !slices.Contains(strings.Split(head, "\n"), line) {
		t.Errorf("the note has no %q:\n%s", line, note)
	}
}

// used stores a memory of that age, last used now.
func (h *house) used(t testing.TB, e *engine.Engine, days float64, uses int64, content string) memory.ID {
	t.Helper()
	return do(t, e, op.Save, &op.SaveRequest{Content: content, CreatedAt: h.daysAgo(days), LastUsed: h.clock.Now(), UseCount: uses}).Memory.ID
}

func TestWhatDeservesANote(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	want := []memory.ID{
		h.used(t, e, 10, 7, "of age and used much"),
		h.used(t, e, 1, 5, "young and used five times"),
		h.used(t, e, 3, 1, "of age and used"),
	}
	unused := h.used(t, e, 3, 0, "of age and not used")
	young := h.used(t, e, 2.9, 4, "young and used four times")
	old := do(t, e, op.Save, &op.SaveRequest{Content: "long ago", CreatedAt: h.daysAgo(60), LastUsed: h.daysAgo(59), UseCount: 5}).Memory.ID

	would := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{DryRun: true})
	var got []memory.ID
	for _, c := range would.Candidates {
		got = append(got, c.ID)
	}
	if !slices.Equal(got, want) || would.CandidatesFound != 3 || would.PromotedCount != 0 || would.Tx != "" || would.Message != "Would promote 3 memories to obsidian" {
		t.Errorf("a dry run answers %+v", would)
	}
	first, second := would.Candidates[0], would.Candidates[1]
	if first.Reason != "High score (3.48 >= 0.65)" || first.UseCount != 7 || first.AgeDays < 9.99 || first.Preview != "of age and used much" {
		t.Errorf("the first is %+v", first)
	}
	if second.Reason != "High use count (5 >= 5 within 14 days)" {
		t.Errorf("the second is %+v", second)
	}
	wantFiles(t, h)
	forced := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{DryRun: true, Force: true})
	if forced.CandidatesFound != 5 || slices.ContainsFunc(forced.Candidates, func(c op.PromoteCandidate) bool { return c.ID == old }) {
		t.Errorf("with force the candidates are %+v, want all but the old one", forced.Candidates)
	}

	done := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{})
	if done.PromotedCount != 3 || !slices.Equal(done.PromotedIDs, want) || done.Message != "Promoted 3 memories to obsidian" || done.Tx == "" {
		t.Errorf("it answers %+v", done)
	}
	if again := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{}); again.CandidatesFound != 0 {
		t.Errorf("again it answers %+v", again)
	}
	do(t, e, op.Undo, &op.UndoRequest{})
	wantFiles(t, h)
	for _, id := range append(want, unused, young, old) {
		if m := look(t, e, id); m.PromotedTo != "" {
			t.Errorf("%q is still promoted", m.Content)
		}
	}
	if again := do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{}); again.CandidatesFound != 0 {
		t.Errorf("after the undo it answers %+v, want that nobody wanted these", again)
	}
	h.rest(t, e)
	wantPromotion(t, promoteByID(t, e, want[0]), op.PromotionWritten, "Memories/of age and used much.md")
}

func TestTheKeeperPromotesOnce(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	id := h.used(t, e, 10, 7, "used much")
	wantMoves(t, runs(t, e), map[string]int{op.MovePromote: 1})
	m := look(t, e, id)
	wantMoves(t, runs(t, e), map[string]int{})

	// What a human deletes is not made again, also when the memory comes back.
	if err := os.Remove(filepath.Join(h.Vaults[0], m.PromotedTo)); err != nil {
		t.Fatal(err)
	}
	if err := e.Sync.Sync.TrashDeleted(t.Context(), []*notesync.NoteChange{{ID: id, Removed: []string{m.PromotedTo}, Confirmed: true}}); err != nil {
		t.Fatal(err)
	}
	do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(id)}})
	h.advance(time.Hour)
	wantMoves(t, runs(t, e), map[string]int{})
	wantFiles(t, h)

	e.Opt.AutoPromote = false
	h.used(t, e, 10, 7, "also used much")
	wantMoves(t, runs(t, e), map[string]int{})
}

func TestPromotingByID(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	id := h.saved(t, e, 60, "long ago")
	got := promoteByID(t, e, id)
	if got.Outcome != op.PromotionUnmet || got.Tx != "" || !strings.HasPrefix(got.Reason, "the memory does not qualify: its score is 0.04 (minimum 0.65), and it has 0 uses (minimum 5 within 14 days of the save); to promote it anyway, use --force") {
		t.Errorf("it answers %+v", got)
	}
	wantFiles(t, h)
	wantPromotion(t, do(t, e, op.Promote, &op.PromoteRequest{ID: string(id), DryRun: true, Force: true}), op.PromotionWritten, "Memories/long ago.md")
	wantPromotion(t, do(t, e, op.Promote, &op.PromoteRequest{ID: string(id), Force: true}), op.PromotionWritten, "Memories/long ago.md")
	wantPromotion(t, promoteByID(t, e, id), op.PromotionAlready, "Memories/long ago.md")

	// Age and use do not count for one that was named, and neither do they for a note
	// that is there.
	wantPromotion(t, promoteByID(t, e, save(t, e, "just now").ID), op.PromotionWritten, "Memories/just now.md")
	other := h.saved(t, e, 60, "long ago, too")
	h.write(t, "Mine.md", "---\nmemory-id: "+string(other)+"\n---\nlong ago, too\n")
	until(t, "the note is known", func() bool { return len(e.Notes.Vault.Carriers.Of(other)) == 1 })
	wantPromotion(t, promoteByID(t, e, other), op.PromotionAdopted, "Mine.md")
}

func TestTheNoteOfAMemoryWithEntities(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	add := func(content string, entities, tags []string) memory.ID {
		return do(t, e, op.Save, &op.SaveRequest{Content: content, Entities: entities, Tags: tags}).Memory.ID
	}
	for _, m := range []struct {
		content  string
		entities []string
		tags     []string
	}{
		{"all three", []string{"ann", "Boathouse", "Harbour"}, []string{"sea"}},
		{"two of them", []string{"Ann", "Boathouse", "Oslo"}, nil},
		{"one of them", []string{"Ann", "Oslo"}, []string{"sea"}},
	} {
		promoteByID(t, e, add(m.content, m.entities, m.tags))
	}
	add("not promoted", []string{"Ann", "Boathouse", "Harbour"}, nil)
	long := "The harbour tide tables are printed every January, and pinned beside the barometer in the boathouse"
	m := do(t, e, op.Save, &op.SaveRequest{Content: long + "\n\nmore", Entities: []string{"Ann", "Boathouse", "Harbour", "C_x"}, Tags: []string{"sea"},
		Meta: map[string]json.RawMessage{"aliases": json.RawMessage(`["Tides", " Tide  tables ", "Tides", "no", ": yes"]`)}}).Memory
	got := promoteByID(t, e, m.ID)
	note := h.note(t, got.Path)
	want := "aliases:\n  - \"Tides\"\n  - \"Tide tables\"\n  - \"no\"\n  - \": yes\"\n  - \"" + long + "\"\n"
	if !strings.Contains(note, want) || !strings.Contains(note, "entities:\n  - \"Ann\"\n  - \"Boathouse\"\n  - \"Harbour\"\n  - \"C_x\"\n---\n") {
		t.Errorf("the note is\n%s\nwant\n%s", note, want)
	}
	if len(got.Memory.NoteSeen) != 5 {
		t.Errorf("seen %v", got.Memory.NoteSeen)
	}
	if check := do(t, e, op.VaultCheck, &op.VaultCheckRequest{}); len(check.Findings) != 0 {
		t.Errorf("the vault check finds %+v", check.Findings)
	}
	// Also when others are promoted since, the note is known for what emberd made.
	promoteByID(t, e, add("all four", []string{"Ann", "Boathouse", "Harbour", "C_x"}, []string{"sea"}))
	do(t, e, op.Undo, &op.UndoRequest{Tx: got.Tx})
	if slices.Contains(h.files(t), got.Path) {
		t.Error("the undone note is still there")
	}
}
