package llama

import (
	"fmt"
	"strconv"

	"emberd/internal/llamawire"
	"emberd/internal/text"
)

// The releases that matter. Until September 2026 they were counted builds, such as b8390;
// they are versions since, such as v0.5.0, and every version is later than every build.
const (
	oldest  = 5640 // what came before lays out the parameters of a context differently
	settled = 8390 // what came before is slow with flash attention on a processor
	tested  = "v0.5.0"
)

// A release is one of llama.cpp's. The zero value is one that is not known.
type release struct {
	build   int    // 0 for a version
	version string // such as "0.5.0"; "" for a build
}

var (
	buildForm   = text.Pattern(`^b([1-9]\d{0,8})$`)
	versionForm = text.Pattern(`^v(\d{1,6}\.\d{1,6}\.\d{1,6})(-[a-z]+)?$`)
)

// parseRelease reads what a release is called. Whatever is not a name of one is unknown.
func parseRelease(name string) release {
	if m := buildForm().FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1]) // nine digits at most
		return release{build: n}
	}
	if m := versionForm().FindStringSubmatch(name); m != nil && m[1] != "0.0.0" {
		return release{version: m[1]}
	}
	return release{}
}

func (r release) known() bool { return r != release{} }

func (r release) String() string {
	switch {
	case r.build > 0:
		return fmt.Sprintf("b%d", r.build)
	case r.version != "":
		return "v" + r.version
	default:
		return ""
	}
}

func (r release) tooOld() bool { return r.build > 0 && r.build < oldest }

// slowFlash reports a release whose flash attention is better left off.
func (r release) slowFlash() bool { return r.build > 0 && r.build < settled }

// warning is what there is to say against a release that works.
func (r release) warning() string {
	switch {
	case !r.known():
		return "the llama.cpp release of these libraries is unknown; emberd was tested with " + tested
	case r.slowFlash():
		return fmt.Sprintf("llama.cpp %s works, but is slower than b%d and later; emberd was tested with %s", r,
			settled, tested)
	default:
		return ""
	}
}

func tooOld(r release) error {
	return failed(llamawire.OfEngine,
		"llama.cpp %s is too old: the oldest supported release is b%d, and emberd was tested with %s; "+remedy, r,
		oldest, tested)
}
