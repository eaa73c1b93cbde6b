package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"emberd/internal/durable"
	"emberd/op"
)

// floorRole is the role of a process that does for a save only what no daemon can leave out: net/http on a unix
// socket takes the request, and a group commit has a line on the disk before it is answered.
const floorRole = "floor"

// groupCommit appends to a file: the first caller while a group is open writes and syncs it for all callers that join.
type groupCommit struct {
	disk sync.Mutex // held by who writes
	mu   sync.Mutex // guards open and the lines of that group
	open *commitGroup
	f    durable.File
}

type commitGroup struct {
	lines []byte
	done  chan struct{}
	err   error
}

// append returns when the line is on the disk.
func (c *groupCommit) append(line []byte) error {
	c.mu.Lock()
	g, first := c.open, c.open == nil
	if first {
		g = &commitGroup{done: make(chan struct{})}
		c.open = g
	}
	g.lines = append(g.lines, line...)
	c.mu.Unlock()
	if !first {
		<-g.done
		return g.err
	}
	c.disk.Lock()
	defer c.disk.Unlock()
	c.mu.Lock()
	c.open = nil
	c.mu.Unlock()
	_, err := c.f.Write(g.lines)
	g.err = errors.Join(err, c.f.Sync())
	close(g.done)
	return g.err
}

// beFloor serves a socket until the process is killed. The line that it appends is in the file "line" beside it.
func beFloor(socket string) {
	if err := serveFloor(socket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveFloor(socket string) error {
	dir := filepath.Dir(socket)
	line, err := os.ReadFile(filepath.Join(dir, "line"))
	if err != nil {
		return err
	}
	f, err := durable.OS{}.CreateAppend(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	ln, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	c := &groupCommit{f: f}
	return http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil || c.append(line) != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
}

// floorSaver starts such a process and returns how one of so many clients saves in it, each through a connection of
// its own.
func floorSaver(b *testing.B, line []byte, clients int) func(client int, text string) error {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "em")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "line"), line, 0o600); err != nil {
		b.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	p := startPlayer(b, floorRole, socket, "")
	if said, err := p.out.ReadString('\n'); err != nil {
		b.Fatalf("the floor does not serve: %q, %v", said, err)
	}
	all := make([]*http.Client, clients)
	for i := range all {
		t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}
		b.Cleanup(t.CloseIdleConnections)
		all[i] = &http.Client{Transport: t}
	}
	return func(client int, text string) error { return postTo(all[client], text) }
}

func postTo(c *http.Client, text string) error {
	body, err := json.Marshal(op.SaveRequest{Content: text})
	if err != nil {
		return err
	}
	res, err := c.Post("http://floor/memories", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	if res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("the floor answers %s", res.Status)
	}
	return errors.Join(err, res.Body.Close())
}
