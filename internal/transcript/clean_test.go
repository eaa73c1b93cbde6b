package transcript

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{"Use pnpm.", "Use pnpm."},
		{"a < b and c > d, and <b>bold</b>", "a < b and c > d, and <b>bold</b>"},
		{"<emberd-memory>\nRecorded: use npm.\n</emberd-memory>\n\nUse pnpm.", "Use pnpm."},
		{"Use pnpm.\n<emberd-memory>\nRecorded: use", "Use pnpm."},
		{"Use pnpm.\n<system-reminder>x</system-reminder>\n\n\nAnd make.", "Use pnpm.\n\nAnd make."},
		{"<task-notification>\n<task-id>1</task-id>\n</task-notification>", ""},
		{"<hook_prompt hook_run_id=\"1\">Go on.</hook_prompt>Yes.", "Yes."},
		{"<hook_context>npm</hook_context>Yes.", "Yes."},
		{"<local-command-stdout>ok</local-command-stdout><local-command-caveat>c</local-command-caveat>", ""},
		{"<command-name>/clear</command-name><command-message>c</command-message><command-args>x</command-args>", ""},
		{"<COMMAND-NAME>/clear</COMMAND-NAME> <skills>x</skills>", "<skills>x</skills>"},
		{"<private a <private>b</private>", "<private a"},
		{"My key is <private>hunter2</private>, use it.", "My key is , use it."},
		{"My key is <PRIVATE>hunter2", "My key is"},
		{"a <private>b <private>c</private> d</private> e", "a  e"},
		{"<system-reminder>a <private>b</system-reminder> c</private> d", ""},
		{"no end </private> here", "here"}, // what opened it was in another message
		{"The tag `<system-reminder>` is not closed.", "The tag `<system-reminder>` is not closed."},
		{"The tag `<system-reminder>`.\n<hook_context>npm</hook_context>", "The tag `<system-reminder>`."},
		{"Yes.\n<system-reminder>\nthe rest is cut", "Yes."},
		{"<private/>shown", "<private/>shown"},
		{"<system-reminder>a <hook_context>b</hook_context> c</system-reminder>d", "d"},
	} {
		if got := Clean(c.message); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.message, got, c.want)
		}
		if again := Clean(Clean(c.message)); again != Clean(c.message) {
			t.Errorf("Clean(%q) changes when it is cleaned again: %q", c.message, again)
		}
	}
}

// Clean reads a message of many tags once, however they are nested.
func TestCleanManyTags(t *testing.T) {
	const n = 40_000
	open, shut := strings.Repeat("x<hook_context>", n), strings.Repeat("</hook_context>", n)
	for message, want := range map[string]int{
		open: len(open), open + shut: 1, shut: len(shut), open + shut + open: 1 + len(open),
	} {
		if got := Clean(message); len(got) != want {
			t.Errorf("%d bytes are left of %d, want %d", len(got), len(message), want)
		}
	}
}

func TestFromPerson(t *testing.T) {
	for _, c := range []struct {
		agent, message string
		want           bool
	}{
		{ClaudeCode, "Use pnpm.", true},
		{ClaudeCode, "<system-reminder>x</system-reminder>\nUse pnpm.", true},
		{ClaudeCode, "/usr/local/bin is not on the path", true},
		{ClaudeCode, "/compact", false},
		{ClaudeCode, "/deploy to staging", false},
		{ClaudeCode, "/deploy\nThat is the command to describe.", true},
		{ClaudeCode, "<command-name>/clear</command-name>", false},
		{ClaudeCode, "<task-notification>done</task-notification>", false},
		{ClaudeCode, "This session is being continued from a previous conversation that ran out of context.", false},
		{ClaudeCode, "[Request interrupted by user for tool use]", false},
		{Codex, "# AGENTS.md instructions for /home/ada/shop\n\nUse yarn.", false},
		{Codex, "<environment_context>\n<cwd>/</cwd>\n</environment_context>", false},
		{Codex, "Another language model started to solve this problem and produced a summary", false},
		{GeminiCLI, "<session_context>x</session_context>", false},
		{Copilot, "# AGENTS.md instructions are too long, shorten them", true},
		{OpenCode, "  \n", false},
		{OpenCode, "<private>all of it", false},
	} {
		if got := FromPerson(c.agent, c.message); got != c.want {
			t.Errorf("FromPerson(%s, %q) = %v", c.agent, c.message, got)
		}
	}
}
