package main

import (
	"strings"
	"testing"
)

// A line that is no message does not end the conversation.
func TestAgentAnswersLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	a := startAgent(t, t.TempDir(), "--tools", "reference")
	for _, tt := range []struct{ name, line, want string }{
		{"no JSON", `{"jsonrpc":"2.0","id":7,"method":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"words", `hello`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"too deep", strings.Repeat("[", 1<<20), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`},
		{"a method that is no text", `{"jsonrpc":"2.0","id":"a","method":7}`, `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,`},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"a number", `7`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"an empty batch", `[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"a long line", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 16<<20) + `"}}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too many bytes in the message: 16777275 (limit 16777216)`},
	} {
		a.send(t, tt.line)
		line, err := a.out.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, tt.want) {
			t.Fatalf("%s is answered with %q (%v), want %s", tt.name, line, err, tt.want)
		}
	}
	a.send(t, "\r")
	a.send(t, `{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":"none"}}`) // an answer gets none
	a.ask(t, "ping", `{}`)
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.end(t)
}

// The protocol had batches until 2025-03-26.
func TestAgentAnswersABatchOneByOne(t *testing.T) {
	t.Parallel()
	a := startAgent(t, t.TempDir())
	a.send(t, `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":7,"method":"ping"},3,{"jsonrpc":"2.0","id":8,"method":"ping"}]`)
	answered := map[int]bool{}
	for range 3 {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		m, err := parseMessage(line)
		if err != nil {
			t.Error(err)
		}
		answered[m.ID] = m.Error == nil
	}
	if answered[0] || !answered[7] || !answered[8] {
		t.Errorf("answered are %v, want 7 and 8, and an error for what has no id", answered)
	}
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.end(t)
}
