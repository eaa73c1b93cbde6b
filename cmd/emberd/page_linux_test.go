package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// TestPage opens the page that the command serves, from under its sandbox: the page reaches the daemon, also after
// that starts again, and no file; the daemon has no port; an interrupt ends the page.
func TestPage(t *testing.T) {
	t.Parallel()
	d, home, vault := confined(t)
	cmd := exec.Command(namedEmberd(t), "ui", "--print", "--home", home)
	cmd.Env = cli.ForeignFree(os.Environ())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("no address was printed")
	}
	address, code, _ := strings.Cut(lines.Text(), "/#")
	cookie := pageSession(t, address, code)
	if got := pageView(t, address, cookie, "/health"); !strings.Contains(got, "All is well") {
		t.Errorf("the page shows %s", got)
	}
	if status := procStatus(t, cmd.Process.Pid); !strings.Contains(status, "NoNewPrivs:\t1") {
		t.Errorf("the page has no sandbox: %s", status)
	}
	if ports := listening(t, d.cmd.Process.Pid); ports > 0 {
		t.Errorf("the daemon listens at %d ports", ports)
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-d.exited
	startConfined(t, home, vault)
	if got := pageView(t, address, cookie, "/search"); !strings.Contains(got, "Search") || strings.Contains(got, "This did not work") {
		t.Errorf("after the daemon started again: %s", got)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the page ended with %v", err)
	}
}

// pageSession exchanges the code of an address for a cookie.
func pageSession(t *testing.T, address, code string) *http.Cookie {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/session", strings.NewReader(fmt.Sprintf(`{"code":%q}`, code)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Emberd", "1")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent || len(res.Cookies()) != 1 {
		t.Fatalf("the code was answered %d", res.StatusCode)
	}
	return res.Cookies()[0]
}

// pageView returns a view as a browser gets it.
func pageView(t *testing.T, address string, cookie *http.Cookie, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(cookie)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if _, err := bufio.NewReader(res.Body).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func procStatus(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// listening counts the TCP sockets of a process that listen.
func listening(t *testing.T, pid int) (n int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		to, _ := os.Readlink(fd) // a file that was closed meanwhile is no socket
		inode := strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")
		if inode != to && strings.Contains(string(table), " "+inode+" ") {
			n++
		}
	}
	return n
}

// TestPageAsFile writes the page to a new file that the user alone can read.
func TestPageAsFile(t *testing.T) {
	t.Parallel()
	_, home, _ := confined(t)
	name := filepath.Join(clitest.ShortDir(t), "page.html")
	run := func() (string, error) {
		cmd := exec.Command(namedEmberd(t), "page", "--export", name, "--home", home)
		cmd.Env = cli.ForeignFree(os.Environ())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() < 1000 {
		t.Errorf("the file is %v (%v)", info, err)
	}
	if out, err := run(); err == nil {
		t.Errorf("it was written again: %s", out)
	}
}
