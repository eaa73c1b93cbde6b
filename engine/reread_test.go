package engine_test

import (
	"maps"
	"slices"
	"testing"

	"emberd/engine/notes"
	"emberd/op"
	"emberd/watcher"
)

// says tells whether a search finds a note by a word of it.
func (d *desk) says(path, word string) bool {
	d.t.Helper()
	return slices.ContainsFunc(do(d.t, d.Engine, op.Search, &op.SearchRequest{Query: word}).Hits, func(h op.Hit) bool {
		return h.Tier == op.TierNote && h.Note.Path == path
	})
}

func (d *desk) wantSays(path, word, not string) {
	d.t.Helper()
	if !d.says(path, word) || d.says(path, not) {
		d.t.Errorf("the index has %s with %q: %t, with %q: %t", path, word, d.says(path, word), not, d.says(path, not))
	}
}

// readings are what a batch reads of a note now, to be taken in later.
func (d *desk) readings(path string) []notes.Reading {
	d.t.Helper()
	return d.Notes.Vault.ReadAll(d.t.Context(), []watcher.File{{Path: path}})
}

// A batch reads notes ahead of their turn. One that was written and read by itself meanwhile
// is not taken back to what it was.
func TestABatchTakesNoNoteBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Kettle.md": "copper\n"})
	d.Notes.Vault.Rereads.Begin()
	defer d.Notes.Vault.Rereads.End()
	ahead := d.readings("Kettle.md")
	d.write(t, "Kettle.md", "enamel\n")
	ok(t, d.Notes.Vault.Reread(t.Context(), "Kettle.md"))
	d.wantSays("Kettle.md", "enamel", "copper")
	ok(t, d.Notes.Vault.TakeIn(t.Context(), ahead))
	d.wantSays("Kettle.md", "enamel", "copper")
}

// Nor does a note that was read by itself take the batch back, which nothing would mend: the
// watcher has told of what the batch read.
func TestANoteReadByItselfTakesNoBatchBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Kettle.md": "copper\n"})
	d.Notes.Vault.Rereads.Enter("Kettle.md")
	slow := d.readings("Kettle.md")
	d.write(t, "Kettle.md", "enamel\n")
	done := make(chan error, 1)
	go func() { done <- d.Notes.Vault.TakeIn(t.Context(), d.readings("Kettle.md")) }()
	until(t, "the batch waits for the other reading", func() bool {
		return d.says("Kettle.md", "enamel") && d.Notes.Vault.Rereads.Queued("Kettle.md") > 1
	})
	ok(t, d.Notes.Vault.Apply(t.Context(), slow, nil))
	d.Notes.Vault.Rereads.Leave("Kettle.md")
	ok(t, <-done)
	d.wantSays("Kettle.md", "enamel", "copper")
}

// One that a batch finds missing is gone when the watcher says so, also if it was just read.
func TestANoteThatIsMissingForAMomentStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Kettle.md": "copper\n"})
	d.Notes.Vault.Rereads.Begin()
	defer d.Notes.Vault.Rereads.End()
	ahead := d.readings("Kettle.md")
	ok(t, d.Notes.Vault.Reread(t.Context(), "Kettle.md"))
	d.removeAll([]string{"Kettle.md"})
	ok(t, d.Notes.Vault.TakeIn(t.Context(), ahead))
	index, _ := d.Notes.Vault.Current()
	if _, known := maps.Collect(index.Known())["Kettle.md"]; !known {
		t.Error("it is out of the index before the watcher said that it is gone")
	}
}
