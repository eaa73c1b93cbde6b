package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/tempdaemon"
	"emberd/internal/text"
	"emberd/op"
)

// TourCommand is emberd tour.
func TourCommand(s *cli.App) *cobra.Command {
	return cli.Command("tour", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return runTour(cmd.Context(), s)
	})
}

// tourStep is one step as --json prints it.
type tourStep struct {
	Title  string  `json:"title"`
	Millis float64 `json:"ms"`
	Error  string  `json:"error,omitempty"`
}

// tour is a walk through the main features, with the daemon that runs now.
type tour struct {
	*tempdaemon.Daemon
	s     *cli.App
	ids   map[string]string // of saved memories, by a name for later steps
	steps []tourStep
}

func runTour(ctx context.Context, s *cli.App) error {
	home, err := os.MkdirTemp("", "emberd-tour-")
	if err != nil {
		return fmt.Errorf("cannot create a folder for the tour: %w", err)
	}
	t, err := daemon.NewTemporary(s, home)
	if err != nil {
		return errors.Join(err, os.RemoveAll(home))
	}
	d := &tour{Daemon: t, s: s, ids: map[string]string{}}
	s.Note("the tour uses the temporary folder %s and removes it at the end", home)
	// The reader of the steps may go away (emberd tour | head); that must not kill
	// this process before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	start := time.Now()
	err = d.walk(ctx)
	err = errors.Join(err, d.Stop(syscall.SIGKILL), os.RemoveAll(home))
	if s.JSON {
		if printErr := s.PrintJSON(map[string]any{"steps": d.steps}); printErr != nil {
			return printErr
		}
	} else if err == nil {
		s.Printf("all steps succeeded in %s; to set up emberd, run: emberd init\n",
			time.Since(start).Round(time.Millisecond))
	}
	if err != nil && ctx.Err() == nil {
		return &cli.Exit{Code: cli.ExitNothing, Err: err}
	}
	return errors.Join(ctx.Err(), err)
}

// The texts of README.md.
const (
	tourJWT     = "Use JWT tokens for authentication in all new APIs"
	tourDeploys = "Deploys wait for the migration job"
	tourPort    = "The database runs on port 5432"
	tourNote    = "Staging is deployed on Tuesdays, after the migration job.\n"
)

// The folders of the vault that emberd writes to.
const (
	promotedNotes = "Memories"
	archivedNotes = "Memories/Archive"
)

// walk takes the steps in order and stops at the first that fails.
func (d *tour) walk(ctx context.Context) error {
	steps := []struct {
		title string
		do    func(ctx context.Context) error
	}{
		{"Start the daemon with a folder of notes", d.startWithVault},
		{"Save memories", func(ctx context.Context) error {
			return errors.Join(d.save(ctx, "jwt", "save", tourJWT),
				d.save(ctx, "deploys", "save", tourDeploys))
		}},
		{"Search memories and notes together", d.searchBoth},
		{"Save a fact only once", func(ctx context.Context) error {
			return d.save(ctx, "port", "save", "--if-new", tourPort)
		}},
		{"Check a claim that contradicts a memory", func(ctx context.Context) error {
			return d.code(ctx, cli.ExitConflict, "5433 against 5432", "search", "--check",
				"The database runs on port 5433")
		}},
		{"Save a credential: emberd refuses the " +
			"text", func(ctx context.Context) error { // put together, so that none is in the program
			return d.code(ctx, cli.ExitSecret, "credential", "save", "the key is AKIA"+"QYLPMN5HFIQR7XYA")
		}},
		{"Kill the daemon: saved memories stay on disk", d.killAndStart},
		{"Undo a change", func(ctx context.Context) error {
			return errors.Join(d.expect(ctx, "edited", "edit", "@jwt", "Use cookies"),
				d.expect(ctx, "undid edit", "undo"))
		}},
		{"Promote a memory: emberd creates a note that you can edit", d.promoteMemory},
		{"Archive a memory: its text moves to a note, and stays searchable", func(ctx context.Context) error {
			return errors.Join(d.expect(ctx, archivedNotes+"/", "lifecycle", "archive", "@deploys"),
				d.expect(ctx, tourDeploys, "search", "migration", "--memories"))
		}},
		{"Open the memory: emberd restores its full text", func(ctx context.Context) error {
			return errors.Join(d.expect(ctx, tourDeploys, "show", "@deploys"), d.untilActive(ctx, "deploys"))
		}},
		{"Search as an AI agent, over the Model Context Protocol", d.askAgent},
		{"Back up", func(ctx context.Context) error { return d.expect(ctx, "tar.gz", "backup", "create") }},
	}
	for _, step := range steps {
		if err := d.take(ctx, step.title, step.do); err != nil {
			return err
		}
	}
	return nil
}

