package transcript

import (
	"emberd/internal/text"
	"slices"
	"strings"
	"unicode"
)

// privateElements are those that nobody but the agent may see; one that is not closed hides the rest.
var privateElements = []string{"private", "emberd-memory"}

// machineElements are those that programs put into a message, those that end with a dash or underscore with any
// name that begins so.
var machineElements = []string{
	"system-reminder", "task-notification", "hook_prompt", "hook_context", "local-command-",
	"command-name", "command-message", "command-args", "bash-input", "bash-stdout", "bash-stderr", "bash-exit-code",
	"ide_", "environment_context", "user_instructions", "turn_aborted", "skill", "user_shell_command",
	"subagent_notification", "session_context", "state_snapshot", "current_datetime", "additional_metadata",
	"user_settings_change",
}

var manyBlankLines = text.Pattern(`\n[ \t\r]*\n(?:[ \t\r]*\n)+`)

// Clean returns a message without what programs put into it: the block of recalled memories, reminders,
// notifications, the output of commands. It cuts <private> too, to the end of the message where nothing
// closes it. Any other element that is not closed is cut if it begins a line. It takes time in
// proportion to the length of the message.
func Clean(message string) string {
	if strings.ContainsAny(message, "<&") {
		message = withoutPrivate(message)
		whole := message
		message = cutElements(message, machineElements, func(at int) bool { return beginsLine(whole, at) })
	}
	return strings.TrimSpace(manyBlankLines().ReplaceAllString(message, "\n\n"))
}

func beginsLine(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

// withoutPrivate returns a text without what is private and without recalled memories, and is Clean otherwise
// for a text that is no prose, such as a command.
func withoutPrivate(text string) string {
	text = privateTag().ReplaceAllStringFunc(text, plainTag)
	if end := strings.LastIndex(text, "</private>"); end >= 0 && strings.LastIndex(text[:end], "<private>") < 0 {
		text = text[end+len("</private>"):] // what opened it is not in this message
	}
	return cutElements(text, privateElements, func(int) bool { return true })
}

// privateTag is a tag of what is private, however it is typed.
var privateTag = text.Pattern(`(?i)(?:<|&lt;)\s*(/?)\s*private(?:\s[^<>/]*)?\s*(?:>|&gt;)`)

// plainTag returns such a tag as [tags] knows it.
func plainTag(tag string) string {
	if privateTag().FindStringSubmatch(tag)[1] != "" {
		return "</private>"
	}
	return "<private>"
}

// A span is a part of a text that is cut, or a tag.
type span struct {
	name       string // in lower case, of a tag
	closes     bool
	begin, end int
}

// tags returns the tags of elements in a text, without those that open and close at once.
func tags(text string, elements []string) (all []span) {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return all
		}
		at += next + 1
		rest := strings.TrimPrefix(text[at:], "/")
		name := rest[:len(rest)-len(strings.TrimLeft(rest, nameLetters))]
		length := strings.IndexAny(rest[len(name):], "<>")
		if name == "" || length < 0 || !isElement(strings.ToLower(name), elements) {
			continue
		}
		end := at + len(text[at:]) - len(rest) + len(name) + length + 1
		attributes := rest[len(name) : len(name)+length]
		valid := attributes == "" || unicode.IsSpace(rune(attributes[0]))
		if text[end-1] == '>' && valid && !strings.HasSuffix(attributes, "/") {
			all = append(all, span{strings.ToLower(name), text[at] == '/', at - 1, end})
		}
	}
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

func isElement(name string, elements []string) bool {
	return slices.ContainsFunc(elements, func(e string) bool {
		return name == e || strings.HasPrefix(name, e) && strings.ContainsAny(e[len(e)-1:], "-_")
	})
}

// cutElements removes elements, with what is nested in them. toEnd says of a tag that nothing closes, by its
// place, whether the text ends there; a tag that closes nothing is left.
func cutElements(text string, elements []string, toEnd func(at int) bool) string {
	var open, cut []span
	pending := map[string]int{}
	for _, tag := range tags(text, elements) {
		switch {
		case !tag.closes:
			open = append(open, tag)
			pending[tag.name]++
		case pending[tag.name] > 0:
			var begin int
			open, begin = closeTag(open, pending, tag.name)
			for len(cut) > 0 && cut[len(cut)-1].begin > begin {
				cut = cut[:len(cut)-1]
			}
			cut = append(cut, span{begin: begin, end: tag.end})
		}
	}
	for _, tag := range open {
		if toEnd(tag.begin) {
			text = text[:tag.begin]
			break
		}
	}
	return without(text, cut)
}

// closeTag takes the last open tag of a name off, with those inside it, and returns where it began.
func closeTag(open []span, pending map[string]int, name string) ([]span, int) {
	for {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		pending[last.name]--
		if last.name == name {
			return open, last.begin
		}
	}
}

// without returns a text without parts of it, those before its end.
func without(text string, cut []span) string {
	var kept strings.Builder
	from := 0
	for _, part := range cut {
		if part.begin < len(text) {
			kept.WriteString(text[from:part.begin])
			from = part.end
		}
	}
	kept.WriteString(text[from:])
	return kept.String()
}

// machineBeginnings are how messages begin that an agent writes as if a person had sent them.
var machineBeginnings = map[string][]string{
	ClaudeCode: {
		"This session is being continued from a previous conversation", "[Request interrupted by user",
		"Caveat: The messages below were generated by the user while running local commands",
		"Base directory for this skill:", "Stop hook feedback:", "[SYSTEM NOTIFICATION",
	},
	Codex:     {"# AGENTS.md instructions", "Another language model started to solve this problem"},
	GeminiCLI: {"System: Please continue.", "This is the Gemini CLI. We are setting up the context"},
}

// slashCommand is a command of the agent itself, alone on one line, with its arguments.
var slashCommand = text.Pattern(`^/[A-Za-z][\w:.-]*(?:[ \t][^\n]*)?$`)

// FromPerson reports whether a person wrote a message that an agent took as a prompt. It is false for what
// nothing is left of by Clean, for instructions, summaries and notices of the agent, and for a slash command.
func FromPerson(agent, message string) bool {
	message = Clean(message)
	if message == "" || slashCommand().MatchString(message) {
		return false
	}
	for _, beginning := range machineBeginnings[agent] {
		if strings.HasPrefix(message, beginning) {
			return false
		}
	}
	return true
}
