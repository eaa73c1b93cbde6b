package engines

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// A Place is a directory where llama.cpp is on many machines.
type Place struct {
	Dir   string
	What  string // who puts it there
	Link  bool   // something upgrades it in place, so linking follows where a copy would not
	Holds bool   // libllama is there
	// Problem says why what is there is not to be taken unasked: somebody else could have
	// put it there, as in a node_modules of /tmp. Who names the place has it copied.
	Problem string
}

// KnownPlaces are the places of this machine where llama.cpp may be, in the order in which to
// try them:
//
//   - the folders of libraries of a node project, at or above the working directory:
//     node-llama-cpp keeps a build for each platform in a package of its own, in
//     node_modules/@node-llama-cpp/PLATFORM/bins/PLATFORM;
//   - Homebrew's, which are in /opt/homebrew on Macs with Apple silicon, in /usr/local on those
//     of Intel and in /home/linuxbrew/.linuxbrew on Linux (docs.brew.sh/Installation);
//   - /usr/local/lib, where cmake --install puts what was built from source unless told
//     otherwise (CMake's CMAKE_INSTALL_PREFIX);
//   - the distribution's: /usr/lib with Debian's name of the machine below it (wiki.debian.org,
//     Multiarch), /usr/lib64, /usr/lib.
//
// Nothing is loaded, and no place is used without being installed.
func KnownPlaces() []Place {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	return knownPlaces("/", dir, machine{runtime.GOOS, runtime.GOARCH})
}

// knownPlaces are those below a root, for a working directory, which is below the root, too.
func knownPlaces(root, dir string, m machine) []Place {
	places := nodePlaces(root, dir, m)
	add := func(what string, link bool, dirs ...string) {
		for _, d := range dirs {
			places = append(places, place(filepath.Join(root, d), what, link))
		}
	}
	switch {
	case m.os == "darwin" && m.arch == "arm64":
		add("Homebrew", true, "opt/homebrew/lib")
		add("built from source", true, "usr/local/lib")
	case m.os == "darwin":
		add("Homebrew", true, "usr/local/lib")
	case m.os == "linux":
		add("Homebrew", true, "home/linuxbrew/.linuxbrew/lib")
		add("built from source", true, "usr/local/lib", "usr/local/lib64")
		if triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[m.arch]; triplet != "" {
			add("the distribution", true, filepath.Join("usr/lib", triplet))
		}
		add("the distribution", true, "usr/lib64", "usr/lib")
	}
	seen := map[string]bool{} // on some systems one of these is a link to another
	return slices.DeleteFunc(places, func(p Place) bool {
		real, err := filepath.EvalSymlinks(p.Dir)
		again := err == nil && seen[real]
		seen[real] = true
		return again
	})
}

func place(dir, what string, link bool) Place {
	p := Place{Dir: dir, What: what, Link: link}
	found, err := libraries(dir)
	if err != nil {
		return p
	}
	p.Holds = true
	for _, name := range append([]string{""}, found...) {
		if err := checkOwner(filepath.Join(dir, name)); err != nil {
			p.Problem = err.Error()
			break
		}
	}
	return p
}

// nodePlaces are those of the node projects that the directory is in, for this machine. Others
// than that of the platform alone are for graphics cards, and listed if they are there.
func nodePlaces(root, dir string, m machine) (places []Place) {
	platform := map[machine]string{
		{"linux", "amd64"}: "linux-x64", {"linux", "arm64"}: "linux-arm64",
		{"darwin", "amd64"}: "mac-x64", {"darwin", "arm64"}: "mac-arm64-metal",
	}[m]
	if platform == "" {
		return nil
	}
	for {
		// The only error is a bad pattern, and then there is none of them.
		found, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@node-llama-cpp", platform+"*", "bins", platform+"*"))
		for _, d := range found {
			places = append(places, place(d, "node-llama-cpp", false))
		}
		if dir == root || dir == filepath.Dir(dir) {
			return places
		}
		dir = filepath.Dir(dir)
	}
}
