package transcript

import (
	"encoding/json"
	"strings"
)

// claude reads what Claude Code writes. Lines of a resumed session are written again with their ids, so each
// id counts once.
type claude struct {
	*recorder
	seen map[string]bool // ids of lines
}

type claudeLine struct {
	Type      string
	UUID      string
	SessionID string
	AgentID   string
	CWD       string
	Timestamp moment
	Origin    json.RawMessage // of a prompt: {"kind": "human"}
	Message   struct {
		ID         string
		Model      string
		Content    json.RawMessage
		StopReason string `json:"stop_reason"`
	}
	IsMeta, IsSidechain, IsCompactSummary, IsVisibleInTranscriptOnly, IsVirtual, IsAPIErrorMessage bool
}

func newClaude() parser { return claude{newRecorder(ClaudeCode), map[string]bool{}} }

func (c claude) line(at int64, data []byte) error {
	var l claudeLine
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	c.begin(l.session(), l.CWD, l.Timestamp.Time)
	if l.byMachine() || l.UUID != "" && c.seen[l.UUID] {
		return nil
	}
	c.seen[l.UUID] = true
	switch l.Type {
	case "user":
		c.user(at, &l)
	case "assistant":
		c.assistant(at, &l)
	}
	return nil
}

// session returns the id of a session. The lines of a subagent have the id of the session that started it.
func (l *claudeLine) session() string {
	if l.IsSidechain && l.AgentID != "" {
		return l.SessionID + "/" + l.AgentID
	}
	return l.SessionID
}

// byMachine reports whether neither the person nor the model said it in this session: notices, summaries of
// what was forgotten, the work of subagents.
func (l *claudeLine) byMachine() bool {
	return l.IsMeta || l.IsSidechain || l.IsCompactSummary || l.IsVisibleInTranscriptOnly || l.IsVirtual ||
		l.IsAPIErrorMessage || l.Message.Model == "<synthetic>"
}

// typed reports whether a person may have written a prompt. Older versions do not tell.
func (l *claudeLine) typed() bool {
	var origin struct{ Kind string }
	return json.Unmarshal(l.Origin, &origin) != nil || origin.Kind == "" || origin.Kind == "human"
}

func (c claude) user(at int64, l *claudeLine) {
	var said []string
	for _, b := range blocks(l.Message.Content) {
		switch {
		case b.Type == "tool_result":
			c.outcome(b.ToolUseID, b.IsError)
		case b.Type == "text" && strings.HasPrefix(b.Text, "[Request interrupted by user"):
			c.stop()
		case b.Type == "text" && (FromPerson(ClaudeCode, b.Text) || privateTag().MatchString(b.Text)): // it may go on
			said = append(said, b.Text)
		}
	}
	if l.typed() {
		c.person(orPlace(l.UUID, at), strings.Join(said, "\n\n"), l.Timestamp.Time)
	}
}

// assistant takes one of the lines of an answer: there is one for each of its blocks.
func (c claude) assistant(at int64, l *claudeLine) {
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			final := l.Message.StopReason == "end_turn" || l.Message.StopReason == "stop_sequence"
			c.answer(orPlace(l.Message.ID, at), b.Text, l.Timestamp.Time, final)
		case "tool_use":
			c.call(orPlace(b.ID, at), b.Name, b.Input, l.Timestamp.Time)
		}
	}
}
