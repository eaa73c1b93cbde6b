package model

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/llamawire"
	"emberd/internal/models"
)

// An engine that settings name is checked like one that was chosen, each time.
func TestNamedEngineIsChecked(t *testing.T) {
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "lib")
	self, err := os.Executable() // which is a file for this machine
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Symlink(self, filepath.Join(dir, "libllama.so"))); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Source{Flags: []string{"embedding.engine=mine"}, Home: home, UserHome: home})
	if err != nil {
		t.Fatal(err)
	}
	loads := func(context.Context, string) (llamawire.Hello, error) { return llamawire.Hello{}, nil }
	folder := filepath.Join(c.Embedding.Folder, "engines")
	source := models.Source{Place: dir, Link: true, Name: "mine", Trust: true}
	if _, err := models.OpenRuntimes(folder, loads).Install(t.Context(), source, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := daemon.EngineDir(c); err != nil || got != dir {
		t.Errorf("engineDir = %q, %v, want %s", got, err, dir)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, named := selftestDir(c, "mine")
	_, set := daemon.EngineDir(c)
	for _, err := range []error{named, set} {
		if err == nil || !strings.Contains(err.Error(), "is writable by all users") {
			t.Errorf("%v, want that others may write there", err)
		}
	}
}
