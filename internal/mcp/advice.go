package mcp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/mcp/tool"
	"emberd/op"
)

// agentAdvice names the tools of agents in the messages of errors.
func agentAdvice() func(string) string {
	return tool.Advice(
		tool.Replacement{Command: `run: emberd list(, or emberd search|$)`,
			Tool: "call memory_query to find memories by words, or memory_list for the newest"},
		tool.Replacement{Command: `run: emberd search --notes`, Tool: `call memory_query with "scope": "vault"`},
		tool.Replacement{Command: `restore the memory, run emberd rekindle [0-9a-f]+`,
			Tool: "restore the memory, call memory_undo with the tx of the deletion"},
		tool.Replacement{Command: `restore it with emberd rekindle [0-9a-f]+`,
			Tool: "restore it with memory_undo and the tx of its deletion"},
		tool.Replacement{Command: `that emberd show ([0-9a-f]+) lists`, Tool: "that memory_open shows for $1"},
		tool.Replacement{Command: `first confirm the memory with emberd edit --confirm`,
			Tool: "first ask the user to confirm the memory with emberd edit --confirm"},
	)
}

// operationAdvice names the tools of operations in the messages of errors.
func operationAdvice() func(string) string {
	advise := tool.Advice(
		tool.Replacement{Command: `run: emberd search --notes`, Tool: `call search with scope "notes"`},
		tool.Replacement{Command: ` \(--allow-secret\)`},
		tool.Replacement{Command: `restore the memory, run emberd rekindle`,
			Tool: "restore the memory, call trash_restore"},
		tool.Replacement{Command: `restore it with emberd rekindle`, Tool: "restore it with trash_restore"},
	)
	return func(message string) string { return withTools(advise(message)) }
}

// withTools replaces commands by the tools of their operations. Other words stay as they are.
func withTools(message string) string {
	const program = "emberd "
	parts, commands := strings.Split(message, program), op.Commands()
	for i, part := range parts[1:] {
		parts[i+1] = program + part
		longest := 0
		for _, s := range op.Table() {
			command := commands[s.Name]
			rest, ok := strings.CutPrefix(part, command)
			if _, no := withheld(s); ok && !no && len(command) > longest && !startsWithLetter(rest) {
				parts[i+1], longest = toolNameOf(s)+rest, len(command)
			}
		}
		if before, isCommand := strings.CutSuffix(parts[i], "run: "); isCommand && longest > 0 {
			parts[i] = before + "call "
		}
	}
	return strings.Join(parts, "")
}

func startsWithLetter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}
