package gguf

import (
	"errors"
	"fmt"
)

// A RefusedError says in one sentence why a model file is not used and what to do about it.
type RefusedError struct {
	Path    string
	Problem string // what in the file breaks which bound
	Remedy  string // what to do
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("model file %s: %s; %s", e.Path, e.Problem, e.Remedy)
}

// A file is either not what was published, or it is and not for us: not this model, or not
// this file of it.
const (
	damagedRemedy = "download the file again"
	unfitRemedy   = "use a BERT embedding model in GGUF format, such as all-MiniLM-L6-v2, or run this model on a " +
		"server and set embedding.url"
	nativeRemedy = "llama.cpp can run this model; to install llama.cpp, run: emberd model runtime install"
	typeRemedy   = "use the file of this model in the format Q8_0, F16 or F32"
	pathRemedy   = "use the path of the model file"
)

// damaged refuses a file that no converter writes.
func damaged(format string, args ...any) error {
	return &RefusedError{Problem: fmt.Sprintf(format, args...), Remedy: damagedRemedy}
}

// unfit refuses a file that may well be sound and is of no use as an embedding model.
func unfit(format string, args ...any) error {
	return &RefusedError{Problem: fmt.Sprintf(format, args...), Remedy: unfitRemedy}
}

// rounded refuses a file whose numbers are written as something that cannot be read.
func rounded(format string, args ...any) error {
	return &RefusedError{Problem: fmt.Sprintf(format, args...), Remedy: typeRemedy}
}

// Unfit is a [RefusedError] of a file that is sound, and that an engine cannot use for the
// problem that the format and its arguments tell. It tells of llama.cpp where that can.
func (f *File) Unfit(format string, args ...any) error {
	return f.orNative(f.explain(unfit(format, args...)))
}

// explain tells which file an error is about.
func (f *File) explain(err error) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		refused.Path = f.path
		return refused
	}
	return fmt.Errorf("model file %s: %w", f.path, err)
}

// shown is a string of the file as an error may show it.
func shown(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
