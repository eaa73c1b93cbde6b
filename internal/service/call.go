package service

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"emberd/memory"
)

// State is what the manager knows about the daemon.
type State struct {
	Running bool   `json:"running"`
	Enabled bool   `json:"enabled"` // comes by itself after a login
	PID     int    `json:"pid,omitempty"`
	Says    string `json:"says"`           // in the manager's own words
	File    string `json:"file,omitempty"` // of the unit that systemd goes by, from a package for example
}

// maxSaid bounds what is kept of a program's output.
const maxSaid = 64 << 10

// call runs a program of the manager's that is looked for on PATH, and returns what it
// said. Its language is fixed, since errors are recognised by their words.
func call(ctx context.Context, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", memory.Errorf(memory.Unavailable,
			"program %s not found on PATH; run emberd serve with the service manager of this system", name)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=")
	var out, said limited
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), &callError{line: filepath.Base(name) + " " + strings.Join(args, " "),
			code: failed.ExitCode(), said: strings.TrimSpace(said.String())}
	}
	if err != nil {
		return "", memory.Errorf(memory.Unavailable, "cannot run %s: %w", path, err)
	}
	return out.String(), nil
}

// callError is a program that ended badly.
type callError struct {
	line string
	code int
	said string
}

func (e *callError) Error() string {
	said, _, _ := strings.Cut(e.said, "\n")
	if said == "" {
		said = "no output"
	}
	return e.line + " failed: " + strings.TrimSuffix(said, ".")
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxSaid - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// stream runs a program whose output goes to out as it comes.
func stream(ctx context.Context, out io.Writer, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return memory.Errorf(memory.Unavailable, "cannot read the daemon log: program %s not found on PATH", name)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "SYSTEMD_PAGER=")
	var said limited
	cmd.Stdout, cmd.Stderr = out, &said
	err = cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return memory.Errorf(memory.Unavailable, "%w",
			&callError{line: name, code: failed.ExitCode(), said: strings.TrimSpace(said.String())})
	}
	return err
}
