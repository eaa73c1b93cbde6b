package emberd_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// built is a command of ours as it is built for Linux, wherever the test runs: without
// cgo, in make test from the packages of the tests, which need none either. The Go files
// that go into it are read by the other tests of this package, so a change to one drops a
// cached result of these tests as well. What debuggers read is left out, as in make release: linking is
// quicker without.
func built(t *testing.T, name string) *elf.File {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, "./cmd/"+name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// needs are the shared libraries that a binary asks for (DT_NEEDED), none without a
// dynamic section.
func needs(t *testing.T, f *elf.File) []string {
	t.Helper()
	needed, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return needed
}

// The product is one file that runs on any Linux of its architecture: no
// interpreter to load it, no library to look for.
func TestBinaryIsStatic(t *testing.T) {
	f := built(t, "emberd")
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("emberd asks for an interpreter (PT_INTERP), so it is linked dynamically")
		}
	}
	if needed := needs(t, f); len(needed) > 0 {
		t.Errorf("emberd needs the shared libraries %v, want none", needed)
	}
}

// The helper loads libraries, so something has to load it. It asks for what every system
// with glibc has, and for no library that it is there to load: those are named at run time.
func TestHelperNeedsTheCLibraryAlone(t *testing.T) {
	needed := needs(t, built(t, "emberd-llama"))
	ofLibc := []string{"libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
	for _, name := range needed {
		if !slices.Contains(ofLibc, name) {
			t.Errorf("emberd-llama needs %s, want nothing but the C library: %v", name, ofLibc)
		}
	}
	if len(needed) == 0 {
		t.Error("emberd-llama needs no library at all, so it cannot load one")
	}
}
