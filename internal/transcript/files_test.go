package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/sqlitetest"
)

// write writes a file below a folder and returns its path.
func write(t *testing.T, folder, name, data string) string {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	home := filepath.Join(t.TempDir(), "a[d]a") // no pattern
	moved := t.TempDir()
	var want []string
	for i, name := range []string{
		".claude/projects/-home-ada-shop/5e55.jsonl",
		".codex/sessions/2026/03/04/rollout-2026-03-04T10-00-00-5e55.jsonl",
		".codex/archived_sessions/rollout-2026-03-03T10-00-00-5e54.jsonl",
		".copilot/session-state/5e55/events.jsonl",
		".gemini/tmp/shop/chats/session-2026-03-04T10-00-5e55.jsonl",
		".gemini/tmp/shop/chats/session-2025-03-04T10-00-5e54.json",
		".gemini/antigravity-cli/brain/5e55/.system_generated/logs/transcript.jsonl",
		".local/share/opencode/opencode.db",
	} {
		path := write(t, home, name, "{}\n")
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	write(t, home, ".claude/projects/-home-ada-shop/5e55/subagents/agent-a1.jsonl", "{}\n")
	write(t, home, ".codex/history.jsonl", "{}\n")
	for _, c := range []struct {
		variable, name string
		agents, want   []string
	}{
		{"", "", nil, want},
		{"CLAUDE_CONFIG_DIR", "projects/-x/1.jsonl", []string{ClaudeCode}, []string{"projects/-x/1.jsonl"}},
		{"CODEX_HOME", "sessions/2026/1/2/rollout-1.jsonl", []string{Codex},
			[]string{"sessions/2026/1/2/rollout-1.jsonl"}},
		{"COPILOT_HOME", "session-state/1/events.jsonl", []string{Copilot}, []string{"session-state/1/events.jsonl"}},
		{"GEMINI_CLI_HOME", ".gemini/tmp/x/chats/session-1.json", []string{GeminiCLI},
			[]string{".gemini/tmp/x/chats/session-1.json"}},
		{"XDG_DATA_HOME", "opencode/opencode.db", []string{OpenCode}, []string{"opencode/opencode.db"}},
	} {
		for i := range c.want {
			if c.variable != "" {
				c.want[i] = write(t, moved, c.name, "{}\n")
			}
		}
		files, err := Find(home, func(name string) string {
			if name == c.variable {
				return moved
			}
			return ""
		}, c.agents)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			if got = append(got, f.Path); f.Size != 3 || f.Modified.IsZero() {
				t.Errorf("%+v", f)
			}
		}
		compare(t, got, c.want)
	}
	none, err := Find(filepath.Join(home, "none"), func(string) string { return "" }, nil)
	if len(none) > 0 || err != nil {
		t.Error(none, err)
	}
}

// The end of each transcript says what the whole of it says there, wherever the cut is.
func TestTail(t *testing.T) {
	for _, f := range fixtures {
		data, err := os.ReadFile(fixture(f.agent))
		if err != nil {
			t.Fatal(err)
		}
		last := f.want[len(f.want)-1]
		lastLine := int64(len(data)/len(f.want)) / 2
		for max := int64(1); max <= int64(len(data))+1; max += 7 {
			s, err := Tail(f.agent, fixture(f.agent), max)
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != f.id || s.Folder != "" && s.Folder != f.folder || s.Skipped > f.skipped {
				t.Fatalf("%s, %d bytes: %s in %q, skipped %d", f.agent, max, s.ID, s.Folder, s.Skipped)
			}
			got := said(s.Messages)
			if max > lastLine*8 && (len(got) == 0 || got[len(got)-1] != last) {
				t.Fatalf("%s, %d bytes: %q, want %q last", f.agent, max, got, last)
			}
		}
		s, err := Tail(f.agent, fixture(f.agent), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, said(s.Messages), f.want)
	}
}

