package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/op"
)

// said writes messages as lines: role, Final and Failed as marks, then the text or the call.
func said(messages []op.SessionMessage) (all []string) {
	for _, m := range messages {
		line := m.Role
		if m.Final {
			line += "!"
		}
		if m.Failed {
			line += "-"
		}
		call := strings.Join(append([]string{m.Tool, m.Command}, m.Files...), " ")
		all = append(all, strings.TrimSpace(line+": "+call+m.Text))
	}
	return all
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func fixture(agent string) string { return filepath.Join("testdata", agent+".jsonl") }

func readFixture(t *testing.T, agent string) *Session {
	t.Helper()
	all, err := ReadFile(t.Context(), agent, fixture(agent))
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	return all[0]
}

var fixtures = []struct {
	agent, id, folder string
	skipped           int
	want              []string
}{
	// A slash command, isMeta, thinking, isSidechain, notifications, the summary, errors of the API, the line
	// that is there twice and the torn one say nothing; one line is broken.
	{ClaudeCode, "5e55-claude", "/home/ada/shop", 1, []string{
		"user:  The parser crashes on empty input.\n\nAlways use pnpm here.",
		"agent:  I look at the parser.\n\nThen I run the tests.",
		"tool-: Bash go test ./parser",
		"tool: Edit  /home/ada/shop/parser.go",
		"agent!:  The root cause was a nil map in parser.go:88.",
		"user:  Thanks, commit it.",
		"agent!:  Committed.",
	}},
	// The role developer, AGENTS.md, reasoning, events that repeat messages, the turn that was rolled back
	// and the summary say nothing.
	{Codex, "5e55-codex", "/home/ada/shop", 0, []string{
		"user:  The parser crashes on empty input.",
		"agent:  I look at the parser.",
		"tool-: exec_command go test ./parser",
		"tool: apply_patch  /home/ada/shop/parser.go",
		"tool-: shell go vet ./...",
		"agent!:  The root cause was a nil map in parser.go:88.",
		"user:  Thanks, commit it.",
		"agent!:  Committed.",
	}},
	{Copilot, "5e55-copilot", "/home/ada/shop", 0, []string{
		"user:  The parser crashes on empty input.",
		"agent:  I look at the parser.",
		"tool-: bash go test ./parser",
		"tool: edit  /home/ada/shop/parser.go",
		"tool-: view",
		"agent!:  The root cause was a nil map in parser.go:88.",
	}},
	{GeminiCLI, "5e55-gemini", "", 0, []string{
		"user:  The parser crashes on empty input.",
		"agent:  I look at the parser.",
		"tool-: run_shell_command go test ./parser",
		"tool: replace  /home/ada/shop/parser.go",
		"tool-: read_file",
		"agent!:  The root cause was a nil map in parser.go:88.",
		"user:  Thanks, commit it.",
		"agent!:  Committed.",
	}},
	{Antigravity, ".", "", 0, []string{
		"user:  The parser crashes on empty input.",
		"agent:  I look at the parser.",
		"tool: run_command go test ./parser",
		"tool: replace_file_content  /home/ada/shop/parser.go",
		"agent!:  The root cause was a nil map in parser.go:88.",
	}},
}

func TestRead(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.agent, func(t *testing.T) {
			s := readFixture(t, f.agent)
			got := []any{s.Agent, s.ID, s.Folder, s.Skipped, s.Started.Format(time.DateOnly)}
			if want := []any{f.agent, f.id, f.folder, f.skipped, "2026-03-04"}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			compare(t, said(s.Messages), f.want)
			seen := map[string]bool{}
			for _, m := range s.Messages {
				if seen[m.ID] || m.At.IsZero() {
					t.Errorf("id %q is there twice, or it has no time: %v", m.ID, m.At)
				}
				seen[m.ID] = true
			}
		})
	}
}

// What has been read before has the same ids when the agent has written more.
func TestIDsStay(t *testing.T) {
	for _, f := range fixtures {
		data, err := os.ReadFile(fixture(f.agent))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []int{len(data) / 2, len(data) - 1} {
			s, err := Read(f.agent, strings.NewReader(string(data[:part])))
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range readFixture(t, f.agent).Messages {
				if i < len(s.Messages)-2 && s.Messages[i].ID != m.ID {
					t.Errorf("%s: message %d is %s, then %s", f.agent, i, s.Messages[i].ID, m.ID)
				}
			}
		}
	}
}

