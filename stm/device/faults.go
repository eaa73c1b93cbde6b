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
		return memory.ReadOnly, fmt.Sprintf("the log under %s was deleted or replaced while emberd ran (%v), so "+
			"nothing is written; put it back; if it is lost, stop emberd, run emberd doctor log repair, and start it",
			data, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return memory.ReadOnly, fmt.Sprintf("too many files are open (%v); raise the limit that emberd is started "+
			"with (ulimit -n)", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.DiskFull, fmt.Sprintf("the disk that holds %s is full; nothing saved so far is lost: free "+
			"some space and try again", data)
	case errors.Is(err, syscall.EROFS):
		return memory.ReadOnly, fmt.Sprintf("the disk that holds %s is mounted read-only; memories can be read, but "+
			"not changed until it is writable", data)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return memory.ReadOnly, fmt.Sprintf("emberd may not write in %s (%v); give your user the rights to it", data,
			err)
	}
	return memory.ReadOnly, fmt.Sprintf("the log under %s cannot be written or read: %v", data, err)
}

// ErrGone says that the log is not where it was.
var ErrGone = errors.New("deleted or replaced")
