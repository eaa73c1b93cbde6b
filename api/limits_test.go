package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/memory"
	"emberd/op"
)

func TestTheThrottledAreToldWhy(t *testing.T) {
	const why = "few of its memories were of use"
	limits := NewLimits(&LimitOptions{Slow: func(a memory.Actor) string {
		if a.Session == "noisy" {
			return why
		}
		return ""
	}})
	sock, _ := serve(t, NewHandler(newShelf(), &HandlerOptions{Limits: limits}), &ServeOptions{Limits: limits})
	for session, want := range map[string]string{"noisy": why, "quiet": ""} {
		got := ask(t, sock, "GET /v1/status HTTP/1.1\nEmberd-Session: "+session)
		if got.StatusCode != http.StatusOK || got.Header.Get(headerThrottled) != want {
			t.Errorf("%s: %s, throttled %q, want %q", session, got.Status, got.Header.Get(headerThrottled), want)
		}
	}
	var said []string
	c := NewClient(sock, &ClientOptions{Session: "noisy"})
	defer c.Close()
	ctx := op.WithNotice(t.Context(), func(s string) { said = append(said, s) })
	if _, err := op.Version.Call(ctx, c, &op.VersionRequest{}); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], why) {
		t.Errorf("the client was told %q, want why", said)
	}
}

// Names that clients claim within MCP are first known behind the door: who is slowed down
// by such a name is, whatever its version, and no other client of the same process.
func TestAClaimedNameIsSlowedDownByItself(t *testing.T) {
	t.Parallel()
	limits := NewLimits(&LimitOptions{Slow: func(a memory.Actor) string {
		if strings.HasPrefix(a.Client, "noisy/") {
			return "few of its memories were of use"
		}
		return ""
	}})
	inv := limits.Invoker(backendFunc(func(context.Context, *op.Spec, any) (any, error) { return &op.VersionResult{}, nil }))
	as := func(client string) {
		ctx := op.WithCaller(t.Context(), memory.Actor{Via: "mcp", PID: 1, Client: client})
		if _, err := op.Version.Call(ctx, inv, &op.VersionRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	as("noisy/1")
	begun := time.Now()
	var second sync.WaitGroup
	second.Go(func() { as("noisy/2") })
	for range 100 {
		as("quiet/1")
	}
	second.Wait()
	if took := time.Since(begun); took < 900*time.Millisecond { // later it may always be
		t.Errorf("the second request was let in after %v, want a second", took)
	}
}

// The questions of who is slowed down by such a name wait in places of their own.
func TestAClaimedNameHoldsUpNoOtherByItsQuestions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limits := NewLimits(&LimitOptions{Slow: func(a memory.Actor) string {
			if a.Client == "noisy/1" {
				return "few of its memories were of use"
			}
			return ""
		}})
		inv := limits.Invoker(backendFunc(func(context.Context, *op.Spec, any) (any, error) { return &op.SearchResult{}, nil }))
		search := func(client string) error {
			ctx := op.WithCaller(t.Context(), memory.Actor{Via: "mcp", PID: 1, Client: client})
			_, err := op.Search.Call(ctx, inv, &op.SearchRequest{Query: "x"})
			return err
		}
		var all sync.WaitGroup
		for range 2 * maxCallerReads {
			all.Go(func() { _ = search("noisy/1") }) // of which some wait too long
		}
		synctest.Wait()
		begun := time.Now()
		if err := search("quiet/1"); err != nil || time.Since(begun) > 0 {
			t.Errorf("another client was answered after %v: %v", time.Since(begun), err)
		}
		all.Wait()
	})
}

// A caller that asks for more than its queue holds is told so, and another is served.
func TestAFullQueueIsRefused(t *testing.T) {
	bubble.Test(t, testAFullQueue)
}

