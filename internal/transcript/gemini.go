package transcript

import (
	"bufio"
	"cmp"
	"emberd/internal/text"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"
)

// gemini reads what Gemini CLI writes. A message is written again, with its id, when its calls have ended, and
// all of them when a session is resumed, so what a message says is known at the end.
type gemini struct {
	*recorder
	subagent bool
	messages []geminiMessage
	places   map[string]int       // of messages by their ids
	first    map[string]time.Time // when a message was written first, by its id
	failed   map[string]bool      // calls by their ids
}

type geminiLine struct {
	SessionID string
	StartTime moment
	Kind      string // main or subagent
	Set       struct {
		Messages *[]geminiMessage
	} `json:"$set"`
	RewindTo string `json:"$rewindTo"`
	Messages []geminiMessage
}

type geminiMessage struct {
	ID        string
	Type      string
	Timestamp moment
	Content   json.RawMessage // until it is put with the others
	ToolCalls []geminiCall
	said      string
}

type geminiCall struct {
	ID     string
	Name   string
	Args   json.RawMessage
	Status string
	Result json.RawMessage
}

// A geminiPart is a part of a content. Calls and their results are parts in a session that was resumed.
type geminiPart struct {
	Text             string
	Thought          bool
	FunctionCall     *geminiCall
	FunctionResponse *struct {
		ID       string
		Response json.RawMessage
	}
}

func newGemini() parser { return openGemini() }

func openGemini() *gemini {
	return &gemini{
		recorder: newRecorder(GeminiCLI), places: map[string]int{},
		first: map[string]time.Time{}, failed: map[string]bool{},
	}
}

func (g *gemini) line(_ int64, data []byte) error {
	var l geminiLine
	var m geminiMessage
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	switch {
	case l.RewindTo != "":
		g.rewind(l.RewindTo)
	case m.ID != "":
		g.put(m)
	case l.Set.Messages != nil:
		g.messages = nil
		clear(g.places)
		l.Messages = *l.Set.Messages
	case l.SessionID != "":
		g.begin(l.SessionID, "", l.StartTime.Time)
		g.subagent = l.Kind == "subagent"
	}
	for _, m := range l.Messages {
		g.put(m)
	}
	return nil
}

// put adds a message, or replaces the one of its id.
func (g *gemini) put(m geminiMessage) {
	g.open(&m)
	if at, ok := g.first[m.ID]; ok {
		m.Timestamp.Time = at
	}
	g.first[m.ID] = m.Timestamp.Time
	if i, ok := g.places[m.ID]; ok {
		g.messages[i] = m
		return
	}
	g.places[m.ID] = len(g.messages)
	g.messages = append(g.messages, m)
}

// open takes what a message says and its calls from its content, and which calls failed from their results.
func (g *gemini) open(m *geminiMessage) {
	for _, part := range geminiParts(m.Content) {
		switch {
		case part.FunctionCall != nil:
			m.ToolCalls = append(m.ToolCalls, *part.FunctionCall)
		case part.FunctionResponse != nil && geminiExit().Match(part.FunctionResponse.Response):
			g.failed[part.FunctionResponse.ID] = true
		case !part.Thought:
			m.said += part.Text
		}
	}
	m.Content = nil
	for i := range m.ToolCalls {
		call := &m.ToolCalls[i]
		if call.Status == "error" || call.Status == "cancelled" || geminiExit().Match(call.Result) {
			g.failed[call.ID] = true
		}
		call.Result = nil
	}
}

// geminiExit is the line of a result, in JSON, that tells the status of a command which failed.
var geminiExit = text.Pattern(`\\nExit Code: [1-9]`)

// rewind removes a message and all after it, and all where there is no such message, as Gemini CLI does.
func (g *gemini) rewind(id string) {
	for _, m := range g.messages[g.places[id]:] {
		delete(g.places, m.ID)
	}
	g.messages = slices.Clip(g.messages[:len(g.places)])
}

func (g *gemini) done() {
	if g.subagent {
		return
	}
	for _, m := range g.messages {
		switch m.Type {
		case "user":
			g.person(m.ID, m.said, m.Timestamp.Time)
		case "gemini":
			g.answer(m.ID, m.said, m.Timestamp.Time, len(m.ToolCalls) == 0)
			for i, call := range m.ToolCalls {
				id := cmp.Or(call.ID, m.ID+"."+strconv.Itoa(i))
				g.call(id, call.Name, call.Args, m.Timestamp.Time)
				g.outcome(id, g.failed[call.ID])
			}
		}
	}
	g.messages = nil
}

// geminiParts returns the parts of a content, which may be one text.
func geminiParts(content json.RawMessage) (all []geminiPart) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []geminiPart{{Text: one}}
	}
	var parts []json.RawMessage
	_ = json.Unmarshal(content, &parts) // what is no list has no parts
	for _, part := range parts {
		var p geminiPart
		if json.Unmarshal(part, &p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// maxDocument bounds the bytes of a transcript that is one JSON document.
const maxDocument = 64 << 20

// isDocument reports whether a file is one JSON document of many lines, as older versions wrote it.
func isDocument(r *bufio.Reader) bool {
	start, _ := r.Peek(2) // the next read tells the error
	return len(start) == 2 && start[0] == '{' && (start[1] == '\n' || start[1] == '\r')
}

// readDocument reads a session that is one JSON document.
func readDocument(r io.Reader) (*Session, error) {
	g := openGemini()
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxDocument {
		return nil, errors.New("the transcript is too large: a JSON document of more than 64 MiB")
	}
	if err := g.line(0, data); err != nil {
		g.session.Skipped++
	}
	g.done()
	return &g.session, nil
}
