package hooks

import "emberd/op"

// agent is what is known of one coding agent.
type agent struct {
	name    string
	events  map[string]event // by the agent's names
	members members
}

// event is an event of the agent's in the words of package op, with the shape of its answer, nil if the
// agent takes none.
type event struct {
	event  string
	answer shape
}

// members are the names of members, the first that is there counts.
type members struct {
	event, session, folder, transcript []string
	source, prompt, last               []string
	subagent, stop                     []string
	came                               []string // what an answer has to repeat
	repeat                             string   // a number, above 1 for a repetition
	messages                           string   // the messages, in the form of package op
}

// shape makes the answer that contains a text.
type shape func(e *Event, text string) any

// transformed is Copilot's event whose answer replaces the prompt.
const transformed = "userPromptTransformed"

// claudes are the members that Claude Code has, and others after it.
var claudes = members{
	event: []string{"hook_event_name"}, session: []string{"session_id"}, folder: []string{"cwd"},
	transcript: []string{"transcript_path"}, source: []string{"source"}, prompt: []string{"prompt"},
	last: []string{"last_assistant_message"}, subagent: []string{"agent_id"}, stop: []string{"stop_hook_active"},
}

// find returns the entry of an agent, nil if there is none.
func find(name string) *agent {
	for _, a := range agents() {
		if a.name == name {
			return &a
		}
	}
	return nil
}

func agents() []agent {
	return []agent{
		{"antigravity", antigravityEvents, members{
			session: []string{"conversationId"}, folder: []string{"workspacePaths"}, repeat: "invocationNum",
			transcript: []string{"transcriptPath"}, prompt: []string{"prompt"}, event: []string{"hookEventName"},
		}},
		{"claude-code", claudeEvents, claudes},
		{"codex", claudeEvents, claudes},
		{"copilot", copilotEvents, members{
			event: []string{"hook_event_name"}, session: []string{"sessionId", "session_id"}, folder: []string{"cwd"},
			transcript: []string{"transcriptPath", "transcript_path"}, source: []string{"source"},
			prompt: []string{"prompt"}, stop: []string{"stop_hook_active"}, subagent: []string{"agentId", "agent_id"},
			came: []string{"transformedPrompt", "transformed_prompt"},
		}},
		{"cursor", cursorEvents, members{
			event: []string{"hook_event_name"}, session: []string{"conversation_id", "session_id"},
			folder: []string{"cwd", "workspace_roots"}, transcript: []string{"transcript_path"},
			source: []string{"source"}, prompt: []string{"prompt"}, last: []string{"last_assistant_message"},
			subagent: []string{"agent_id"},
		}},
		{"gemini-cli", geminiEvents, members{
			event: []string{"hook_event_name"}, session: []string{"session_id"}, folder: []string{"cwd"},
			transcript: []string{"transcript_path"}, source: []string{"source"}, prompt: []string{"prompt"},
			last: []string{"prompt_response"}, subagent: []string{"agent_id"}, stop: []string{"stop_hook_active"},
		}},
		{"opencode", openCodeEvents, members{
			event: []string{"event"}, session: []string{"session"}, folder: []string{"folder"},
			source: []string{"source"}, prompt: []string{"prompt"},
			subagent: []string{"subagent"}, messages: "messages",
		}},
	}
}

var claudeEvents = map[string]event{
	"SessionStart":     {op.HookStart, specific},
	"UserPromptSubmit": {op.HookPrompt, specific},
	"Stop":             {op.HookTurn, nil}, // an answer would make the model go on
	"PreCompact":       {op.HookCompact, nil},
	"SessionEnd":       {op.HookEnd, nil},
}

// Copilot CLI runs hooks under names in either spelling. It drops the answer to userPromptSubmitted, which is
// therefore no prompt: only one event of a prompt is answered.
var copilotEvents = map[string]event{
	"sessionStart": {op.HookStart, additional}, "SessionStart": {op.HookStart, additional},
	transformed: {op.HookPrompt, replaced},
	"agentStop": {op.HookTurn, nil}, "Stop": {op.HookTurn, nil},
	"preCompact": {op.HookCompact, nil}, "PreCompact": {op.HookCompact, nil},
	"sessionEnd": {op.HookEnd, nil}, "SessionEnd": {op.HookEnd, nil},
}

var cursorEvents = map[string]event{
	"sessionStart":       {op.HookStart, cursorContext},
	"beforeSubmitPrompt": {op.HookPrompt, cursorPrompt},
	"stop":               {op.HookTurn, nil},
	"preCompact":         {op.HookCompact, nil},
	"sessionEnd":         {op.HookEnd, nil},
}

var geminiEvents = map[string]event{
	"SessionStart": {op.HookStart, specific},
	"BeforeAgent":  {op.HookPrompt, specific},
	"AfterAgent":   {op.HookTurn, nil}, // an answer could make the model try again
	"PreCompress":  {op.HookCompact, nil},
	"SessionEnd":   {op.HookEnd, nil},
}

var antigravityEvents = map[string]event{
	"PreInvocation": {op.HookPrompt, injectSteps},
	"Stop":          {op.HookTurn, nil},
}

var openCodeEvents = map[string]event{
	op.HookStart:   {op.HookStart, plain},
	op.HookPrompt:  {op.HookPrompt, plain},
	op.HookTurn:    {op.HookTurn, nil},
	op.HookCompact: {op.HookCompact, nil},
	op.HookEnd:     {op.HookEnd, nil},
}

type object = map[string]any

func specific(e *Event, text string) any {
	return object{"hookSpecificOutput": object{"hookEventName": e.name, "additionalContext": text}}
}

func additional(_ *Event, text string) any { return object{"additionalContext": text} }

func replaced(e *Event, text string) any {
	return object{"modifiedTransformedPrompt": e.came + "\n\n" + text}
}

func cursorContext(_ *Event, text string) any { return object{"additional_context": text} }

func cursorPrompt(_ *Event, text string) any {
	return object{"continue": true, "additional_context": text}
}

func injectSteps(_ *Event, text string) any {
	return object{"injectSteps": []object{{"ephemeralMessage": text}}}
}

func plain(_ *Event, text string) any { return object{"text": text} }
