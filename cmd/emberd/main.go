// Command emberd is a memory that fades: a daemon that keeps what it was told
// on disk, and the commands that talk to it.
//
// Every command but init, serve, demo, config and completion is a client of the
// daemon's unix socket: it parses, calls one operation and prints the answer.
// Answers go to stdout, everything said about them to stderr. With --json the
// answer is the operation's result object, times in UTC, and an error is a
// problem object on stderr. The exit codes are in exit.go and in every help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(newState())) }

// execute carries out the command line of this process.
func execute(s *state) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)       // the second signal ends the process at once
	cobra.EnableCommandSorting = false // the order of the daily round says more
	return s.run(ctx, os.Args[1:])
}
