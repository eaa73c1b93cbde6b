package engines

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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/llamawire"
)

// here is the machine of these tests, whichever runs them.
var here = machine{"linux", "amd64"}

// library is the head of a library for a machine, which is all that is looked at, and something
// that tells one from another.
func library(t testing.TB, m machine, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	var head any
	switch m {
	case machine{"darwin", "amd64"}:
		head = macho.FileHeader{Magic: macho.Magic64, Cpu: macho.CpuAmd64, Type: macho.TypeDylib}
	case machine{"darwin", "arm64"}:
		head = macho.FileHeader{Magic: macho.Magic64, Cpu: macho.CpuArm64, Type: macho.TypeDylib}
	default:
		h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64}
		copy(h.Ident[:], elf.ELFMAG)
		h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
		if m.arch == "arm64" {
			h.Machine = uint16(elf.EM_AARCH64)
		}
		head = h
	}
	if err := binary.Write(&out, binary.LittleEndian, head); err != nil {
		t.Fatal(err)
	}
	out.WriteString("    " + text)
	return out.Bytes()
}

// A build is what a directory or an archive holds: content by name, links as "-> target".
type build map[string]string

// npm is a package of node-llama-cpp with one release, below package/bins.
func npm(t testing.TB, m machine, release string) build {
	return build{
		"package/LICENSE": "MIT",
		"package/bins/linux-x64/_nlcBuildMetadata.json":      "{}",
		"package/bins/linux-x64/libggml-base.so":             string(library(t, m, "base")),
		"package/bins/linux-x64/libggml-cpu-x64.so":          string(library(t, m, "cpu")),
		"package/bins/linux-x64/libggml." + release + ".so":  string(library(t, m, "ggml")),
		"package/bins/linux-x64/libllama-common.so":          string(library(t, m, "common")),
		"package/bins/linux-x64/libllama." + release + ".so": string(library(t, m, release)),
		"package/bins/linux-x64/llama-addon.node":            string(library(t, m, "addon")),
	}
}

// installed are the names that an engine of npm has.
func installed(release string) []string {
	return []string{"_nlcBuildMetadata.json", "engine.json", "libggml-base.so", "libggml-cpu-x64.so", "libggml." + release + ".so", "libllama." + release + ".so"}
}

// official is an archive as llama.cpp's own releases are.
func official(t testing.TB, release string) build {
	return build{
		"llama-" + release + "/LICENSE":            "MIT",
		"llama-" + release + "/llama-cli":          "program",
		"llama-" + release + "/libllama.so":        "-> libllama.so.0",
		"llama-" + release + "/libllama.so.0":      "-> libllama.so.0.0.1",
		"llama-" + release + "/libllama.so.0.0.1":  string(library(t, here, release)),
		"llama-" + release + "/libggml.so":         "-> libggml.so.0",
		"llama-" + release + "/libggml.so.0":       string(library(t, here, "ggml")),
		"llama-" + release + "/libggml-cpu-x64.so": string(library(t, here, "cpu")),
		"llama-" + release + "/libmtmd.so":         string(library(t, here, "mtmd")),
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
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (b build) file(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "llama.tgz")
	if err := os.WriteFile(name, b.archive(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// says is a probe that reads the release from libllama's last word, as the helper does from
// the library.
func says(_ context.Context, dir string) (llamawire.Hello, error) {
	names, err := libraries(dir)
	if err != nil {
		return llamawire.Hello{}, err
	}
	main := names[slices.IndexFunc(names, isMain)]
	data, err := os.ReadFile(filepath.Join(dir, main))
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

func open(t testing.TB) *Engines {
	t.Helper()
	e := Open(filepath.Join(t.TempDir(), "engines"), says)
	e.machine = here
	return e
}

// install installs and fails the test if that fails.
func (e *Engines) install(t testing.TB, s Source) *Engine {
	t.Helper()
	engine, err := e.Install(t.Context(), s, nil)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return engine
}

// holds checks what is in the directory of an engine.
func (e *Engines) holds(t testing.TB, name string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(e.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
		if info, err := entry.Info(); err != nil || info.Mode().IsRegular() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v), want 0600", entry.Name(), info.Mode(), err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("engine %s holds %q, want %q", name, got, want)
	}
}

// clean checks that the folder holds the engines of these names, and nothing half done.
func (e *Engines) clean(t testing.TB, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(e.folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		if entry.Name() != lockName && entry.Name() != currentName {
			got = append(got, entry.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
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
