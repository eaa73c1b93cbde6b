package llama

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/llamawire"
)

// folder has empty files of those names, and links where a name says so with an arrow.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if link {
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindLibraries(t *testing.T) {
	for name, test := range map[string]struct {
		names                []string
		llama, ggml, release string
	}{
		"node-llama-cpp on Linux": {
			[]string{"libggml-base.so", "libggml-cpu-haswell.so", "libggml.v0.5.0.so", "libllama-common.so", "libllama.v0.5.0.so", "llama-addon.node"},
			"libllama.v0.5.0.so", "libggml.v0.5.0.so", "v0.5.0",
		},
		"node-llama-cpp on macOS": {
			[]string{"libggml-base.dylib", "libggml-metal.so", "libggml.metal.b8390.dylib", "libllama.metal.b8390.dylib"},
			"libllama.metal.b8390.dylib", "libggml.metal.b8390.dylib", "b8390",
		},
		"an archive of llama.cpp": {
			[]string{"libggml-base.so", "libggml.so", "libllama.so", "libmtmd.so", "llama-server"},
			"libllama.so", "libggml.so", "",
		},
		"one with versions": {
			[]string{"libggml.so.0.9.7", "libggml.so.0 -> libggml.so.0.9.7", "libggml.so -> libggml.so.0", "libllama.so.0.0.8390", "libllama.so.0 -> libllama.so.0.0.8390", "libllama.so -> libllama.so.0"},
			"libllama.so", "libggml.so", "b8390",
		},
		"Homebrew, ggml elsewhere": {
			[]string{"lib/libllama.0.6.1.dylib", "lib/libllama.0.dylib -> libllama.0.6.1.dylib", "lib/libllama.dylib -> libllama.0.dylib"},
			"lib/libllama.dylib", "", "v0.6.1",
		},
		"a build of one's own": {
			[]string{"CMakeLists.txt", "build/bin/libllama.so", "build/bin/libggml.so", "build/bin/libggml-base.so"},
			"build/bin/libllama.so", "build/bin/libggml.so", "",
		},
		"a file where others have a folder": {
			[]string{"lib", "bin/libllama.so", "bin/libggml.so"},
			"bin/libllama.so", "bin/libggml.so", "",
		},
		"a link that leads nowhere": {
			[]string{"libllama.b4600.so -> gone.so", "libllama.b4601.so -> libllama.b4601.so", "libllama.b9000.so", "libggml.so"},
			"libllama.b9000.so", "libggml.so", "b9000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, test.names...)
			f, err := find(dir)
			if err != nil {
				t.Fatal(err)
			}
			in := func(name string) string {
				if name == "" {
					return ""
				}
				return filepath.Join(dir, name)
			}
			if f.llama != in(test.llama) || f.ggml != in(test.ggml) || f.release.String() != test.release {
				t.Errorf("got %s, %s of %q, want %s, %s of %q", f.llama, f.ggml, f.release, in(test.llama), in(test.ggml), test.release)
			}
			if f.dir != filepath.Dir(f.llama) {
				t.Errorf("what computes is looked for in %s, want where libllama is", f.dir)
			}
		})
	}
}

func TestFindBackends(t *testing.T) {
	root := folder(t, "Cellar/ggml/0.23.0/lib/libggml.0.23.0.dylib", "Cellar/ggml/0.23.0/lib/libggml.dylib -> libggml.0.23.0.dylib",
		"Cellar/llama.cpp/8770/lib/libllama.dylib", "opt/ggml -> ../Cellar/ggml/0.23.0", "opt/llama.cpp -> ../Cellar/llama.cpp/8770",
		"lib/libggml.dylib -> ../Cellar/ggml/0.23.0/lib/libggml.dylib", "lib/libllama.dylib -> ../Cellar/llama.cpp/8770/lib/libllama.dylib",
		"npm/libllama.v0.5.0.so", "npm/libggml.v0.5.0.so", "own/libllama.so")
	root, err := filepath.EvalSymlinks(root) // macOS has its temporary folders behind a link
	if err != nil {
		t.Fatal(err)
	}
	cellar := []string{"Cellar/ggml/0.23.0/lib", "Cellar/ggml/0.23.0/libexec"}
	for dir, want := range map[string][]string{
		"opt/llama.cpp": append([]string{"opt/llama.cpp/lib"}, cellar...),
		"lib":           append([]string{"lib"}, cellar...),
		"npm":           {"npm", "libexec"},
		"own":           {"own"},
	} {
		f, err := find(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] = filepath.Join(root, want[i])
		}
		if got := f.backends(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", dir, got, want)
		}
	}
}

func TestReleaseFromWhatNodeLlamaCppWrites(t *testing.T) {
	dir := folder(t, "libllama.so", "libggml.so")
	content := `{"buildOptions":{"platform":"linux","gpu":false,"llamaCpp":{"repo":"ggml-org/llama.cpp","release":"b5640"}}}`
	if err := os.WriteFile(filepath.Join(dir, "_nlcBuildMetadata.json"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := find(dir); err != nil || f.release.String() != "b5640" {
		t.Errorf("got %+v, %v, want b5640", f, err)
	}
}

func TestFoldersWithoutLibraries(t *testing.T) {
	for name, test := range map[string]struct{ dir, says string }{
		"relative":          {"engines/llama", "; use an absolute path"},
		"not there":         {filepath.Join(t.TempDir(), "none"), "llama.cpp not found: stat"},
		"empty":             {t.TempDir(), "the folder does not contain libllama"},
		"only its parts":    {folder(t, "libggml.so", "libggml-base.so", "libllama-common.so"), "the folder does not contain libllama"},
		"another system":    {folder(t, "llama.dll", "ggml.dll"), "the folder does not contain libllama"},
		"two of them":       {folder(t, "libllama.b8390.so", "libllama.v0.5.0.so"), "contains several builds of llama.cpp: libllama.b8390.so and libllama.v0.5.0.so; move each build to its own folder"},
		"too old":           {folder(t, "libllama.b4600.so", "libggml.b4600.so"), "llama.cpp b4600 is too old: the oldest supported release is b5640, and emberd was tested with v0.5.0; to install another build of llama.cpp, run: emberd model runtime install"},
		"a file":            {filepath.Join(folder(t, "libllama.so"), "libllama.so"), "not a directory"},
		"a pipe or so":      {folder(t, "libllama.so", "libggml.so/inside"), "libggml.so is not a file; to install another build of llama.cpp, run: emberd model runtime install"},
		"a file's folder":   {folder(t, "lib", "bin"), "the folder does not contain libllama"},
		"around and around": {filepath.Join(folder(t, "here -> there", "there -> here"), "here"), "too many levels of symbolic links"},
		"no library":        {folder(t, "libllama.so", "libggml.so"), ": cannot load libggml.so"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(test.dir, nil)
			if failed, ok := errors.AsType[*llamawire.Failed](err); !ok || !strings.Contains(failed.Text, test.says) {
				t.Errorf("got %v, want what says %q", err, test.says)
			}
		})
	}
}
