package hooks

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"emberd/op"
)

const asked = "Which port has the staging database?"

// sample is a recorded event, and what is read from it.
type sample struct {
	file, agent, event string // the name of the event, "" if the agent sends it
	want               op.HookRequest
	last               string
	answer             string // to the text T, as JSON
}

func samples() []sample {
	start := op.HookRequest{Event: op.HookStart, Source: op.StartNew}
	prompt := op.HookRequest{Event: op.HookPrompt, Prompt: asked}
	turn, compact := op.HookRequest{Event: op.HookTurn}, op.HookRequest{Event: op.HookCompact}
	end := op.HookRequest{Event: op.HookEnd}
	specific := func(event string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"T"}}`
	}
	return []sample{
		{"claude-code-SessionStart", "claude-code", "", start, "", specific("SessionStart")},
		{"claude-code-SessionStart-resume", "claude-code", "",
			op.HookRequest{Event: op.HookStart, Source: op.StartResume}, "", specific("SessionStart")},
		{"claude-code-UserPromptSubmit", "claude-code", "", prompt, "", specific("UserPromptSubmit")},
		{"claude-code-Stop", "claude-code", "", turn, "done", ""},
		{"claude-code-PreCompact", "claude-code", "", compact, "", ""},
		{"claude-code-SessionEnd", "claude-code", "", end, "", ""},
		{"codex-SessionStart", "codex", "", start, "", specific("SessionStart")},
		{"codex-UserPromptSubmit", "codex", "", prompt, "", specific("UserPromptSubmit")},
		{"codex-Stop", "codex", "", turn, "done", ""},
		{"codex-SessionEnd", "codex", "", end, "", ""},
		{"copilot-sessionStart", "copilot", "sessionStart", start, "", `{"additionalContext":"T"}`},
		{"copilot-snake-SessionStart", "copilot", "", start, "", `{"additionalContext":"T"}`},
		{"copilot-userPromptTransformed", "copilot", "userPromptTransformed", prompt, "",
			`{"modifiedTransformedPrompt":"<current_datetime>2026-11-29T07:58:06.834+00:00</current_datetime>\n\n` +
				asked + `\n\nT"}`},
		{"copilot-agentStop", "copilot", "agentStop", turn, "", ""},
		{"copilot-snake-Stop", "copilot", "", turn, "", ""},
		{"copilot-sessionEnd", "copilot", "sessionEnd", end, "", ""},
		{"copilot-snake-SessionEnd", "copilot", "", end, "", ""},
		{"gemini-cli-SessionStart", "gemini-cli", "", start, "", specific("SessionStart")},
		{"gemini-cli-BeforeAgent", "gemini-cli", "", prompt, "", specific("BeforeAgent")},
		{"gemini-cli-AfterAgent", "gemini-cli", "", turn, "done", ""},
		{"gemini-cli-PreCompress", "gemini-cli", "", compact, "", ""},
		{"gemini-cli-SessionEnd", "gemini-cli", "", end, "", ""},
	}
}

