package models

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The kinds of errors that callers tell apart with [errors.Is].
var (
	ErrNone    = errors.New("nothing is installed")
	ErrUnknown = errors.New("model or runtime not found")
	ErrTaken   = errors.New("model or runtime already exists")
	ErrInUse   = errors.New("the model is in use")
	ErrBusy    = errors.New("another process is changing the models or runtimes")
	ErrInput   = errors.New("invalid input")
	// ErrUntrusted says that the user has not agreed to have libraries loaded.
	ErrUntrusted = errors.New("emberd does not recognize the libraries")
	ErrNoSpace   = errors.New("no space left")
)

// A problem is a sentence for the user that has one of these kinds.
type problem struct {
	error
	kind error
}

func (p *problem) Unwrap() []error { return []error{p.error, p.kind} }

func problemf(kind error, format string, args ...any) error {
	return &problem{fmt.Errorf(format, args...), kind}
}

// explainWrite adds what to do to an error of writing to a folder. It returns other errors, and
// nil, unchanged.
func explainWrite(err error, folder string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return problemf(ErrNoSpace, "no space left on the disk of %s; free some space and run the command again: %w",
			folder, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("cannot write to %s; change the permissions of this folder, or choose another folder: %w",
			folder, err)
	}
	return err
}
