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
		"{check}", names.check, "{correct}", names.correct, "{observe}", names.observe, "{fence}", fenceSentence(p),
	).Replace(strings.TrimSpace(instructions))
}

// fenceSentence returns where the answers of a profile have stored text. Those of the drop-ins
// have a fence for clients that give them to a model.
func fenceSentence(p Profile) string {
	const fence = "between BEGIN DATA and END DATA with one random mark."
	if p == CortexGraph || p == Reference {
		return "It is the whole answer, or the part " + fence
	}
	return "Answers contain it " + fence
}

//go:embed instructions.md
var instructions string

// names are what the tools of a profile are called, in the sentences of the instructions.
type names struct{ search, open, save, check, correct, observe, relate string }

func toolNames(p Profile) names {
	switch p {
	case CortexGraph:
		return names{"search_unified", "open_memories", "save_memory",
			"search, and save only what is new.", "save what is true now and relate it to the old one",
			"after an answer that used memories, call observe_memory_usage with their IDs.", "create_relation"}
	case Reference:
		return names{"search_nodes", "open_nodes", "create_entities and add_observations",
			"search, and add to what exists.", "call delete_observations and add_observations",
			"search_nodes and open_nodes count your reads.", "create_relations"}
	}
	return names{"memory_query", "memory_open", "memory_add",
		"call memory_verify; if it is, memory_reinforce or memory_edit.", "call memory_edit",
		"after an answer that used memories, call memory_used with their IDs.", "memory_relate"}
}
