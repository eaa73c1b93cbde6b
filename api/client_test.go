package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

func TestNoDaemon(t *testing.T) {
	stale := socketIn(t)
	leaveStale(t, stale)
	for _, c := range []struct {
		name, sock, says string
		code             memory.Code
	}{
		{"nothing there", "/nonexistent/emberd.sock", `no daemon is listening on /nonexistent/emberd.sock; start the daemon with "emberd serve", or set EMBERD_HOME to the folder of the running daemon`, memory.Unavailable},
		{"stale", stale, "no daemon is listening on " + stale + "; start the daemon with", memory.Unavailable},
		{"too long", "/" + strings.Repeat("x", maxSocketPath), "choose a folder with a shorter path", memory.Invalid},
	} {
		client := NewClient(c.sock, nil)
		_, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: "x"})
		if memory.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s), want %s saying %q", c.name, err, memory.CodeOf(err), c.code, c.says)
		}
		for _, err := range client.Events(t.Context(), "") {
			if memory.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, events: %v, want %q", c.name, err, c.says)
			}
		}
	}
}

func TestASocketOfAnother(t *testing.T) {
	client := NewClient("/run/x.sock", nil)
	err := client.unreached(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", os.ErrPermission)})
	if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "cannot connect to socket /run/x.sock: permission denied; ") {
		t.Errorf("got %v", err)
	}
}

// deaf listens, reads one request whole and says what it is told to.
func deaf(t *testing.T, say string) (sock string) {
	t.Helper()
	ln, err := Listen(socketIn(t))
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(conn, say)
			}
			conn.Close()
		}
	})
	t.Cleanup(func() { ln.Close(); served.Wait() })
	return ln.Addr().String()
}

func TestAnswersThatGetLost(t *testing.T) {
	for _, c := range []struct{ name, say string }{
		{"nothing", ""},
		{"half a header", "HTTP/1.1 200 OK\r\nContent-"},
		{"half a body", "HTTP/1.1 200 OK\r\nEmberd-Version: x protocol/1\r\nContent-Length: 100\r\n\r\n{"},
	} {
		client := NewClient(deaf(t, c.say), nil)
		for _, write := range []func() error{
			func() error {
				_, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: "private words"})
				return err
			},
			func() error { _, err := op.Forget.Call(t.Context(), client, &op.ForgetRequest{ID: "0199"}); return err },
		} {
			if err := write(); !errors.Is(err, memory.ErrUnknown) || !strings.Contains(err.Error(), "; check before you repeat it") {
				t.Errorf("%s: write = %v, want unknown", c.name, err)
			}
		}
		_, err := op.Search.Call(t.Context(), client, &op.SearchRequest{Query: "private words"})
		if !errors.Is(err, memory.ErrUnavailable) || strings.Contains(err.Error(), "private") {
			t.Errorf("%s: search = %v, want unavailable and not a word of the query", c.name, err)
		}
	}
}

// What goes to a connection that a daemon left behind when it was killed was done
// by nobody, so that there is nothing to look for. Whether the client sees in time
// that the connection is dead is chance, hence the rounds.
func TestRequestsToADaemonThatIsGone(t *testing.T) {
	for range 300 {
		ln, err := Listen(socketIn(t))
		if err != nil {
			t.Fatal(err)
		}
		var served sync.WaitGroup
		served.Go(func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
				return
			}
			ln.Close()
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
		})
		client := NewClient(ln.Addr().String(), nil)
		if _, err := op.Version.Call(t.Context(), client, &op.VersionRequest{}); err != nil {
			t.Fatal(err)
		}
		served.Wait()
		if _, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: "x"}); memory.CodeOf(err) != memory.Unavailable {
			t.Fatalf("save: %v (%s), want %s", err, memory.CodeOf(err), memory.Unavailable)
		}
	}
}

