package models_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/llamawire"
	"emberd/internal/models"
)

func TestInstallRuntime(t *testing.T) {
	data := npm(t, "v0.5.0").archive(t)
	fromOfficial := []string{"LICENSE", "engine.json", "libggml-cpu-x64.so", "libllama.so", "libllama.so.0",
		"libllama.so.0.0.1"}
	for _, tt := range []struct {
		name    string
		source  models.Source
		release string
		want    []string
	}{
		{"an npm archive", models.Source{Place: npm(t, "v0.5.0").file(t)}, "v0.5.0", installed("v0.5.0")},
		{"an official archive", models.Source{Place: official(t, "b9165").file(t)}, "b9165", fromOfficial},
		{"an unpacked npm package", models.Source{Place: npm(t, "v0.5.0").unpacked(t)}, "v0.5.0", installed("v0.5.0")},
		{"an unpacked build", models.Source{Place: official(t, "b9165").unpacked(t)}, "b9165", fromOfficial},
		{"an address", models.Source{Place: serve(t, data) + "/llama.tgz?token=geheim", SHA256: digest(data)}, "v0.5.0",
			installed("v0.5.0")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := openRuntimes(t, report)
			got := e.install(t, tt.source)
			if got.Name != tt.release || got.Release != tt.release || got.System != "AVX2" ||
				!slices.Equal(got.Backends, []string{"CPU"}) {
				t.Errorf("Install = %+v, want release %s with what the probe reported", got, tt.release)
			}
			dir := filepath.Join(e.dir, tt.release)
			if got.Dir != dir || strings.Contains(got.Source, "geheim") || got.Source == "" || got.Bytes() == 0 {
				t.Errorf("Install = %+v", got)
			}
			holds(t, dir, tt.want...)
			holds(t, e.dir, tt.release)
			for _, f := range got.Files {
				if info, err := os.Lstat(filepath.Join(dir, f.Name)); err != nil || f.Link == "" &&
					info.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %v (%v), want 0600", f.Name, info.Mode(), err)
				}
			}
			if _, err := e.Verify(t.Context(), tt.release); err != nil {
				t.Errorf("Verify: %v", err)
			}
			if current, err := e.Current(); err != nil || current.Name != tt.release {
				t.Errorf("Current = %v, %v, want %s", current, err, tt.release)
			}
		})
	}
}

