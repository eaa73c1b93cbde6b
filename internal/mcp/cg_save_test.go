package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// saver calls save_memory and looks at what was stored.
type saver struct {
	*session
	store op.Invoker
}

func newSaver(t *testing.T) *saver {
	store := newStore(t, newClock(), nil)
	return &saver{newSession(t, store, CortexGraph), store}
}

// save returns the memory that a call made, or what was said against it.
func (s *saver) save(args map[string]any) (*memory.Memory, string) {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	res, got := s.callTool("save_memory", raw)
	if res == nil {
		s.t.Fatalf("save_memory: %s", got.Error)
	}
	if res.IsError {
		return nil, res.text()
	}
	var out struct {
		ID memory.ID `json:"memory_id"`
	}
	if err := json.Unmarshal(res.Structured, &out); err != nil {
		s.t.Fatal(err)
	}
	shown, err := op.Show.Call(context.Background(), s.store, &op.ShowRequest{ID: string(out.ID), Track: new(false)})
	if err != nil {
		s.t.Fatal(err)
	}
	return &shown.Memory.Memory, ""
}

func TestSavedTagsC79(t *testing.T) {
	s := newSaver(t)
	for given, want := range map[string]string{
		"invalid tag!": "invalid_tag", "v3.0": "v3-0", "#hash": "hash", "a//b": "a/b", "a.b c": "a-b_c", "API": "api",
		"Ünïcode": "ünïcode", "標籤": "標籤", strings.Repeat("t", 100): strings.Repeat("t", 100),
	} {
		m, failed := s.save(map[string]any{"content": "x", "tags": []string{given}})
		if failed != "" || !slices.Equal(m.Tags, []string{want}) {
			t.Errorf("tag %q is stored as %+v %s, want %q", given, m, failed, want)
		}
	}
	for given, says := range map[string]string{"!!!": "use at least one letter or digit", strings.Repeat("t", 101): "has 101 characters (limit 100)"} {
		if m, failed := s.save(map[string]any{"content": "x", "tags": []string{given}}); !strings.Contains(failed, says) {
			t.Errorf("tag %q is stored as %+v %s, want an error that says %q", given, m, failed, says)
		}
	}
}

func TestSavedEntitiesC80(t *testing.T) {
	s := newSaver(t)
	for given, want := range map[string]string{
		"node.js": "node-js", "a/b": "a_b", "Claude AI": "Claude AI", strings.Repeat("e", 100): strings.Repeat("e", 100),
	} {
		m, failed := s.save(map[string]any{"content": "x", "entities": []string{given}})
		if failed != "" || !slices.Equal(m.Entities, []string{want}) {
			t.Errorf("entity %q is stored as %+v %s, want %q", given, m, failed, want)
		}
	}
	if m, failed := s.save(map[string]any{"content": "x", "entities": []string{strings.Repeat("e", 101)}}); !strings.Contains(failed, "101 characters (limit 100)") {
		t.Errorf("an entity of 101 characters is stored as %+v %s", m, failed)
	}
}

func TestBoundsOfSavesC81(t *testing.T) {
	s := newSaver(t)
	many := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprint("name ", i)
		}
		return out
	}
	for _, tt := range []struct {
		param     string
		most, not any
		says      string
	}{
		{"tags", many(50), many(51), "tags has 51 items, more than 50"},
		{"entities", many(100), many(101), "entities has 101 items, more than 100"},
		{"content", strings.Repeat("ż", 50_000), strings.Repeat("ż", 50_001), "content has 50001 characters, outside 1 to 50000"},
		{"source", strings.Repeat("ż", 500), strings.Repeat("ż", 501), "source has 501 characters, more than 500"},
		{"context", strings.Repeat("ż", 1000), strings.Repeat("ż", 1001), "context has 1001 characters, more than 1000"},
		{"strength", 2.0, 2.01, "strength is 2.01, outside 1 to 2"},
		{"strength", 1.0, 0.99, "strength is 0.99, outside 1 to 2"},
		{"content", "x", "", "content has 0 characters, outside 1 to 50000"},
	} {
		if _, failed := s.save(map[string]any{"content": "x", tt.param: tt.most}); failed != "" {
			t.Errorf("%s at its bound is refused: %s", tt.param, failed)
		}
		if _, failed := s.save(map[string]any{"content": "x", tt.param: tt.not}); !strings.Contains(failed, tt.says) {
			t.Errorf("%s beyond its bound: %q, want %q", tt.param, failed, tt.says)
		}
	}
}

func TestSaveIsEnriched(t *testing.T) {
	s := newSaver(t)
	m, _ := s.save(map[string]any{"content": "Use JWT tokens for authentication in all new APIs"})
	if want := []string{"jwt", "authentication", "apis"}; !slices.Equal(m.Entities, want) || m.Strength != 1.1996 {
		t.Errorf("the page's example has entities %q and strength %v, want %q", m.Entities, m.Strength, want)
	}
	m, _ = s.save(map[string]any{"content": "Use JWT", "entities": []string{}, "strength": 1.5})
	if m.Entities != nil || m.Strength != 1.5 {
		t.Errorf("what is given came out as entities %q and strength %v", m.Entities, m.Strength)
	}
}

// CortexGraph answers with these three keys alone.
func TestUseThatIsNotToBeObserved(t *testing.T) {
	opt := engine.DefaultOptions()
	dir := t.TempDir()
	opt.Data, opt.State, opt.Durability, opt.Reinforce = filepath.Join(dir, "data"), filepath.Join(dir, "state"), stm.None, false
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	res, _ := newSession(t, e, CortexGraph).callTool("observe_memory_usage", json.RawMessage(`{"memory_ids":["mem-123"]}`))
	const want = `{"reinforced":false,"reason":"auto_reinforce is disabled in config","count":0}`
	if got := string(res.Structured); got != want || res.text() != want {
		t.Errorf("it answers %s and says %s, want %s", got, res.text(), want)
	}
}