// testAFullQueue runs in a bubble, where no queue takes too long for a busy machine.
func testAFullQueue(t *testing.T) {
	entered, leave := make(chan struct{}, 1000), make(chan struct{})
	limits := NewLimits(nil)
	inv := limits.Invoker(backendFunc(func(context.Context, *op.Spec, any) (any, error) {
		entered <- struct{}{}
		<-leave
		return &op.SaveResult{}, nil
	}))
	ctx := op.WithCaller(t.Context(), memory.Actor{PID: 1})
	var all sync.WaitGroup
	errs := make(chan error, 1000)
	for range 256 + 256 + 1 {
		all.Go(func() {
			_, err := op.Save.Call(ctx, inv, &op.SaveRequest{Content: "x"})
			errs <- err
		})
	}
	err := <-errs // the first that is done is the one that was not let in
	if err == nil || !strings.Contains(err.Error(), "too many pending requests from this program (limit 256)") {
		t.Errorf("one too many: %v", err)
	}
	all.Go(func() {
		if _, err := op.Save.Call(op.WithCaller(t.Context(), memory.Actor{PID: 2}), inv, &op.SaveRequest{Content: "x"}); err != nil {
			t.Errorf("another caller: %v", err)
		}
	})
	for range 257 {
		<-entered
	}
	close(leave)
	all.Wait()
}

