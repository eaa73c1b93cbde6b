package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/config"
	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
)

// App is what the commands share: where they read and write, and what the
// global flags say. Config and client are made on first use.
type App struct {
	Stdin    *os.File
	Terminal *os.File      // what stdout writes to; editors draw on it
	Stdout   *bufio.Writer // flushed by run
	Stderr   io.Writer
	Env      []string
	Now      func() time.Time
	Adjust   func(*engine.Options) // options that have no setting; nil except in tests
	Zone     *time.Location
	Screen   Screen // of stdout
	side     Screen // of stderr

	Home       string
	ConfigFile string
	Socket     string
	Set        []string
	JSON       bool

	Config *config.Config
	Client *api.Client
	local  Offline // in place of a daemon, while none runs

	OpenOffline func(*config.Config) (Offline, error)

	helpless error // there is no command that help was asked for
}

func New() *App {
	return &App{
		Stdin:    os.Stdin,
		Terminal: os.Stdout,
		Stdout:   bufio.NewWriter(os.Stdout),
		Stderr:   os.Stderr,
		Env:      environ(),
		Now:      time.Now,
		Zone:     time.Local,
		Screen:   newScreen(os.Stdout),
		side:     newScreen(os.Stderr),
	}
}

// isCobras reports whether a variable is one by which a shell's completion script tells cobra
// something, and so no setting, though its name begins like one.
func isCobras(variable string) bool { return strings.HasPrefix(variable, "EMBERD_ACTIVE_HELP=") }

// Run runs the command of root that args name and returns the exit code.
func (s *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(flagged(cmd, err), s.helpless)
	if s.local != nil {
		err = errors.Join(err, s.local.Close())
	}
	if flushErr := s.Stdout.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("cannot write the answer: %w", flushErr)
	}
	if errors.Is(err, context.Canceled) {
		err = &Exit{Code: ExitInterrupted, Err: errors.New("interrupted")}
	}
	s.JSON = s.JSON || slices.Contains(args, "--json") // a bad flag may come before it
	return s.report(err)
}

// Load reads the configuration once.
func (s *App) Load() (*config.Config, error) {
	if s.Config != nil {
		return s.Config, nil
	}
	c, err := config.Load(s.ConfigSource())
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	s.Config = c
	return c, nil
}

// ConfigSource is where settings come from.
func (s *App) ConfigSource() config.Source {
	flags := slices.Clone(s.Set)
	if s.Socket != "" {
		flags = append(flags, "socket="+s.Socket)
	}
	userHome, _ := os.UserHomeDir() // config.Load says what to do without one
	return config.Source{Flags: flags, Env: s.Env, Home: s.Home, ConfigFile: s.ConfigFile, UserHome: userHome}
}

// Connect returns the client of the daemon's socket. Nothing is dialled yet.
func (s *App) Connect() (*api.Client, error) {
	if s.Client != nil {
		return s.Client, nil
	}
	c, err := s.Load()
	if err != nil {
		return nil, err
	}
	token, err := s.Token()
	if err != nil {
		return nil, err
	}
	s.Client = api.NewClient(c.Socket, &api.ClientOptions{Name: "cli", Version: BuildVersion(), Token: token})
	return s.Client, nil
}

// Call carries out one operation through the daemon.
func Call[Req, Res any](ctx context.Context, s *App, o op.Op[Req, Res], req *Req) (*Res, error) {
	client, err := s.Connect()
	if err != nil {
		return nil, err
	}
	if op.ProgressOf(ctx) == nil { // what tells how far it is may take as long as it needs
		ctx = op.WithProgress(ctx, func(int, int) {})
	}
	return o.Call(ctx, client, req)
}

// Show calls an operation through the daemon and prints its answer.
func Show[Req, Res any](ctx context.Context, s *App, o op.Op[Req, Res], req *Req, print func(*App, *Res)) error {
	res, err := Call(ctx, s, o, req)
	if err != nil {
		return err
	}
	return s.Answer(res, func() { print(s, res) })
}

// List is [Show] that ends with "nothing found" when count is 0.
func List[Req, Res any](ctx context.Context, s *App, o op.Op[Req, Res], req *Req, count func(*Res) int,
	print func(*App, *Res)) error {
	res, err := Call(ctx, s, o, req)
	if err != nil {
		return err
	}
	return s.Found(res, count(res), func() { print(s, res) })
}

// Printf writes to stdout. A write error stays in the buffer until run sees it. All text for people
// goes through Printf, [App.Note] or report, so that none of it can steer the terminal.
func (s *App) Printf(format string, args ...any) {
	io.WriteString(s.Stdout, s.Screen.printable(fmt.Sprintf(s.format(format), args...)))
}

// Note says something about the answer, which is not the answer, on stderr and
// after what was answered so far.
func (s *App) Note(format string, args ...any) {
	if s.JSON {
		return
	}
	s.Stdout.Flush() // an error stays with the buffer
	note := placed(fmt.Sprintf(format, args...), placeFlags(s))
	io.WriteString(s.Stderr, s.side.Paragraph(s.Screen.printable(note), nil, ""))
}

// PrintJSON writes v as it is, without escaping <, > and &.
func (s *App) PrintJSON(v any) error { return WriteJSON(s.Stdout, v) }

// WriteJSON writes v with two spaces of indentation and without escaping <, > and &.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

// WriteJSONLine writes v on one line, and otherwise as [WriteJSON].
func WriteJSONLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

// writeJSON escapes all characters that steer a terminal or hide in a text, and not only those that
// JSON wants escaped: the value stays the same.
func writeJSON(w io.Writer, v any, indent string) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, invisible.EscapeJSON(b.String()))
	return err
}

// ReadText returns what stdin holds, without the final line break.
func (s *App) ReadText(ctx context.Context) (string, error) {
	text, err := io.ReadAll(io.LimitReader(s.Input(ctx), memory.MaxContentBytes+2))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	if len(text) > memory.MaxContentBytes {
		return "", memory.Errorf(memory.TooLarge, "too many bytes in stdin (limit %d, 200 KiB); split the text",
			memory.MaxContentBytes).At("content")
	}
	return string(text), nil
}

// Interactive reports whether somebody sits at both ends.
func (s *App) Interactive() bool {
	return term.IsTerminal(int(s.Stdin.Fd())) && s.Screen.Width > 0
}
