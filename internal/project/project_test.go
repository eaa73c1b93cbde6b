package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/project"
)

// The project is the repository, for worktrees the one they belong to.
func TestProject(t *testing.T) {
	t.Parallel()
	shop := filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(filepath.Join(shop, ".git", "worktrees", "fix"), 0o700); err != nil {
		t.Fatal(err)
	}
	linked := func(to string) string {
		dir := filepath.Join(t.TempDir(), "elsewhere")
		if err := os.MkdirAll(filepath.Join(dir, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(to), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "deep")
	}
	for _, tt := range []struct{ folder, want string }{
		{shop, "shop"}, {filepath.Join(shop, "not", "there"), "shop"},
		{linked("gitdir: " + shop + "/.git/worktrees/fix\n"), "shop"},
		{linked("gitdir: /srv/store.git/worktrees/fix"), "store"},
		{linked("gitdir: ../.git/modules/elsewhere"), "elsewhere"},
		{linked("nonsense"), "elsewhere"},
		{t.TempDir(), ""}, {"", ""}, {"shop", ""}, {"/", ""},
	} {
		if got := project.Of(tt.folder); got != tt.want {
			t.Errorf("the project of %s is %q, want %q", tt.folder, got, tt.want)
		}
	}
}