func TestInstallRuntimeRefuses(t *testing.T) {
	page := file(t, "page.tgz", []byte("<!DOCTYPE html>"))
	data := npm(t, "v0.5.0").archive(t)
	other := strings.Repeat("0", 64)
	with := func(name, content string) build {
		b := npm(t, "v0.5.0")
		b[bins+name] = content
		return b
	}
	two := npm(t, "v0.5.0")
	two["package/bins/linux-x64-cuda/libllama.v0.5.0.so"] = "x"
	mac := with("libllama.v0.5.0.so", library(t, "darwin", "arm64", "x"))
	if runtime.GOOS == "darwin" {
		mac = with("libllama.v0.5.0.so", library(t, "linux", "arm64", "x"))
	}
	empty := build{"llama/README.md": "hello"}
	for _, tt := range []struct {
		name   string
		source models.Source
		want   []string
	}{
		{"for another system", models.Source{Place: mac.file(t)}, []string{"libllama.v0.5.0.so is built for ",
			" on arm64, but this system is "}},
		{"for Windows", models.Source{Place: build{"llama.dll": "MZ"}.file(t)}, []string{"libllama not found in ", "; use a build of llama.cpp with shared libraries for this system",
			"for this system"}},
		{"no libraries", models.Source{Place: empty.file(t)}, []string{"libllama not found in ", "; use a build of llama.cpp with shared libraries for this system"}},
		{"no libraries in a directory", models.Source{Place: empty.unpacked(t)}, []string{"libllama not found in ", "; use a build of llama.cpp with shared libraries for this system"}},
		{"several builds", models.Source{Place: two.file(t)}, []string{"several builds", "linux-x64-cuda"}},
		{"several builds in a directory", models.Source{Place: two.unpacked(t)}, []string{"several builds",
			"linux-x64-cuda"}},
		{"a pointer for a library", models.Source{Place: with("libllama.v0.5.0.so", "version https://git-lfs").file(t)},
			[]string{"libllama.v0.5.0.so is incomplete or not a library"}},
		{"a web page", models.Source{Place: page}, []string{"is not a .tar.gz or .zip file"}},
		{"an archive cut short", models.Source{Place: file(t, "cut.tgz", data[:len(data)-20])}, []string{"is incomplete",
			"download it again"}},
		{"a link out of it", models.Source{Place: with("libggml-x.so", "-> ../../../../etc/passwd").file(t)},
			[]string{"libggml-x.so", "not a file of the build"}},
		{"an absolute link", models.Source{Place: with("libggml-x.so", "-> /etc/passwd").file(t)},
			[]string{"not a file of the build"}},
		{"a link to nothing", models.Source{Place: with("libggml-x.so", "-> libggml-y.so").file(t)},
			[]string{"is not a file of the build"}},
		{"a link to itself", models.Source{Place: with("libggml-x.so", "-> libggml-x.so").file(t)},
			[]string{"is not a file of the build"}},
		{"a link to a program", models.Source{Place: with("libggml-x.so", "-> llama-addon.node").file(t)},
			[]string{"not a file of the build"}},
		{"a name that leads out", models.Source{Place: with("../../../libggml-x.so", "x").file(t)},
			[]string{"leads outside the target folder"}},
		{"a name twice", models.Source{Place: with("libggml-BASE.so", "x").file(t)}, []string{"twice"}},
		{"too old", models.Source{Place: npm(t, "b4600").file(t)}, []string{"release b4600 is too old"}},
		{"wrong digest", models.Source{Place: empty.file(t), SHA256: other},
			[]string{"instead of " + other}},
		{"no digest", models.Source{Place: empty.file(t), SHA256: "00"}, []string{`invalid SHA-256 "00"`}},
		{"an address without a digest", models.Source{Place: serve(t, data)}, []string{"which is not on the list of known builds",
			"--sha256"}},
		{"no such file", models.Source{Place: "/nonexistent"}, []string{"file or directory /nonexistent not found"}},
		{"nothing", models.Source{}, []string{"missing runtime; use"}},
		{"a bad name", models.Source{Place: "/usr", Name: "../x"}, []string{`invalid runtime name "../x"`}},
		{"the folder's own name", models.Source{Place: "/usr", Name: "current"}, []string{`invalid runtime name "current"`}},
		{"that name on many disks", models.Source{Place: "/usr", Name: "Current"}, []string{`invalid runtime name "Current"`}},
		{"the word for no engine", models.Source{Place: "/usr", Name: "none"}, []string{`invalid runtime name "none"`}},
		{"a directory with a digest", models.Source{Place: t.TempDir(), SHA256: other},
			[]string{"--sha256 requires an archive, but the runtime is a directory"}},
		{"a linked archive", models.Source{Place: page, Link: true}, []string{"--link requires a directory"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := openRuntimes(t, report)
			tt.source.Trust = true
			_, err := e.Install(t.Context(), tt.source, nil)
			fails(t, err, tt.want...)
			holds(t, e.dir)
			if _, err := e.Current(); !errors.Is(err, models.ErrNone) {
				t.Errorf("Current: %v, want ErrNone", err)
			}
		})
	}
}

