package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/vault"
	"emberd/vault/noteedit"
)

// A user who saved in between keeps the text, and the caller learns of it.
func TestATextThatSomebodyChangedIsAConflict(t *testing.T) {
	d := newDesk(t, files{"a.md": "---\nmemory-id: m\n---\nhuman\n"})
	res, err := d.writer.Update(t.Context(), "a.md", noteedit.Edit{Body: &noteedit.BodyEdit{Was: "old", Now: "new"}})
	wantOutcome(t, res, err, vault.Conflict, noteedit.TextChanged)
	if info, err := os.ReadDir(filepath.Join(d.dir)); err != nil || len(info) != 1 {
		t.Errorf("the vault has %v, %v, want the note only", info, err)
	}
}
