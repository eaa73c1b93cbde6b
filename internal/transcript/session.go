package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"emberd/op"
)

// A parser takes the lines of one format and adds what they say to a session.
type parser interface {
	// line takes a line at a place in the file. An error says that it is not of the format.
	line(at int64, data []byte) error
	// done is called after the last line.
	done()
	result() *Session
}

// A recorder collects the messages of a session.
type recorder struct {
	session Session
	places  map[string]int // of messages of the agent and of tools, by their ids
	turn    int            // place of the last message of a person
	stopped int            // number of messages at which the person stopped the agent, 0 for never
}

func newRecorder(agent string) *recorder {
	return &recorder{session: Session{Agent: agent}, places: map[string]int{}}
}

func (r *recorder) done()            {}
func (r *recorder) result() *Session { return &r.session }

// begin takes what is not yet known of the session.
func (r *recorder) begin(id, folder string, at time.Time) {
	if r.session.ID == "" {
		r.session.ID = id
	}
	if r.session.Folder == "" {
		r.session.Folder = folder
	}
	if r.session.Started.IsZero() {
		r.session.Started = at
	}
}

func (r *recorder) add(m op.SessionMessage) {
	if m.Role != op.RoleUser {
		r.places[m.ID] = len(r.session.Messages)
	}
	r.session.Messages = append(r.session.Messages, m)
}

// find returns the message of the agent or of a tool with an id, or nil.
func (r *recorder) find(id string) *op.SessionMessage {
	i, ok := r.places[id]
	if !ok || i >= len(r.session.Messages) || r.session.Messages[i].ID != id {
		return nil
	}
	return &r.session.Messages[i]
}

// person adds a message if a person wrote it, to the one before if that has the same id.
func (r *recorder) person(id, message string, at time.Time) {
	if !FromPerson(r.session.Agent, message) {
		return
	}
	message = Clean(message)
	if n := len(r.session.Messages); n > 0 && r.session.Messages[n-1].ID == id {
		r.session.Messages[n-1].Text += "\n\n" + message
		return
	}
	r.endTurn()
	r.turn = len(r.session.Messages)
	r.add(op.SessionMessage{ID: id, Role: op.RoleUser, Text: message, At: at})
}

// answer adds what the agent said, to the message of the same id if there is one in this turn.
func (r *recorder) answer(id, message string, at time.Time, final bool) {
	if message = Clean(message); message == "" {
		return
	}
	if m := r.find(id); m != nil && m.Role == op.RoleAgent && r.places[id] >= r.turn {
		m.Text += "\n\n" + message
		m.Final = m.Final || final
		return
	}
	r.add(op.SessionMessage{ID: id, Role: op.RoleAgent, Text: message, At: at, Final: final})
}

// call adds a call of a tool.
func (r *recorder) call(id, tool string, input json.RawMessage, at time.Time) {
	m := toolCall(tool, input, r.session.Folder)
	m.ID, m.At = id, at
	r.add(m)
}

// outcome tells how a call ended: whether it failed, and files that it changed.
func (r *recorder) outcome(id string, failed bool, files ...string) {
	m := r.find(id)
	if m == nil || m.Role != op.RoleTool {
		return
	}
	m.Failed = m.Failed || failed
	for _, file := range files {
		if file = absolute(file, r.session.Folder); !slices.Contains(m.Files, file) {
			m.Files = append(m.Files, file)
		}
	}
}

// endTurn says that the agent is done. Its last message is final if no call of a tool came after it.
func (r *recorder) endTurn() {
	if n := len(r.session.Messages); n > 0 && n != r.stopped && r.session.Messages[n-1].Role == op.RoleAgent {
		r.session.Messages[n-1].Final = true
	}
}

// stop says that the person stopped the agent, whose last message is not final then.
func (r *recorder) stop() { r.stopped = len(r.session.Messages) }

// takeBack removes the last turns, each with the person's message.
func (r *recorder) takeBack(turns int) {
	all := r.session.Messages
	for i := len(all) - 1; i >= 0 && turns > 0; i-- {
		if all[i].Role == op.RoleUser {
			all, turns = all[:i], turns-1
		}
	}
	r.session.Messages = all
}

// A moment is a time in JSON: a text of RFC 3339, or milliseconds since 1970. Anything else is no time.
type moment struct{ time.Time }

// UnmarshalJSON never fails.
func (m *moment) UnmarshalJSON(data []byte) error {
	if ms, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		m.Time = time.UnixMilli(ms).UTC()
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, string(bytes.Trim(data, `"`)))
	if err == nil {
		m.Time = at.UTC()
	}
	return nil
}

// orPlace returns an id, or one made of the place of a line in its file.
func orPlace(id string, at int64) string {
	if id != "" {
		return id
	}
	return "@" + strconv.FormatInt(at, 10)
}

// A block is a part of a message.
type block struct {
	Type string
	Text string
	// Of a call of a tool and of its result.
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`
}

// blocks returns the parts of a message, which may be one text. Parts that are not objects are left out.
func blocks(content json.RawMessage) (all []block) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []block{{Type: "text", Text: one}}
	}
	var parts []json.RawMessage
	_ = json.Unmarshal(content, &parts) // what is no list has no parts
	for _, part := range parts {
		var b block
		if json.Unmarshal(part, &b) == nil {
			all = append(all, b)
		}
	}
	return all
}
