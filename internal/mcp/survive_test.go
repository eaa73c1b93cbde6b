package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"emberd/op"
)

// faulty is a store whose every operation panics.
type faulty struct{}

func (faulty) Invoke(context.Context, *op.Spec, any) (any, error) { panic("a fault") }

// TestAPanicIsAnError goes over the transport of emberd mcp, where nothing else would
// stop a panic.
func TestAPanicIsAnError(t *testing.T) {
	s := newSession(t, faulty{}, CortexGraph)
	res, answer := s.callTool("save_memory", json.RawMessage(`{"content":"x"}`))
	const want = `{"success":false,"message":"save_memory failed: an internal error occurred; to see the details, search the daemon log for fault `
	if res == nil || !res.IsError || !strings.HasPrefix(res.text(), want) {
		t.Errorf("a tool that panics answers %s", answer.Result)
	}
	if got := s.ask("resources/read", json.RawMessage(`{"uri":"memory://graph"}`)); !strings.Contains(string(got.Error), "an internal error occurred; to see the details, search the daemon log for fault") {
		t.Errorf("a resource that panics answers %s, and the error %s", got.Result, got.Error)
	}
	if got := s.ask("ping", json.RawMessage(`{}`)); got.Error != nil {
		t.Errorf("after it: %s", got.Error)
	}
}
