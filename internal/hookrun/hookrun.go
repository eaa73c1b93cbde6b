// Package hookrun is the command that coding agents run at the events of a session:
//
//	emberd hook AGENT [EVENT]
//
// An agent waits for its hooks, shows their errors to the user, and may drop a prompt whose hook fails.
// So, whatever happens, the command ends with status 0, writes nothing to stderr, and to stdout nothing
// or one JSON object that the agent's schema admits. It starts no process and no daemon, reads at most
// 4 MiB of stdin and waits for its end for 1 s at most. From then on it ends after 150 ms at a prompt, 400 ms at the
// start of a session, 1.2 s at its end (Claude Code gives all hooks together 1.5 s), and 5 s otherwise.
//
// Without a daemon a prompt is not answered. The end of a turn, a compaction and the end of a session
// are kept as one line each in state/hooks/spool.jsonl, which names the transcript and contains nothing of it. The
// next start of a session and the next end of a turn that reach the daemon hand over what the transcripts say: a start
// before it asks, so that its answer has it, and only while that leaves time for the answer. The daemon knows messages
// by their ids, so that nothing is lost if it is told twice, and it answers the same prompt once: agents run copies of
// a hook.
//
// With EMBERD_HOOKS=off, or a file .emberd-off in the agent's folder or above it, hooks only note the ID of the session
// in state/hooks/off.jsonl: what was said meanwhile is read neither at the end of the session nor by an import. Hooks
// do nothing for agents that another agent started.
package hookrun

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"emberd/internal/cli"
	"emberd/internal/hooks"
	"emberd/internal/project"
	"emberd/op"
)

// deadlines are the times from when the input was read to the end of the command.
var deadlines = map[string]time.Duration{
	op.HookStart:   400 * time.Millisecond,
	op.HookPrompt:  150 * time.Millisecond,
	op.HookTurn:    5 * time.Second,
	op.HookCompact: 5 * time.Second,
	op.HookEnd:     1200 * time.Millisecond,
}

const (
	longest = 5 * time.Second        // of the deadlines
	spare   = 100 * time.Millisecond // before the deadline, to write into the spool
	asking  = 150 * time.Millisecond // before the deadline of a start, for its answer
)

// maxPrompt bounds the prompt that the daemon is asked about, in bytes.
const maxPrompt = 64 << 10

// commands are the words after "hook" that people type, to see what hooks did.
var commands = []string{"forget", "off", "on", "report", "sessions", "show"}

// Meant reports whether a command line is that of a hook. It is not if it asks for help, names no agent, or is a
// command about hooks. A word that is neither an agent nor a command is taken for an agent, for a hook never fails,
// unless a person types it.
func Meant(args []string) bool {
	if len(args) < 2 || args[0] != "hook" {
		return false
	}
	rest, _ := places(args[1:])
	typed := func() bool { return term.IsTerminal(int(os.Stdin.Fd())) }
	return len(rest) > 0 && !slices.Contains(commands, rest[0]) &&
		(slices.Contains(hooks.Agents(), rest[0]) || !typed()) &&
		!slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
}

// Main does what a hook does: args are the words after "hook".
func Main(args []string) {
	app := cli.New()
	rest, at := places(args)
	app.Home, app.ConfigFile, app.Socket, app.Set = at.Home, at.ConfigFile, at.Socket, at.Set
	Run(app, rest)
}

