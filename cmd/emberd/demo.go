package main

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

	"emberd/api"
	"emberd/op"
)

func (s *state) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Walk through the main job by itself, in a temporary folder",
		Long: `Start a daemon of its own in a temporary folder, save, search, kill it the hard
way, find everything still there, and more. Each step shows its command and how
long it took. Nothing of yours is touched, and the folder is removed at the end.`,
		Example:     `  emberd demo`,
		Annotations: exits(endings{exitNothing: "a step failed; the message says which"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.demo(cmd.Context())
		},
	}
}

// demoStep is one step as --json tells it.
type demoStep struct {
	Title  string  `json:"title"`
	Millis float64 `json:"ms"`
	Error  string  `json:"error,omitempty"`
}

// demo is the walk: a binary, a folder, and the daemon that runs in it now.
type demo struct {
	s      *state
	exe    string
	home   string
	socket string
	daemon *exec.Cmd
	exited chan error
	ids    map[string]string // what a step saved, by a name for later steps
	steps  []demoStep
}

// startTimeout bounds how long a daemon may take to answer in a demo.
const startTimeout = 20 * time.Second

func (s *state) demo(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program itself: %w", err)
	}
	home, err := os.MkdirTemp("", "emberd-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	d := &demo{s: s, exe: exe, home: home, socket: filepath.Join(home, "emberd.sock"), ids: map[string]string{}}
	s.note("a demo in %s, which is removed at the end", home)
	// Who reads the steps may go away (emberd demo | head); that must not kill
	// this process before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	start := time.Now()
	err = d.walk(ctx)
	err = errors.Join(err, d.cleanUp())
	if s.json {
		if printErr := s.printJSON(map[string]any{"steps": d.steps}); printErr != nil {
			return printErr
		}
	} else if err == nil {
		s.printf("all of it worked, in %s\n", time.Since(start).Round(time.Millisecond))
	}
	if err != nil && ctx.Err() == nil {
		return &exit{code: exitNothing, err: err}
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
		{"kill the daemon with SIGKILL", func(context.Context) error { return d.stop(syscall.SIGKILL) }},
		{"start it again", d.start},
		{"everything is still there", d.expect(jwt, "show", "@jwt")},
		{"edit", d.expect("edited", "edit", "@jwt", "Use JWT tokens with a lifetime of 15 minutes")},
		{"undo the edit", d.expect("undid edit", "undo")},
		{"the earlier text is back", d.expect(jwt, "show", "@jwt")},
		{"forget", d.expect("forgot", "forget", "@tea")},
		{"it is found no more", d.nothing("search", "coffee")},
		{"restore it from the trash", d.expect("restored", "trash", "restore", "@tea")},
		{"it is found again", d.expect("Maria", "search", "coffee")},
		{"a credential is refused", d.refused},
		{"stop the daemon", func(context.Context) error { return d.stop(syscall.SIGTERM) }},
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
	if !d.s.json {
		d.s.printf("%s\n", d.s.screen.paint(bold, title))
	}
	err := do(ctx)
	took := time.Since(start)
	step := demoStep{Title: title, Millis: float64(took.Microseconds()) / 1000}
	mark := d.s.screen.paint(green, "ok")
	if err != nil {
		step.Error = err.Error()
		mark = d.s.screen.paint(red, "failed")
		err = fmt.Errorf("the demo failed at %q: %w", title, err)
	}
	d.steps = append(d.steps, step)
	if !d.s.json {
		d.s.printf("  %s, %.1f ms\n", mark, step.Millis)
	}
	return errors.Join(err, d.s.stdout.Flush())
}

// start runs a daemon and waits until its socket answers.
func (d *demo) start(ctx context.Context) error {
	d.show("serve")
	var said bytes.Buffer
	d.daemon = d.command(context.WithoutCancel(ctx), "serve")
	d.daemon.Stderr = &said
	if err := d.daemon.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	d.exited = make(chan error, 1)
	go func(daemon *exec.Cmd, exited chan<- error) { exited <- daemon.Wait() }(d.daemon, d.exited)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := api.NewClient(d.socket, &api.ClientOptions{Name: "cli", Version: buildVersion()})
	for {
		if _, err := op.Version.Call(ctx, client, &op.VersionRequest{}); err == nil {
			return nil
		}
		select {
		case err := <-d.exited:
			d.daemon = nil
			return fmt.Errorf("the daemon ended (%v): %s", err, strings.TrimSpace(said.String()))
		case <-ctx.Done():
			return fmt.Errorf("the daemon did not answer: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// stop sends a signal and waits for the daemon to end. Only SIGKILL may end it
// otherwise than cleanly.
func (d *demo) stop(sig syscall.Signal) error {
	d.line(fmt.Sprintf("kill -%d %d", int(sig), d.daemon.Process.Pid))
	err := d.daemon.Process.Signal(sig)
	if err == nil {
		err = <-d.exited
	}
	d.daemon = nil
	if sig == syscall.SIGKILL {
		return nil
	}
	return err
}

func (d *demo) cleanUp() error {
	if d.daemon != nil {
		_ = d.daemon.Process.Kill() // it may have ended by itself
		<-d.exited
	}
	return os.RemoveAll(d.home)
}

// command is the program itself in the demo's folder, free of settings that
// belong to the user's own daemon.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.exe, append(args, "--home", d.home)...)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = d.home
	cmd.Env = append(foreignFree(d.s.env), "NO_COLOR=1")
	return cmd
}

// foreignFree leaves out the variables that are settings.
func foreignFree(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "EMBERD_") && !strings.HasPrefix(e, "CORTEXGRAPH_") && !strings.HasPrefix(e, "LTM_") {
			out = append(out, e)
		}
	}
	return out
}

// run carries out one command line and returns what it printed and its code.
// An argument @name stands for the id that was saved under that name.
func (d *demo) run(ctx context.Context, args ...string) (string, exitCode, error) {
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			args[i] = d.ids[name]
		}
	}
	d.show(args...)
	cmd := d.command(ctx, args...)
	out, err := cmd.CombinedOutput()
	d.echo(string(out))
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exitCode(exited.ExitCode()), nil
	}
	return string(out), exitDone, err
}