// take does one step and records how long it took.
func (d *tour) take(ctx context.Context, title string, do func(context.Context) error) error {
	start := time.Now()
	d.print(d.s.Screen.Paint(cli.Bold, title))
	err := do(ctx)
	step := tourStep{Title: title, Millis: float64(time.Since(start).Microseconds()) / 1000}
	if err != nil {
		step.Error = err.Error()
		err = fmt.Errorf("the tour failed at %q: %w", title, err)
	}
	d.steps = append(d.steps, step)
	return errors.Join(err, d.s.Stdout.Flush())
}

// vault is the folder of the notes.
func (d *tour) vault() string { return filepath.Join(d.Home, "Notes") }

// startWithVault starts the daemon with one note, and waits until a search finds it.
func (d *tour) startWithVault(ctx context.Context) error {
	if err := os.MkdirAll(d.vault(), 0o700); err != nil {
		return fmt.Errorf("cannot create a vault for the tour: %w", err)
	}
	if err := os.WriteFile(filepath.Join(d.vault(), "Deploys.md"), []byte(tourNote), 0o600); err != nil {
		return fmt.Errorf("cannot write a note for the tour: %w", err)
	}
	return d.start(ctx)
}

func (d *tour) start(ctx context.Context) error {
	d.show("serve", "--vault", d.vault())
	if err := d.Daemon.Start(ctx, "--vault", d.vault()); err != nil {
		return err
	}
	return d.until(ctx, func() (bool, error) {
		res, err := op.Search.Call(ctx, d, &op.SearchRequest{Query: "Tuesdays", Scope: "notes", Track: new(bool)})
		return err == nil && len(res.Hits) > 0 && !res.Similar, err
	})
}

// searchBoth finds the note and the memory with one search.
func (d *tour) searchBoth(ctx context.Context) error {
	out, code, err := d.run(ctx, tourDeploys, "search", "when do we deploy")
	found := strings.Contains(out, "Tuesdays") && strings.Contains(out, tourDeploys)
	if err == nil && (code != cli.ExitDone || !found) {
		err = fmt.Errorf("unexpected result with exit code %d: %s", code, strings.TrimSpace(out))
	}
	return err
}

// killAndStart kills the daemon, starts it again and opens a memory.
func (d *tour) killAndStart(ctx context.Context) error {
	d.line(fmt.Sprintf("kill -%d %d", int(syscall.SIGKILL), d.PID()))
	if err := d.Stop(syscall.SIGKILL); err != nil {
		return err
	}
	return errors.Join(d.start(ctx), d.expect(ctx, tourJWT, "show", "@jwt"))
}

// promoteMemory gives a memory a note, and shows its beginning and its text.
func (d *tour) promoteMemory(ctx context.Context) error {
	if err := d.expect(ctx, promotedNotes+"/", "promote", "@jwt"); err != nil {
		return err
	}
	notes, err := filepath.Glob(filepath.Join(d.vault(), promotedNotes, "Use JWT*.md"))
	if err != nil {
		return err
	}
	if len(notes) != 1 {
		return fmt.Errorf("found %d notes for the memory instead of one", len(notes))
	}
	text, err := os.ReadFile(notes[0])
	if err != nil {
		return err
	}
	d.line("tail -1 Notes/" + promotedNotes + "/Use*.md")
	d.echo(string(text), tourJWT)
	if !strings.Contains(string(text), tourJWT) {
		return fmt.Errorf("the note does not contain the text of the memory: %s", text)
	}
	return nil
}

