package mcp

import (
	_ "embed" // for the instructions
	"strings"
)

// instructionsOf tell a model when to use which tool, in less than 2,000 characters.
func instructionsOf(p Profile) string {
	names := toolNames(p)
	return strings.NewReplacer(
		"{search}", names.search, "{open}", names.open, "{save}", names.save,
		"{check}", names.check, "{correct}", names.correct, "{observe}", names.observe, "{relate}", names.relate,
	).Replace(strings.TrimSpace(instructions))
}

//go:embed instructions.md
var instructions string

// names are what the tools of a profile are called, in the sentences of the instructions.
type names struct{ search, open, save, check, correct, observe, relate string }

func toolNames(p Profile) names {
	switch p {
	case CortexGraph:
		return names{"search_unified", "open_memories", "save_memory",
			"search: if it is there, save only what is new.", "save what holds now and relate it to the old one",
			"after you used memories in an answer, call observe_memory_usage with their ids.", "create_relation"}
	case Reference:
		return names{"search_nodes", "open_nodes", "create_entities and add_observations",
			"search: if it is there, add to it instead.", "delete_observations and add_observations",
			"search_nodes and open_nodes count what you looked at.", "create_relations"}
	}
	return names{"memory_query", "memory_open", "memory_add",
		"memory_verify tells whether it is, or disagrees. Met again it is memory_reinforce, corrected it is " +
			"memory_edit.", "memory_edit",
		"after you used memories in an answer, call memory_used with their ids.", "memory_relate"}
}
