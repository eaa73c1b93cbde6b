package setup

import (
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
	"emberd/op"
)

func TourCommand(s *cli.App) *cobra.Command {
	return cli.Command("tour", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return runDemo(cmd.Context(), s)
	})
}

// demoStep is one step as --json tells it.
type demoStep struct {
	Title  string  `json:"title"`
	Millis float64 `json:"ms"`
	Error  string  `json:"error,omitempty"`
}

// demo is the walk, with the daemon that runs now.
type demo struct {
	*tempdaemon.Daemon
	s     *cli.App
	ids   map[string]string // what a step saved, by a name for later steps
	steps []demoStep
}

func runDemo(ctx context.Context, s *cli.App) error {
	home, err := os.MkdirTemp("", "emberd-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	t, err := daemon.NewTemporary(s, home)
	if err != nil {
		return errors.Join(err, os.RemoveAll(home))
	}
	d := &demo{Daemon: t, s: s, ids: map[string]string{}}
	s.Note("a demo in %s, which is removed at the end", home)
	// Who reads the steps may go away (emberd tour | head); that must not kill
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
		s.Printf("all of it worked, in %s\n", time.Since(start).Round(time.Millisecond))
	}
	if err != nil && ctx.Err() == nil {
		return &cli.Exit{Code: cli.ExitNothing, Err: err}
	}
	return errors.Join(ctx.Err(), err)
}

// walk takes the steps in order and stops at the first that fails.
func (d *demo) walk(ctx context.Context) error {
	const jwt = "Use JWT tokens for authentication in all new APIs"
	steps := []struct {
		title string
		do    func(ctx context.Context) error
	}{
		{"start the daemon", d.start},
		{"save three memories", func(ctx context.Context) error {
			return errors.Join(
				d.save(ctx, "jwt", jwt, "--tag", "security,api"),
				d.save(ctx, "tea", "Maria drinks green tea and no coffee", "--entity", "Maria"),
				d.save(ctx, "port", "Der Datenbankserver läuft auf Port 5433", "--tag", "безопасность"))
		}},
		{"search", d.expect("authentication", "search", "authentication")},
		{"search for what is meant, in other words", func(ctx context.Context) error {
			return errors.Join(d.expect("100 %", "model", "status", "--wait")(ctx),
				d.expect("green tea", "search", "hot beverage")(ctx))
		}},
		{"kill the daemon with SIGKILL", func(context.Context) error { return d.kill(syscall.SIGKILL) }},
		{"start it again", d.start},
		{"everything is still there", d.expect(jwt, "show", "@jwt")},
		{"edit", d.expect("edited", "edit", "@jwt", "Use JWT tokens with a lifetime of 15 minutes")},
		{"undo the edit", d.expect("undid edit", "undo")},
		{"the earlier text is back", d.expect(jwt, "show", "@jwt")},
		{"forget", d.expect("forgot", "forget", "@tea")},
		{"it is found no more", d.nothing("search", "coffee")},
		{"restore it from the trash", d.expect("restored", "rekindle", "@tea")},
		{"it is found again", d.expect("Maria", "search", "coffee")},
		{"a credential is refused", d.refused},
		{"say how one memory stands to another", d.relate},
		{"what is known is kept once, and counts more", d.knowOnce},
		{"a claim that disagrees is told, and takes the place of what was", d.disagree},
		{"an agent saves and searches, over the Model Context Protocol", d.askAgent},
		{"a token sees what it is for, and nothing else", d.limitAToken},
		{"what a stranger wrote reaches an agent as data, between marks", d.readAStranger},
		{"start it with a vault, and find a note beside a memory",
			func(ctx context.Context) error { return d.withVault(ctx, jwt) }},
		{"edit the note, and find that", d.editNote},
		{"promote a memory to a note of its own", d.promoteMemory},
		{"archive a memory, as time does with what is not used", d.archiveMemory},
		{"a sentence stays, and a note has the text", func(ctx context.Context) error {
			return errors.Join(d.expect("archived", "list", "--stage", "archived")(ctx), d.readNote(archivedNotes))
		}},
		{"edit that note", d.editArchived},
		{"a search finds it, and opening it brings it back, as its note says it now", d.comeBack},
		{"why it scores what it does, and what comes next", d.expect("demoted on", "show", "--why", "@kettle")},
		{"how well the memories are, and one of two that say the same", d.beHealthy},
		{"the agents ask, and a decision can be taken back", d.decide},
		{"clean up: the plan, the deed, and all of it undone", d.cleanUp},
		{"the history has every version", d.expect("by promote", "history", "@jwt")},
		{"compact the log", d.expect("folded", "doctor", "log", "compact")},
		{"no version is lost", d.expect("15 minutes", "history", "@jwt")},
		{"back the log up, and read it through", func(ctx context.Context) error {
			return errors.Join(d.expect("tar.gz", "backup", "create")(ctx), d.expect("whole", "backup", "list")(ctx))
		}},
		{"stop the daemon, and delete its log", d.deleteLog},
		{"repair it from the snapshot, the backups and the notes",
			d.expect("from snapshot: ", "doctor", "log", "repair")},
		{"start it again", d.start},
		{"the memories are there", d.expect(jwt, "show", "@jwt")},
		{"stop the daemon", func(context.Context) error { return d.kill(syscall.SIGTERM) }},
	}
	for _, step := range steps {
		if err := d.take(ctx, step.title, step.do); err != nil {
			return err
		}
	}
	return nil
}