// untilActive waits until the log contains that a memory is back.
func (d *tour) untilActive(ctx context.Context, name string) error {
	return d.until(ctx, func() (bool, error) {
		res, err := op.Show.Call(ctx, d, &op.ShowRequest{ID: d.ids[name], Track: new(bool)})
		return err == nil && !res.Memory.Stage.Cold(), err
	})
}

// until waits until something is so.
func (d *tour) until(ctx context.Context, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, tempdaemon.StartTimeout)
	defer cancel()
	for {
		if yes, err := is(); yes || err != nil {
			return err
		}
		if err := d.Alive(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// run runs one command line, shows it and the line of its output that contains want, and returns what it printed and
// its code. An argument @name stands for the ID that was saved under that name.
func (d *tour) run(ctx context.Context, want string, args ...string) (string, cli.ExitCode, error) {
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			args[i] = d.ids[name]
		}
	}
	d.show(args...)
	var out, hints bytes.Buffer
	cmd := d.Command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &hints
	err := cmd.Run()
	if strings.Contains(out.String(), want) {
		d.echo(out.String(), want)
	} else {
		d.echo(hints.String(), want)
	}
	text := out.String() + hints.String()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return text, cli.ExitCode(exited.ExitCode()), nil
	}
	return text, cli.ExitDone, err
}

// echo shows what a command printed if it is short, or else the last line with a text.
func (d *tour) echo(out, want string) {
	const most = 4
	var lines []string
	for line := range strings.Lines(out) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > most {
		last := len(lines) - 1
		for last > 0 && !strings.Contains(lines[last], want) {
			last--
		}
		lines = lines[last : last+1]
	}
	for _, line := range lines {
		d.print("  " + cli.Cut(cli.Clean(line), max(0, d.s.Screen.Width-2)))
	}
}

// expect runs a command that must end with code 0 and print want.
func (d *tour) expect(ctx context.Context, want string, args ...string) error {
	return d.code(ctx, cli.ExitDone, want, args...)
}

// code runs a command that must end with a code and print want.
func (d *tour) code(ctx context.Context, code cli.ExitCode, want string, args ...string) error {
	out, got, err := d.run(ctx, want, args...)
	if err == nil && (got != code || !strings.Contains(out, want)) {
		err = fmt.Errorf("exit code %d, expected %d; expected %q in the output: %s", got, code, want,
			strings.TrimSpace(out))
	}
	return err
}

// save runs a command that saves a text, and keeps its ID under a name.
func (d *tour) save(ctx context.Context, name string, args ...string) error {
	out, code, err := d.run(ctx, "ed ", args...)
	if err != nil {
		return err
	}
	id := regexp.MustCompile(`(?:saved|added) ([0-9a-f]{8})`).FindStringSubmatch(out)
	if code != cli.ExitDone || id == nil {
		return fmt.Errorf("unexpected result with exit code %d: %s", code, strings.TrimSpace(out))
	}
	d.ids[name] = id[1]
	return nil
}

// show prints a command as one would type it.
func (d *tour) show(args ...string) {
	words := []string{"emberd"}
	for _, a := range args {
		if strings.ContainsAny(a, " '\"$&|<>*?#") {
			a = text.ShellQuote(a)
		}
		words = append(words, a)
	}
	d.line(strings.Join(words, " "))
}

func (d *tour) line(text string) { d.print("  " + d.s.Screen.Paint(cli.Faint, "$ "+text)) }

// print prints a line, unless the answer is JSON.
func (d *tour) print(line string) {
	if !d.s.JSON {
		d.s.Printf("%s\n", line)
		d.s.Stdout.Flush()
	}
}
