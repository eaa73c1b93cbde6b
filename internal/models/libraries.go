package models

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"emberd/internal/durable"
	"emberd/internal/text"
)

var (
	// mainFile matches names of libllama: libllama.so, libllama.so.0, libllama.v0.5.0.so,
	// libllama.dylib, libllama.0.dylib, libllama.metal.v0.5.0.dylib.
	mainFile = text.Pattern(`^libllama(\.[A-Za-z0-9._-]+)?\.(so|dylib)(\.[0-9.]+)?$`)
	// libraryFile matches names of libraries. ggml loads its backends, libggml-*, from the same
	// directory; on macOS those end in .so.
	libraryFile = text.Pattern(`^lib(llama|ggml)([.-][A-Za-z0-9._-]*)?\.(so|dylib)(\.[0-9.]+)?$`)
	// extraFile matches the record of the release, shaders and licences.
	extraFile = text.Pattern(`^(_nlcBuildMetadata\.json|LICENSE[A-Za-z0-9._-]*|[A-Za-z0-9_-]+\.metal(lib)?)$`)
)

func isMain(name string) bool { return mainFile().MatchString(name) }

// isPart reports whether a runtime includes a file. libllama-common belongs to llama.cpp's tools.
func isPart(name string) bool {
	return libraryFile().MatchString(name) && !strings.HasPrefix(name, "libllama-") || extraFile().MatchString(name)
}

// A machine is a system and a processor, by Go's names.
type machine struct{ os, arch string }

func (m machine) String() string {
	return strings.NewReplacer("linux", "Linux", "darwin", "macOS", "amd64", "x64").Replace(m.os + " on " + m.arch)
}

// CheckLibraries returns in one sentence why the libraries of a directory must not be loaded: it
// has no libllama, other users can change it, or it is for another system.
func CheckLibraries(dir string) error {
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
		if !libraryFile().MatchString(name) {
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

// libraries returns the names of the files of llama.cpp in a directory, sorted.
func libraries(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("directory %s not found; check its path", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read directory %s: %w", dir, err)
	}
	var found []string
	for _, e := range entries {
		if isPart(e.Name()) && !e.IsDir() {
			found = append(found, e.Name())
		}
	}
	if !slices.ContainsFunc(found, isMain) {
		return nil, errNoLibrary(dir)
	}
	return found, nil
}

func errNoLibrary(where string) error {
	return fmt.Errorf("libllama not found in %s; use a build of llama.cpp with shared libraries for this system", where)
}

// checkMachine returns why a library cannot be loaded on a machine, by the header of its file.
func checkMachine(file string, m machine) error {
	f, err := durable.OpenGiven(file)
	if err != nil {
		return err
	}
	defer f.Close()
	made := machinesOf(f)
	switch {
	case slices.Contains(made, m):
		return nil
	case len(made) > 0:
		return fmt.Errorf("%s is built for %s, but this system is %s; use the build for this system",
			filepath.Base(file), made[0], m)
	}
	return fmt.Errorf("%s is incomplete or not a library; download the file again", filepath.Base(file))
}

// machinesOf returns the machines that a library is for. A library that is for this one may still
// crash the process that loads it.
func machinesOf(f io.ReaderAt) (all []machine) {
	if e, err := elf.NewFile(f); err == nil {
		arch := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[e.Machine]
		if arch == "" || e.Class != elf.ELFCLASS64 {
			arch = strings.ToLower(strings.TrimPrefix(e.Machine.String(), "EM_"))
		}
		return []machine{{"linux", arch}}
	}
	var cpus []macho.Cpu
	if one, err := macho.NewFile(f); err == nil {
		cpus = append(cpus, one.Cpu)
	} else if fat, err := macho.NewFatFile(f); err == nil {
		for _, arch := range fat.Arches {
			cpus = append(cpus, arch.Cpu)
		}
	}
	for _, cpu := range cpus {
		arch := map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[cpu]
		if arch == "" {
			arch = cpu.String()
		}
		all = append(all, machine{"darwin", arch})
	}
	return all
}
