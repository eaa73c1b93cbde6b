package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/config"
	"emberd/internal/fetch"
	"emberd/memory"
	"emberd/op"
)

// state is what the commands share: where they read and write, and what the
// global flags say. Config and client are made on first use.
type state struct {
	stdin    *os.File
	terminal *os.File      // what stdout writes to; editors draw on it
	stdout   *bufio.Writer // flushed by run
	stderr   io.Writer
	env      []string
	now      func() time.Time
	zone     *time.Location
	screen   screen // of stdout
	side     screen // of stderr

	home       string
	configFile string
	socket     string
	set        []string
	json       bool

	config *config.Config
	client *api.Client
	local  *engine.Engine // in place of a daemon, while none runs

	helpless error // there is no command that help was asked for
}

func newState() *state {
	return &state{
		stdin:    os.Stdin,
		terminal: os.Stdout,
		stdout:   bufio.NewWriter(os.Stdout),
		stderr:   os.Stderr,
		env:      slices.DeleteFunc(os.Environ(), isCobras),
		now:      time.Now,
		zone:     time.Local,
		screen:   newScreen(os.Stdout),
		side:     newScreen(os.Stderr),
	}
}

// isCobras reports whether a variable is one by which a shell's completion script tells cobra
// something, and so no setting, though its name begins like one.
func isCobras(variable string) bool { return strings.HasPrefix(variable, "EMBERD_ACTIVE_HELP=") }

// run carries out one command line and returns the exit code.
func (s *state) run(ctx context.Context, args []string) int {
	root := s.rootCommand()
	root.SetArgs(args)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(flagged(cmd, err), s.helpless)
	if s.local != nil {
		err = errors.Join(err, s.local.Close())
	}
	if flushErr := s.stdout.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("write the answer: %w", flushErr)
	}
	if errors.Is(err, context.Canceled) {
		text := "interrupted"
		if half, ok := errors.AsType[*fetch.StoppedError](err); ok { // which can be gone on with
			text = half.Error()
		}
		err = &exit{code: exitInterrupted, err: errors.New(text)}
	}
	s.json = s.json || slices.Contains(args, "--json") // a bad flag may come before it
	return s.report(err)
}

// load reads the configuration once.
func (s *state) load() (*config.Config, error) {
	if s.config != nil {
		return s.config, nil
	}
	flags := slices.Clone(s.set)
	if s.socket != "" {
		flags = append(flags, "socket="+s.socket)
	}
	userHome, _ := os.UserHomeDir() // Load says what to do without one
	c, err := config.Load(config.Source{
		Flags: flags, Env: s.env, Home: s.home, ConfigFile: s.configFile, UserHome: userHome,
	})
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	s.config = c
	return c, nil
}

// connect returns the client of the daemon's socket. Nothing is dialled yet.
func (s *state) connect() (*api.Client, error) {
	if s.client != nil {
		return s.client, nil
	}
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	s.client = api.NewClient(c.Socket, &api.ClientOptions{Name: "cli", Version: buildVersion(), Token: token})
	return s.client, nil
}

// call carries out one operation through the daemon.
func call[Req, Res any](ctx context.Context, s *state, o op.Op[Req, Res], req *Req) (*Res, error) {
	client, err := s.connect()
	if err != nil {
		return nil, err
	}
	if op.ProgressOf(ctx) == nil { // what tells how far it is may take as long as it needs
		ctx = op.WithProgress(ctx, func(int, int) {})
	}
	return o.Call(ctx, client, req)
}

// printf writes to stdout. A write error stays in the buffer until run sees it.
func (s *state) printf(format string, args ...any) {
	fmt.Fprintf(s.stdout, format, args...)
}

// note says something about the answer, which is not the answer, on stderr and
// after what was answered so far.
func (s *state) note(format string, args ...any) {
	if s.json {
		return
	}
	s.stdout.Flush() // an error stays with the buffer
	io.WriteString(s.stderr, s.side.paragraph(fmt.Sprintf(format, args...), nil, ""))
}

// printJSON writes v as it is, without escaping <, > and &.
func (s *state) printJSON(v any) error { return writeJSON(s.stdout, v) }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// readText returns what stdin holds, without the final line break.
func (s *state) readText(ctx context.Context) (string, error) {
	text, err := io.ReadAll(io.LimitReader(s.input(ctx), memory.MaxContentBytes+2))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	if len(text) > memory.MaxContentBytes {
		return "", memory.Errorf(memory.TooLarge, "stdin holds more than %d bytes (200 KiB); save it in parts", memory.MaxContentBytes).At("content")
	}
	return string(text), nil
}

// interactive reports whether somebody sits at both ends.
func (s *state) interactive() bool {
	return term.IsTerminal(int(s.stdin.Fd())) && s.screen.width > 0
}

// here names the git repository that encloses the working directory, "" when
// there is none.
func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return projectOf(dir)
}

// dotted is the project that a flag names: a dot is the one of the working directory.
func dotted(project string) string {
	if project == "." {
		return here()
	}
	return project
}

// projectOf names the git repository that encloses a folder, "" when there is none.
func projectOf(dir string) string {
	if root := projectRoot(dir); root != "" {
		return filepath.Base(root)
	}
	return ""
}

// projectRoot is the root of that repository, "" when there is none.
func projectRoot(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