func read(t *testing.T, agent, lines string) *Session {
	t.Helper()
	s, err := Read(agent, strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSubagentsSayNothing(t *testing.T) {
	for agent, lines := range map[string]string{
		ClaudeCode: `{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s1","uuid":"u1",` +
			`"message":{"content":"Look."}}`,
		Codex: `{"type":"session_meta","payload":{"id":"s1/a1","source":{"subagent":"review"}}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]}}`,
		GeminiCLI: `{"sessionId":"s1/a1","kind":"subagent"}
{"id":"g1","type":"user","content":"Look."}`,
	} {
		if s := read(t, agent, lines+"\n"); len(s.Messages) != 0 || s.ID != "s1/a1" || s.Skipped != 0 {
			t.Errorf("%s: %+v", agent, s)
		}
	}
}

func TestStoppedAgentHasNoFinalMessage(t *testing.T) {
	s := read(t, ClaudeCode, `{"type":"user","uuid":"u1","message":{"content":"Go on."}}
{"type":"assistant","uuid":"u2","message":{"id":"m1","content":[{"type":"text","text":"I delete all."}]}}
{"type":"user","uuid":"u3","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}
{"type":"user","uuid":"u4","message":{"content":"No, stop."}}
{"type":"assistant","uuid":"u5","message":{"id":"m2","content":[{"type":"text","text":"I stop."}]}}
{"type":"user","uuid":"u6","message":{"content":"Good."}}
`)
	compare(t, said(s.Messages), []string{
		"user:  Go on.", "agent:  I delete all.", "user:  No, stop.", "agent!:  I stop.", "user:  Good.",
	})
}

// A resumed session of Gemini CLI has its history again, with thoughts, calls and results as parts.
func TestResumedGemini(t *testing.T) {
	s := read(t, GeminiCLI, `{"id":"g1","timestamp":"2026-03-04T10:00:01Z","type":"user","content":"Test it."}
{"$set":{"messages":[`+strings.Join([]string{
		`{"id":"g1","timestamp":"2026-03-05T10:00:00Z","type":"user","content":[{"text":"Test it."}]}`,
		`{"id":"g2","type":"gemini","content":[{"text":"hm","thought":true},{"text":"I test."},` +
			`{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make test"}}}]}`,
		`{"id":"g2_response","type":"user","content":[` +
			`{"functionResponse":{"id":"c1","response":{"output":"Output: no\nExit Code: 2"}}}]}`,
	}, ",")+`]}}
`)
	compare(t, said(s.Messages), []string{"user:  Test it.", "agent:  I test.", "tool-: run_shell_command make test"})
	if day := s.Messages[0].At.Day(); day != 4 {
		t.Errorf("the prompt is of day %d, want the day on which it was typed", day)
	}
}

func TestOldGemini(t *testing.T) {
	s := read(t, GeminiCLI, `{
  "sessionId": "s1",
  "startTime": "2026-03-04T10:00:00Z",
  "messages": [
    {"id": "g1", "type": "user", "content": "Test it."},
    {"id": "g2", "type": "gemini", "content": "Done."}
  ]
}`)
	compare(t, said(s.Messages), []string{"user:  Test it.", "agent!:  Done."})
	if s.ID != "s1" || s.Skipped != 0 {
		t.Errorf("%+v", s)
	}
	if s := read(t, GeminiCLI, "{\n  \"sessionId\": \"s1\","); s.Skipped != 1 {
		t.Errorf("a torn document: %+v", s)
	}
}

func TestLongLine(t *testing.T) {
	prompt := func(id string, size int) string {
		said := strings.Repeat("word ", size/5)
		return `{"type":"user","uuid":"` + id + `","message":{"content":"` + said + `"}}` + "\n"
	}
	s := read(t, ClaudeCode, prompt("u1", 10)+prompt("u2", maxLine)+prompt("u3", maxLine-200)+"\n\n"+prompt("u4", 10))
	if len(s.Messages) != 3 || s.Messages[1].ID != "u3" || s.Skipped != 1 {
		t.Errorf("%d messages, skipped %d, want those of u1, u3 and u4", len(s.Messages), s.Skipped)
	}
}

func TestUnknownAgent(t *testing.T) {
	_, err := Read("eliza", strings.NewReader(""))
	_, tail := Tail("eliza", "x", 1)
	_, find := Find("/", os.Getenv, []string{"eliza"})
	for _, err := range []error{err, tail, find} {
		if !errors.Is(err, ErrAgent) {
			t.Errorf("%v, want ErrAgent", err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range fixtures {
		data, err := os.ReadFile(fixture(c.agent))
		if err != nil {
			f.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			f.Add(c.agent, line)
			if i == 0 {
				f.Add(c.agent, string(data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, agent, file string) {
		s, err := Read(agent, strings.NewReader(file))
		if err != nil {
			return
		}
		for _, m := range s.Messages {
			if m.Role != op.RoleTool && m.Text == "" || m.Role == op.RoleTool && m.Text != "" {
				t.Errorf("a message with role %s says %q", m.Role, m.Text)
			}
		}
		if turn := LastTurn(s.Messages); len(turn) > len(s.Messages) {
			t.Error("the last turn is longer than the session")
		}
	})
}
