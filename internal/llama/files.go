package llama

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/llamawire"
	"emberd/internal/text"
)

// files are the libraries of a folder.
type files struct {
	dir     string // of libllama
	llama   string // its path, absolute
	ggml    string // or "" where it is elsewhere and llama knows where
	base    string // the part of ggml that the others share, or ""
	release release
}

// folders are where the libraries may be below the one that was named: there, as in what
// node-llama-cpp ships, or as in Homebrew, llama.cpp's archives or a build of one's own.
var folders = [...]string{".", "lib", "bin", "build/bin"}

// libraryForm is how a library's file is called: lib, name, perhaps the release, the suffix of
// the system, perhaps a version.
var libraryForm = text.Pattern(`^lib(llama|ggml|ggml-base)((?:\.[0-9A-Za-z]+)*?)\.(?:so|dylib)((?:\.\d+)*)$`)

// find looks for the libraries in a folder.
func find(dir string) (*files, error) {
	if !filepath.IsAbs(dir) {
		return nil, failed(llamawire.OfEngine, "invalid folder %q of the llama.cpp libraries; use an absolute path",
			dir)
	}
	for _, below := range folders {
		path := filepath.Join(dir, below)
		if info, err := os.Stat(path); below != "." && err == nil && !info.IsDir() {
			continue
		}
		f, err := findIn(path)
		if f != nil || err != nil {
			return f, err
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, failed(llamawire.OfEngine, "llama.cpp not found: %v; "+remedy, err)
	}
	return nil, failed(llamawire.OfEngine, "llama.cpp not found in %s: the folder does not contain "+
		"libllama; "+remedy, dir)
}

// findIn looks in one folder and returns nil where it is not, or has no libllama.
func findIn(dir string) (*files, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, failed(llamawire.OfFile, "cannot search for llama.cpp: %v", err)
	}
	names := map[string][]string{} // of the files of each library
	for _, entry := range entries {
		m := libraryForm().FindStringSubmatch(entry.Name())
		if m == nil {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // loading a pipe would wait for it
			return nil, failed(llamawire.OfEngine, "cannot use llama.cpp in %s: %s is not a file; "+remedy, dir, path)
		} else if err == nil { // it leads somewhere
			names[m[1]] = append(names[m[1]], entry.Name())
		}
	}
	f := &files{dir: dir}
	for library, to := range map[string]*string{"llama": &f.llama, "ggml": &f.ggml, "ggml-base": &f.base} {
		if *to, err = one(dir, names[library]); err != nil {
			return nil, err
		}
	}
	if f.llama == "" {
		return nil, nil
	}
	if f.ggml == "" {
		f.findSibling()
	}
	f.release = releaseOf(dir, names["llama"])
	return f, nil
}

// findSibling looks for ggml where Homebrew has it, which installs it by itself: of
// opt/llama.cpp/lib in opt/ggml/lib.
func (f *files) findSibling() {
	lib := filepath.Join(f.dir, "../../ggml/lib")
	for name, to := range map[string]*string{"libggml": &f.ggml, "libggml-base": &f.base} {
		for _, suffix := range []string{".so", ".dylib"} {
			if path := filepath.Join(lib, name+suffix); isFile(path) {
				*to = path
			}
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Places returns what of the file system the libraries of an engine are loaded from, without
// loading one: dir is the folder of libllama, to be opened in the place of the engine's own;
// folders are those whose names are read; files are the libraries in them, with links resolved.
// Other files of the folders are none of them, whatever links lead to.
func Places(engine string) (dir string, folders, files []string, err error) {
	f, err := find(engine)
	if err != nil {
		return "", nil, nil, err
	}
	folders = append(f.backends(), filepath.Dir(f.ggml), filepath.Dir(f.base))
	slices.Sort(folders)
	folders = slices.DeleteFunc(slices.Compact(folders), func(dir string) bool { return !filepath.IsAbs(dir) })
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // it is left out, and what needs it does not load
		}
		for _, entry := range entries {
			path, err := filepath.EvalSymlinks(filepath.Join(folder, entry.Name()))
			if err == nil && isPlace(entry.Name()) && isPlace(filepath.Base(path)) {
				files = append(files, path)
			}
		}
	}
	return f.dir, folders, files, nil
}

// isPlace reports whether a file is one that libraries read, by its name: a library, a shader or
// what the build says of itself.
func isPlace(name string) bool {
	return name == buildRecord || placeForm().MatchString(name)
}

var placeForm = text.Pattern(`^lib.*\.(so|dylib)(\.[0-9.]+)?$|\.(metal|metallib)$`)

// buildRecord is what node-llama-cpp writes beside the libraries.
const buildRecord = "_nlcBuildMetadata.json"

// backends are the folders that may have the libraries that compute, in the order to try
// them: beside libllama, or, as in Homebrew, in the libexec of where ggml really is.
func (f *files) backends() []string {
	dirs := []string{f.dir}
	if real, err := filepath.EvalSymlinks(f.ggml); f.ggml != "" && err == nil {
		dirs = append(dirs, filepath.Dir(real), filepath.Join(filepath.Dir(real), "../libexec"))
	}
	return slices.Compact(dirs)
}

// one is the file that a library is to be loaded from: of several names of one file the
// shortest. Several files are not for us to choose from.
func one(dir string, names []string) (string, error) {
	distinct := map[string]string{} // a name by the file that it leads to
	for _, name := range slices.SortedFunc(slices.Values(names), shorter) {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue // it leads nowhere
		}
		if _, ok := distinct[path]; !ok {
			distinct[path] = name
		}
	}
	switch all := slices.Sorted(maps.Values(distinct)); len(all) {
	case 0:
		return "", nil
	case 1:
		return filepath.Join(dir, all[0]), nil
	default:
		return "", failed(llamawire.OfEngine,
			"%s contains several builds of llama.cpp: %s; move each build to its own folder", dir,
			strings.Join(all, " and "))
	}
}

func shorter(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// releaseOf asks the names of the library, then what node-llama-cpp writes beside it.
func releaseOf(dir string, names []string) release {
	for _, name := range names {
		m := libraryForm().FindStringSubmatch(name)
		for _, part := range m[2:] {
			if r := releaseIn(strings.Trim(part, ".")); r.known() {
				return r
			}
		}
	}
	var built struct {
		BuildOptions struct {
			LlamaCpp struct{ Release string }
		}
	}
	const limit = 1 << 16 // bytes, of some 200
	path := filepath.Join(dir, buildRecord)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return release{}
	}
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &built) != nil {
		return release{}
	}
	return parseRelease(built.BuildOptions.LlamaCpp.Release)
}

// releaseIn finds a release in a part of a library's name: v0.5.0 or metal.b8390 from
// node-llama-cpp, 0.0.8390 or 0.5.0 from llama.cpp itself.
func releaseIn(part string) release {
	if build, ok := strings.CutPrefix(part, "0.0."); ok {
		return parseRelease("b" + build)
	}
	if r := parseRelease("v" + part); r.known() {
		return r
	}
	for i := range len(part) {
		if i == 0 || part[i-1] == '.' {
			if r := parseRelease(part[i:]); r.known() {
				return r
			}
		}
	}
	return release{}
}
