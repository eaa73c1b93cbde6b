package engines

import (
	"slices"
	"strconv"
	"strings"
)

// compareReleases compares two releases of llama.cpp by age. The numbered builds, b8390, came
// before those with a version, v0.5.0; what is neither is taken for older than both.
func compareReleases(a, b string) int {
	return slices.Compare(releaseKey(a), releaseKey(b))
}

func releaseKey(release string) []int {
	if build, ok := strings.CutPrefix(release, "b"); ok {
		if n, err := strconv.Atoi(build); err == nil {
			return []int{1, n}
		}
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(release, "v"), "-") // 0.5.0-dev
	key := []int{2}
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		key = append(key, n)
	}
	return key
}

// A Known is an archive whose content was looked at. The digest is what counts, wherever a copy
// of it is found.
type Known struct {
	Release  string // of llama.cpp
	Platform string // as its name says
	SHA256   string
	Size     int64 // bytes
	Loaded   bool  // emberd's tests load these libraries; of the others only the format is known
}

// KnownArchives are the archives that are taken without a digest from a person: the packages of
// node-llama-cpp's libraries for npm, versions 3.22.1 (v0.5.0), 3.21.1 (v0.4.0, where the
// former has none) and 3.18.1 (b8390). The digests are of the .tgz files as npm pack wrote them
// on 2026-11-21, computed with sha256sum, and the releases are what their own
// _nlcBuildMetadata.json tell.
func KnownArchives() []Known {
	return []Known{
		{"v0.5.0", "linux-x64", "0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0", 10824547, true},
		{"v0.5.0", "linux-arm64", "39c76b998e35ed2f236c01472fc79eda0fc558b1c8b535023c2d7ded8c327cc4", 7340902, false},
		{"v0.4.0", "mac-arm64-metal", "cd11a52fab1935fde5abd221b5ecf8167686b45e386b6a02df49cb9b2814e9d6", 4858447, false},
		{"v0.4.0", "mac-x64", "3bcc6b2d6d3618098a36c9c01ae3afff1599f336a826cd54b1a55a73ed2159a7", 10809280, false},
		{"b8390", "linux-x64", "0b662aabf9794140ff71d2c34970662ac30f95cacaaa98e03b9967d21ea816d0", 7729107, true},
		{"b8390", "linux-arm64", "ad83af4f70fe834aeec352c4da32a69e50b5c92c9dd7cc45a2d6353ea6fe9050", 2012994, false},
		{"b8390", "mac-arm64-metal", "6b653621348d1e27d32686612aa04513175de549b56dc03a6d9d97d95de36bd6", 1901048, false},
		{"b8390", "mac-x64", "85d85035ace014622b1ef2e7a7c83de67e4601d9ca09218ffb49ccad8363dec5", 8309998, false},
	}
}

// known is the known archive of a digest.
func known(sha256 string) (Known, bool) {
	all := KnownArchives()
	i := slices.IndexFunc(all, func(k Known) bool { return k.SHA256 == sha256 })
	if i < 0 {
		return Known{}, false
	}
	return all[i], true
}
