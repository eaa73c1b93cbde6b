package noteedit_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// sets returns the folder of vaults and cases that are not part of the source, and
// skips the test without one.
func sets(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EMBERD_SETS")
	if dir == "" {
		t.Skip("EMBERD_SETS names no folder of vaults")
	}
	return dir
}

// Every note of every vault, spliced and unspliced (case 54 on what people write).
func TestCase54SpliceNotesOfTheSets(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(sets(t), "vaults", "*", "vault"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(dirs, filepath.Join(oddVault(t), "vault")) {
		v, err := vault.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { v.Close() })
		notes, refused := 0, map[string]int{}
		for path, err := range v.Walk(t.Context()) {
			data, readErr := os.ReadFile(filepath.Join(dir, path))
			if err != nil || readErr != nil {
				continue
			}
			notes++
			_, err := noteedit.Splice(data, promoted(path))
			if u, ok := errors.AsType[*frontmatter.EditError](err); ok {
				refused[u.Reason]++
				continue
			}
			t.Run(path, func(t *testing.T) { checkSplice(t, data, path) })
		}
		t.Logf("%s: %d notes, refused %v", dir, notes, refused)
	}
}

// oddVault runs the generator of the sets.
func oddVault(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{filepath.Join(sets(t), "gen_oddvault.py"), dir}
	if os.Getenv("EMBERD_BIG") != "" {
		args = append(args, "--big")
	}
	if out, err := exec.CommandContext(t.Context(), "python3", args...).CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	return dir
}
