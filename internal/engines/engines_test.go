package engines

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNewestIsUsed(t *testing.T) {
	e := open(t)
	for _, release := range []string{"b8390", "v0.5.0", "b10361"} {
		e.install(t, Source{Archive: npm(t, here, release).file(t)})
	}
	all, err := e.List()
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, l := range all {
		order = append(order, l.Name)
		if l.Used != (l.Name == "v0.5.0") || l.Chosen || l.Problem != "" || l.Bytes() == 0 {
			t.Errorf("listed %+v", l)
		}
	}
	if want := []string{"v0.5.0", "b10361", "b8390"}; !slices.Equal(order, want) {
		t.Errorf("List = %q, want %q", order, want)
	}
	wreck(t, e, "v0.5.0")
	if current, err := e.Current(); err != nil || current.Name != "b10361" {
		t.Errorf("Current = %v, %v, want the newest that is intact", current, err)
	}
}

// wreck cuts a library short.
func wreck(t *testing.T, e *Engines, name string) {
	t.Helper()
	if err := os.Truncate(filepath.Join(e.folder, name, "libggml-base.so"), 10); err != nil {
		t.Fatal(err)
	}
}

func TestUse(t *testing.T) {
	e := open(t)
	for _, release := range []string{"b8390", "v0.5.0"} {
		e.install(t, Source{Archive: npm(t, here, release).file(t)})
	}
	if err := e.Use("b8390"); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Name != "b8390" {
		t.Errorf("Current = %v, %v, want b8390", current, err)
	}
	err := e.Use("v0.5.1")
	fails(t, err, "did you mean v0.5.0?")
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("Use: %v, want ErrUnknown", err)
	}
	wreck(t, e, "b8390")
	_, err = e.Current()
	fails(t, err, "engine b8390 is not what was installed", "libggml-base.so has 10 bytes")
	_, err = e.Intact("b8390")
	fails(t, err, "engine b8390 is not what was installed", "libggml-base.so has 10 bytes")
	if usable, err := e.Intact("v0.5.0"); err != nil || usable.Name != "v0.5.0" {
		t.Errorf("Usable = %v, %v, want v0.5.0", usable, err)
	}
	fails(t, e.Use("b8390"), "not what was installed")
	if err := e.Use(""); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Name != "v0.5.0" {
		t.Errorf("Current = %v, %v, want v0.5.0 again", current, err)
	}
}