func TestSameRuntimeAgain(t *testing.T) {
	e := openRuntimes(t, report)
	archive := npm(t, "v0.5.0").file(t)
	first := e.install(t, models.Source{Place: archive})
	again := e.install(t, models.Source{Place: archive})
	if !again.Added.Equal(first.Added) || again.Name != first.Name {
		t.Errorf("the same runtime again = %+v, want %+v", again, first)
	}
	other := npm(t, "v0.5.0")
	other[bins+"libggml-cpu-x64.so"] = here(t, "other")
	_, err := e.Install(t.Context(), models.Source{Place: other.file(t), Trust: true}, nil)
	fails(t, err, "v0.5.0 already exists with different files", "--replace", "--name")
	if !errors.Is(err, models.ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	if got := e.install(t, models.Source{Place: other.file(t), Name: "mine"}); got.Name != "mine" {
		t.Errorf("name %s, want mine", got.Name)
	}
	replaced := e.install(t, models.Source{Place: other.file(t), Replace: true})
	if slices.Equal(replaced.Files, first.Files) {
		t.Error("the runtime was not replaced")
	}
	if _, err := e.Verify(t.Context(), "v0.5.0"); err != nil {
		t.Errorf("Verify after replacing: %v", err)
	}
	holds(t, e.dir, "mine", "v0.5.0")
}

func TestUnknownRelease(t *testing.T) {
	e := openRuntimes(t, func(context.Context, string) (llamawire.Hello, error) { return llamawire.Hello{}, nil })
	got := e.install(t, models.Source{Place: npm(t, "v0.5.0").file(t)})
	if !strings.HasPrefix(got.Name, "engine-") || len(got.Name) != len("engine-01234567") {
		t.Errorf("name %q, want one made of the files", got.Name)
	}
	if again := e.install(t, models.Source{Place: npm(t, "v0.5.0").file(t)}); again.Name != got.Name {
		t.Errorf("name %q, want %q again", again.Name, got.Name)
	}
}

func TestLink(t *testing.T) {
	e := openRuntimes(t, report)
	dir := official(t, "b9165").unpacked(t)
	source := models.Source{Place: dir, Link: true}
	got := e.install(t, source)
	libs := filepath.Join(dir, "llama-b9165")
	if got.Name != "system" || got.Dir != libs || got.Linked != libs || got.Bytes() != 0 {
		t.Errorf("Install = %+v, want a link to %s", got, libs)
	}
	holds(t, filepath.Join(e.dir, "system"), "engine.json")
	// A package manager may upgrade it in place.
	if err := os.WriteFile(filepath.Join(libs, "libggml-cpu-x64.so"), []byte(here(t, "upgraded")), 0o600); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Dir != libs {
		t.Errorf("Current = %v, %v, want the link", current, err)
	}
	if again := e.install(t, source); !again.Added.Equal(got.Added) {
		t.Errorf("the same link again = %+v", again)
	}
	if err := e.Remove("system"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(libs, "libllama.so")); err != nil {
		t.Errorf("removing the link removed the libraries: %v", err)
	}
}

// What a killed installation leaves is no runtime, and others wait for one in progress.
func TestRuntimeBusyAndKilled(t *testing.T) {
	e := openRuntimes(t, report)
	stage := filepath.Join(e.dir, ".new", "files")
	half := filepath.Join(stage, "libllama.so")
	if err := errors.Join(os.MkdirAll(stage, 0o700), os.WriteFile(half, []byte(here(t, "half")), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Current(); !errors.Is(err, models.ErrNone) {
		t.Errorf("Current: %v, want ErrNone", err)
	}
	e.install(t, models.Source{Place: npm(t, "v0.5.0").file(t)})
	holds(t, e.dir, "v0.5.0")
	holds(t, filepath.Join(e.dir, "v0.5.0"), installed("v0.5.0")...)
	l, err := durable.AcquireLock(filepath.Join(e.dir, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, installing := e.Install(t.Context(), models.Source{Place: npm(t, "b8390").file(t), Trust: true}, nil)
	for what, err := range map[string]error{"Install": installing, "Remove": e.Remove("v0.5.0")} {
		if !errors.Is(err, models.ErrBusy) {
			t.Errorf("%s: %v, want ErrBusy", what, err)
		}
	}
	if _, err := e.Use("v0.5.0"); err != nil {
		t.Errorf("Use during an installation: %v", err)
	}
}

func TestCancelledRuntime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := openRuntimes(t, report)
	for _, place := range []string{npm(t, "v0.5.0").file(t), npm(t, "v0.5.0").unpacked(t)} {
		if _, err := e.Install(ctx, models.Source{Place: place, Trust: true}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Install: %v, want context.Canceled", err)
		}
	}
	holds(t, e.dir)
}

// In a folder that others may write to they could put other libraries there before they are tried.
func TestNothingIsTriedWhereOthersMayWrite(t *testing.T) {
	e := openRuntimes(t, func(context.Context, string) (llamawire.Hello, error) {
		t.Error("the libraries were loaded")
		return llamawire.Hello{}, nil
	})
	for _, dir := range []string{e.dir, filepath.Dir(e.dir)} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []models.Source{{Place: npm(t, "v0.5.0").file(t)}, {Place: official(t,
			"b9165").unpacked(t), Link: true}} {
			_, err := e.Install(t.Context(), s, nil)
			fails(t, err, dir+" is writable by all users")
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// wreck cuts a library short.
func wreck(t *testing.T, e engines, name string) {
	t.Helper()
	if err := os.Truncate(filepath.Join(e.dir, name, "libggml-base.so"), 10); err != nil {
		t.Fatal(err)
	}
}

func TestNewestIsUsed(t *testing.T) {
	e := openRuntimes(t, report)
	for _, release := range []string{"b8390", "v0.5.0", "b10361"} {
		e.install(t, models.Source{Place: npm(t, release).file(t)})
	}
	all, err := e.List()
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, l := range all {
		order = append(order, l.Name)
		if l.Problem != "" {
			t.Errorf("listed %+v", l)
		}
	}
	if want := []string{"v0.5.0", "b10361", "b8390"}; !slices.Equal(order, want) {
		t.Errorf("List = %q, want %q", order, want)
	}
	if current, err := e.Current(); err != nil || current.Name != "v0.5.0" {
		t.Errorf("Current = %v, %v, want the newest", current, err)
	}
	wreck(t, e, "v0.5.0")
	if current, err := e.Current(); err != nil || current.Name != "b10361" {
		t.Errorf("Current = %v, %v, want the newest that is intact", current, err)
	}
}

func TestUseAndRemove(t *testing.T) {
	e := openRuntimes(t, report)
	for _, release := range []string{"b8390", "v0.5.0"} {
		e.install(t, models.Source{Place: npm(t, release).file(t)})
	}
	if _, err := e.Use("b8390"); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Name != "b8390" {
		t.Errorf("Current = %v, %v, want b8390", current, err)
	}
	_, err := e.Use("v0.5.1")
	fails(t, err, "did you mean v0.5.0?")
	if !errors.Is(err, models.ErrUnknown) {
		t.Errorf("Use: %v, want ErrUnknown", err)
	}
	wreck(t, e, "b8390")
	_, current := e.Current()
	_, intact := e.Intact("b8390")
	_, use := e.Use("b8390")
	for _, err := range []error{current, intact, use} {
		fails(t, err, "runtime b8390 differs from the installed files", "libggml-base.so has 10 bytes")
	}
	for _, name := range []string{"none", "..", "", ".lock", "current"} {
		if err := e.Remove(name); !errors.Is(err, models.ErrUnknown) {
			t.Errorf("Remove(%q): %v, want ErrUnknown", name, err)
		}
	}
	if err := e.Remove("b8390"); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Name != "v0.5.0" {
		t.Errorf("Current = %v, %v, want the one that is left", current, err)
	}
	holds(t, e.dir, "v0.5.0")
}

func TestChosenRuntimeThatIsGone(t *testing.T) {
	e := openRuntimes(t, report)
	for _, release := range []string{"b8390", "v0.5.0"} {
		e.install(t, models.Source{Place: npm(t, release).file(t)})
	}
	if _, err := e.Use("b8390"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(e.dir, "b8390")); err != nil {
		t.Fatal(err)
	}
	_, err := e.Current()
	fails(t, err, "the selected runtime b8390 no longer exists")
	if err := os.WriteFile(filepath.Join(e.dir, "current"), []byte("../x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = e.Current()
	fails(t, err, "does not contain the name of a runtime")
}

func TestChangedRuntime(t *testing.T) {
	write := func(name, content string) func(*testing.T, string) error {
		return func(t *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string) error
		want   string
	}{
		{"a library is missing", func(_ *testing.T, dir string) error {
			return os.Remove(filepath.Join(dir,
				"libggml-base.so"))
		},
			"libggml-base.so is missing"},
		{"one is cut short", write("libggml-base.so", "x"), "libggml-base.so has 1 bytes instead of"},
		{"a backend was added", write("libggml-cpu-evil.so", here(t, "evil")),
			"libggml-cpu-evil.so is not one of the installed files"},
		{"a link for a file", func(t *testing.T, dir string) error {
			name := filepath.Join(dir, "libggml-base.so")
			return errors.Join(os.Rename(name, filepath.Join(t.TempDir(), "moved")), os.Symlink("/etc/passwd", name))
		}, "libggml-base.so is not the installed file"},
		{"others may write to the folder", func(_ *testing.T, dir string) error {
			return os.Chmod(filepath.Dir(dir),
				0o703)
		},
			"is writable by all users"},
		{"others may write to the directory", func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o707) },
			"is writable by all users"},
		{"others may write to a file", func(_ *testing.T, dir string) error {
			return os.Chmod(filepath.Join(dir, "libggml-base.so"), 0o602)
		}, "chmod o-w"},
		{"no record", func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "engine.json")) },
			"emberd did not install"},
		{"a broken record", write("engine.json", "{"), "install the runtime again"},
		{"a record that leads elsewhere", write("engine.json", `{"linked":"../x"}`), "install the runtime again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := openRuntimes(t, report)
			source := models.Source{Place: npm(t, "v0.5.0").file(t), Trust: true}
			e.install(t, source)
			if err := tt.change(t, filepath.Join(e.dir, "v0.5.0")); err != nil {
				t.Fatal(err)
			}
			_, current := e.Current()
			_, verified := e.Verify(t.Context(), "v0.5.0")
			_, intact := e.Intact("v0.5.0")
			for _, err := range []error{current, verified, intact} {
				fails(t, err, tt.want)
			}
			all, err := e.List()
			if err != nil || len(all) != 1 || !strings.Contains(all[0].Problem, tt.want) {
				t.Errorf("List = %+v, %v, want the problem", all, err)
			}
			if err := os.Chmod(e.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Install(t.Context(), source, nil); !errors.Is(err, models.ErrTaken) &&
				tt.want != "is writable by all users" {
				t.Errorf("Install: %v, want ErrTaken", err)
			}
			source.Replace = true
			e.install(t, source)
			if _, err := e.Current(); err != nil {
				t.Errorf("Current after installing again: %v", err)
			}
		})
	}
}

// Verify finds bytes that changed while the size stayed.
func TestVerifyReadsEverything(t *testing.T) {
	e := openRuntimes(t, report)
	source := models.Source{Place: npm(t, "v0.5.0").file(t), Trust: true}
	e.install(t, source)
	name := filepath.Join(e.dir, "v0.5.0", "libggml-base.so")
	data := read(t, name)
	data[len(data)-1] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Current(); err != nil {
		t.Errorf("Current: %v", err)
	}
	_, err := e.Verify(t.Context(), "v0.5.0")
	fails(t, err, "libggml-base.so has different content", "--replace")
	// The damaged runtime is not the same, though it has the same record.
	if _, err = e.Install(t.Context(), source, nil); !errors.Is(err, models.ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	source.Replace = true
	e.install(t, source)
	if _, err := e.Verify(t.Context(), "v0.5.0"); err != nil {
		t.Errorf("Verify after installing again: %v", err)
	}
}

func TestCheckLibraries(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		for _, goarch := range []string{"amd64", "arm64"} {
			dir := build{"libllama.so": library(t, goos, goarch, "x")}.unpacked(t)
			err := models.CheckLibraries(dir)
			if isHere := goos == runtime.GOOS && goarch == runtime.GOARCH; isHere && err != nil {
				t.Errorf("for %s/%s: %v", goos, goarch, err)
			} else if !isHere {
				fails(t, err, "libllama.so is built for ", ", but this system is ")
			}
		}
	}
	fails(t, models.CheckLibraries(filepath.Join(t.TempDir(), "none")), "not found; check its path")
	fails(t, models.CheckLibraries(npm(t, "v0.5.0").file(t)), "cannot read directory ")
}
