package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"emberd/internal/mcp/answer"
	"emberd/memory"
	"emberd/op"
)

func TestAnAnswerOfATool(t *testing.T) {
	store := newStore(t, newClock(), nil)
	for i := range 10 {
		saved(t, store, &op.SaveRequest{Content: fmt.Sprintf("%d %s", i, strings.Repeat("salt ", 9_000))})
	}
	s := newSession(t, store, CortexGraph)
	res, _ := s.callTool("search_memory", json.RawMessage(`{"query":"salt","preview_length":0}`))
	var out struct {
		Count     int
		Results   []struct{ ID memory.ID }
		Truncated bool
		Next      string `json:"how_to_go_on"`
	}
	if err := json.Unmarshal(res.Structured, &out); err != nil {
		t.Fatal(err)
	}
	if len(res.Structured) > answer.Max || !out.Truncated || out.Next != "results has 5 of 10; use a smaller page_size" {
		t.Errorf("%d bytes, %d results of %d, %q", len(res.Structured), len(out.Results), out.Count, out.Next)
	}
	if !same(json.RawMessage(res.text()), res.Structured) {
		t.Error("the text is not the structured content")
	}
}
