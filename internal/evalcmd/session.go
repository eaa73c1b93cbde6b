package evalcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/tempdaemon"
	"emberd/memory"
)

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

// errIncomplete ends a command that has printed what is missing.
var errIncomplete = errors.New("")

// A daemonError says that the daemon of a measurement did not start, or ended.
type daemonError struct{ error }

func (e daemonError) Unwrap() error { return e.error }

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
		return fmt.Errorf("cannot create a folder for the evaluation: %w", err)
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
