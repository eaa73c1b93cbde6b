package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/internal/testutil/dirsnap"
	"emberd/memory"
	"emberd/op"
)

func TestManyRequestsLeaveNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	sock, stop := serve(t, NewHandler(newShelf(), nil), nil)
	c := NewClient(sock, nil)
	for range 1000 {
		if _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			if _, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: fmt.Sprintf("thing %d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := op.List.Call(t.Context(), c, &op.ListRequest{})
	if err != nil || list.Total != 200 {
		t.Errorf("list = %+v, %v; want 200 memories", list, err)
	}
	c.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	dirsnap.Goroutines(t, before)
	if _, err := os.Lstat(sock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestOtherUsersAreTurnedAway(t *testing.T) {
	ln, err := Listen(socketIn(t))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	g := newLimitedListener(ln, os.Geteuid()+1, slog.New(slog.NewTextHandler(&log, nil)))
	accepted := make(chan error, 1)
	go func() { _, err := g.Accept(); accepted <- err }()
	for range 2 {
		conn := dial(t, ln.Addr().String())
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("read %d bytes, %v; want a closed connection", n, err)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v, want net.ErrClosed", err)
	}
	want := fmt.Sprintf("uid=%d pid=%d refused=2", os.Geteuid(), os.Getpid())
	if !strings.Contains(log.String(), want) {
		t.Errorf("log is %q, want it to have %q", log.String(), want)
	}
}

// A real process of another user, through a socket that was left open to all.
func TestCase59AnotherUsersProcessGetsNoAnswer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else; TestOtherUsersAreTurnedAway covers the rule")
	}
	_, sock := start(t, newShelf())
	program := filepath.Join(filepath.Dir(sock), "caller")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("no copy of the test can be made here: ", err)
	}
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(sock); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(sock, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = []string{"API_TEST_CALL_AS_OTHER=" + sock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "); the daemon might be restarting, so try again") {
		t.Errorf("the other user got %q, %v; want no answer", out, err)
	}
}

func TestHalfRequests(t *testing.T) {
	before := runtime.NumGoroutine()
	sock, stop := serve(t, NewHandler(newShelf(), nil), nil)
	for _, half := range []string{
		"", "GET", "GET /v1/version HTTP/1.1\r\n", "GET /v1/version HTTP/1.1\r\nHost: emberd\r\n",
		"POST /v1/memories HTTP/1.1\r\nHost: emberd\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"content\":",
		"POST /v1/memories HTTP/1.1\r\nHost: emberd\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n{",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	} {
		conn := dial(t, sock)
		write(t, conn, half)
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	c := NewClient(sock, nil)
	if list, err := op.List.Call(t.Context(), c, &op.ListRequest{}); err != nil || list.Total != 0 {
		t.Errorf("list = %+v, %v; want an empty one", list, err)
	}
	c.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	dirsnap.Goroutines(t, before)
}

func TestRequestsThatNeverEndAreCutOff(t *testing.T) {
	for half, want := range map[string]string{
		"POST /v1/undo HTTP/1.1\r\nHost: emberd\r\nContent-Length: 9\r\n\r\n{": "the request body is incomplete",
		"POST /v1/undo HTTP/1.1\r\n": "",
	} {
		bubble.Test(t, func(t *testing.T) {
			conn := overPipe(t, newShelf(), &peer{})
			write(t, conn, half)
			begun := time.Now()
			answer, err := io.ReadAll(conn)
			if err != nil || !strings.Contains(string(answer), want) || time.Since(begun) > readTimeout+time.Second {
				t.Errorf("answer %q, %v after %v; want %q and the end", answer, err, time.Since(begun), want)
			}
		})
	}
}

// The deadline for sending a request is none for carrying it out.
func TestASlowOperationIsNotCutOff(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		conn := overPipe(t, backendFunc(func(ctx context.Context, _ *op.Spec, _ any) (any, error) {
			time.Sleep(10 * readTimeout)
			return &op.VersionResult{Version: "slow"}, ctx.Err()
		}), &peer{})
		write(t, conn, "GET /v1/version HTTP/1.1\r\nHost: emberd\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("answer %v, %v; want 200", resp, err)
		}
	})
}

func TestHandlersWantToKnowWhoCalls(t *testing.T) {
	conn := overPipe(t, newShelf(), nil)
	write(t, conn, "GET /v1/version HTTP/1.1\r\nHost: emberd\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("answer %v, %v; want 403", resp, err)
	}
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	sock, stop := serve(t, NewHandler(backendFunc(func(ctx context.Context, _ *op.Spec, _ any) (any, error) {
		close(entered)
		<-leave
		return &op.VersionResult{Version: "late"}, ctx.Err()
	}), nil), nil)
	idle := dial(t, sock) // asks nothing, and holds nothing up
	c := NewClient(sock, nil)
	defer c.Close()
	var all sync.WaitGroup
	all.Go(func() {
		if got, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err != nil || got.Version != "late" {
			t.Errorf("version = %+v, %v; want late", got, err)
		}
	})
	<-entered
	all.Go(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	// So the shutdown has begun. A request that crosses it learns that it was not taken.
	if got, err := io.ReadAll(idle); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 408 ") {
		t.Errorf("read %q, %v, want status 408 and the end", got, err)
	}
	close(leave)
	all.Wait()
}

func TestShutdownEndsAfterItsGrace(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	sock, stop := serve(t, NewHandler(backendFunc(func(context.Context, *op.Spec, any) (any, error) {
		close(entered)
		<-leave
		return nil, errors.New("never seen")
	}), nil), &ServeOptions{Grace: time.Millisecond})
	c := NewClient(sock, nil)
	defer c.Close()
	var call sync.WaitGroup
	call.Go(func() {
		if _, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: "x"}); !errors.Is(err, memory.ErrUnknown) {
			t.Errorf("save = %v, want unknown", err)
		}
	})
	<-entered
	if err := stop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve = %v, want that it cut requests off", err)
	}
	call.Wait()
}

func TestServeFailsWithItsListener(t *testing.T) {
	ln, err := Listen(socketIn(t))
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := Serve(t.Context(), ln, http.NotFoundHandler(), nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve = %v, want net.ErrClosed", err)
	}
}

func BenchmarkVersion(b *testing.B) {
	c, _ := start(b, newShelf())
	for b.Loop() {
		if _, err := op.Version.Call(b.Context(), c, &op.VersionRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}
