// Package llama embeds texts with llama.cpp, in this process and without cgo: it opens the
// libraries that llama.cpp's releases ship, whichever release that is, and calls them.
//
// Native code ends the process on some of what it is given, and no Go code can catch that.
// So this package is for emberd-llama alone, which emberd starts and watches.
//
// # Releases
//
// llama.cpp's two structures of parameters change about twice a year, and there is no C code
// here that would be compiled against them. They are passed as blocks of memory instead that
// are larger than any release's, filled in by the library's own functions for defaults, and
// only the first four numbers of one of them are written: n_ctx, n_batch, n_ubatch and
// n_seq_max, which have been the same in every release since 2024. All else is set through
// functions. What this relies on is checked each time, in [Open] and [Engine.Load]: the
// defaults of those four, how large the structures are (on amd64, where it matters), that
// the context has what was asked for, and that a text has a vector. A release that changes
// more than that is refused with an error and not called any further. The declarations are
// those of include/llama.h and ggml/include/ggml-backend.h of
// https://github.com/ggml-org/llama.cpp.
//
// # What holds
//
// A file reaches llama.cpp only after gguf found nothing in it that ends llama.cpp. Texts
// are cut to what counts of them before they are tokenised, and go through one at a time, so
// a vector's bits depend on the model, the libraries, the processor and the text, never on
// what was embedded before, on the number of threads, or on the process. A vector has the
// length 1; where the model makes none, that is an error. Every error is a
// [llamawire.Failed].
//
// # Sharing
//
// An Engine is opened once in a process and never closed, for libraries cannot be unloaded
// safely. An Engine and a Model may be used by any number of goroutines; they take turns.
package llama

import (
	"fmt"

	"emberd/internal/llamawire"
)

// An Engine is llama.cpp, loaded into this process.
type Engine struct {
	dir     string
	release release
	lib     *library
	facts   llamawire.Engine
	journal *journal
}

// Open loads the libraries of a folder, which must be an absolute path: those of a release
// as llama.cpp, Homebrew or node-llama-cpp ship it, with what they need beside them. It
// calls log with each line that llama.cpp has to say from then on, and its level: 1 debug,
// 2 information, 3 warning, 4 error. Any thread may do so.
func Open(dir string, log func(level int, text string)) (*Engine, error) {
	files, err := find(dir)
	if err != nil {
		return nil, err
	}
	if files.release.tooOld() {
		return nil, tooOld(files.release)
	}
	e := &Engine{dir: files.dir, release: files.release, journal: &journal{to: log}}
	if e.lib, err = link(files); err != nil {
		return nil, e.unusable(err)
	}
	e.lib.logSet(callback(e.journal.native), 0) // before anything that has something to say
	if v := e.lib.version; !e.release.known() && v != nil {
		e.release = parseRelease("v" + v())
	}
	if err := e.lib.check(); err != nil {
		return nil, e.unusable(err)
	}
	if err := e.start(files.backends()); err != nil {
		return nil, err
	}
	return e, nil
}

// start lets ggml choose how to compute, with what is in the first of the folders that has
// something for this processor. Left alone it would look in the working directory too.
func (e *Engine) start(folders []string) error {
	for _, dir := range folders {
		if !e.lib.hasProcessor() {
			e.lib.backendsLoad(dir)
		}
	}
	e.lib.backendInit()
	e.facts = llamawire.Engine{
		Release:  e.release.String(),
		System:   e.lib.systemInfo(),
		Backends: e.lib.backends(),
		Warning:  e.release.warning(),
	}
	if !e.lib.hasProcessor() {
		return failed(llamawire.OfEngine,
			"llama.cpp in %s cannot run on this processor: no matching libggml-cpu found next to its "+
				"libraries; "+remedy, e.dir)
	}
	return nil
}

// Facts are what the libraries say of themselves.
func (e *Engine) Facts() llamawire.Engine { return e.facts }

// remedy is what to do about libraries that are of no use.
const remedy = "to install another build of llama.cpp, run: emberd model runtime install PATH|URL"

func failed(of llamawire.Part, format string, args ...any) error {
	return &llamawire.Failed{Of: of, Text: fmt.Sprintf(format, args...)}
}

func (e *Engine) unusable(err error) error {
	return failed(llamawire.OfEngine, "cannot use %s in %s: %v; "+remedy, e.name(), e.dir, err)
}

// name is llama.cpp with its release.
func (e *Engine) name() string {
	if !e.release.known() {
		return "llama.cpp"
	}
	return "llama.cpp " + e.release.String()
}
