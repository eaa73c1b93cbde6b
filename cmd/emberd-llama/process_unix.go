//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"emberd/internal/llamawire"
)

// replies is what replies are written to. A program that was not given the descriptor may
// have opened something else under its number, so it looks whether this is it.
func replies() (*os.File, error) {
	const fd = llamawire.ReplyFD
	var stat unix.Stat_t
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err == nil {
		err = unix.Fstat(fd, &stat)
	}
	kind := stat.Mode & unix.S_IFMT
	channel := kind == unix.S_IFIFO || kind == unix.S_IFSOCK || kind == unix.S_IFREG
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY || !channel {
		return nil, errors.New("file descriptor 3, which receives the replies, is not " +
			"open for writing; emberd starts this program automatically")
	}
	unix.CloseOnExec(fd)
	return os.NewFile(fd, "replies"), nil
}

// keepReplies has the program that this one executes inherit the descriptor of the replies.
func keepReplies() error {
	if _, err := unix.FcntlInt(llamawire.ReplyFD, unix.F_SETFD, 0); err != nil {
		return fmt.Errorf("cannot keep the file descriptor for replies open for the restarted program: %w", err)
	}
	return nil
}

// stepBack makes the process one that leaves nothing behind, and that goes first when memory
// runs out. Where that is not possible it works nonetheless. Its priority stays as it is:
// searches wait for it, and the daemon paces what is embedded in the background.
func stepBack() {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // a core file would hold what is remembered
	expendable()
}
