package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "emberd/internal/testutil/ramdisk"
	"emberd/op"
)

// TestMain lets the test binary stand in for a process of another user, or a hostile one.
func TestMain(m *testing.M) {
	if sock := os.Getenv("API_TEST_CALL_AS_OTHER"); sock != "" {
		_, err := op.Version.Call(context.Background(), NewClient(sock, nil), &op.VersionRequest{})
		fmt.Print(err)
		return
	}
	if sock := os.Getenv("API_TEST_HOLD"); sock != "" {
		holdConnections(sock)
		return
	}
	os.Exit(m.Run())
}

// socketIn returns a path for a socket in a folder that does not exist yet. Its name is not emberd.sock, because a
// doctor that runs beside the test connects to every socket of that name.
func socketIn(t testing.TB) string { return filepath.Join(t.TempDir(), "s", "test.sock") }

// serve runs h on a fresh socket until the returned function is called, which
// returns what Serve did. Without a call the test's end is the end.
func serve(t testing.TB, h http.Handler, opt *ServeOptions) (sock string, stop func() error) {
	t.Helper()
	sock = socketIn(t)
	ln, err := Listen(sock)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, h, opt) }()
	stop = sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() { _ = stop() })
	return sock, stop
}

// start runs a daemon of shelf b and returns a client of it.
func start(t testing.TB, b Backend) (*Client, string) {
	t.Helper()
	sock, _ := serve(t, NewHandler(b, nil), nil)
	c := NewClient(sock, &ClientOptions{Name: "cli", Version: "test"})
	t.Cleanup(c.Close)
	return c, sock
}

// backendFunc is a Backend of one function and no events.
type backendFunc func(context.Context, *op.Spec, any) (any, error)

func (f backendFunc) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	return f(ctx, s, req)
}

func (f backendFunc) Events(context.Context, string) iter.Seq[op.Event] {
	return func(func(op.Event) bool) {}
}

func save(t testing.TB, c *Client, content string, tags ...string) *op.SaveResult {
	t.Helper()
	res, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: content, Tags: tags})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func dial(t testing.TB, sock string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// overPipe serves b to one connection in memory, so that time can be the
// bubble's; who is what the kernel would say of the client, nil for nothing.
func overPipe(t *testing.T, b Backend, who *peer) net.Conn {
	client, server := net.Pipe()
	srv := newServer(NewHandler(b, nil), nil, slog.New(slog.DiscardHandler))
	srv.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		if who == nil {
			return ctx
		}
		return context.WithValue(ctx, peerKey{}, *who)
	}
	ln := &oneConn{conn: server, end: make(chan struct{})}
	var served sync.WaitGroup
	served.Go(func() { _ = srv.Serve(ln) })
	t.Cleanup(func() { client.Close(); srv.Close(); served.Wait() })
	return client
}

// oneConn is a listener of a single connection.
type oneConn struct {
	conn  net.Conn
	end   chan struct{}
	taken bool
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	if !l.taken {
		l.taken = true
		return l.conn, nil
	}
	<-l.end
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { l.once.Do(func() { close(l.end) }); return nil }
func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

// answered is a whole answer.
type answered struct {
	*http.Response
	body string
}

// ask sends one request as it is written, line ends aside, and reads the answer.
func ask(t testing.TB, sock, request string) answered {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	head = strings.ReplaceAll(head, "\n", "\r\n")
	if !strings.Contains(head, "\r\nHost:") {
		head += "\r\nHost: emberd"
	}
	if body != "" {
		head += fmt.Sprintf("\r\nContent-Length: %d", len(body))
	}
	conn := dial(t, sock)
	defer conn.Close()
	// The server may answer before it has read everything.
	var sent sync.WaitGroup
	defer sent.Wait()
	sent.Go(func() { _, _ = io.WriteString(conn, head+"\r\n\r\n"+body) })
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	return answered{resp, string(all)}
}
