package device

import (
	"errors"
	"fmt"
	"syscall"

	"emberd/memory"
)

// Fault turns an error of the disk into one that says what to do.
func Fault(data string, err error) error {
	code, reason := Explain(data, err)
	return &memory.Error{Code: code, Message: reason}
}

func Explain(data string, err error) (memory.Code, string) {
	switch {
	case errors.Is(err, ErrGone):
		return memory.ReadOnly, fmt.Sprintf("the log in %s was deleted or replaced while emberd was running (%v), "+
			"so emberd writes nothing; move the log back; if the log is lost, "+
			"stop emberd, run: emberd doctor log repair, and start emberd again", data, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return memory.ReadOnly, fmt.Sprintf("too many open files (%v); raise the limit (ulimit -n) and restart emberd",
			err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.DiskFull, fmt.Sprintf(
			"the disk of %s is full, but saved memories are safe; free some space and try again", data)
	case errors.Is(err, syscall.EROFS):
		return memory.ReadOnly, fmt.Sprintf("the disk of %s is mounted read-only, so emberd can read "+
			"memories but not change them; remount the disk read-write", data)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return memory.ReadOnly, fmt.Sprintf("cannot write in %s (%v); give your user write permission for this folder",
			data, err)
	}
	return memory.ReadOnly, fmt.Sprintf("cannot write or read the log in %s: %v", data, err)
}

// ErrGone says that the log is not where it was.
var ErrGone = errors.New("deleted or replaced")
