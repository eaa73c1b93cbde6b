package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

func TestAMissingVaultDegradesHealth(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	h.Durability = "full"
	e := h.following(t)
	if s := do(t, e, op.Status, &op.StatusRequest{}); s.Health != "ok" || len(s.Warnings) != 0 {
		t.Fatalf("health %q with %q before anything is wrong", s.Health, s.Warnings)
	}
	away := h.Vaults[0] + " away"
	ok(t, os.Rename(h.Vaults[0], away))
	var s *op.StatusResult
	until(t, "the loss is noticed", func() bool {
		s = do(t, e, op.Status, &op.StatusRequest{})
		return s.Health == "degraded"
	})
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "cannot open the folder") || !strings.Contains(s.Warnings[0], "restore the vault, or change vaults: in the config file and restart the daemon") {
		t.Errorf("warnings are %q", s.Warnings)
	}
	wantCode(t, refused(t, e, op.VaultConfirm, &op.VaultConfirmRequest{}), memory.Unavailable, "restore the vault, or change vaults: in the config file and restart the daemon")
	wantCode(t, refused(t, e, op.VaultCheck, &op.VaultCheckRequest{}), memory.Unavailable, "is missing, or another folder is at its path; move the vault folder back to its path, and try again")
	wantNames(t, e, "watering", "Garden/Tomatoes.md")
	ok(t, os.Rename(away, h.Vaults[0]))
	until(t, "all is well again", func() bool { return do(t, e, op.Status, &op.StatusRequest{}).Health == "ok" })
}

// A folder that was deleted stays searchable for a minute, and status says so.
func TestStatusTellsOfNotesThatAreGoing(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	for i := range 20 {
		h.write(t, fmt.Sprintf("Base/%d.md", i), noteText(fmt.Sprint("base ", i)))
	}
	e := h.following(t)
	ok(t, os.RemoveAll(filepath.Join(h.Vaults[0], "Journal")))
	until(t, "the loss is noticed", func() bool { return e.Notes.Vault.Status().Absent == 1 })
	if s := e.Notes.Vault.Status(); s.Frozen != "" || s.Notes != 24 {
		t.Errorf("status %+v, want 24 notes and nothing held back", s)
	}
	wantNames(t, e, "repotted", "Journal/2024.md")
}

// Status counts without reading what a check finds by reading everything.
func TestStatusCountsWhatACheckLists(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	dir := h.Vaults[0]
	h.write(t, "wide.md", "\xff\xfen\x00o\x00")
	h.write(t, "deep/wide too.md", "\xff\xfen\x00o\x00")
	h.write(t, ".cloud.md.icloud", "")
	h.write(t, ".cloud.png.icloud", "")
	h.write(t, "caf\xe9.md", "text")
	h.write(t, "dir\xff/note.md", "text")
	ok(t, os.Symlink("Broken.md", filepath.Join(dir, "link.md")))
	ok(t, os.Symlink("Garden", filepath.Join(dir, "folder")))
	ok(t, syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600))
	e := h.following(t)
	counts := func() ([]op.NotRead, int) {
		s := do(t, e, op.Status, &op.StatusRequest{}).Vaults[0]
		return s.NotRead, s.Skipped
	}
	want := []op.NotRead{
		{Reason: string(vault.Symlink), Count: 2}, {Reason: string(vault.NotText), Count: 2}, {Reason: string(vault.BadName), Count: 2},
		{Reason: string(vault.NotLocal), Count: 1}, {Reason: string(vault.NotRegular), Count: 1},
	}
	sorted := func(list []op.NotRead) []op.NotRead {
		slices.SortFunc(list, func(a, b op.NotRead) int { return strings.Compare(a.Reason, b.Reason) })
		return list
	}
	got, total := counts()
	if check := do(t, e, op.VaultCheck, &op.VaultCheckRequest{}); total != 8 || check.Skipped != total {
		t.Errorf("status counts %d, a check lists %d, want 8", total, check.Skipped)
	}
	if !reflect.DeepEqual(sorted(got), sorted(want)) {
		t.Errorf("status counts %+v, want %+v", got, want)
	}
	ok(t, os.Remove(filepath.Join(dir, "link.md")))
	h.write(t, "wide.md", "coffee")
	until(t, "one link and one note less are counted", func() bool { _, total := counts(); return total == 6 })
}
