package llamatest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// folder has files of those names.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLibrariesAreThoseThatAreListed(t *testing.T) {
	first, second := folder(t, "libllama.v1.so", "libggml.v1.so"), folder(t, "libllama.dylib", "libggml.dylib")
	got, err := find(first + string(filepath.ListSeparator) + second)
	if want := []string{first, second}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestListedLibrariesMustBeThere(t *testing.T) {
	for name, dirs := range map[string]string{
		"no folder":      filepath.Join(t.TempDir(), "none"),
		"empty folder":   t.TempDir(),
		"half of them":   folder(t, "libllama.so"),
		"other platform": folder(t, "llama.dll", "ggml.dll"),
		"second folder":  folder(t, "libllama.so", "libggml.so") + string(filepath.ListSeparator) + t.TempDir(),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := find(dirs); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

// install makes a module with packages as npm installs them, with those files in each, and
// goes into one of its folders. It returns the folders of the libraries.
func install(t *testing.T, files []string, packages ...string) []string {
	t.Helper()
	root := folder(t, "go.mod")
	below := filepath.Join(root, "internal", "deep")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	var dirs []string
	for _, name := range packages {
		dir := filepath.Join(root, "tools", "engine", "node_modules", name, "bins", platform())
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func TestInstalledLibrariesAreFoundFromAnyPackage(t *testing.T) {
	want := install(t, []string{"libllama.v1.so", "libggml.v1.so"}, "@maker/linux", "linux-b1")
	if got, err := find(""); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// Where nobody asked, a checkout without the libraries is fine, and a half-installed one too.
func TestLibrariesThatAreNotInstalledAreNone(t *testing.T) {
	for _, packages := range [][]string{nil, {"@maker/linux"}} {
		install(t, []string{"libllama.v1.so"}, packages...)
		if got, err := find(""); err != nil || len(got) > 0 {
			t.Errorf("with %v: got %v, %v, want none", packages, got, err)
		}
	}
}

// A change to any of these is to have tests run again that use the helper.
func TestSourcesOfTheHelper(t *testing.T) {
	dirs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cmd/emberd-llama", "internal/llama", "internal/llamawire", "internal/gguf"} {
		if dir := filepath.Join(root, name); !slices.Contains(dirs, dir) {
			t.Errorf("the helper is not made of %s: %v", dir, dirs)
		}
	}
}
