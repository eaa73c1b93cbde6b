// Package beads keeps issues in the tracker of the program bd
// (github.com/steveyegge/beads). What it is given shows in the list of processes, so that
// no word of a memory may be among it.
package beads

import (
	"bytes"
	"context"
	"emberd/internal/text"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Program is the name that is looked for on PATH.
const Program = "bd"

// timeout is how long one call may take: bd may wait for a lock of its database.
const timeout = 20 * time.Second

// waitAfter is how long what bd left behind may hold its output open.
const waitAfter = time.Second

// maxOutput bounds what is read of an answer.
const maxOutput = 8 << 20

// Tracker is the program in a folder. It may be used by any number of goroutines.
type Tracker struct {
	Dir string // in which it is run; "" is that of this process
}

// Issue is what an issue says when it is made.
type Issue struct {
	Ref      string // what it is known by here, unique in the tracker
	Title    string
	About    string // the description
	Labels   []string
	Priority int // 0, the highest, to 4
}

// Create makes an issue and returns its id.
func (t *Tracker) Create(ctx context.Context, is Issue) (string, error) {
	out, err := t.run(ctx, "create", "--json", "--title="+is.Title, "--description="+is.About, "--external-ref="+is.Ref,
		"--labels="+strings.Join(is.Labels, ","), "--priority="+strconv.Itoa(is.Priority), "--type=task")
	if err != nil {
		return "", err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(out, &made); err != nil || !isID(made.ID) {
		return "", errors.New("bd create did not print the ID of an issue")
	}
	return made.ID, nil
}

// Start says that somebody works on an issue.
func (t *Tracker) Start(ctx context.Context, id, who string) error {
	_, err := t.run(ctx, "update", id, "--json", "--status=in_progress", "--assignee="+who)
	return err
}

// Reopen says that an issue waits for somebody, closed or not.
func (t *Tracker) Reopen(ctx context.Context, id string) error {
	_, err := t.run(ctx, "update", id, "--json", "--status=open", "--assignee=")
	return err
}

// Close closes an issue.
func (t *Tracker) Close(ctx context.Context, id, reason string) error {
	_, err := t.run(ctx, "close", id, "--json", "--reason="+reason)
	return err
}

// Refs are the ids of all issues that are not closed and have a reference, by that.
func (t *Tracker) Refs(ctx context.Context) (map[string]string, error) {
	out, err := t.run(ctx, "list", "--json", "--limit=0")
	if err != nil {
		return nil, err
	}
	var list []struct {
		ID  string
		Ref string `json:"external_ref"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, errors.New("bd list did not print a list of issues")
	}
	refs := make(map[string]string)
	for _, is := range list {
		if is.Ref != "" && isID(is.ID) {
			refs[is.Ref] = is.ID
		}
	}
	return refs, nil
}

var id = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// isID keeps out what bd would take for something else when it is given back.
func isID(text string) bool { return id().MatchString(text) }

// run runs the program with nothing on its standard input, and returns what it wrote.
func (t *Tracker) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, Program, args...)
	cmd.Dir, cmd.WaitDelay = t.Dir, waitAfter
	var out, says limited
	cmd.Stdout, cmd.Stderr = &out, &says
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return nil, errors.New("program bd not found on PATH, or its folder is missing")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("bd %s: %w", args[0], context.Cause(ctx))
	case errors.Is(err, exec.ErrWaitDelay): // it has ended, and something that it started has not
	case err != nil:
		return nil, fmt.Errorf("bd %s: %w: %s", args[0], err, firstLine(says.kept.Bytes()))
	}
	if out.cut {
		return nil, fmt.Errorf("bd %s printed more than %d bytes", args[0], maxOutput)
	}
	return out.kept.Bytes(), nil
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%.200q", line)
}

// limited keeps the beginning of what is written to it.
type limited struct {
	kept bytes.Buffer // not embedded, or its ReadFrom would go around Write
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := maxOutput - l.kept.Len()
	l.cut = l.cut || room < len(p)
	l.kept.Write(p[:min(room, len(p))])
	return len(p), nil
}
