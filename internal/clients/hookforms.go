package clients

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// object is a JSON object; its members are written in alphabetical order.
type object = map[string]any

// claudeEvents are the events of Claude Code, and of others after it. The end of a turn is waited for: Claude Code
// 2.1.197 ends hooks that it does not wait for when it ends itself, as with -p.
func claudeEvents() []hookEvent {
	return []hookEvent{{"SessionStart", 5}, {"UserPromptSubmit", 2}, {"Stop", 10},
		{"PreCompact", 10}, {"SessionEnd", 3}}
}

func claudeHooks() *hookForm {
	return &hookForm{events: claudeEvents(),
		file: func(m Machine) string {
			if dir := m.Env("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, "settings.json")
			}
			return filepath.Join(m.Home, ".claude", "settings.json")
		},
		entry: func(s Server, e hookEvent) any {
			return group(claudeCommand{"command", s.Command, s.Args, e.seconds})
		}}
}

// claudeCommand is a program that is started without a shell.
type claudeCommand struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int      `json:"timeout"`
}

func group(command any) any { return object{"hooks": []any{command}} }

func codexHooks() *hookForm {
	return &hookForm{events: claudeEvents(), file: inHome("CODEX_HOME", ".codex", "hooks.json"),
		entry: func(s Server, e hookEvent) any {
			return group(lineCommand{"command", line(s), e.seconds, ""})
		},
		after: "Codex runs only hooks that you trust, and does not warn you about the others; start codex, type " +
			"/hooks, and trust the hooks of emberd",
		untrusted: untrustedInCodex}
}

// lineCommand is a line of shell.
type lineCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	Name    string `json:"name,omitempty"`
}

func geminiHooks() *hookForm {
	return &hookForm{file: inHome("", ".gemini", "settings.json"),
		events: []hookEvent{{"SessionStart", 5}, {"BeforeAgent", 2}, {"AfterAgent", 10},
			{"PreCompress", 10}, {"SessionEnd", 3}},
		entry: func(s Server, e hookEvent) any {
			return group(lineCommand{"command", line(s), e.seconds * 1000, name})
		}}
}

func cursorHooks() *hookForm {
	return &hookForm{file: inHome("", ".cursor", "hooks.json"), flat: true, first: []byte("{\n  \"version\": 1\n}\n"),
		events: []hookEvent{{"sessionStart", 5}, {"beforeSubmitPrompt", 2}, {"stop", 10},
			{"preCompact", 10}, {"sessionEnd", 3}},
		entry: func(s Server, _ hookEvent) any { return object{"command": line(s)} }}
}

func copilotHooks() *hookForm {
	return &hookForm{file: inHome("COPILOT_HOME", ".copilot", "hooks", "emberd.json"),
		events: []hookEvent{{"sessionStart", 5}, {"userPromptTransformed", 2}, {"agentStop", 10},
			{"preCompact", 10}, {"sessionEnd", 3}},
		whole: copilotFile}
}

// copilotCommand is a program that is started without a shell. Its last argument is the event, which Copilot
// CLI does not say.
type copilotCommand struct {
	Type       string   `json:"type"`
	Exec       string   `json:"exec"`
	Args       []string `json:"args"`
	TimeoutSec int      `json:"timeoutSec"`
}

func copilotFile(s Server) []byte {
	events := object{}
	for _, e := range copilotHooks().events {
		events[e.name] = []any{copilotCommand{"command", s.Command, append(slices.Clone(s.Args), e.name), e.seconds}}
	}
	text, _ := json.MarshalIndent(object{"version": 1, "hooks": events}, "", "  ") // texts, numbers and lists of them
	return append(text, '\n')
}

func openCodeHooks() *hookForm {
	return &hookForm{file: func(m Machine) string {
		return filepath.Join(m.xdgConfig(), "opencode", "plugin", "emberd.js")
	}, whole: openCodePlugin}
}

// plugin is the plugin for OpenCode, without the command.
//
//go:embed opencode.js
var plugin string

func openCodePlugin(s Server) []byte {
	words, _ := json.Marshal(append([]string{s.Command}, s.Args...)) // texts
	return []byte(strings.Replace(plugin, `["emberd", "hook", "opencode"]`, string(words), 1))
}
