package emberd_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The product is one file that runs on any Linux of its architecture: no
// interpreter to load it, no library to look for. It is built for Linux wherever
// the test runs, in make test from the packages of the tests, which need no cgo
// either. The Go files that go into it are read by the other tests of this
// package, so a change to one drops a cached result of this test as well.
func TestBinaryIsStatic(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "emberd")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, "./cmd/emberd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}

	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("emberd asks for an interpreter (PT_INTERP), so it is linked dynamically")
		}
	}
	needed, err := f.ImportedLibraries() // DT_NEEDED; none without a dynamic section
	if err != nil {
		t.Fatal(err)
	}
	if len(needed) > 0 {
		t.Errorf("emberd needs the shared libraries %v, want none", needed)
	}
}