// Answers take memory from when they are made until they are taken: few are made at once,
// and a caller that takes none is asked to before it may have more.
func TestAnswersTakeBoundedMemory(t *testing.T) {
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	limits := NewLimits(nil)
	inv := limits.Invoker(backendFunc(func(context.Context, *op.Spec, any) (any, error) {
		entered <- struct{}{}
		<-leave
		return &op.SearchResult{}, nil
	}))
	greedy := memory.Actor{PID: 1}
	search := func(who memory.Actor) error {
		_, err := op.Search.Call(op.WithCaller(t.Context(), who), inv, &op.SearchRequest{Query: "x"})
		return err
	}
	var all sync.WaitGroup
	for range maxCallerReads + 1 {
		all.Go(func() {
			if err := search(greedy); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxCallerReads {
		<-entered
	}
	select {
	case <-entered:
		t.Errorf("more than %d questions of one caller are answered at once", maxCallerReads)
	default:
	}
	close(leave)
	all.Wait()
	release := limits.hold(greedy, maxHeld+1)
	if err := search(greedy); err == nil || !strings.Contains(err.Error(), "this program has not read 32 MiB of responses") {
		t.Errorf("with too much unread: %v", err)
	}
	if err := search(memory.Actor{PID: 2}); err != nil {
		t.Errorf("another caller: %v", err)
	}
	release()
	if err := search(greedy); err != nil {
		t.Errorf("after all was read: %v", err)
	}
	if len(limits.callers) != 0 {
		t.Errorf("%d callers are remembered that hold nothing", len(limits.callers))
	}
}

// What a fault of ours ended holds nothing any more: a program of which two large requests
// met one could otherwise send no third.
func TestAFaultHoldsNoPlace(t *testing.T) {
	limits := NewLimits(nil)
	sock, _ := serve(t, NewHandler(backendFunc(func(context.Context, *op.Spec, any) (any, error) { panic("a fault") }), &HandlerOptions{Limits: limits}), nil)
	c := NewClient(sock, nil)
	defer c.Close()
	if _, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: strings.Repeat("x", 2*smallBody)}); memory.CodeOf(err) != memory.Internal {
		t.Fatalf("a fault is answered with %v, want one of emberd's own", err)
	}
	limits.mu.Lock()
	defer limits.mu.Unlock()
	if len(limits.callers) > 0 {
		t.Errorf("%d callers hold something", len(limits.callers))
	}
}

// A header that is longer than 64 KiB is refused; net/http adds 4 KiB to what it is told.
func TestHeadersAreBounded(t *testing.T) {
	_, sock := start(t, newShelf())
	for n, want := range map[int]int{maxHeader - 1000: http.StatusOK, maxHeader + 8<<10: http.StatusRequestHeaderFieldsTooLarge} {
		if got := ask(t, sock, "GET /v1/version HTTP/1.1\nX-Much: "+strings.Repeat("x", n)); got.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", n, got.Status, want)
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	list := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	for name, test := range map[string]struct{ body, want string }{
		"one":              {ping, ""},
		"most in a batch":  {list(maxMessages, ping), ""},
		"one more":         {list(maxMessages+1, ping), "too many messages in the batch (limit 100)"},
		"most values":      {`{"a":` + list(maxValues-3, "1") + `}`, ""},
		"more values":      {`{"a":` + list(maxValues, "1") + `}`, "too many values in the message (limit 200000)"},
		"deepest":          {strings.Repeat("[", maxNesting), ""},
		"deeper":           {strings.Repeat("[", maxNesting+1), "too many levels of nested JSON in the message (limit "},
		"signs in a text":  {`{"a":"` + strings.Repeat(`[{,\"`, 100_000) + `"}`, ""},
		"half a text":      {`{"a":"\`, ""},
		"what is not JSON": {"]]]}}}", ""},
	} {
		err := checkMessage([]byte(test.body))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// hostileConns is how many connections a hostile process opens; make proof wants more.
func hostileConns() int {
	if os.Getenv("EMBERD_PROOF") != "" {
		return 10_000
	}
	return 1_000
}

// holdConnections is a process that opens connections, says the beginning of a request on
// most of them, and holds them until it is killed.
func holdConnections(sock string) {
	begin := []string{"", "GET", "GET /v1/version HTTP/1.1\r\nHost: emberd\r\n",
		"POST /v1/undo HTTP/1.1\r\nHost: emberd\r\nContent-Length: 1073741824\r\n\r\n{",
		"POST /v1/undo HTTP/1.1\r\nHost: emberd\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n" + strings.Repeat("[", 100_000)}
	var held []net.Conn // or else the collector would close them
	for i := range hostileConns() {
		conn, err := connect(context.Background(), sock)
		if err != nil {
			fmt.Println(err)
			return
		}
		held = append(held, conn)
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte(begin[i%len(begin)])) // it may have been closed already
	}
	fmt.Println("held")
	time.Sleep(time.Hour)
	runtime.KeepAlive(held)
}

// TestProofCase61HostileConnections is case 61: however many connections processes open and
// whatever they leave half said on them, files and memory stay bounded, and others are
// served.
func TestProofCase61HostileConnections(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("/proc, where Linux lists open files, is missing: ", err)
	}
	c, sock := start(t, newShelf())
	files, before := openNow(t), memoryNow()
	for range 2 { // processes
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "API_TEST_HOLD="+sock)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		said := make(chan string, 1)
		go func() {
			text := make([]byte, 100)
			n, _ := out.Read(text)
			said <- string(text[:n])
		}()
		for done := false; !done; {
			if _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err != nil {
				t.Fatal("meanwhile: ", err)
			}
			select {
			case text := <-said:
				if done = true; !strings.HasPrefix(text, "held") {
					t.Errorf("the hostile process said %q", text)
				}
			default:
			}
		}
	}
	// Each has its share, and some are being told that they have.
	if n := openNow(t) - files; n > 2*maxCallerConns+40 {
		t.Errorf("%d more files are open, want no more than the shares of two", n)
	}
	if grown := int64(memoryNow()) - int64(before); grown > 64<<20 {
		t.Errorf("%d bytes more are in use, want less than 64 MiB", grown)
	}
}

func openNow(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// memoryNow is what is in use. A pool gives up what it holds at the second collection.
func memoryNow() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// A body that says it is a gigabyte is refused before it is sent, and one that does not
// say so after four MiB of it.
func TestCase61AGigabyteIsNotRead(t *testing.T) {
	_, sock := start(t, newShelf())
	conn := dial(t, sock)
	write(t, conn, "POST /v1/memories HTTP/1.1\r\nHost: emberd\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(1<<30)+"\r\n\r\n")
	text := make([]byte, 12)
	if _, err := conn.Read(text); err != nil || string(text) != "HTTP/1.1 413" {
		t.Errorf("answered %q, %v; want 413", text, err)
	}
	before := memoryNow()
	chunked := dial(t, sock)
	write(t, chunked, "POST /v1/memories HTTP/1.1\r\nHost: emberd\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := strconv.FormatInt(1<<20, 16) + "\r\n" + strings.Repeat("x", 1<<20) + "\r\n"
	sent := 0
	for ; sent < 1024; sent++ {
		if _, err := chunked.Write([]byte(chunk)); err != nil {
			break
		}
	}
	if _, err := chunked.Read(text); sent > 16 || err != nil || string(text) != "HTTP/1.1 413" {
		t.Errorf("after %d MiB answered %q, %v; want 413", sent, text, err)
	}
	if grown := int64(memoryNow()) - int64(before); grown > 16<<20 {
		t.Errorf("%d bytes more are in use", grown)
	}
}
