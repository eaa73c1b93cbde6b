package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"emberd/memory"
)

// A UserManager is systemd's manager of the user's own services, reached by systemctl and
// journalctl.
type UserManager struct {
	Dir  string // where it reads units: $XDG_CONFIG_HOME/systemd/user
	User string // for advice
}

// Folder is where the files go.
func (m UserManager) Folder() string { return m.Dir }

// Render is [Systemd].
func (m UserManager) Render(s *Spec) ([]File, error) { return Systemd(s) }

// Answers tells whether a manager is there at all, or why not and what to do.
func (m UserManager) Answers(ctx context.Context) error {
	_, err := m.control(ctx, "show", "--property=Version")
	return err
}

// Enable has the daemon started now and at every login, of files that were written. When
// they were changed, what runs is started again.
func (m UserManager) Enable(ctx context.Context, changed bool) error {
	verb := "start"
	if changed {
		verb = "restart"
	}
	return m.all(ctx, []string{"daemon-reload"}, []string{"enable", SocketName, UnitName},
		[]string{verb, SocketName, UnitName})
}

// Disable stops the daemon and lets it not come back. Its files can be removed then, and
// Forget be called.
func (m UserManager) Disable(ctx context.Context) error {
	return m.all(ctx, []string{"disable", "--now", SocketName, UnitName})
}

// Forget has the manager notice that files are gone.
func (m UserManager) Forget(ctx context.Context) error { return m.all(ctx, []string{"daemon-reload"}) }

// Start starts the daemon, whatever went wrong with it before.
func (m UserManager) Start(ctx context.Context) error {
	return m.all(ctx, []string{"reset-failed", SocketName, UnitName}, []string{"start", SocketName, UnitName})
}

// Stop stops the daemon and its socket, by which it would come back.
func (m UserManager) Stop(ctx context.Context) error {
	return m.all(ctx, []string{"stop", SocketName, UnitName})
}

// Restart starts the daemon again. Its socket stays, so callers wait for it.
func (m UserManager) Restart(ctx context.Context) error {
	return m.all(ctx, []string{"reset-failed", SocketName, UnitName}, []string{"restart", UnitName})
}

func (m UserManager) all(ctx context.Context, calls ...[]string) error {
	for _, args := range calls {
		if _, err := m.control(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// State asks how the daemon is.
func (m UserManager) State(ctx context.Context) (*State, error) {
	out, err := m.control(ctx, "show", UnitName,
		"--property=ActiveState,SubState,Result,MainPID,UnitFileState,StatusText,FragmentPath")
	if err != nil {
		return nil, err
	}
	is := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		is[name] = value
	}
	st := &State{Running: is["ActiveState"] == "active" || is["ActiveState"] == "reloading",
		Enabled: is["UnitFileState"] == "enabled", File: is["FragmentPath"]}
	st.PID, _ = strconv.Atoi(is["MainPID"]) // 0 for none
	st.Says = fmt.Sprintf("%s (%s)", is["ActiveState"], is["SubState"])
	if result := is["Result"]; result != "" && result != "success" {
		st.Says += ", " + result
	}
	if st.Running && is["StatusText"] != "" { // which outlives the daemon
		st.Says += ": " + is["StatusText"]
	}
	return st, nil
}

// Logs writes the last lines that the daemon said to out, and with follow those to come,
// until ctx ends.
func (m UserManager) Logs(ctx context.Context, out io.Writer, lines int, follow bool) error {
	args := []string{"--user", "--unit=" + UnitName, "--no-pager", "--lines=" + strconv.Itoa(lines)}
	if follow {
		args = append(args, "--follow")
	}
	return stream(ctx, out, "journalctl", args...)
}

// Advice is what else a user should know after an installation.
func (m UserManager) Advice() string {
	return "the daemon runs only while you are logged in; to run it at all times, run: loginctl enable-linger " + m.User
}

func (m UserManager) control(ctx context.Context, args ...string) (string, error) {
	out, err := call(ctx, "systemctl", append([]string{"--user"}, args...)...)
	failed, ok := errors.AsType[*callError](err)
	if !ok {
		return out, err
	}
	// "No medium found" and "No such file" are a manager that does not run, "not been booted"
	// is a container or WSL; a unit that was never loaded cannot be reset, and need not be.
	without := "in a container, or in WSL without systemd=true in /etc/wsl.conf, use emberd serve, which Ctrl+C stops"
	if strings.Contains(failed.said, "not been booted with systemd") {
		return "", memory.Errorf(memory.Unavailable, "cannot reach systemd (%s); %s", failed.said, without)
	}
	for _, sign := range []string{"connect to bus", "XDG_RUNTIME_DIR"} {
		if strings.Contains(failed.said, sign) {
			return "", memory.Errorf(memory.Unavailable, "cannot reach the systemd user manager (%s); %s; if this "+
				"machine runs systemd, log in on it, or run: loginctl enable-linger %s", failed.said, without, m.User)
		}
	}
	if len(args) > 0 && args[0] == "reset-failed" && strings.Contains(failed.said, "not loaded") {
		return out, nil
	}
	return "", memory.Errorf(memory.Unavailable, "%w; to see the log of the daemon, run: emberd service logs", failed)
}