// Every event that a program was recorded with is read, and answered in the form that it takes.
func TestRecordedEvents(t *testing.T) {
	for _, s := range samples() {
		raw, err := os.ReadFile(filepath.Join("testdata", s.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := Read(s.agent, s.event, raw)
		if err != nil {
			t.Errorf("%s: %v", s.file, err)
			continue
		}
		got := e.Request
		if len(got.Session) < 30 {
			t.Errorf("%s: session %q", s.file, got.Session)
		}
		s.want.Agent, s.want.Session, s.want.Folder = s.agent, got.Session, "/home/ada/p"
		if !reflect.DeepEqual(got, s.want) || e.Last != s.last || e.Subagent || e.StopActive {
			t.Errorf("%s: %+v, want %+v and last %q", s.file, e, s.want, s.last)
		}
		if answer := strings.TrimSpace(string(e.Answer("T"))); compact(answer) != compact(s.answer) {
			t.Errorf("%s: answer %s, want %s", s.file, answer, s.answer)
		}
		if e.Answer("") != nil {
			t.Errorf("%s: an answer without a text", s.file)
		}
	}
}

// compact returns JSON in the order in which package json has members.
func compact(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, _ := json.Marshal(v) // it was JSON
	return string(out)
}

// Claude Code, Codex and Gemini CLI say where the transcript is at every event, Copilot CLI at the end of a turn.
func TestTranscripts(t *testing.T) {
	for file, want := range map[string]string{
		"claude-code-Stop": ".jsonl", "codex-Stop": ".jsonl", "copilot-agentStop": "events.jsonl",
		"gemini-cli-AfterAgent": ".jsonl", "copilot-snake-Stop": "events.jsonl",
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		agent, event, _ := strings.Cut(strings.Replace(file, "-snake", "", 1), "-")
		if agent != "codex" && agent != "copilot" {
			more, rest, _ := strings.Cut(event, "-")
			agent, event = agent+"-"+more, rest
		}
		e, err := Read(agent, event, raw)
		if err != nil || !strings.HasSuffix(e.Transcript, want) || !filepath.IsAbs(e.Transcript) {
			t.Errorf("%s: transcript %+v (%v), want a path that ends in %s", file, e, err, want)
		}
	}
}

// What the documents of agents that are not recorded say.
func TestDocumentedEvents(t *testing.T) {
	for _, tt := range []struct{ agent, event, raw, prompt, folder, answer string }{
		{"cursor", "", `{"hook_event_name":"sessionStart","conversation_id":"c","workspace_roots":["/w"]}`,
			"", "/w", `{"additional_context":"T"}`},
		{"cursor", "", `{"hook_event_name":"beforeSubmitPrompt","conversation_id":"c","workspace_roots":["/w"],"prompt":"p"}`,
			"p", "/w", `{"additional_context":"T","continue":true}`},
		{"cursor", "", `{"hook_event_name":"stop","conversation_id":"c","workspace_roots":[],"status":"completed"}`, "", "", ""},
		{"antigravity", "PreInvocation", `{"conversationId":"c","workspacePaths":["/w"],"invocationNum":1}`,
			"", "/w", `{"injectSteps":[{"ephemeralMessage":"T"}]}`},
		{"opencode", "", `{"event":"prompt","session":"c","folder":"/w","prompt":"p"}`, "p", "/w", `{"text":"T"}`},
		{"codex", "SessionStart", `{"session_id":"c","cwd":"/w","source":"compact","transcript_path":null}`, "", "/w",
			`{"hookSpecificOutput":{"additionalContext":"T","hookEventName":"SessionStart"}}`},
	} {
		e, err := Read(tt.agent, tt.event, []byte(tt.raw))
		if err != nil {
			t.Errorf("%s: %v", tt.raw, err)
			continue
		}
		if r := e.Request; r.Prompt != tt.prompt || r.Folder != tt.folder || r.Session != "c" {
			t.Errorf("%s: %+v", tt.raw, r)
		}
		if got := strings.TrimSpace(string(e.Answer("T"))); got != tt.answer {
			t.Errorf("%s: %s, want %s", tt.raw, got, tt.answer)
		}
	}
}

// OpenCode's plugin sends the messages of a turn with it.
func TestMessagesWithTheEvent(t *testing.T) {
	e, err := Read("opencode", "", []byte(`{"event":"turn","session":"c","messages":[{"id":"1","role":"user","text":"hi"}]}`))
	if err != nil || len(e.Request.Messages) != 1 || e.Request.Messages[0].Text != "hi" {
		t.Errorf("%+v (%v)", e, err)
	}
}

// What is no event of a session is told from what cannot be read.
func TestNoEvents(t *testing.T) {
	for _, tt := range []struct {
		agent, event, raw string
		none              bool
	}{
		{"claude-code", "PreToolUse", `{"session_id":"s"}`, true},
		{"claude-code", "", `{"session_id":"s"}`, true},
		{"copilot", "userPromptSubmitted", `{"sessionId":"s","prompt":"p"}`, true},
		{"antigravity", "PreInvocation", `{"conversationId":"c","invocationNum":2}`, true},
		{"nobody", "Stop", `{"session_id":"s"}`, false},
		{"claude-code", "Stop", `{"session_id":5}`, false},
		{"claude-code", "Stop", `[]`, false},
		{"claude-code", "Stop", `null`, false},
		{"claude-code", "Stop", `{"session_id":"s"`, false},
		{"claude-code", "Stop", ``, false},
	} {
		e, err := Read(tt.agent, tt.event, []byte(tt.raw))
		if err == nil || errors.Is(err, ErrNone) != tt.none {
			t.Errorf("%s %s %s: %+v, %v, want ErrNone: %t", tt.agent, tt.event, tt.raw, e, err, tt.none)
		}
	}
}

// Copilot CLI drops what is answered to the first of its two events of a prompt.
func TestPromptOfCopilot(t *testing.T) {
	for file, event := range map[string]string{"copilot-userPromptSubmitted": "userPromptSubmitted", "copilot-snake-UserPromptSubmit": ""} {
		raw, err := os.ReadFile(filepath.Join("testdata", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Read("copilot", event, raw); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %+v (%v), want ErrNone", file, e, err)
		}
	}
}

// Subagents and turns that hooks prolonged are known.
func TestSubagents(t *testing.T) {
	for _, tt := range []struct {
		agent, raw       string
		subagent, active bool
	}{
		{"claude-code", `{"hook_event_name":"Stop","session_id":"s","agent_id":"a"}`, true, false},
		{"claude-code", `{"hook_event_name":"Stop","session_id":"s","agent_type":"reviewer"}`, false, false},
		{"codex", `{"hook_event_name":"Stop","session_id":"s","stop_hook_active":true}`, false, true},
		{"opencode", `{"event":"turn","session":"s","subagent":true}`, true, false},
	} {
		e, err := Read(tt.agent, "", []byte(tt.raw))
		if err != nil || e.Subagent != tt.subagent || e.StopActive != tt.active {
			t.Errorf("%s: %+v (%v)", tt.raw, e, err)
		}
	}
}

// A text that would be cut is not given, and Copilot's prompt is never replaced by less than it was.
func TestAnswersNotGiven(t *testing.T) {
	e, err := Read("claude-code", "UserPromptSubmit", []byte(`{"session_id":"s","prompt":"p"}`))
	if err != nil {
		t.Fatal(err)
	}
	if e.Answer(strings.Repeat("é", Limit)) == nil || e.Answer(strings.Repeat("é", Limit+1)) != nil ||
		e.Answer(strings.Repeat("😀", Limit/2+1)) != nil {
		t.Errorf("the limit of %d units is not kept", Limit)
	}
	e, err = Read("copilot", "userPromptTransformed", []byte(`{"sessionId":"s","prompt":"p"}`))
	if err != nil || e.Answer("T") != nil {
		t.Errorf("an answer without the prompt: %s (%v)", e.Answer("T"), err)
	}
}

// Whatever comes, an answer is one JSON object.
func FuzzRead(f *testing.F) {
	for _, s := range samples() {
		raw, err := os.ReadFile(filepath.Join("testdata", s.file+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.agent, s.event, raw, "T")
	}
	f.Fuzz(func(t *testing.T, agent, event string, raw []byte, text string) {
		e, err := Read(agent, event, raw)
		if err != nil {
			return
		}
		var object map[string]any
		if answer := e.Answer(text); answer != nil && json.Unmarshal(answer, &object) != nil {
			t.Errorf("%s", answer)
		}
	})
}
