package durable_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/internal/durable"
)

// What is no regular file is refused, and never waited for; a link to one is followed.
func TestOpenGivenWaitsForNothing(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	pipe, toPipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "to-pipe"), filepath.Join(dir, "socket")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	must(t, errors.Join(os.Symlink(file, link), unix.Mkfifo(pipe, 0o600), os.Symlink(pipe, toPipe)))
	l, err := net.Listen("unix", socket)
	must(t, err)
	defer l.Close()
	for _, name := range []string{pipe, toPipe, socket, dir, "/dev/null"} {
		for _, open := range []func(string) (*os.File, error){durable.OpenGiven, durable.OpenGivenOrPipe} {
			if _, err := open(name); !errors.Is(err, durable.ErrNotRegular) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{file, link} {
		if b, err := durable.ReadGiven(name, 4); err != nil || string(b) != "text" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if _, err := durable.ReadGiven(name, 3); !errors.Is(err, durable.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pipe that a shell made for <(…) is read.
func TestOpenGivenOrPipeTakesAShellsPipe(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	_, err = w.WriteString("text")
	must(t, errors.Join(err, w.Close()))
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := durable.OpenGiven(name); !errors.Is(err, durable.ErrNotRegular) {
		t.Errorf("OpenGiven: %v", err)
	}
	f, err := durable.OpenGivenOrPipe(name)
	must(t, err)
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
}

// A file of emberd's own that damage made very long is not read.
func TestReadAllIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "own.json")
	must(t, os.WriteFile(name, nil, 0o600))
	must(t, os.Truncate(name, 30<<30))
	if _, err := durable.ReadAll(durable.OS{}, name); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
	}
}
