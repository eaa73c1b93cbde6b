package op

import "strings"

// Commands returns by operation the command that runs it, without the word emberd: "save --if-new" for
// add. The map belongs to the caller.
func Commands() map[string]string {
	all := renamedCommands()
	for _, s := range Table() {
		if all[s.Name] == "" {
			all[s.Name] = strings.ReplaceAll(s.Name, ".", " ")
		}
	}
	return all
}

// renamedCommands are the commands that have other names than their operations.
func renamedCommands() map[string]string {
	return map[string]string{
		"add": "save --if-new", "verify": "search --check", "query": "search --all-kinds", "why": "show --why",
		"timeline": "show --timeline", "confirm": "edit --confirm", "purge": "forget --permanently",
		"trash.list": "list --trash", "trash.restore": "rekindle",
		"entity.list": "list --entities", "stats": "status --counts",
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
