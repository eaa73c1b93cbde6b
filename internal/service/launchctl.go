package service

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
)

// An AgentManager is launchd for the user's own agents, reached by launchctl.
type AgentManager struct {
	Dir string // ~/Library/LaunchAgents
	UID int
	Log string // of the daemon
}

// goneTime is how long an agent may take to end: what it is given by the list, and some.
const goneTime = 20 * time.Second

// Folder is where the files go.
func (m AgentManager) Folder() string { return m.Dir }

// Render is [Launchd].
func (m AgentManager) Render(s *Spec) ([]File, error) { return Launchd(s) }

func (m AgentManager) domain() string { return "gui/" + strconv.Itoa(m.UID) }
func (m AgentManager) target() string { return m.domain() + "/" + Label }

// Answers tells whether agents can be started here, or why not and what to do.
func (m AgentManager) Answers(ctx context.Context) error {
	_, err := call(ctx, "launchctl", "print", m.domain())
	if failed, ok := errors.AsType[*callError](err); ok {
		return memory.Errorf(memory.Unavailable, "%w; log in to the Mac desktop, because an SSH session is not enough",
			failed)
	}
	return err
}

// Enable has the daemon started now and at every login, of a file that was written. When
// it was changed, what runs is started again.
func (m AgentManager) Enable(ctx context.Context, changed bool) error {
	if changed {
		if err := m.Stop(ctx); err != nil {
			return err
		}
	}
	if err := m.control(ctx, "enable", m.target()); err != nil {
		return err
	}
	return m.Start(ctx)
}

// Disable stops the daemon. It does not come back once its file is gone.
func (m AgentManager) Disable(ctx context.Context) error { return m.Stop(ctx) }

// Forget does nothing: launchd knows no file of an agent that it has let go of.
func (m AgentManager) Forget(context.Context) error { return nil }

// Start starts the daemon.
func (m AgentManager) Start(ctx context.Context) error {
	known, err := m.known(ctx)
	if err != nil {
		return err
	}
	if known {
		return m.control(ctx, "kickstart", m.target())
	}
	return m.control(ctx, "bootstrap", m.domain(), filepath.Join(m.Dir, AgentName))
}

// Stop stops the daemon until the next login, and waits until it is gone: launchd refuses
// to take an agent that it has not let go of yet.
func (m AgentManager) Stop(ctx context.Context) error {
	known, err := m.known(ctx)
	if err != nil || !known {
		return err
	}
	if err := m.control(ctx, "bootout", m.target()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, goneTime)
	defer cancel()
	for {
		known, err := m.known(ctx)
		if err == nil && !known {
			return nil
		}
		select {
		case <-ctx.Done():
			return memory.Errorf(memory.Busy, "launchd did not unload %s within %v; try again", m.target(), goneTime)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Restart starts the daemon again.
func (m AgentManager) Restart(ctx context.Context) error {
	known, err := m.known(ctx)
	if err != nil {
		return err
	}
	if !known {
		return m.Start(ctx)
	}
	return m.control(ctx, "kickstart", "-k", m.target())
}

// known tells whether launchd has the agent.
func (m AgentManager) known(ctx context.Context) (bool, error) {
	_, err := call(ctx, "launchctl", "print", m.target())
	if _, ok := errors.AsType[*callError](err); ok {
		return false, nil
	}
	return err == nil, err
}

// State asks how the daemon is. launchctl prints no format that is promised to stay, so
// two of its lines are looked for and nothing else is relied on.
func (m AgentManager) State(ctx context.Context) (*State, error) {
	out, err := call(ctx, "launchctl", "print", m.target())
	if _, ok := errors.AsType[*callError](err); ok {
		return &State{Says: "not loaded"}, nil
	}
	if err != nil {
		return nil, err
	}
	st := &State{Enabled: true, Says: "loaded"}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch name {
		case "state":
			st.Says, st.Running = value, value == "running"
		case "pid":
			st.PID, _ = strconv.Atoi(value)
		}
	}
	return st, nil
}

// Logs writes the last lines that the daemon said to out, and with follow those to come,
// until ctx ends.
func (m AgentManager) Logs(ctx context.Context, out io.Writer, lines int, follow bool) error {
	args := []string{"-n", strconv.Itoa(lines)}
	if follow {
		args = append(args, "-F")
	}
	return stream(ctx, out, "tail", append(args, m.Log)...)
}

// Advice is what else a user should know after an installation.
func (m AgentManager) Advice() string { return "the daemon writes its log to " + m.Log }

func (m AgentManager) control(ctx context.Context, args ...string) error {
	_, err := call(ctx, "launchctl", args...)
	if failed, ok := errors.AsType[*callError](err); ok {
		return memory.Errorf(memory.Unavailable, "%w; to see the log of the daemon, run: emberd service logs", failed)
	}
	return err
}
