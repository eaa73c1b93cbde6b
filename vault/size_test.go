package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"emberd/vault"
)

// A note beyond the bound is not opened, which a file without permission would show, whatever
// part of it is on the disk; one of just that size is read.
func TestANoteBeyondTheBoundIsNotOpened(t *testing.T) {
	dir := folder(t, files{"most.md": "kept", "beyond.md": "kept", "sparse.md": ""})
	for name, size := range map[string]int64{"most.md": vault.MaxSize, "beyond.md": vault.MaxSize + 1, "sparse.md": 20 << 30} {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	v := openVault(t, dir, nil)
	if n, err := v.Read(t.Context(), "most.md"); err != nil || n.Size != vault.MaxSize {
		t.Errorf("of a note of %d bytes came %v", vault.MaxSize, err)
	}
	for _, name := range []string{"beyond.md", "sparse.md"} {
		_, read := v.Read(t.Context(), name)
		_, text := v.Text(t.Context(), name)
		_, stat := v.Stat(name)
		for _, err := range []error{read, text, stat} {
			if skipped, ok := errors.AsType[*vault.Skipped](err); !ok || skipped.Reason != vault.TooLong {
				t.Errorf("%s: got %v, want the reason %q", name, err, vault.TooLong)
			}
		}
	}
}

// Reading ends at the bound when the file that is read never ends.
func TestReadingAGrowingNoteEnds(t *testing.T) {
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	if n, err := vault.ReadFrom(t.Context(), zero); n != vault.MaxSize || err != nil {
		t.Errorf("read %d bytes (%v), want %d", n, err, vault.MaxSize)
	}
}