// take does one step and tells how it went.
func (d *demo) take(ctx context.Context, title string, do func(context.Context) error) error {
	start := time.Now()
	if !d.s.JSON {
		d.s.Printf("%s\n", d.s.Screen.Paint(cli.Bold, title))
	}
	err := do(ctx)
	took := time.Since(start)
	step := demoStep{Title: title, Millis: float64(took.Microseconds()) / 1000}
	mark := d.s.Screen.Paint(cli.Green, "ok")
	if err != nil {
		step.Error = err.Error()
		mark = d.s.Screen.Paint(cli.Red, "failed")
		err = fmt.Errorf("the demo failed at %q: %w", title, err)
	}
	d.steps = append(d.steps, step)
	if !d.s.JSON {
		d.s.Printf("  %s, %.1f ms\n", mark, step.Millis)
	}
	return errors.Join(err, d.s.Stdout.Flush())
}

// start runs the daemon.
func (d *demo) start(ctx context.Context) error {
	d.show("serve")
	return d.Daemon.Start(ctx)
}

// withVault begins again with a folder of notes, and finds a note and a memory
// with one search.
func (d *demo) withVault(ctx context.Context, memory string) error {
	if err := d.kill(syscall.SIGTERM); err != nil {
		return err
	}
	if err := d.writeNote("## Sessions\n\nA token for authentication lives as long as the session.\n"); err != nil {
		return err
	}
	dir := filepath.Join(d.Home, "Notes")
	d.show("serve", "--vault", dir)
	if err := d.Daemon.Start(ctx, "--vault", dir); err != nil {
		return err
	}
	if err := d.until(ctx, "session"); err != nil {
		return err
	}
	return errors.Join(
		d.expect("Design.md:1", "search", "authentication tokens")(ctx),
		d.expect(memory, "search", "authentication tokens", "--memories")(ctx))
}

// editNote changes the note as any editor would.
func (d *demo) editNote(ctx context.Context) error {
	if err := d.writeNote("## Sessions\n\nA refresh follows after ten minutes.\n"); err != nil {
		return err
	}
	if err := d.until(ctx, "refresh"); err != nil {
		return err
	}
	return d.expect("ten minutes", "search", "refresh", "--notes")(ctx)
}

// The folders of the vault that emberd writes to.
const (
	promotedNotes = "Memories"
	archivedNotes = "Memories/Archive"
)

// promoteMemory gives a memory a note and looks at that.
func (d *demo) promoteMemory(ctx context.Context) error {
	if err := d.expect(promotedNotes+"/", "promote", "@jwt")(ctx); err != nil {
		return err
	}
	return d.readNote(promotedNotes)
}

// archiveMemory leaves of a memory a sentence.
func (d *demo) archiveMemory(ctx context.Context) error {
	const text = "The kettle leaks at the seam. Ann ordered a new gasket from the shop in Leith, part 4417, and " +
		"wants it by Friday."
	return errors.Join(d.save(ctx, "kettle", text), d.expect(archivedNotes+"/", "lifecycle", "archive", "@kettle")(ctx))
}

// editArchived changes the archived text as any editor would.
func (d *demo) editArchived(context.Context) error {
	name, text, err := d.onlyNote(archivedNotes)
	if err != nil {
		return err
	}
	d.line("sed -i s/Friday/Monday/ '" + name + "'")
	return os.WriteFile(name, []byte(strings.ReplaceAll(text, "Friday", "Monday")), 0o600)
}

// comeBack searches for what is archived, and opens it, which brings it back.
func (d *demo) comeBack(ctx context.Context) error {
	return errors.Join(d.expect("by Monday", "search", "kettle gasket")(ctx),
		d.expect("by Monday", "show", "@kettle")(ctx), d.untilWarm(ctx, "kettle"))
}

