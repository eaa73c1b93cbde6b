package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A program without XDG_RUNTIME_DIR finds the daemon of a login: in the folder that systemd made, if it is private.
func TestTheRuntimeFolderOfALogin(t *testing.T) {
	t.Parallel()
	private, open := filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")
	for dir, mode := range map[string]os.FileMode{private: 0o700, open: 0o755} {
		if err := os.Mkdir(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, dir string
		env, want []string
	}{
		{"unset", private, []string{"HOME=/h"}, []string{"HOME=/h", "XDG_RUNTIME_DIR=" + private}},
		{"set", private, []string{"XDG_RUNTIME_DIR=/r"}, []string{"XDG_RUNTIME_DIR=/r"}},
		{"others may read it", open, nil, nil},
		{"missing", private + "/none", nil, nil},
	} {
		if got := withRuntimeDir(test.env, test.dir); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
