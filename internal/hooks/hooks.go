// Package hooks knows what coding agents say to a program that they run at an event of a session,
// a hook, and what they take back from it.
//
// Each agent is one entry of a table: its names of events, its names of members, and the shape of
// its answers. The entries are from recorded events of the programs, which testdata has, except
// those of Cursor and Antigravity, which are from their documentation:
//
//   - claude-code: Claude Code 2.1.197, https://code.claude.com/docs/en/hooks
//   - codex: Codex 0.171.0, https://developers.openai.com/codex/hooks
//   - copilot: Copilot CLI 1.0.102, https://docs.github.com/en/copilot/reference/hooks-reference
//   - cursor: https://cursor.com/docs/agent/hooks
//   - gemini-cli: Gemini CLI 0.61.0, https://geminicli.com/docs/hooks/reference
//   - antigravity: https://antigravity.google/docs/hooks
//   - opencode: OpenCode 1.18.33, by a plugin of emberd's own, which sends the names of package op
package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"emberd/internal/text"
	"emberd/op"
)

// Limit is the most that an agent takes, in UTF-16 units, as programs in JavaScript count: Claude Code
// and Codex cut what is longer.
const Limit = 10_000

// ErrNone says that there is nothing to do at an event: it is unknown, or a repetition.
var ErrNone = errors.New("emberd ignores this event")

// Event is an event of a session.
type Event struct {
	// Request has no messages, except of an agent that sends them with the event.
	Request    op.HookRequest
	Transcript string // path of the file in which the agent keeps the session, "" if it does not say
	Last       string // the last answer of the model, if the agent sends it
	Subagent   bool   // an agent that another agent started
	StopActive bool   // the turn went on because a hook wanted it

	name   string // that the agent has for it
	came   string // the text that the answer has to repeat
	answer shape
}

// Agents lists the names of the agents that are known, in their order.
func Agents() (names []string) {
	for _, a := range agents() {
		names = append(names, a.name)
	}
	return names
}

// Read reads what an agent writes to the stdin of a hook. The name of the event can be empty if the
// agent sends it. The error is ErrNone for an event at which nothing is done.
func Read(agent, event string, raw []byte) (*Event, error) {
	a := find(agent)
	if a == nil {
		return nil, fmt.Errorf("agent %q not found", agent)
	}
	var said message
	if err := json.Unmarshal(raw, &said); err != nil || said == nil {
		return nil, errors.New("the event is not a JSON object")
	}
	name := cmp.Or(event, said.text(a.members.event))
	known, ok := a.events[name]
	if !ok || said.number(a.members.repeat) > 1 {
		return nil, ErrNone
	}
	e := &Event{name: name, answer: known.answer, Request: op.HookRequest{Agent: agent, Event: known.event}}
	e.fill(said, &a.members)
	if e.Request.Session == "" {
		return nil, errors.New("the event contains no session ID")
	}
	return e, nil
}

// fill takes the members of an event.
func (e *Event) fill(said message, m *members) {
	r := &e.Request
	r.Session, r.Folder = said.text(m.session), said.text(m.folder)
	e.Transcript, e.Last, e.came = said.text(m.transcript), said.text(m.last), said.text(m.came)
	e.StopActive = said.is(m.stop)
	e.Subagent = said.text(m.subagent) != "" || said.is(m.subagent) ||
		strings.Contains(e.Transcript, "/subagents/")
	switch r.Event {
	case op.HookStart:
		r.Source = source(said.text(m.source))
	case op.HookPrompt:
		r.Prompt = strings.TrimSpace(injected().ReplaceAllString(said.text(m.prompt), ""))
	}
	if m.messages != "" {
		_ = json.Unmarshal(said[m.messages], &r.Messages) // without messages the event counts, too
	}
}

// injected is what Gemini CLI puts before a prompt: the answers of hooks.
var injected = text.Pattern(`(?s)<hook_context>.*?</hook_context>`)

// source returns the source of a start in the words of package op.
func source(said string) string {
	switch said {
	case op.StartResume, op.StartClear, op.StartCompact:
		return said
	case "fork":
		return op.StartResume
	}
	return op.StartNew
}

// Answer returns the answer that gives a text to the agent's model: one JSON object, or nothing if the
// agent takes none at this event. A text beyond [Limit] is not given at all, since its end would be missing.
func (e *Event) Answer(text string) []byte {
	if text == "" || e.answer == nil || len(utf16.Encode([]rune(text))) > Limit {
		return nil
	}
	if e.Request.Event == op.HookPrompt && e.came == "" && e.name == transformed {
		return nil // it would replace the prompt
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e.answer(e, text)); err != nil {
		return nil
	}
	return out.Bytes()
}

// message is what an agent says, by the names of its members.
type message map[string]json.RawMessage

// text returns the first member of these names that is a text, or a list that begins with one.
func (m message) text(names []string) string {
	for _, name := range names {
		var one string
		var list []string
		switch {
		case json.Unmarshal(m[name], &one) == nil && one != "":
			return one
		case json.Unmarshal(m[name], &list) == nil && len(list) > 0:
			return list[0]
		}
	}
	return ""
}

// is reports whether one of the members is true.
func (m message) is(names []string) bool {
	for _, name := range names {
		var yes bool
		if json.Unmarshal(m[name], &yes) == nil && yes {
			return true
		}
	}
	return false
}

// number returns a member that is a whole number, and otherwise 0.
func (m message) number(name string) (n int) {
	_ = json.Unmarshal(m[name], &n) // then it is 0
	return n
}
