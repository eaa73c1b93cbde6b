// Package llamatest is for tests: it finds what they need to run llama.cpp, the libraries
// and the helper that loads them.
//
// The libraries are those that make engine installs, or those of the folders that the
// environment variable EMBERD_TEST_LLAMA lists: tests fail where one of these is missing,
// so that a run that asks for native tests does not pass without them.
package llamatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

const variable = "EMBERD_TEST_LLAMA"

// Libraries returns the folders with llama.cpp's libraries for this system, one or more,
// the release that emberd is made for first. Where there are none the test is skipped.
func Libraries(t testing.TB) []string {
	t.Helper()
	dirs, err := find(os.Getenv(variable))
	switch {
	case err != nil:
		t.Fatal(err)
	case len(dirs) == 0:
		t.Skip("needs the libraries of llama.cpp: run make engine, or list folders that have them in " + variable)
	}
	return dirs
}

// find returns the folders that are listed, all of which must have the libraries, or those
// that make engine has filled.
func find(listed string) ([]string, error) {
	if listed == "" {
		return installed()
	}
	dirs := filepath.SplitList(listed)
	for i, dir := range dirs {
		full, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if dirs[i] = full; !complete(full) {
			return nil, fmt.Errorf("%s names %s, which has no libraries of llama.cpp", variable, full)
		}
	}
	return dirs, nil
}

// installed are the folders below tools/engine. The release that emberd is made for
// is the one in a scope of npm; others go by names of their own.
func installed() ([]string, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, packages := range []string{"@*/*", "[a-z]*"} {
		found, err := filepath.Glob(filepath.Join(root, "tools", "engine", "node_modules", packages, "bins",
			platform()))
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, found...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !complete(dir) }), nil
}

// platform is what npm's packages call this system.
func platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	switch {
	case runtime.GOOS != "darwin":
		return runtime.GOOS + "-" + arch
	case arch == "arm64":
		return "mac-arm64-metal"
	default:
		return "mac-" + arch
	}
}

// complete reports whether a folder has both libraries that are loaded by name.
func complete(dir string) bool {
	for _, library := range []string{"libllama.*", "libggml.*"} {
		if found, err := filepath.Glob(filepath.Join(dir, library)); err != nil || len(found) == 0 {
			return false
		}
	}
	return true
}

// moduleRoot is the folder of go.mod, above that which tests run in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("no folder above the tests has a go.mod")
		}
		dir = above
	}
}

// Helper returns the path of emberd-llama, which the first test that asks builds as it is
// shipped. It lies beside the test binary, in a folder that go test removes at its end.
func Helper(t testing.TB) string {
	t.Helper()
	path, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var helper = sync.OnceValues(build)

func build() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), "emberd-llama.test") // which git does not see, wherever that is
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, "emberd/cmd/emberd-llama")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build emberd-llama: %w\n%s", err, out)
	}
	dirs, err := sources()
	for _, dir := range dirs {
		if _, err := os.ReadDir(dir); err != nil {
			return "", err
		}
	}
	return path, err
}

// sources are the folders that the helper is made of. go test keeps a result for as long as
// what the test has looked at stays the same, and does not see what it had another go read.
func sources() ([]string, error) {
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}", "emberd/cmd/emberd-llama")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list what emberd-llama is made of: %w", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}
