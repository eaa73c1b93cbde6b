// Package transcript reads the sessions that coding agents keep on disk, and finds their files. It writes
// nothing.
//
// A session is what a person and an agent said and which tools the agent called. What a tool answered is never
// text, nor is what the agent thinks, what programs put into a message (see [Clean]), what no person wrote in
// the place of a person (see [FromPerson]), and what is between <private> and </private>. The
// conversations of subagents, whose prompts another agent wrote, have no messages.
//
// A line of each format, shortened:
//
//	claude-code  {"type":"assistant","uuid":"c171","sessionId":"64b5","cwd":"/home/ada/shop",
//	             "timestamp":"2026-11-29T07:55:47.132Z","isSidechain":false,"message":{"id":"msg_11",
//	             "role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}
//	codex        {"timestamp":"2026-11-29T07:55:43.487Z","type":"response_item","payload":{"type":"message",
//	             "id":"m4","role":"assistant","content":[{"type":"output_text","text":"Done."}],
//	             "phase":"final_answer"}}
//	copilot      {"type":"assistant.message","data":{"content":"Done.","toolRequests":[]},"id":"f77a",
//	             "timestamp":"2026-11-29T07:56:53.858Z","parentId":"5b5d"}
//	gemini-cli   {"id":"ab65","timestamp":"2026-11-29T07:56:40.374Z","type":"gemini","content":"Done."}
//	antigravity  {"step_index":4,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE",
//	             "created_at":"2026-11-29T07:56:40Z","content":"Done."}
//
// OpenCode keeps its sessions in a database of SQLite, with such JSON in the rows of message and part:
//
//	opencode     {"role":"assistant","time":{"created":1795939034843},"finish":"stop"}
//	             {"type":"text","text":"Done."}
package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/op"
)

// The agents whose sessions can be read.
const (
	ClaudeCode  = "claude-code"
	Codex       = "codex"
	Copilot     = "copilot"
	GeminiCLI   = "gemini-cli"
	Antigravity = "antigravity"
	OpenCode    = "opencode"
)

// ErrAgent says that an agent is none of those whose sessions can be read.
var ErrAgent = errors.New("unknown agent")

// A Session is what a transcript says.
type Session struct {
	Agent    string
	ID       string              // "" where the file does not tell
	Folder   string              // that the agent worked in, "" where the file does not tell
	Started  time.Time           // the zero time where the file does not tell
	Messages []op.SessionMessage // oldest first
	Skipped  int                 // lines that could not be read: broken, or longer than 4 MiB
}

var parsers = map[string]func() parser{
	ClaudeCode: newClaude, Codex: newCodex, Copilot: newCopilot, GeminiCLI: newGemini, Antigravity: newAntigravity,
}

func newParser(agent string) (parser, error) {
	if parsers[agent] == nil {
		return nil, fmt.Errorf("%w %q", ErrAgent, agent)
	}
	return parsers[agent](), nil
}

// Read reads a whole transcript. It keeps only the messages in memory, so a file may have any size; a
// transcript that is one JSON document, as old versions of Gemini CLI wrote it, may have 64 MiB. A line that
// cannot be read is passed over and counted; a last line without its end, which the agent is still writing,
// is not counted. It fails if r fails, and with [ErrAgent].
//
// The same file gives the same ids of messages each time, also after the agent has written more to it.
func Read(agent string, r io.Reader) (*Session, error) {
	p, err := newParser(agent)
	if err != nil {
		return nil, err
	}
	from := bufio.NewReaderSize(r, 64<<10)
	if agent == GeminiCLI && isDocument(from) {
		return readDocument(from)
	}
	return readLines(p, from, 0)
}

// readLines gives a parser the lines of r, which begins at a place in the file.
func readLines(p parser, r *bufio.Reader, at int64) (*Session, error) {
	s := p.result()
	for line, err := range lines(r, at) {
		switch {
		case err != nil:
			return nil, err
		case line.long:
			s.Skipped++
		case len(line.text) > 0 && p.line(line.at, line.text) != nil && line.whole:
			s.Skipped++
		}
	}
	p.done()
	return s, nil
}

// ReadFile reads the sessions of a file that [Find] found: one, or all of a database of OpenCode. It refuses
// what is not a regular file.
func ReadFile(ctx context.Context, agent, path string) ([]*Session, error) {
	if agent == OpenCode {
		return readOpenCode(ctx, path)
	}
	f, err := durable.OpenGiven(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Read(agent, f)
	if err != nil {
		return nil, err
	}
	s.nameAfter(path)
	return []*Session{s}, nil
}

// nameAfter takes what the file of a transcript does not tell from its place: the id of a session of Antigravity,
// and the folder of one of Gemini CLI, which stands in a file beside.
func (s *Session) nameAfter(path string) {
	switch above := filepath.Dir(filepath.Dir(path)); {
	case s.Agent == Antigravity && s.ID == "":
		s.ID = filepath.Base(filepath.Dir(above))
	case s.Agent == GeminiCLI && s.Folder == "":
		s.Folder = strings.TrimSpace(firstBytes(filepath.Join(above, ".project_root"), 4096))
	}
}

// firstBytes returns the beginning of a regular file, "" where it cannot be read.
func firstBytes(path string, max int64) string {
	f, err := durable.OpenGiven(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max))
	if err != nil {
		return ""
	}
	return string(data)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
