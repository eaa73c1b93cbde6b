package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadKey(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"secret\n":                     "secret",
		"  sk-1_2 \r\n":                "sk-1_2",
		" \n":                          "",
		"two words":                    "",
		"a\x00b":                       "",
		strings.Repeat("x", maxKey+10): "",
	} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadKey(file, "key"); got != want || (err == nil) != (want != "") {
			t.Errorf("key of %.20q is %q, %v; want %q", content, got, err, want)
		} else if err != nil && strings.Contains(err.Error(), content) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
	missing := filepath.Join(t.TempDir(), "key")
	if _, err := ReadKey(missing, "key"); err == nil || IsPathError(err) || !strings.Contains(err.Error(), missing) {
		t.Errorf("of a missing file is said %v", err)
	}
	if got, err := ReadKey("", "key"); got != "" || err != nil {
		t.Errorf("key of no file is %q, %v", got, err)
	}
}
