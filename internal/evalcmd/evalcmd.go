// Package evalcmd is the command line of emberd-eval, which measures emberd and is no part of it:
// search on judged sets, what fading, merging and cleaning up lose, and what similarity says of
// judged pairs. Daemons run in temporary folders; nothing of the user is read but the models that
// are installed, and nothing is changed.
package evalcmd

import (
	"bufio"
	"context"
	_ "embed" // for the help
	"emberd/internal/cli"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"emberd/memory"
)

// The exit codes are those of emberd.
const (
	exitIncomplete = 1 // something could not be measured, or the measured thing is not as it should be
	exitInput      = 2
	exitNoDaemon   = 3
	exitFault      = 70
)

// Main runs the command line of this process and exits.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	s := &session{stdout: bufio.NewWriter(os.Stdout), stderr: os.Stderr, env: os.Environ(), now: time.Now}
	os.Exit(s.run(ctx, os.Args[1:]))
}

// run carries out one command line and returns the exit code.
func (s *session) run(ctx context.Context, args []string) int {
	root := s.rootCommand()
	root.SetArgs(args)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	err := root.ExecuteContext(ctx)
	if flushErr := s.stdout.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errIncomplete):
		return exitIncomplete
	}
	fmt.Fprintf(s.stderr, "emberd-eval: %v\n", err)
	code := memory.CodeOf(err)
	if _, ok := errors.AsType[daemonError](err); ok {
		return exitNoDaemon
	}
	if !s.parsed || code == memory.Invalid || code == memory.TooLarge {
		return exitInput
	}
	return exitFault
}

// help has the help of the commands, in the form that [cli.Describe] reads.
//
//go:embed help.txt
var help string

func (s *session) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:              "emberd-eval COMMAND",
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(*cobra.Command, []string) { s.parsed = true },
	}
	f := root.PersistentFlags()
	f.StringArrayVar(&s.set, "set", nil, "")
	f.BoolVar(&s.json, "json", false, "")
	f.StringVar(&s.emberd, "emberd", "", "")
	root.AddCommand(s.runCommand(), s.summariesCommand(), s.lifecycleCommand(), s.quarterCommand(), monthCommand(s),
		s.pairsCommand(), s.mergesCommand(),
		s.cleanupCommand(), s.evolutionCommand(),
		s.typingCommand(), s.spellingCommand(), s.absentCommand(), s.gateCommand(),
		entitiesCommand(s.stdout, &s.json), captureCommand(s.stdout), hoursCommand(s))
	cli.Describe(root, help)
	return root
}
