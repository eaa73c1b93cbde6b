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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/internal/tempdaemon"
	"emberd/memory"
)

// The exit codes are those of emberd.
const (
	exitIncomplete = 1 // something could not be measured, or the measured thing is not as it should be
	exitInput      = 2
	exitNoDaemon   = 3
	exitFault      = 70
)

// errIncomplete ends a command that has printed what is missing.
var errIncomplete = errors.New("")

// A daemonError says that the daemon of a measurement did not start, or ended.
type daemonError struct{ error }

func (e daemonError) Unwrap() error { return e.error }

// session is what the commands share. It is for one goroutine.
type session struct {
	stdout *bufio.Writer // flushed by run
	stderr io.Writer
	env    []string
	now    func() time.Time

	set    []string // --set
	json   bool
	emberd string // --emberd
	parsed bool   // the command line is right
}

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
	root.AddCommand(s.runCommand(), s.summariesCommand(), s.lifecycleCommand(), s.quarterCommand(),
		s.pairsCommand(), s.mergesCommand(),
		s.cleanupCommand(), s.evolutionCommand(),
		s.typingCommand(), s.spellingCommand(), s.absentCommand())
	cli.Describe(root, help)
	return root
}

// newDaemon prepares a daemon of the program that is measured in home, which exists.
func (s *session) newDaemon(home string) (*tempdaemon.Daemon, error) {
	name := s.emberd
	if self, err := os.Executable(); name == "" && err == nil {
		name = filepath.Join(filepath.Dir(self), "emberd")
		if _, err := os.Stat(name); err != nil {
			name = ""
		}
	}
	if name == "" {
		name = "emberd"
	}
	exe, err := exec.LookPath(name)
	if err == nil {
		exe, err = filepath.Abs(exe)
	}
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w; name the program with --emberd", err)
	}
	return tempdaemon.New(exe, exe, home, version(), s.env), nil
}

// inHome makes a folder for a measurement and removes it afterwards, unless it is to be kept.
func (s *session) inHome(keep bool, do func(home string) error) error {
	home, err := os.MkdirTemp("", "emberd-eval-")
	if err != nil {
		return fmt.Errorf("make a folder for the evaluation: %w", err)
	}
	err = do(home)
	if keep {
		s.note("kept %s", home)
		return err
	}
	return errors.Join(err, os.RemoveAll(home))
}

// load reads a configuration.
func load(settings, env []string, home, userHome string) (*config.Config, error) {
	c, err := config.Load(config.Source{Flags: settings, Env: env, Home: home, UserHome: userHome})
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	return c, nil
}

// printf writes to stdout. A write error stays in the buffer until run sees it.
func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.stdout, format, args...) }

// row prints a line of a report with its name in front.
func (s *session) row(name, value string) { s.printf("%-10s %s\n", name, value) }

// note prints a remark about the report on stderr.
func (s *session) note(format string, args ...any) {
	if !s.json {
		fmt.Fprintf(s.stderr, format+"\n", args...)
	}
}

// printJSON prints v without escaping <, > and &.
func (s *session) printJSON(v any) error { return cli.WriteJSON(s.stdout, v) }

// maxLine bounds a line of a file that is read.
const maxLine = 4 << 20

// readLines reads a file of JSON objects, one a line; check reports whether one is complete, and
// what says what a line without the needed members lacks.
func readLines[T any](name, what string, check func(*T) bool) ([]T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	defer f.Close()
	var all []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxLine)
	for number := 1; in.Scan(); number++ {
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		var one T
		if err := json.Unmarshal(in.Bytes(), &one); err != nil || !check(&one) {
			return nil, memory.Errorf(memory.Invalid, "%s: line %d holds no %s", name, number, what)
		}
		all = append(all, one)
	}
	if err := in.Err(); err != nil {
		return nil, memory.Errorf(memory.Invalid, "%s: %w", name, err)
	}
	return all, nil
}