// untilWarm waits until the log says, too, that a memory is back.
func (d *demo) untilWarm(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, tempdaemon.StartTimeout)
	defer cancel()
	for {
		res, err := op.Show.Call(ctx, d, &op.ShowRequest{ID: d.ids[name], Track: new(bool)})
		if err != nil || !res.Memory.Stage.Cold() {
			return err
		}
		if err := d.Alive(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// readNote prints the one note of a folder of the vault.
func (d *demo) readNote(folder string) error {
	name, text, err := d.onlyNote(folder)
	if err == nil {
		d.line("cat '" + name + "'")
		d.echo(text)
	}
	return err
}

func (d *demo) onlyNote(folder string) (name, text string, err error) {
	notes, err := filepath.Glob(filepath.Join(d.Home, "Notes", folder, "*.md"))
	if err != nil || len(notes) != 1 {
		return "", "", fmt.Errorf("there are %d notes in %s and not one: %w", len(notes), folder, err)
	}
	b, err := os.ReadFile(notes[0])
	return notes[0], string(b), err
}

func (d *demo) writeNote(text string) error {
	name := filepath.Join(d.Home, "Notes", "Design.md")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("make a vault for the demo: %w", err)
	}
	d.line("vi " + name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write a note for the demo: %w", err)
	}
	return nil
}

// until waits until a note with the word is found, which the watcher needs a
// moment for.
func (d *demo) until(ctx context.Context, word string) error {
	ctx, cancel := context.WithTimeout(ctx, tempdaemon.StartTimeout)
	defer cancel()
	for {
		res, err := op.Search.Call(ctx, d, &op.SearchRequest{Query: word, Scope: "notes", Track: new(bool)})
		if err != nil {
			return err
		}
		if len(res.Hits) > 0 && !res.Similar {
			return nil
		}
		if err := d.Alive(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// kill sends a signal to the daemon and waits for its end.
func (d *demo) kill(sig syscall.Signal) error {
	d.line(fmt.Sprintf("kill -%d %d", int(sig), d.PID()))
	return d.Stop(sig)
}

// run carries out one command line and returns what it printed and its code.
// An argument @name stands for the id that was saved under that name.
func (d *demo) run(ctx context.Context, args ...string) (string, cli.ExitCode, error) {
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			args[i] = d.ids[name]
		}
	}
	d.show(args...)
	cmd := d.Command(ctx, args...)
	out, err := cmd.CombinedOutput()
	d.echo(string(out))
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), cli.ExitCode(exited.ExitCode()), nil
	}
	return string(out), cli.ExitDone, err
}

// echo shows the beginning of what a command printed, and its last line: with
// show that is the text.
func (d *demo) echo(out string) {
	if d.s.JSON {
		return
	}
	const most = 4
	printed := strings.Split(strings.TrimSpace(out), "\n")
	if n := len(printed); n > most {
		printed = append(printed[:most-2], "…", printed[n-1])
	}
	for _, l := range printed {
		d.s.Printf("  %s\n", cli.Cut(cli.Clean(l), d.s.Screen.Width-2))
	}
}

// expect is a step that ends with code 0 and prints want.
func (d *demo) expect(want string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		out, code, err := d.run(ctx, args...)
		if err != nil {
			return err
		}
		if code != cli.ExitDone || !strings.Contains(out, want) {
			return fmt.Errorf("exit code %d, and %q is not in: %s", code, want, strings.TrimSpace(out))
		}
		return nil
	}
}

// nothing is a step that has to find nothing.
func (d *demo) nothing(args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return d.code(ctx, cli.ExitNothing, args...)
	}
}

func (d *demo) code(ctx context.Context, want cli.ExitCode, args ...string) error {
	out, code, err := d.run(ctx, args...)
	if err == nil && code != want {
		err = fmt.Errorf("exit code %d, want %d: %s", code, want, strings.TrimSpace(out))
	}
	return err
}

// save saves a text and keeps its id under a name.
func (d *demo) save(ctx context.Context, name, text string, args ...string) error {
	return d.keep(ctx, name, append([]string{"save", text}, args...)...)
}

// keep carries out a save or an add, and keeps the id.
func (d *demo) keep(ctx context.Context, name string, args ...string) error {
	out, code, err := d.run(ctx, args...)
	if err != nil {
		return err
	}
	id := regexp.MustCompile(`(?:saved|added) ([0-9a-f]{8})`).FindStringSubmatch(out)
	if code != cli.ExitDone || id == nil {
		return fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(out))
	}
	d.ids[name] = id[1]
	return nil
}

// refused tries to save what looks like a credential. It is put together here,
// so that this program does not look as if it held one.
func (d *demo) refused(ctx context.Context) error {
	return d.code(ctx, cli.ExitSecret, "save", "the key is AKIA"+"QYLPMN5HFIQR7XYA")
}

// show prints a command as one would type it.
func (d *demo) show(args ...string) {
	words := []string{"emberd"}
	for _, a := range args {
		if strings.ContainsAny(a, " '\"$&|<>*?#") {
			a = cli.Quoted(a)
		}
		words = append(words, a)
	}
	d.line(strings.Join(words, " "))
}

func (d *demo) line(text string) {
	if !d.s.JSON {
		d.s.Printf("  %s\n", d.s.Screen.Paint(cli.Faint, "$ "+text))
		d.s.Stdout.Flush()
	}
}
