package api

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

const askVersion = "GET /v1/version HTTP/1.1\r\nHost: emberd\r\n\r\n"

// What waits in the kernel's queue when the end comes is answered.
func TestConnectionsThatWaitAreAnswered(t *testing.T) {
	ln, err := Listen(socketIn(t))
	if err != nil {
		t.Fatal(err)
	}
	var waiting []net.Conn
	for range 50 {
		conn := dial(t, ln.Addr().String())
		write(t, conn, askVersion)
		waiting = append(waiting, conn)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, ln, NewHandler(newShelf(), nil), nil); err != nil {
		t.Fatal(err)
	}
	for n, conn := range waiting {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("connection %d: answer %v, %v; want 200", n, resp, err)
		}
	}
}

// Clients write without a pause on connections that they keep, and the end comes: each request is either carried out and
// answered, or refused unread.
func TestNoRequestIsInDoubt(t *testing.T) {
	for range 20 {
		var done, answered atomic.Int64
		sock, stop := serve(t, NewHandler(backendFunc(func(context.Context, *op.Spec, any) (any, error) {
			done.Add(1)
			return &op.TouchResult{}, nil
		}), nil), nil)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				c := NewClient(sock, nil)
				defer c.Close()
				for {
					_, err := op.Touch.Call(context.Background(), c, &op.TouchRequest{ID: "0199"})
					if memory.CodeOf(err) == memory.Unknown {
						t.Error(err)
					}
					if err != nil {
						return
					}
					answered.Add(1)
				}
			})
		}
		for answered.Load() < 100 {
			time.Sleep(100 * time.Microsecond)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if done.Load() != answered.Load() {
			t.Errorf("%d requests were carried out and %d answered", done.Load(), answered.Load())
		}
	}
}

// A request that comes on a connection after the end has begun is not carried out.
func TestRequestsAfterTheEndAreRefused(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var done atomic.Int64
	sock, stop := serve(t, NewHandler(backendFunc(func(_ context.Context, s *op.Spec, _ any) (any, error) {
		if s == op.Status.Spec {
			close(entered)
			<-leave
			return &op.StatusResult{}, nil
		}
		done.Add(1)
		return &op.VersionResult{}, nil
	}), nil), nil)
	slow, idle := dial(t, sock), dial(t, sock)
	write(t, idle, askVersion)
	answers := bufio.NewReader(idle)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("answer %v, %v; want 200", resp, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	write(t, slow, "GET /v1/status HTTP/1.1\r\nHost: emberd\r\n\r\n")
	<-entered
	var end sync.WaitGroup
	end.Go(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	resp, err = http.ReadResponse(answers, nil)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout || !resp.Close {
		t.Errorf("answer %v, %v; want 408 and the end", resp, err)
	}
	close(leave)
	end.Wait()
	if resp, err = http.ReadResponse(bufio.NewReader(slow), nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("answer %v, %v; want that of what was taken", resp, err)
	}
	if done.Load() != 1 {
		t.Errorf("%d requests were carried out, want 1", done.Load())
	}
}

// A patient client waits for a daemon that comes, and not again for one that did not.
func TestPatience(t *testing.T) {
	sock := socketIn(t)
	c := NewClient(sock, &ClientOptions{Patience: 100 * time.Millisecond})
	defer c.Close()
	ask := func() error { _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); return err }
	if err := ask(); memory.CodeOf(err) != memory.Unavailable || !c.away.lost.Load() {
		t.Fatalf("version = %v, want that nobody listens and that the wait was in vain", err)
	}
	c.away.lost.Store(false)
	c.away.most = time.Minute
	asked := make(chan error)
	go func() { asked <- ask() }()
	ln, err := Listen(sock)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- Serve(ctx, ln, NewHandler(newShelf(), nil), nil) }()
	if err := <-asked; err != nil || c.away.lost.Load() {
		t.Errorf("version = %v, want the answer of the daemon that came", err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A patient client sends a save again that was not answered, under one key; and no write without one.
func TestWhatAPatientClientRepeats(t *testing.T) {
	for _, c := range []struct {
		name     string
		call     func(*Client) error
		requests int
		code     memory.Code
	}{
		{"save", func(c *Client) error {
			_, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: "x"})
			return err
		}, 2, ""},
		{"add", func(c *Client) error {
			_, err := op.Add.Call(t.Context(), c, &op.AddRequest{Content: "x"})
			return err
		}, 2, ""},
		{"search", func(c *Client) error {
			_, err := op.Search.Call(t.Context(), c, &op.SearchRequest{Query: "x"})
			return err
		}, 2, ""},
		{"touch", func(c *Client) error {
			_, err := op.Touch.Call(t.Context(), c, &op.TouchRequest{ID: "0199"})
			return err
		}, 1, memory.Unknown},
	} {
		sock, keys := forgetful(t)
		client := NewClient(sock, &ClientOptions{Patience: time.Minute})
		if err := c.call(client); memory.CodeOf(err) != c.code && (err != nil || c.code != "") {
			t.Errorf("%s: %v, want code %q", c.name, err, c.code)
		} else if err != nil && strings.Contains(err.Error(), c.name) {
			t.Errorf("%v names an operation, which is not what the caller of a tool called", err)
		}
		client.Close()
		if got := *keys.Load(); len(got) != c.requests || c.requests > 1 && got[0] != got[1] ||
			c.name == "save" && got[0] == "" {
			t.Errorf("%s: requests with the keys %q, want %d of one key", c.name, got, c.requests)
		}
	}
}

// forgetful hangs up on the first request and answers the next. It notes the idempotency keys.
func forgetful(t *testing.T) (sock string, keys *atomic.Pointer[[]string]) {
	t.Helper()
	ln, err := Listen(socketIn(t))
	if err != nil {
		t.Fatal(err)
	}
	keys = new(atomic.Pointer[[]string])
	keys.Store(&[]string{})
	var served sync.WaitGroup
	served.Go(func() {
		for first := true; ; first = false {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				got := append(*keys.Load(), r.Header.Get(headerKey))
				keys.Store(&got)
				if !first {
					_, _ = io.WriteString(conn, strings.Join([]string{"HTTP/1.1 200 OK",
						"Emberd-Version: x protocol/1", "Connection: close", "Content-Length: 2", "", "{}"}, "\r\n"))
				}
			}
			conn.Close()
		}
	})
	t.Cleanup(func() { ln.Close(); served.Wait() })
	return ln.Addr().String(), keys
}
