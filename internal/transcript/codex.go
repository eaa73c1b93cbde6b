package transcript

import (
	"emberd/internal/text"
	"encoding/json"
	"strings"
)

// codex reads what Codex writes.
type codex struct {
	*recorder
	subagent bool // another agent wrote the prompts of this session
}

type codexLine struct {
	Timestamp moment
	Type      string
	Payload   json.RawMessage
}

type codexPayload struct {
	Type string
	ID   string
	// Of session_meta and turn_context.
	SessionID    string `json:"session_id"`
	CWD          string
	Source       json.RawMessage
	ThreadSource string `json:"thread_source"`
	// Of messages and calls.
	Role    string
	Phase   string
	Content json.RawMessage
	Name    string
	CallID  string `json:"call_id"`
	// Of a call: JSON in a text, a text for the tool, or words.
	Arguments, Input, Action, Output json.RawMessage
	// Of events.
	Item     json.RawMessage
	NumTurns int  `json:"num_turns"`
	ExitCode *int `json:"exit_code"`
	Success  *bool
	Status   string
	Changes  json.RawMessage
}

func newCodex() parser { return &codex{recorder: newRecorder(Codex)} }

func (c *codex) line(at int64, data []byte) error {
	var l codexLine
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	var p codexPayload
	switch l.Type {
	case "session_meta", "turn_context", "response_item", "event_msg":
		if err := json.Unmarshal(l.Payload, &p); err != nil {
			return err
		}
	}
	switch {
	case l.Type == "session_meta" && c.session.ID == "": // another one is of the session that this one goes on from
		c.meta(&p, l.Timestamp)
	case l.Type == "turn_context":
		c.begin("", p.CWD, l.Timestamp.Time)
	case c.subagent:
	case l.Type == "response_item":
		c.item(at, &p, l.Timestamp)
	case l.Type == "event_msg":
		c.event(&p)
	}
	return nil
}

func (c *codex) meta(p *codexPayload, at moment) {
	id := p.ID
	if id == "" {
		id = p.SessionID
	}
	c.begin(id, p.CWD, at.Time)
	var source map[string]json.RawMessage
	_ = json.Unmarshal(p.Source, &source) // a text names a program that a person uses
	c.subagent = source["subagent"] != nil || p.ThreadSource == "subagent"
}

func (c *codex) item(at int64, p *codexPayload, when moment) {
	switch p.Type {
	case "message":
		c.message(orPlace(p.ID, at), p, when)
	case "function_call":
		var arguments string
		_ = json.Unmarshal(p.Arguments, &arguments) // without arguments, the name of the tool is kept
		c.call(orPlace(p.CallID, at), p.Name, json.RawMessage(arguments), when.Time)
	case "custom_tool_call":
		c.call(orPlace(p.CallID, at), p.Name, p.Input, when.Time)
	case "local_shell_call":
		c.call(orPlace(p.CallID, at), p.Type, p.Action, when.Time)
	case "function_call_output", "custom_tool_call_output":
		c.outcome(p.CallID, outputFailed(p.Output))
	}
}

// message takes what the person or the model said. The role developer is of Codex itself, and parts of a
// message with the role user are.
func (c *codex) message(id string, p *codexPayload, when moment) {
	var said []string
	for _, b := range blocks(p.Content) {
		if p.Role != "user" || FromPerson(Codex, b.Text) {
			said = append(said, b.Text)
		}
	}
	switch all := strings.Join(said, "\n\n"); p.Role {
	case "user":
		c.person(id, all, when.Time)
	case "assistant":
		c.answer(id, all, when.Time, p.Phase == "final_answer")
	}
}

func (c *codex) event(p *codexPayload) {
	switch p.Type {
	case "task_complete", "turn_complete":
		c.endTurn()
	case "turn_aborted":
		c.stop()
	case "thread_rolled_back":
		c.takeBack(p.NumTurns)
	case "exec_command_end", "patch_apply_end":
		c.ended(p.CallID, p)
	case "item_completed":
		var item codexPayload
		if json.Unmarshal(p.Item, &item) == nil && (item.Type == "CommandExecution" || item.Type == "FileChange") {
			c.ended(item.ID, &item)
		}
	}
}

// ended takes how a command or a change of files ended.
func (c *codex) ended(call string, p *codexPayload) {
	var changes map[string]json.RawMessage
	_ = json.Unmarshal(p.Changes, &changes) // a command has none
	failed := p.ExitCode != nil && *p.ExitCode != 0 || p.Success != nil && !*p.Success || p.Status == "failed"
	c.outcome(call, failed, sortedNames(changes)...)
}

// exitCode is how the text of an output begins that tells the status of a command which failed.
var exitCode = text.Pattern(`(?m)\A(?:[^\n]*\n){0,3}?(?:Process exited with code|Exit code:) [1-9]`)

// outputFailed reports whether an output says that the call failed: at the beginning of its text, or as JSON
// in older versions.
func outputFailed(output json.RawMessage) bool {
	var said string
	if json.Unmarshal(output, &said) != nil {
		var o struct{ Success *bool }
		return json.Unmarshal(output, &o) == nil && o.Success != nil && !*o.Success
	}
	var old struct {
		Metadata struct {
			ExitCode int `json:"exit_code"`
		}
	}
	if json.Unmarshal([]byte(said), &old) == nil {
		return old.Metadata.ExitCode != 0
	}
	return exitCode().MatchString(said)
}
