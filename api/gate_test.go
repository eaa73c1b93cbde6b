package api

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"emberd/op"
)

// crowd is a gate whose connections say themselves of which process they are.
type crowd struct {
	*limitedListener
	sock string
	next int
	in   chan *clientConn
}

func newCrowd(t *testing.T, most, own int) *crowd {
	t.Helper()
	ln, err := Listen(socketIn(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{limitedListener: newLimitedListener(ln, os.Geteuid(), slog.New(slog.DiscardHandler)), sock: ln.Addr().String(), in: make(chan *clientConn)}
	c.most, c.own = most, own
	c.whose = func(net.Conn) (peer, error) { return peer{os.Geteuid(), c.next}, nil }
	t.Cleanup(func() { c.Close() })
	return c
}

// come connects as a process, and returns both ends; the gate's is nil when it was turned
// away, which the end of the connection tells.
func (c *crowd) come(t *testing.T, pid int) (net.Conn, *clientConn) {
	t.Helper()
	c.next = pid
	conn := dial(t, c.sock)
	raw, err := c.Listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	who, ok := c.recognize(raw)
	if !ok {
		t.Fatal("a connection of ours was not recognised")
	}
	g := c.admit(raw, who)
	if g == nil {
		c.refuse(raw, who)
	}
	return conn, g
}

func TestAProgramHasItsShareOfConnections(t *testing.T) {
	c := newCrowd(t, 8, 3)
	var first *clientConn
	for range 3 {
		if _, first = c.come(t, 1); first == nil {
			t.Fatal("turned away within the share")
		}
	}
	conn, g := c.come(t, 1)
	if g != nil {
		t.Fatal("let in beyond the share")
	}
	write(t, conn, "GET /v1/version HTTP/1.1\r\nHost: emberd\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "too many connections (limit 3 from this program") {
		t.Errorf("turned away with %s %s, %v", resp.Status, body, err)
	}
	if _, g := c.come(t, 2); g == nil {
		t.Error("another program was turned away")
	}
	first.Close()
	first.Close() // a second time makes no second place
	if _, g := c.come(t, 1); g == nil {
		t.Error("turned away although one has left")
	}
	if _, g := c.come(t, 1); g != nil {
		t.Error("let in beyond the share")
	}
}

func TestWhoHasMostMakesRoom(t *testing.T) {
	c := newCrowd(t, 8, 6)
	conns, guests := make([]net.Conn, 6), make([]*clientConn, 6)
	for i := range guests {
		conns[i], guests[i] = c.come(t, 1)
	}
	for i, state := range []http.ConnState{http.StateActive, http.StateActive, http.StateIdle, http.StateActive, http.StateActive, http.StateActive} {
		guests[i].spoke.Store(i != 4)
		guests[i].state.Store(int32(state))
	}
	guests[0].running.Store(true)
	for pid := 2; pid <= 3; pid++ {
		if _, g := c.come(t, pid); g == nil {
			t.Fatalf("%d was turned away though there is room", pid)
		}
	}
	// The silent one goes first, then the idle one, then two of those that wait.
	for _, want := range []int{4, 2} {
		if _, g := c.come(t, 10+want); g == nil {
			t.Fatal("turned away though another has more")
		}
		if _, err := conns[want].Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("connection %d: %v, want that it is closed", want, err)
		}
	}
	for range 2 {
		if _, g := c.come(t, 20); g == nil {
			t.Fatal("turned away though another has more")
		}
	}
	if _, g := c.come(t, 20); g != nil { // both would have two then
		t.Error("let in although nobody has more")
	}
	if n := len(c.guests); n != 8 {
		t.Errorf("%d are in, want 8", n)
	}
	if guests[0].rank() != runningRank {
		t.Error("the one that runs was closed")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v, want net.ErrClosed", err)
	}
}

func TestConnectionsLeaveRoomForFiles(t *testing.T) {
	for files, want := range map[uint64]int{0: 32, 64: 32, 256: 128, 1024: 512, 1 << 20: 512, ^uint64(0): 512} {
		if got := connsOf(files); got != want {
			t.Errorf("of %d files, %d may be connections, want %d", files, got, want)
		}
	}
}

// More connections than one program may have, each of its own, are told why in words.
func TestManyConnectionsOfOneProgram(t *testing.T) {
	c, sock := start(t, newShelf())
	var in []net.Conn
	for range maxCallerConns {
		in = append(in, dial(t, sock))
	}
	if _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err == nil || !strings.Contains(err.Error(), "too many connections (limit 128 from this program") {
		t.Errorf("one too many: %v", err)
	}
	for _, conn := range in {
		conn.Close()
	}
	for { // the daemon learns of it in a moment
		if _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err == nil {
			return
		}
	}
}
