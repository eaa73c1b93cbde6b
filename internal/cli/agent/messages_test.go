package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/engine"
	"emberd/internal/mcp"
	"emberd/stm"
)

// talk is a conversation over standard input and output, from the client's end.
type talk struct {
	to   io.WriteCloser
	from *bufio.Reader
	sent int
	end  func()
}

// piped is the transport of emberd mcp with another input and output.
type piped struct {
	in  io.Reader
	out io.Writer
}

func (p piped) Connect(context.Context) (sdk.Connection, error) {
	c := &stdioConn{out: p.out, lines: make(chan line), answered: make(chan struct{}, 1), closed: make(chan struct{})}
	go c.scan(bufio.NewReader(p.in))
	return c, nil
}

func newTalk(t testing.TB, e *engine.Engine, profile mcp.Profile) *talk {
	server, err := mcp.New(mcp.Options{Invoker: e, Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	asked, ask := io.Pipe()
	answered, answer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, piped{asked, answer}) }()
	k := &talk{to: ask, from: bufio.NewReaderSize(answered, 1<<20), end: func() {
		ask.Close()
		answered.Close()
		cancel()
		<-done
	}}
	k.exchange(t, []byte(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}`))
	k.exchange(t, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return k
}

// exchange sends a line and then a ping, and reads until both are answered: the line if it
// is a request.
func (k *talk) exchange(t testing.TB, text []byte) {
	k.sent++
	ping := fmt.Sprint("ping ", k.sent)
	open := map[any]bool{ping: true}
	if id, asks := requestID(text); asks {
		open[id] = true
	}
	go func() {
		_, _ = fmt.Fprintf(k.to, "%s\n{\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":\"ping\"}\n", text, ping)
	}()
	late := time.AfterFunc(time.Minute, func() { panic(fmt.Sprintf("no answer to %q", text)) })
	defer late.Stop()
	for len(open) > 0 {
		line, err := k.from.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the server ended with %q: %v", text, err)
		}
		var got struct {
			ID     any             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%q is answered with %q: %v", text, line, err)
		}
		if got.Error != nil && got.Error.Code == -32603 {
			t.Fatalf("%q is answered with a fault of our own: %s", text, line)
		}
		if got.ID != nil && reflect.TypeOf(got.ID).Comparable() {
			delete(open, got.ID)
		}
	}
}

// requestID is the id of a line that is a request by the letter of JSON-RPC.
func requestID(text []byte) (id any, asks bool) {
	var m map[string]any
	if json.Unmarshal(text, &m) != nil || m["jsonrpc"] != "2.0" {
		return nil, false
	}
	method, named := m["method"].(string)
	if !named || method == "" {
		return nil, false
	}
	switch v := m["id"].(type) {
	case string:
		return v, true
	case float64:
		return v, v == float64(int32(v))
	}
	return nil, false
}

// FuzzMessages sends lines to a real server of each profile, over the transport of emberd
// mcp: as they come, as a request of a method, or as a call of a tool. The server lives, and
// answers what is a request.
func FuzzMessages(f *testing.F) {
	talks, end := talksOf(f)
	f.Cleanup(end)
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `[]`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`} {
		f.Add(uint8(0), uint8(0), "", []byte(text))
	}
	for _, method := range []string{"tools/list", "resources/list", "resources/read", "prompts/get",
		"completion/complete", "logging/setLevel", "initialize"} {
		f.Add(uint8(1), uint8(1), method, []byte(`{}`))
	}
	f.Add(uint8(1), uint8(2), "memory_add", []byte(`{"content":"the tide turns at nine"}`))
	f.Add(uint8(2), uint8(2), "search_memory", []byte(`{"query":"tide","top_k":3}`))
	f.Add(uint8(3), uint8(2), "create_entities",
		[]byte(`{"entities":[{"name":"a","entityType":"b","observations":["c"]}]}`))
	f.Fuzz(func(t *testing.T, profile, form uint8, name string, text []byte) {
		if bytes.ContainsAny(text, "\n") || strings.Contains(name, "backup") || bytes.Contains(text, []byte("backup")) {
			return // lines are the transport's; a backup is written where one says
		}
		switch form % 3 {
		case 1:
			text = framed(name, text)
		case 2:
			args, err := json.Marshal(map[string]any{"name": name, "arguments": rawOr(text)})
			if err != nil {
				return
			}
			text = framed("tools/call", args)
		}
		talks[int(profile)%len(talks)].exchange(t, text)
	})
}

// framed is a request of a method with parameters, which may be anything.
func framed(method string, params []byte) []byte {
	text, _ := json.Marshal(method) // texts always encode
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%s,"params":%s}`, text, params)
}

func rawOr(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return string(text)
}

// talksOf begins a conversation with a server of each profile over one engine.
func talksOf(f *testing.F) (talks []*talk, end func()) {
	dir, err := os.MkdirTemp("", "messages")
	if err != nil {
		f.Fatal(err)
	}
	opt := engine.DefaultOptions()
	opt.Data, opt.State, opt.Durability = filepath.Join(dir, "data"), filepath.Join(dir, "state"), stm.None
	e, err := engine.Open(opt)
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range mcp.Profiles() {
		talks = append(talks, newTalk(f, e, p))
	}
	return talks, func() {
		for _, k := range talks {
			k.end()
		}
		_ = e.Close()
		_ = os.RemoveAll(dir)
	}
}
