package op

import "time"

// The roles of who said a message.
const (
	RoleUser  = "user"  // a person typed it
	RoleAgent = "agent" // the agent's model wrote it
	RoleTool  = "tool"  // a tool that the agent called
)

// SessionMessage is a message of a session between a person and a coding agent.
type SessionMessage struct {
	ID   string    `json:"id" doc:"id that the agent gave the message, or its place in the transcript"`
	Role string    `json:"role" doc:"user, agent or tool"`
	Text string    `json:"text,omitempty" doc:"what was said, in Markdown, without what programs added"`
	At   time.Time `json:"at,omitzero"`
	// Final says that the agent ended its turn with this message.
	Final bool `json:"final,omitempty"`
	// Tool, Command, Files and Failed are of a call of a tool: its name, the command line that it ran,
	// the files that it changed, and whether it failed.
	Tool    string   `json:"tool,omitempty"`
	Command string   `json:"command,omitempty"`
	Files   []string `json:"files,omitempty"`
	Failed  bool     `json:"failed,omitempty"`
}

// The events of a session that a hook reports.
const (
	HookStart   = "start"   // a session begins, goes on, or has forgotten what it was told
	HookPrompt  = "prompt"  // a person sent a prompt
	HookTurn    = "turn"    // the agent ended its turn
	HookCompact = "compact" // the agent is about to shorten what it remembers of the session
	HookEnd     = "end"     // the session ends
)

// The sources of HookStart.
const (
	StartNew     = "startup"
	StartResume  = "resume"
	StartClear   = "clear"
	StartCompact = "compact"
)

// HookRequest is an event of a session of a coding agent.
type HookRequest struct {
	Agent    string           `json:"agent" doc:"coding agent, such as claude-code or codex"`
	Event    string           `json:"event" doc:"start, prompt, turn, compact or end"`
	Session  string           `json:"session" doc:"id of the session"`
	Source   string           `json:"source,omitempty" doc:"of a start: startup, resume, clear or compact"`
	Project  string           `json:"project,omitempty" doc:"project of the session: the name of its git repository"`
	Folder   string           `json:"folder,omitempty" doc:"absolute path of the folder that the agent works in"`
	Prompt   string           `json:"prompt,omitempty" doc:"of a prompt: what the person typed"`
	Messages []SessionMessage `json:"messages,omitempty" doc:"what was said since the last event, oldest first"`
}

// HookResult is what the agent is told at an event.
type HookResult struct {
	// Text is for the model, "" for nothing.
	Text string `json:"text,omitempty"`
	// Kept counts the memories that the event left.
	Kept int `json:"kept,omitempty"`
}