// echo shows the beginning of what a command printed, and its last line: with
// show that is the text.
func (d *demo) echo(out string) {
	if d.s.json {
		return
	}
	const most = 4
	printed := strings.Split(strings.TrimSpace(out), "\n")
	if n := len(printed); n > most {
		printed = append(printed[:most-2], "…", printed[n-1])
	}
	for _, l := range printed {
		d.s.printf("  %s\n", cut(clean(l), d.s.screen.width-2))
	}
}

// expect is a step that ends with code 0 and prints want.
func (d *demo) expect(want string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		out, code, err := d.run(ctx, args...)
		if err != nil {
			return err
		}
		if code != exitDone || !strings.Contains(out, want) {
			return fmt.Errorf("exit code %d, and %q is not in: %s", code, want, strings.TrimSpace(out))
		}
		return nil
	}
}

// nothing is a step that has to find nothing.
func (d *demo) nothing(args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return d.code(ctx, exitNothing, args...)
	}
}

func (d *demo) code(ctx context.Context, want exitCode, args ...string) error {
	out, code, err := d.run(ctx, args...)
	if err == nil && code != want {
		err = fmt.Errorf("exit code %d, want %d: %s", code, want, strings.TrimSpace(out))
	}
	return err
}

// save saves a text and keeps its id under a name.
func (d *demo) save(ctx context.Context, name, text string, args ...string) error {
	out, code, err := d.run(ctx, append([]string{"save", text}, args...)...)
	if err != nil {
		return err
	}
	id := regexp.MustCompile(`saved ([0-9a-f]{8})`).FindStringSubmatch(out)
	if code != exitDone || id == nil {
		return fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(out))
	}
	d.ids[name] = id[1]
	return nil
}

// refused tries to save what looks like a credential. It is put together here,
// so that this program does not look as if it held one.
func (d *demo) refused(ctx context.Context) error {
	return d.code(ctx, exitSecret, "save", "the key is AKIA"+"QYLPMN5HFIQR7XYA")
}

// show prints a command as one would type it.
func (d *demo) show(args ...string) {
	words := []string{"emberd"}
	for _, a := range args {
		if strings.ContainsAny(a, " '\"$&|<>*?#") {
			a = quoted(a)
		}
		words = append(words, a)
	}
	d.line(strings.Join(words, " "))
}

func (d *demo) line(text string) {
	if !d.s.json {
		d.s.printf("  %s\n", d.s.screen.paint(faint, "$ "+text))
		d.s.stdout.Flush()
	}
}
