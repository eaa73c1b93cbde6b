package engines

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

var (
	// mainRule is what libllama is called: libllama.so, libllama.so.0, libllama.v0.5.0.so,
	// libllama.dylib, libllama.0.dylib, libllama.metal.v0.5.0.dylib.
	mainRule = regexp.MustCompile(`^libllama(\.[A-Za-z0-9._-]+)?\.(so|dylib)(\.[0-9.]+)?$`)
	// partRule is what belongs to it. ggml loads its backends, libggml-*, from the same
	// directory, and on macOS those end in .so.
	partRule = regexp.MustCompile(`^lib(llama|ggml)([.-][A-Za-z0-9._-]*)?\.(so|dylib)(\.[0-9.]+)?$`)
	// extraRule is what is good to have beside them: the release, shaders and the licence.
	extraRule = regexp.MustCompile(`^(_nlcBuildMetadata\.json|LICENSE[A-Za-z0-9._-]*|[A-Za-z0-9_-]+\.(metal|metallib))$`)
)

func isMain(name string) bool { return mainRule.MatchString(name) }

// isPart reports whether a file is taken into an engine. libllama-common is a library of
// llama.cpp's tools, and of no use here.
func isPart(name string) bool {
	return partRule.MatchString(name) && !strings.HasPrefix(name, "libllama-") || extraRule.MatchString(name)
}

// A machine is a system and a processor, by Go's names.
type machine struct{ os, arch string }

func (m machine) String() string {
	system := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[m.os]
	if system == "" {
		system = m.os
	}
	processor := map[string]string{"amd64": "x64"}[m.arch]
	if processor == "" {
		processor = m.arch
	}
	return system + " on " + processor
}

// Check says in one sentence why the libraries of a directory would not be loaded: it holds no
// libllama, others may write to it, or it is for another system. A nil error says that they may
// be tried.
func Check(dir string) error {
	return check(dir, machine{runtime.GOOS, runtime.GOARCH})
}

func check(dir string, m machine) error {
	found, err := libraries(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(dir); err != nil {
		return err
	}
	for _, name := range found {
		if !partRule.MatchString(name) {
			continue
		}
		file := filepath.Join(dir, name)
		if err := checkOwner(file); err != nil {
			return err
		}
		if err := checkMachine(file, m); err != nil {
			return err
		}
	}
	return nil
}

// libraries are the names of what belongs to llama.cpp in a directory, sorted.
func libraries(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no directory %s: check its path", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read as a directory: %w", dir, err)
	}
	var found []string
	for _, e := range entries {
		if isPart(e.Name()) && !e.IsDir() {
			found = append(found, e.Name())
		}
	}
	if !slices.ContainsFunc(found, isMain) {
		return nil, noLibrary(dir, slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "llama.dll" }))
	}
	return found, nil
}

func noLibrary(where string, windows bool) error {
	if windows {
		return fmt.Errorf("%s holds llama.cpp for Windows: take a build for this system", where)
	}
	return fmt.Errorf("%s holds no libllama: take a build of llama.cpp with shared libraries", where)
}

// checkMachine says whether a library is for the machine, by the head of its file.
func checkMachine(file string, m machine) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	made := machinesOf(f)
	switch {
	case slices.Contains(made, m):
		return nil
	case len(made) > 0:
		return fmt.Errorf("%s is for %s and this is %s: take the build for this system", filepath.Base(file), made[0], m)
	}
	return fmt.Errorf("%s is no library, or only the beginning of one: download it again", filepath.Base(file))
}

// machinesOf are the machines that a library is for. It is read here and never trusted: what
// crashes the loader crashes the process that probes.
func machinesOf(f *os.File) []machine {
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	switch {
	case bytes.HasPrefix(magic[:], []byte("MZ")):
		return []machine{{"windows", "amd64"}}
	case bytes.Equal(magic[:], []byte(elf.ELFMAG)):
		return elfMachine(f)
	case bytes.Equal(magic[:], []byte{0xca, 0xfe, 0xba, 0xbe}):
		return fatMachines(f)
	}
	if m, err := macho.NewFile(f); err == nil {
		return []machine{machoMachine(m.Cpu)}
	}
	return nil
}

func elfMachine(f *os.File) []machine {
	e, err := elf.NewFile(f)
	if err != nil {
		return nil
	}
	switch {
	case e.Class == elf.ELFCLASS64 && e.Machine == elf.EM_X86_64:
		return []machine{{"linux", "amd64"}}
	case e.Class == elf.ELFCLASS64 && e.Machine == elf.EM_AARCH64:
		return []machine{{"linux", "arm64"}}
	}
	return []machine{{"linux", strings.ToLower(strings.TrimPrefix(e.Machine.String(), "EM_"))}}
}

func fatMachines(f *os.File) (all []machine) {
	fat, err := macho.NewFatFile(f)
	if err != nil {
		return nil
	}
	for _, arch := range fat.Arches {
		all = append(all, machoMachine(arch.Cpu))
	}
	return all
}

func machoMachine(cpu macho.Cpu) machine {
	switch cpu {
	case macho.CpuAmd64:
		return machine{"darwin", "amd64"}
	case macho.CpuArm64:
		return machine{"darwin", "arm64"}
	}
	return machine{"darwin", cpu.String()}
}
