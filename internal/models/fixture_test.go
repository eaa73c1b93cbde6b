package models_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"emberd/internal/llamawire"
	"emberd/internal/models"
	"emberd/internal/tinybert"
)

// tiny is a model that llama.cpp and Go run.
func tiny(t testing.TB) []byte { return written(t, tinybert.Tiny()) }

// pieces is one that only llama.cpp runs.
func pieces(t testing.TB) []byte {
	spec := tinybert.Tiny()
	spec.Tokenizer = "t5"
	return written(t, spec)
}

func written(t testing.TB, spec tinybert.Spec) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m")
	if err := tinybert.New(spec).WriteFile(name); err != nil {
		t.Fatal(err)
	}
	return read(t, name)
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// file writes a file of that name in a new folder and returns its path.
func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	full := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(full, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return full
}

// serve starts a server that answers each request with data.
func serve(t testing.TB, data []byte) string {
	t.Helper()
	return answer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data)
	})
}

func answer(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A folder is an empty folder of models and one of runtimes.
type folder struct {
	*models.Models
	dir string
}

func openModels(t testing.TB) folder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "models")
	return folder{models.Open(dir), dir}
}

func (m folder) install(t testing.TB, s models.Source) *models.Model {
	t.Helper()
	model, err := m.Install(t.Context(), s, nil)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return model
}

// holds checks the names in a folder, apart from its lock and the choice of a runtime.
func holds(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && (len(want) > 0 || !errors.Is(err, os.ErrNotExist)) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Name() != ".lock" && e.Name() != "current" {
			got = append(got, e.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

// fails checks that an error is one sentence with these parts.
func fails(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", want)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want it to have %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

// library returns the header of a library for a machine, and a text that tells one from another.
func library(t testing.TB, goos, goarch, text string) string {
	t.Helper()
	var out bytes.Buffer
	var head any
	if goos == "darwin" {
		cpu := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[goarch]
		head = macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: macho.TypeDylib}
	} else {
		arch := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[goarch]
		h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(arch), Version: uint32(elf.EV_CURRENT), Ehsize: 64}
		copy(h.Ident[:], elf.ELFMAG)
		h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
		h.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
		head = h
	}
	if err := binary.Write(&out, binary.LittleEndian, head); err != nil {
		t.Fatal(err)
	}
	return out.String() + "    " + text
}

// here returns a library for this machine.
func here(t testing.TB, text string) string { return library(t, runtime.GOOS, runtime.GOARCH, text) }

// A build is the content of a directory or an archive: text by name, links as "-> target".
type build map[string]string

const bins = "package/bins/linux-x64/"

// npm is a package of node-llama-cpp with one release.
func npm(t testing.TB, release string) build {
	return build{
		"package/LICENSE":                    "MIT",
		bins + "_nlcBuildMetadata.json":      "{}",
		bins + "libggml-base.so":             here(t, "base"),
		bins + "libggml-cpu-x64.so":          here(t, "cpu"),
		bins + "libllama-common.so":          here(t, "common"),
		bins + "libllama." + release + ".so": here(t, release),
		bins + "llama-addon.node":            here(t, "addon"),
	}
}

// installed are the names of the files of a runtime from npm.
func installed(release string) []string {
	return []string{"_nlcBuildMetadata.json", "engine.json", "libggml-base.so", "libggml-cpu-x64.so",
		"libllama." + release + ".so"}
}

// official is an archive as llama.cpp publishes them.
func official(t testing.TB, release string) build {
	dir := "llama-" + release + "/"
	return build{
		dir + "LICENSE":            "MIT",
		dir + "llama-cli":          "program",
		dir + "libllama.so":        "-> libllama.so.0",
		dir + "libllama.so.0":      "-> libllama.so.0.0.1",
		dir + "libllama.so.0.0.1":  here(t, release),
		dir + "libggml-cpu-x64.so": here(t, "cpu"),
		dir + "libmtmd.so":         here(t, "mtmd"),
	}
}

func (b build) names() []string {
	var names []string
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// unpacked writes the build below a new directory.
func (b build) unpacked(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range b.names() {
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		if target, ok := strings.CutPrefix(b[name], "-> "); ok && err == nil {
			err = os.Symlink(target, full)
		} else if err == nil {
			err = os.WriteFile(full, []byte(b[name]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (b build) archive(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range b.names() {
		h, content := &tar.Header{Name: name, Mode: 0o755, Typeflag: tar.TypeReg}, b[name]
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			h.Typeflag, h.Linkname, content = tar.TypeSymlink, target, ""
		}
		h.Size = int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (b build) file(t testing.TB) string {
	t.Helper()
	return file(t, "llama.tgz", b.archive(t))
}

// report is a probe that reads the release from libllama's last word, as the helper does from
// the loaded library.
func report(_ context.Context, dir string) (llamawire.Hello, error) {
	found, err := filepath.Glob(filepath.Join(dir, "libllama.*"))
	if err != nil {
		return llamawire.Hello{}, err
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return llamawire.Hello{}, err
	}
	fields := strings.Fields(string(data))
	release := fields[len(fields)-1]
	if release == "b4600" {
		return llamawire.Hello{Failed: &llamawire.Failed{Of: llamawire.OfEngine, Text: "release b4600 is too old"}}, nil
	}
	return llamawire.Hello{Engine: llamawire.Engine{Release: release, System: "AVX2", Backends: []string{"CPU"}}}, nil
}

// engines are the runtimes of a new folder.
type engines struct {
	*models.Runtimes
	dir string
}

func openRuntimes(t testing.TB, probe models.Probe) engines {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "engines")
	return engines{models.OpenRuntimes(dir, probe), dir}
}

func (e engines) install(t testing.TB, s models.Source) *models.Runtime {
	t.Helper()
	s.Trust = true
	rt, err := e.Install(t.Context(), s, nil)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return rt
}
