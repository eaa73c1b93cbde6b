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
		tool.Replacement{Command: `emberd list shows (those there are|ids)`,
			Tool: "call memory_query to find memories by words, or memory_list for the newest"},
		tool.Replacement{Command: `emberd search --notes finds them`, Tool: `call memory_query with "scope": "vault"`},
		tool.Replacement{Command: `copy (it|one) from emberd list or emberd search`,
			Tool: "copy $1 from memory_query or memory_list"},
		tool.Replacement{Command: `emberd trash restore [0-9a-f]+`, Tool: "memory_undo and the tx of its deletion"},
		tool.Replacement{Command: `that emberd show ([0-9a-f]+) lists`, Tool: "that memory_open shows of $1"},
		tool.Replacement{Command: `with emberd edit once`, Tool: "with memory_edit once"},
	)
}

// operationAdvice names the tools of operations in the messages of errors.
func operationAdvice() func(string) string {
	advise := tool.Advice(
		tool.Replacement{Command: `emberd search --notes finds them`, Tool: `search with scope "notes" finds them`},
		tool.Replacement{Command: ` \(--allow-secret\)`},
	)
	return func(message string) string { return withTools(advise(message)) }
}

// withTools replaces commands by the tools of their operations, whose names differ only in
// white space. Other words stay as they are.
func withTools(message string) string {
	const program = "emberd "
	parts := strings.Split(message, program)
	for i, part := range parts[1:] {
		parts[i+1] = program + part
		words := strings.TrimPrefix(part, "doctor ")
		longest := 0
		for _, s := range op.Table() {
			command := strings.ReplaceAll(s.Name, ".", " ")
			rest, ok := strings.CutPrefix(words, command)
			if _, no := withheld(s); ok && !no && len(command) > longest && !startsWithLetter(rest) {
				parts[i+1], longest = toolNameOf(s)+rest, len(command)
			}
		}
	}
	return strings.Join(parts, "")
}

func startsWithLetter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}