// Run does what a hook does, where the flags have been read: args are the agent and perhaps the event.
func Run(app *cli.App, args []string) {
	log.SetOutput(io.Discard) // package net/http would write of a socket that is no daemon's
	// Else an agent that does not read the answer ends the process by SIGPIPE.
	signal.Ignore(syscall.SIGPIPE)
	h := &hook{app: app, in: os.Stdin, out: os.Stdout, limit: make(chan time.Duration, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // whatever it was, the agent goes on
		h.work(args)
	}()
	timer := time.NewTimer(longest)
	for {
		select {
		case limit := <-h.limit:
			timer.Reset(limit - time.Since(h.inputAt))
		case <-timer.C:
			return // what does not answer by now, as a file system that is gone, is left behind
		case <-done:
			return
		}
	}
}

// hook is one run of the command.
type hook struct {
	inputAt time.Time // when the input was read
	app     *cli.App
	in      *os.File
	out     io.Writer
	limit   chan time.Duration // of the event, once it is known
}

// work handles the event.
func (h *hook) work(args []string) {
	if len(args) == 0 {
		return
	}
	input := readInput(h.in, inputWait)
	if h.inputAt.IsZero() {
		h.inputAt = time.Now()
	}
	e, err := hooks.Read(args[0], strings.Join(args[1:min(2, len(args))], ""), input)
	if err != nil {
		return
	}
	limit := deadlines[e.Request.Event]
	h.limit <- limit
	if e.Subagent {
		return
	}
	if switchedOff(cli.Getenv(h.app, "EMBERD_HOOKS")) || Off(e.Request.Folder) {
		h.noteOff(&e.Request)
		return
	}
	e.Request.Project = project.OfSession(e.Request.Folder)
	ctx, cancel := context.WithDeadline(context.Background(), h.inputAt.Add(limit))
	defer cancel()
	switch e.Request.Event {
	case op.HookStart, op.HookPrompt:
		h.tell(ctx, e)
	default:
		h.hear(ctx, e)
	}
}

// noteOff notes that hooks are off in a session, so that no later event and no import reads what is said in it.
func (h *hook) noteOff(r *op.HookRequest) {
	if c, err := h.app.Load(); err == nil {
		spoolIn(c.State).noteOff(r.Agent, r.Session)
	}
}

// switchedOff reports whether the value of EMBERD_HOOKS says that hooks do nothing.
func switchedOff(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "off", "0", "false", "no":
		return true
	}
	return false
}

// tell asks the daemon what the model should know, and gives it to the agent.
func (h *hook) tell(ctx context.Context, e *hooks.Event) {
	r := &e.Request
	if r.Event == op.HookPrompt && r.Prompt == "" {
		r.Prompt = lastPrompt(r.Agent, e.Transcript)
	}
	r.Prompt = strings.ToValidUTF8(r.Prompt[:min(len(r.Prompt), maxPrompt)], "")
	if r.Event == op.HookPrompt && r.Prompt == "" {
		return
	}
	d, err := h.connect()
	if err != nil {
		return
	}
	if r.Event == op.HookStart {
		d.drainBefore(ctx, asking)
	}
	if res, err := d.call(ctx, r); err == nil {
		_, _ = h.out.Write(e.Answer(res.Text)) // an agent that does not read it has no use for it
	}
}

// hear gives the daemon what was said. Without a daemon the spool keeps where that stands.
func (h *hook) hear(ctx context.Context, e *hooks.Event) {
	d, err := h.connect()
	if err != nil {
		return
	}
	short, cancel := before(ctx, spare)
	defer cancel()
	r := &e.Request
	line := spooled{r.Agent, r.Event, r.Session, r.Project, r.Folder, e.Transcript}
	if r.Event == op.HookTurn || !d.spool.wasOff(r.Agent, r.Session) {
		r.Messages = said(e)
	}
	_, err = d.call(short, r)
	switch {
	case away(err) && line.Transcript != "" && !d.spool.wasOff(r.Agent, r.Session):
		d.spool.keep(line)
	case err == nil && r.Event == op.HookTurn:
		d.drain(short)
	}
}

// places takes the flags that say where the daemon is out of a command line.
func places(args []string) (rest []string, app cli.App) {
	for len(args) > 0 {
		name, value, whole := strings.Cut(args[0], "=")
		flag := placeFlag(&app, name)
		switch {
		case flag == nil && !strings.HasPrefix(name, "-"):
			rest = append(rest, args[0])
		case flag != nil && !whole && len(args) > 1:
			value, args = args[1], args[1:]
		}
		if flag != nil {
			flag(value)
		}
		args = args[1:]
	}
	return rest, app
}

// placeFlag returns what sets a flag, nil if there is no such flag.
func placeFlag(app *cli.App, name string) func(string) {
	set := func(at *string) func(string) { return func(v string) { *at = v } }
	switch name {
	case "--home":
		return set(&app.Home)
	case "--config":
		return set(&app.ConfigFile)
	case "--socket":
		return set(&app.Socket)
	case "--set":
		return func(v string) { app.Set = append(app.Set, v) }
	}
	return nil
}