// A line that begins where the bytes begin is read.
func TestTailAtALine(t *testing.T) {
	first := `{"type":"user","uuid":"u1","message":{"content":"One."}}` + "\n"
	second := `{"type":"user","uuid":"u2","message":{"content":"Two."}}` + "\n"
	path := write(t, t.TempDir(), "x.jsonl", first+second+`{"type":"user","uuid":"u3","mess`)
	for _, c := range []struct {
		max  int
		want []string
	}{
		{len(second) + 32, []string{"user:  Two."}}, {len(second) + 31, nil},
		{len(second) + 33, []string{"user:  Two."}}, {1 << 20, []string{"user:  One.", "user:  Two."}}, {0, nil},
	} {
		s, err := Tail(ClaudeCode, path, int64(c.max))
		if err != nil || s.Skipped != 0 {
			t.Fatal(s, err)
		}
		compare(t, said(s.Messages), c.want)
	}
}

func TestLastTurn(t *testing.T) {
	s := readFixture(t, ClaudeCode)
	compare(t, said(LastTurn(s.Messages)), []string{"agent!:  The root cause was a nil map in parser.go:88.", "user:  Thanks, commit it.", "agent!:  Committed."})
	if answer := s.Messages[len(s.Messages)-1:]; len(LastTurn(answer)) != 1 {
		t.Error("messages without one of a person are not all of the last turn")
	}
}

func TestNotRegular(t *testing.T) {
	if _, err := ReadFile(t.Context(), Codex, t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
	if _, err := Tail(Codex, filepath.Join(t.TempDir(), "none"), 1); !os.IsNotExist(err) {
		t.Errorf("%v, want that there is no such file", err)
	}
}

// What a file does not tell stands in its path, or beside it.
func TestNamedAfterThePlace(t *testing.T) {
	home := t.TempDir()
	write(t, home, ".gemini/tmp/shop/.project_root", "/home/ada/shop\n")
	for agent, name := range map[string]string{
		Antigravity: ".gemini/antigravity-cli/brain/5e55-antigravity/.system_generated/logs/transcript.jsonl",
		GeminiCLI:   ".gemini/tmp/shop/chats/session-1.jsonl",
	} {
		data, err := os.ReadFile(fixture(agent))
		if err != nil {
			t.Fatal(err)
		}
		path := write(t, home, name, string(data))
		all, err := ReadFile(t.Context(), agent, path)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := Tail(agent, path, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Session{all[0], tail} {
			if s.ID == "5e55" || !strings.HasPrefix("5e55-"+agent, s.ID) || agent == GeminiCLI && s.Folder != "/home/ada/shop" {
				t.Errorf("%s: session %q in folder %q", agent, s.ID, s.Folder)
			}
		}
	}
}

func TestOpenCode(t *testing.T) {
	schema, err := os.ReadFile(filepath.Join("testdata", "opencode.sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "opencode.db")
	sqlitetest.Make(t, path, string(schema))
	all, err := ReadFile(t.Context(), OpenCode, path)
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	s := all[0]
	if s.ID != "ses_1" || s.Folder != "/home/ada/shop" || s.Skipped != 1 || s.Started.UnixMilli() != 1772618400000 {
		t.Errorf("%s in %s at %v, skipped %d", s.ID, s.Folder, s.Started, s.Skipped)
	}
	compare(t, said(s.Messages), []string{
		"user:  The parser crashes on empty input.", "agent:  I look at the parser.", "tool-: bash go test ./parser",
		"tool: edit  /home/ada/shop/parser.go", "agent!:  The root cause was a nil map in parser.go:88.",
	})
	if second := said(all[1].Messages); !slices.Equal(second, []string{"user:  Other work."}) {
		t.Errorf("the second session says %q", second)
	}
	if _, err := ReadFile(t.Context(), OpenCode, write(t, t.TempDir(), "x.db", strings.Repeat("x", 4096))); err == nil {
		t.Error("what is no database was read")
	}
}