func TestChosenEngineThatIsGone(t *testing.T) {
	e := open(t)
	for _, release := range []string{"b8390", "v0.5.0"} {
		e.install(t, Source{Archive: npm(t, here, release).file(t)})
	}
	if err := e.Use("b8390"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(e.folder, "b8390")); err != nil {
		t.Fatal(err)
	}
	_, err := e.Current()
	fails(t, err, "engine b8390 was chosen and is not there any more")
	if err := os.WriteFile(filepath.Join(e.folder, currentName), []byte("../x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = e.Current()
	fails(t, err, "does not hold the name of an engine")
}

func TestRemove(t *testing.T) {
	e := open(t)
	for _, release := range []string{"b8390", "v0.5.0"} {
		e.install(t, Source{Archive: npm(t, here, release).file(t)})
	}
	if err := e.Use("v0.5.0"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"none", "..", "", ".lock", "current"} {
		if err := e.Remove(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("Remove(%q): %v, want ErrUnknown", name, err)
		}
	}
	wreck(t, e, "v0.5.0")
	if err := e.Remove("v0.5.0"); err != nil {
		t.Fatal(err)
	}
	if current, err := e.Current(); err != nil || current.Name != "b8390" {
		t.Errorf("Current = %v, %v, want the one that is left", current, err)
	}
	e.clean(t, "b8390")
}

func TestWhatIsNotIntact(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string) error
		want   string
	}{
		{"a library is missing", func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "libggml-base.so")) }, "libggml-base.so is missing"},
		{"one is cut short", func(_ *testing.T, dir string) error { return os.Truncate(filepath.Join(dir, "libggml-base.so"), 70) }, "has 70 bytes and had 72"},
		{"a backend was added", func(t *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "libggml-cpu-evil.so"), library(t, here, "evil"), 0o600)
		}, "libggml-cpu-evil.so was not installed with it"},
		{"a link for a file", func(_ *testing.T, dir string) error {
			name := filepath.Join(dir, "libggml-base.so")
			return errors.Join(os.Rename(name, filepath.Join(t.TempDir(), "moved")), os.Symlink("/etc/passwd", name))
		}, "libggml-base.so is not the file that was installed"},
		{"others may write to the folder", func(_ *testing.T, dir string) error { return os.Chmod(filepath.Dir(dir), 0o703) }, "can be written to by everybody"},
		{"others may write to the directory", func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o707) }, "can be written to by everybody"},
		{"others may write to a file", func(_ *testing.T, dir string) error { return os.Chmod(filepath.Join(dir, "libggml-base.so"), 0o602) }, "chmod o-w"},
		{"no record", func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, recordName)) }, "was not installed by emberd"},
		{"a broken record", func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, recordName), []byte("{"), 0o600)
		}, "install it again"},
		{"a record that leads elsewhere", func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, recordName), []byte(`{"linked":"../x"}`), 0o600)
		}, "install it again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t)
			e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
			if err := tt.change(t, filepath.Join(e.folder, "v0.5.0")); err != nil {
				t.Fatal(err)
			}
			_, err := e.Current()
			fails(t, err, tt.want)
			_, err = e.Verify(t.Context(), "v0.5.0")
			fails(t, err, tt.want)
			_, err = e.Intact("v0.5.0")
			fails(t, err, tt.want)
			all, err := e.List()
			if err != nil || len(all) != 1 || !strings.Contains(all[0].Problem, tt.want) || all[0].Used {
				t.Errorf("List = %+v, %v, want the problem", all, err)
			}
			if err := os.Chmod(e.folder, 0o700); err != nil {
				t.Fatal(err)
			}
			e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t), Replace: true})
			if _, err := e.Current(); err != nil {
				t.Errorf("Current after installing again: %v", err)
			}
		})
	}
}

