package transcript

import "encoding/json"

// copilot reads what Copilot CLI writes. Its events name a turn what is one answer of the model.
type copilot struct{ *recorder }

type copilotLine struct {
	Type      string
	ID        string
	AgentID   string // of a subagent
	Timestamp moment
	Data      json.RawMessage
}

type copilotData struct {
	SessionID        string
	Context          struct{ CWD string }
	Content          string
	Source           string // of a message that no person wrote
	ParentToolCallID string // of a subagent
	ToolRequests     []json.RawMessage
	ToolCallID       string
	ToolName         string
	Arguments        json.RawMessage
	Success          *bool
	ShellExecution   struct{ ExitCode int }
	FileEdits        []struct{ Path string }
}

func newCopilot() parser { return copilot{newRecorder(Copilot)} }

func (c copilot) line(at int64, data []byte) error {
	var l copilotLine
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	switch l.Type {
	case "session.start", "user.message", "assistant.message", "tool.execution_start", "tool.execution_complete":
	case "abort":
		c.stop()
		return nil
	default:
		return nil
	}
	var d copilotData
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	if l.AgentID == "" && d.ParentToolCallID == "" {
		c.event(orPlace(l.ID, at), &l, &d)
	}
	return nil
}

func (c copilot) event(id string, l *copilotLine, d *copilotData) {
	switch l.Type {
	case "session.start":
		c.begin(d.SessionID, d.Context.CWD, l.Timestamp.Time)
	case "user.message":
		if d.Source == "" || d.Source == "user" {
			c.person(id, d.Content, l.Timestamp.Time)
		}
	case "assistant.message":
		c.answer(id, d.Content, l.Timestamp.Time, len(d.ToolRequests) == 0)
	case "tool.execution_start":
		c.call(d.ToolCallID, d.ToolName, d.Arguments, l.Timestamp.Time)
	case "tool.execution_complete":
		var files []string
		for _, edit := range d.FileEdits {
			files = append(files, edit.Path)
		}
		c.outcome(d.ToolCallID, d.Success != nil && !*d.Success || d.ShellExecution.ExitCode != 0, files...)
	}
}