func TestWhenTimeIsUp(t *testing.T) {
	leave := make(chan struct{})
	sock, _ := serve(t, NewHandler(backendFunc(func(context.Context, *op.Spec, any) (any, error) {
		<-leave
		return nil, errors.New("never seen")
	}), nil), nil)
	defer close(leave)
	hasty := NewClient(sock, &ClientOptions{Timeout: time.Millisecond})
	defer hasty.Close()
	if _, err := op.Status.Call(t.Context(), hasty, &op.StatusRequest{}); !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "did not answer within 1ms") {
		t.Errorf("status = %v, want that no answer came in time", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	patient := NewClient(sock, nil)
	defer patient.Close()
	if _, err := op.Save.Call(gone, patient, &op.SaveRequest{Content: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("save with a cancelled context = %v, want context.Canceled", err)
	}
}

func TestOtherDaemons(t *testing.T) {
	const body = `{"version":"9.0","protocol":9}`
	for _, c := range []struct{ daemon, says string }{
		{"9.0 protocol/9", "the client is older; upgrade the client"},
		{"nonsense", "is not emberd; set EMBERD_HOME to the folder of the running daemon"},
		{"", "is not emberd; set EMBERD_HOME to the folder of the running daemon"},
	} {
		sock := deaf(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nEmberd-Version: %s\r\nContent-Length: %d\r\n\r\n%s", c.daemon, len(body), body))
		client := NewClient(sock, &ClientOptions{Name: "cli", Version: "1"})
		_, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
		if memory.CodeOf(err) != memory.Incompatible || !strings.Contains(err.Error(), c.says) {
			t.Errorf("daemon %q: %v, want %q", c.daemon, err, c.says)
		}
		for _, err := range client.Events(t.Context(), "") {
			if memory.CodeOf(err) != memory.Incompatible {
				t.Errorf("daemon %q, events: %v, want incompatible", c.daemon, err)
			}
		}
		if got, err := op.Version.Call(t.Context(), client, &op.VersionRequest{}); err != nil || got.Protocol != 9 {
			t.Errorf("daemon %q: version = %+v, %v; want it told all the same", c.daemon, got, err)
		}
	}
}

func TestMeet(t *testing.T) {
	for _, c := range []struct {
		client, daemon int
		says           string
	}{
		{1, 1, "<nil>"},
		{2, 1, "daemon 0.1 (protocol 1) and client cli/0.2 (protocol 2) are incompatible: the daemon is older; stop it, then run: emberd serve"},
		{1, 2, "daemon 0.1 (protocol 2) and client cli/0.2 (protocol 1) are incompatible: the client is older; upgrade the client"},
	} {
		if got := fmt.Sprint(checkCompatible(peerVersion{"cli/0.2", c.client}, peerVersion{"0.1", c.daemon})); got != c.says {
			t.Errorf("client %d, daemon %d: %q, want %q", c.client, c.daemon, got, c.says)
		}
	}
}

func TestParseSide(t *testing.T) {
	for _, s := range []peerVersion{{"cli/0.1.0", 1}, {"0.1.0 (devel) protocol/x", 12}, {"日本", 3}} {
		if got, ok := parsePeerVersion(s.String()); !ok || got != s {
			t.Errorf("parseSide(%q) = %v, %v", s, got, ok)
		}
	}
	for _, text := range []string{"", "cli", "cli protocol/", "cli protocol/x", "cli protocol/0", "cli protocol/-1", "c\x00 protocol/1", "c\xff protocol/1", strings.Repeat("x", maxClaim) + " protocol/1"} {
		if got, ok := parsePeerVersion(text); ok {
			t.Errorf("parseSide(%q) = %v, want a refusal", text, got)
		}
	}
}

// What encoding/json and net/http would change on the way is refused before.
func TestRequestsThatWouldNotArriveAsTheyAre(t *testing.T) {
	client := NewClient(filepath.Join(t.TempDir(), "nobody"), nil)
	raw := func(s string) map[string]json.RawMessage { return map[string]json.RawMessage{"k": json.RawMessage(s)} }
	for _, c := range []struct {
		name string
		call func() error
		says string
	}{
		{"content", call(t, client, op.Save, &op.SaveRequest{Content: "a\xff"}), "invalid content: the text is not UTF-8; send UTF-8 text"},
		{"tag", call(t, client, op.Save, &op.SaveRequest{Content: "a", Tags: []string{"b", "\xff"}}), "invalid tags[1]: the text is not UTF-8; send UTF-8 text"},
		{"meta key", call(t, client, op.Save, &op.SaveRequest{Content: "a", Meta: map[string]json.RawMessage{"\xff": nil}}), ": the text is not UTF-8; send UTF-8 text"},
		{"meta value", call(t, client, op.Save, &op.SaveRequest{Content: "a", Meta: raw("\"\xff\"")}), "invalid meta.k: the text is not UTF-8; send UTF-8 text"},
		{"no JSON", call(t, client, op.Save, &op.SaveRequest{Content: "a", Meta: raw("{")}), "cannot encode the request of save as JSON"},
		{"pointer", call(t, client, op.Edit, &op.EditRequest{ID: "0199", Content: new("\xff")}), "invalid content: the text is not UTF-8; send UTF-8 text"},
		{"item", call(t, client, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "\xff"}}}), "invalid items[0].content: the text is not UTF-8; send UTF-8 text"},
		{"key of an item", call(t, client, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "a", IdempotencyKey: "k"}}}), "Idempotency-Key of items[0] cannot be part of this request"},
		{"embedded", call(t, client, op.Search, &op.SearchRequest{Filter: op.Filter{Project: "\xff"}}), "invalid project: the text is not UTF-8; send UTF-8 text"},
		{"key with a line", call(t, client, op.Save, &op.SaveRequest{Content: "a", IdempotencyKey: "a\nb"}), "contains a control character"},
		{"key with a space", call(t, client, op.Save, &op.SaveRequest{Content: "a", IdempotencyKey: " a"}), "begins or ends with white space"},
		{"rev with a quote", call(t, client, op.Edit, &op.EditRequest{ID: "0199", IfMatch: `a"b`}), "contains a quotation mark"},
		{"no id", call(t, client, op.Show, &op.ShowRequest{}), `invalid id ""`},
		{"dots", call(t, client, op.Show, &op.ShowRequest{ID: ".."}), `invalid id ".."`},
		{"long query", call(t, client, op.Search, &op.SearchRequest{Query: strings.Repeat("x", maxHeader)}), "too many bytes in the parameters of search: 65549 (limit 32768)"},
	} {
		err := c.call()
		if code := memory.CodeOf(err); code != memory.Invalid && code != memory.TooLarge || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s), want %q", c.name, err, code, c.says)
		}
	}
}

func call[Req, Res any](t *testing.T, c *Client, o op.Op[Req, Res], req *Req) func() error {
	return func() error { _, err := o.Call(t.Context(), c, req); return err }
}

func TestIDsOfAnyKindArriveWhole(t *testing.T) {
	var got string
	c, _ := start(t, backendFunc(func(_ context.Context, _ *op.Spec, req any) (any, error) {
		got = req.(*op.ShowRequest).ID
		return &op.ShowResult{}, nil
	}))
	for _, id := range []string{"a,b", "a/b", "a b", "%2e", "?x", "#", "日本", "a//b", "...", "batch"} {
		if _, err := op.Show.Call(t.Context(), c, &op.ShowRequest{ID: id}); err != nil || got != id {
			t.Errorf("id %q arrived as %q, %v", id, got, err)
		}
	}
}
