package page_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Another user of the machine, who saw the address in the command line of the browser, gets no session, and the
// address stays good for its user.
func TestACodeIsForItsUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give a connection to another user")
	}
	w := start(t)
	_, code, _ := strings.Cut(w.page.Address(), "#")
	for _, c := range []struct{ user, want int }{{65534, http.StatusForbidden}, {0, http.StatusNoContent}} {
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				err = give(conn, c.user)
			}
			return conn, err
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.address+"/session",
			strings.NewReader(`{"code":"`+code+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{"Content-Type": "application/json", "X-Emberd": "1",
			"Sec-Fetch-Site": "same-origin"} {
			req.Header.Set(key, value)
		}
		res, err := (&http.Transport{DialContext: dial, DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || c.user != 0 && !bytes.Contains(text, []byte("another user")) {
			t.Errorf("user %d: %d %s, want %d", c.user, res.StatusCode, text, c.want)
		}
	}
}

// give makes a connection one that a program of another user opened.
func give(conn net.Conn, user int) error {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Fchown(int(fd), user, -1) }); err != nil {
		return err
	}
	return failed
}
