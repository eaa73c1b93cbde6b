package engine_test

import (
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// A vault whose memories were lost brings back the text, tags and category of each, and nothing else.
func TestMemoriesComeBackFromTheirNotes(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	promoted := save(t, d.Engine, "the kettle leaks at the seam", "kitchen").ID
	do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(promoted), Force: true})
	faded := save(t, d.Engine, "the tide turns at six in the harbor", "sea").ID
	d.archived(faded)
	trashed := save(t, d.Engine, "the lamp in the hall flickers").ID
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(trashed)})
	d.write(t, "Trashed.md", noteFor(trashed, "the lamp in the hall flickers"))
	d.write(t, "Kettle.sync-conflict-20260102-030405-ABCDEFG.md", noteFor(promoted, "another kettle"))
	d.write(t, "Human.md", "what a person wrote")

	if n := fromNotes(t, d.Engine, d.Vaults[0]); n != 0 {
		t.Errorf("%d memories came back that were there, or in the trash", n)
	}
	lost := newDeskIn(t, d.Vaults[0])
	if n := fromNotes(t, lost.Engine, d.Vaults[0]); n != 3 {
		t.Errorf("%d memories came back, want 3", n)
	}
	lost.restart()
	lost.settle()
	wantBack(t, lost.Engine, promoted, "the kettle leaks at the seam", "kitchen")
	wantBack(t, lost.Engine, faded, "the tide turns at six in the harbor", "sea")
	if m := look(t, lost.Engine, promoted); m.PromotedTo == "" || m.VaultPath != look(t, d.Engine, promoted).VaultPath {
		t.Errorf("the memory has another note: %+v", m)
	}
	if n := fromNotes(t, lost.Engine, d.Vaults[0]); n != 0 {
		t.Errorf("%d memories came back twice", n)
	}
	lost.edit(look(t, lost.Engine, promoted).VaultPath, noteFor(promoted, "the kettle was mended", "kitchen"))
	wantBack(t, lost.Engine, promoted, "the kettle was mended", "kitchen")
}

// A purged memory does not come back, whatever is in the vault.
func TestAPurgedMemoryDoesNotComeBackFromANote(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, "the code of the safe").ID
	do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(id)})
	d.write(t, "Back.md", noteFor(id, "other words about it"))
	if n := fromNotes(t, d.Engine, d.Vaults[0]); n != 0 {
		t.Errorf("%d purged memories came back", n)
	}
}

func fromNotes(t *testing.T, e *engine.Engine, dir string) int {
	t.Helper()
	n, err := e.Transfer.FromNotes(t.Context(), dir)
	ok(t, err)
	return n
}

// newDeskIn is a desk without memories on a vault that is there.
func newDeskIn(t *testing.T, vault string) *desk {
	d := &desk{house: newHouse(t), t: t}
	d.Vaults = []string{vault}
	d.start()
	return d
}

func wantBack(t *testing.T, e *engine.Engine, id memory.ID, content string, tags ...string) {
	t.Helper()
	m := look(t, e, id)
	if m.Content != content || len(m.Tags) != len(tags) || m.Tags[0] != tags[0] {
		t.Errorf("%s came back as %q with the tags %q, want %q and %q", id, m.Content, m.Tags, content, tags)
	}
}
