package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/vault"
)

// The file by which a worktree names its repository is a line. A huge one is not read.
func TestAHugeGitFileIsNotRead(t *testing.T) {
	dir := folder(t, files{".git": "gitdir: elsewhere\n", "elsewhere/index.lock": ""})
	if !vault.IsGitBusy(dir) {
		t.Error("a locked worktree does not count as busy")
	}
	if err := os.Truncate(filepath.Join(dir, ".git"), 20<<30); err != nil {
		t.Fatal(err)
	}
	if vault.IsGitBusy(dir) {
		t.Error("a file of 20 GiB names a repository")
	}
}
