package bench

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
}

// held opens some connections, says something on each, and holds them until they are closed.
func held(socket, text string, n int) {
	for range n {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
		_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); err != nil && !os.IsTimeout(err) {
			return
		}
	}
	time.Sleep(10 * time.Second)
}

// dripping sends the header of a request a byte at a time.
func dripping(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		time.Sleep(time.Millisecond)
		return
	}
	defer conn.Close()
	for _, b := range []byte("GET /v1/version HTTP/1.1\r\nHost: emberd\r\nX: " + strings.Repeat("x", 10_000)) {
		if _, err := conn.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// pouring sends a body of a gigabyte, with its length told or not.
func pouring(socket string) {
	for _, head := range []string{"Content-Length: 1073741824", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			time.Sleep(time.Millisecond)
			return
		}
		_, err = io.WriteString(conn, "POST /v1/memories HTTP/1.1\r\nHost: emberd\r\nContent-Type: application/json\r\n"+head+"\r\n\r\n")
		part := strings.Repeat("x", 1<<20)
		if strings.Contains(head, "chunked") {
			part = strconv.FormatInt(1<<20, 16) + "\r\n" + part + "\r\n"
		}
		for sent := 0; err == nil && sent < 1024; sent++ {
			_, err = io.WriteString(conn, part)
		}
		conn.Close()
	}
}

// unread asks for large answers and reads none of them.
func unread(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		time.Sleep(time.Millisecond)
		return
	}
	defer conn.Close()
	for range 100 {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(conn, "GET /v1/export?limit=1000 HTTP/1.1\r\nHost: emberd\r\n\r\n"); err != nil {
			break
		}
	}
	time.Sleep(time.Minute)
}

// residentOf is the memory of a daemon's process, in bytes: proc(5).
func residentOf(tb testing.TB, d *daemon) int64 {
	tb.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(d.cmd.Process.Pid) + "/statm")
	if err != nil {
		return 0 // no Linux
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