// Bytes that changed while the size stayed are what Verify is for.
func TestVerifyReadsEverything(t *testing.T) {
	e := open(t)
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t)})
	f, err := os.OpenFile(filepath.Join(e.folder, "v0.5.0", "libggml-base.so"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("X"), 70); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := e.Current(); err != nil {
		t.Errorf("Current: %v", err)
	}
	_, err = e.Verify(t.Context(), "v0.5.0")
	fails(t, err, "libggml-base.so has other bytes", "--replace")
	// What is damaged is not the same engine, though it has the same record.
	_, err = e.Install(t.Context(), Source{Archive: npm(t, here, "v0.5.0").file(t)}, nil)
	if !errors.Is(err, ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	e.install(t, Source{Archive: npm(t, here, "v0.5.0").file(t), Replace: true})
	if _, err := e.Verify(t.Context(), "v0.5.0"); err != nil {
		t.Errorf("Verify after installing again: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, m := range []machine{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}} {
		dir := build{"libllama.so": string(library(t, m, "x"))}.unpacked(t)
		for _, other := range []machine{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}} {
			err := check(dir, other)
			if m == other && err != nil {
				t.Errorf("for %v: %v", m, err)
			}
			if m != other {
				fails(t, err, "is for "+m.String()+" and this is "+other.String())
			}
		}
	}
	fails(t, Check(filepath.Join(t.TempDir(), "none")), "there is no directory")
	file := npm(t, here, "v0.5.0").file(t)
	fails(t, Check(file), "cannot be read as a directory")
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"libllama.so": true, "libllama.so.0": true, "libllama.so.0.0.9165": true, "libllama.v0.5.0.so": true, "libllama.dylib": true,
		"libllama.0.dylib": true, "libllama.metal.b8390.dylib": true,
		"libllama-common.so": false, "libllama.a": false, "libllamafile.so": false, "xlibllama.so": false, "libggml.so": false,
	} {
		if got := isMain(name); got != want {
			t.Errorf("isMain(%q) = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"libllama.so": true, "libggml.so.0": true, "libggml-base.so": true, "libggml-cpu-sapphirerapids.so": true, "libggml.metal.b8390.dylib": true,
		"_nlcBuildMetadata.json": true, "LICENSE": true, "LICENSE-curl": true, "default.metallib": true,
		"libllama-common.so": false, "libmtmd.so": false, "llama-addon.node": false, "llama-cli": false, "engine.json": false, "libggml-base.a": false,
	} {
		if got := isPart(name); got != want {
			t.Errorf("isPart(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestReleases(t *testing.T) {
	order := []string{"", "b5640", "b8390", "b10361", "v0.4.0", "v0.5.0", "v0.10.0", "v1.0"}
	for i, a := range order {
		for j, b := range order {
			if got, want := compareReleases(a, b), compareInts(i, j); got != want {
				t.Errorf("compareReleases(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
	if compareReleases("0.5.0-dev", "v0.5.0") != 0 || compareReleases("master", "") != 0 {
		t.Error("a release without its v, or a name that is none, is compared wrongly")
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestKnownArchives(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range KnownArchives() {
		if raw, err := hex.DecodeString(k.SHA256); err != nil || len(raw) != 32 || k.SHA256 != strings.ToLower(k.SHA256) || seen[k.SHA256] {
			t.Errorf("%+v: no digest of its own", k)
		}
		seen[k.SHA256] = true
		if releaseKey(k.Release) == nil || k.Platform == "" || k.Size < 1<<20 {
			t.Errorf("%+v is not complete", k)
		}
		if got, ok := known(k.SHA256); !ok || got != k {
			t.Errorf("known(%s) = %+v, %v", k.SHA256, got, ok)
		}
	}
	if _, ok := known(""); ok {
		t.Error("no digest is taken for a known one")
	}
}

func TestKnownPlaces(t *testing.T) {
	root := t.TempDir()
	work := filepath.Join(root, "home", "ann", "project", "src")
	for _, dir := range []string{work, filepath.Join(root, "opt/homebrew/lib"), filepath.Join(root, "usr/lib/x86_64-linux-gnu")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	node := filepath.Join(root, "home/ann/project/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64")
	homebrew := filepath.Join(root, "opt/homebrew/lib")
	for _, dir := range []string{node, homebrew} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "libllama.so"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("lib", filepath.Join(root, "usr/lib64")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		m     machine
		want  []string
		holds string
	}{
		{machine{"linux", "amd64"}, []string{node, "home/linuxbrew/.linuxbrew/lib", "usr/local/lib", "usr/local/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib64"}, node},
		{machine{"darwin", "arm64"}, []string{"opt/homebrew/lib", "usr/local/lib"}, homebrew},
		{machine{"darwin", "amd64"}, []string{"usr/local/lib"}, ""},
	} {
		var got []string
		for _, p := range knownPlaces(root, work, tt.m) {
			got = append(got, p.Dir)
			if p.Holds != (p.Dir == tt.holds) || p.What == "" || p.Link == (p.What == "node-llama-cpp") {
				t.Errorf("%v: %+v", tt.m, p)
			}
		}
		for i, w := range tt.want {
			if !filepath.IsAbs(w) {
				tt.want[i] = filepath.Join(root, w)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: places %q, want %q", tt.m, got, tt.want)
		}
	}
	if len(KnownPlaces()) == 0 {
		t.Error("this machine has no known places")
	}
}

// A node_modules at or above the working directory may be anybody's.
func TestPlaceOfSomebodyElse(t *testing.T) {
	root := t.TempDir()
	work := filepath.Join(root, "shared", "work")
	node := filepath.Join(root, "shared/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64")
	if err := errors.Join(os.MkdirAll(work, 0o755), os.MkdirAll(node, 0o755),
		os.WriteFile(filepath.Join(node, "libllama.so"), library(t, here, "x"), 0o644), os.Chmod(filepath.Join(root, "shared"), 0o777)); err != nil {
		t.Fatal(err)
	}
	found := knownPlaces(root, work, here)
	if len(found) == 0 || found[0].Dir != node || !found[0].Holds || !strings.Contains(found[0].Problem, "shared can be written to by everybody") {
		t.Fatalf("places %+v, want a problem with the first", found)
	}
	if err := os.Chmod(filepath.Join(root, "shared"), 0o755); err != nil {
		t.Fatal(err)
	}
	if found := knownPlaces(root, work, here); found[0].Problem != "" {
		t.Errorf("place %+v, want no problem", found[0])
	}
}
