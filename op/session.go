package op

import (
	"time"

	"emberd/memory"
)

// The roles of who said a message.
const (
	RoleUser  = "user"  // a person typed it
	RoleAgent = "agent" // the agent's model wrote it
	RoleTool  = "tool"  // a tool that the agent called
)

// SessionMessage is a message of a session between a person and a coding agent.
type SessionMessage struct {
	ID   string    `json:"id" doc:"ID of the message in the session, or the position of the message in the transcript"`
	Role string    `json:"role" doc:"author of the message: user, agent or tool"`
	Text string    `json:"text,omitempty" doc:"text of the message in Markdown, without text that a program added to the message"`
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
	Agent    string           `json:"agent" doc:"name of the coding agent, such as claude-code or codex"`
	Event    string           `json:"event" doc:"kind of event: start, prompt, turn, compact or end"`
	Session  string           `json:"session" doc:"ID of the session"`
	Source   string           `json:"source,omitempty" doc:"cause of a start event: startup, resume, clear or compact"`
	Project  string           `json:"project,omitempty" doc:"project of the session: the name of its git repository"`
	Folder   string           `json:"folder,omitempty" doc:"absolute path of the working folder of the agent"`
	Prompt   string           `json:"prompt,omitempty" doc:"text that the user typed; only for the event prompt"`
	Messages []SessionMessage `json:"messages,omitempty" doc:"messages of the session since the last event, oldest first"`
	// Whole says that the messages are a session of the past, which an import reads.
	Whole bool `json:"whole,omitempty" doc:"true: the messages are a complete past session"`
	// SearchOnly says that the messages are to be found by a search of past sessions, and leave no memory.
	SearchOnly bool `json:"search_only,omitempty" doc:"true: make the messages searchable, without saving memories"`
	DryRun     bool `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	// Tx is the change that a whole session joins, so that one undo reverts the import of all sessions.
	Tx string `json:"tx,omitempty" doc:"with whole: ID (tx) of the previous answer of the same import, which this request then becomes part of"`
}

// HookResult is what the agent is told at an event.
type HookResult struct {
	// Text is for the model, "" for nothing.
	Text string `json:"text,omitempty"`
	// Kept are the memories that the event left.
	Kept []SessionMemory `json:"kept,omitempty"`
	// Tx is the change of a whole session, or the one that it joined.
	Tx string `json:"tx,omitempty"`
	// Refused counts sentences that look like credentials.
	Refused int `json:"refused,omitempty"`
	// Forbidden are the IDs of messages of which the token may not save a sentence, and Over counts sentences beyond
	// those that a turn and a session may leave.
	Forbidden []string `json:"forbidden,omitempty"`
	Over      int      `json:"over,omitempty"`
	// Stored counts the messages that are searched from now on, and were not before or said something else. Left
	// counts those that the session has no more room for.
	Stored int `json:"stored,omitempty"`
	Left   int `json:"left,omitempty"`
	// Forgotten says that the session was forgotten, so that none of its messages is stored.
	Forgotten bool `json:"forgotten,omitempty"`
}

// SessionMemory is what was kept of a sentence of a session.
type SessionMemory struct {
	ID      memory.ID `json:"id,omitempty"` // none of a dry run
	Rule    string    `json:"rule"`         // by which the sentence was kept
	Text    string    `json:"text"`
	Message string    `json:"message"`
	From    string    `json:"from"` // user or agent
	// New is false if a memory said it already, and counts as learned once more.
	New bool   `json:"new,omitempty"`
	Tx  string `json:"tx,omitempty"`
	// Imported says that an import kept it, whose change may have other sessions too.
	Imported bool `json:"imported,omitempty"`
	// Gone says that the memory was deleted since.
	Gone bool `json:"gone,omitempty"`
}

// SessionListRequest asks for the sessions of coding agents.
type SessionListRequest struct {
	ID      string `json:"id,omitempty" query:"id" doc:"list only this session, with its memories: the ID of the session, or at least the first four characters of the ID"`
	Days    int    `json:"days,omitempty" query:"days" doc:"list only sessions of the last N days, 1 to 90, default 7"`
	Project string `json:"project,omitempty" query:"project" doc:"list only sessions of this project"`
}

// SessionListResult are sessions, newest first, and what hooks did in them.
type SessionListResult struct {
	Sessions []Session `json:"sessions"`
	// Recall is how prompts are answered: off, shadow or on. Capture says that sentences are kept.
	Recall  string `json:"recall"`
	Capture bool   `json:"capture"`
}

// Session is what hooks did in a session of a coding agent.
type Session struct {
	ID      string    `json:"id"`
	Agent   string    `json:"agent"`
	Project string    `json:"project,omitempty"`
	Folder  string    `json:"folder,omitempty"`
	Started time.Time `json:"started"`
	Last    time.Time `json:"last"`
	// Prompts counts those of the person, and Answered those that got memories or, in shadow, would have.
	Prompts  int `json:"prompts"`
	Answered int `json:"answered"`
	Shown    int `json:"shown"`  // memories that the model was given, at starts and beside prompts
	Used     int `json:"used"`   // of them, those that an answer used
	Tokens   int `json:"tokens"` // of what the model was given
	// Trial counts the memories that prompts would have been given, in shadow, and TrialUsed those of them whose rare
	// words an answer had all the same.
	Trial     int `json:"trial,omitempty"`
	TrialUsed int `json:"trial_used,omitempty"`
	// Forbidden counts the messages of which the token of the hook may not save a sentence, and Over the sentences
	// beyond those that a turn and a session may leave.
	Forbidden int `json:"forbidden,omitempty"`
	Over      int `json:"over,omitempty"`
	// Memories is what the session left, oldest first.
	Memories []SessionMemory `json:"memories,omitempty"`
}

// SessionForgetRequest takes back what a session left.
type SessionForgetRequest struct {
	ID     string `json:"id" doc:"ID of the session, or at least the first four characters of the ID"`
	DryRun bool   `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// SessionForgetResult reports what was taken back.
type SessionForgetResult struct {
	Session   string      `json:"session"`
	Forgotten []memory.ID `json:"forgotten"`          // memories that went to the trash
	Undone    int         `json:"undone"`             // repetitions that count no more
	Messages  int         `json:"messages,omitempty"` // messages that were stored to be searched, and are removed
	Left      []UndoItem  `json:"left,omitempty"`
	DryRun    bool        `json:"dry_run,omitempty"`
	Tx        string      `json:"tx,omitempty"` // journal entry, for undo
}

// SessionPassage is a past session with a coding agent, and the message of it that answers best. Nobody
// checked what it says.
type SessionPassage struct {
	ID      string    `json:"id"`
	Agent   string    `json:"agent"`
	Project string    `json:"project,omitempty"`
	Title   string    `json:"title,omitempty"` // the first words of the person
	Role    string    `json:"role,omitempty"`  // who said it: user or agent
	At      time.Time `json:"at,omitzero"`     // when it was said
}
