package mcp

import (
	"cmp"
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
		tool.Replacement{Command: `bring it back with emberd rekindle [0-9a-f]+`,
			Tool: "bring it back with memory_undo and the tx of its deletion"},
		tool.Replacement{Command: `that emberd show ([0-9a-f]+) lists`, Tool: "that memory_open shows of $1"},
		tool.Replacement{Command: `with emberd edit once`, Tool: "with memory_edit once"},
	)
}

// operationAdvice names the tools of operations in the messages of errors.
func operationAdvice() func(string) string {
	advise := tool.Advice(
		tool.Replacement{Command: `emberd search --notes finds them`, Tool: `search with scope "notes" finds them`},
		tool.Replacement{Command: ` \(--allow-secret\)`},
		tool.Replacement{Command: `bring it back with emberd rekindle`, Tool: "bring it back with trash_restore"},
	)
	return func(message string) string { return withTools(advise(message)) }
}

// commandOf are the commands of operations that have another name, without the word emberd.
func commandOf() map[string]string {
	return map[string]string{
		"add": "save --if-new", "verify": "search --check", "query": "search --all-kinds", "why": "show --why",
		"timeline": "show --timeline", "confirm": "edit --confirm", "purge": "forget --permanently",
		"trash.list": "list --trash", "entity.list": "list --entities", "stats": "status --counts",
		"reinforce": "lifecycle reinforce", "touch": "lifecycle touch", "observe": "lifecycle observe",
		"gc": "lifecycle gc", "archive": "lifecycle archive", "relate": "graph relate", "unrelate": "graph unrelate",
		"links": "vault backlinks", "open": "vault open", "vault.open": "vault reopen",
		"vault.confirm": "vault confirm-deletions", "clusters": "health groups", "consolidate": "health consolidate",
		"health.consolidate": "health merge", "cleanup": "health cleanup", "cleanup.report": "health cleanup report",
		"cleanup.rollback": "health cleanup rollback", "cleanup.history": "health cleanup history",
		"health.low_access": "health unused", "migrate": "import migrate", "keeper": "config primary-device",
		"keeper.here": "config primary-device here", "compact": "doctor log compact",
		"stale.list": "doctor offline-device list", "quarantine.list": "doctor quarantine list",
		"quarantine.show": "doctor quarantine show", "quarantine.accept": "doctor quarantine accept",
		"quarantine.drop": "doctor quarantine drop", "engine.status": "model status", "engine.pause": "model pause",
		"engine.resume": "model resume", "embed": "model embed", "token.create": "agent token create",
		"token.list": "agent token list", "token.revoke": "agent token revoke",
	}
}

// withTools replaces commands by the tools of their operations. Other words stay as they are.
func withTools(message string) string {
	const program = "emberd "
	parts, commands := strings.Split(message, program), commandOf()
	for i, part := range parts[1:] {
		parts[i+1] = program + part
		longest := 0
		for _, s := range op.Table() {
			command := cmp.Or(commands[s.Name], strings.ReplaceAll(s.Name, ".", " "))
			rest, ok := strings.CutPrefix(part, command)
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
