package mcp

import (
	_ "embed" // for the instructions
	"strings"
)

// instructionsOf tell a model when to use which tool, in less than 2,000 characters.
func instructionsOf(p Profile) string {
	names := toolNames(p)
	return strings.NewReplacer(
		"{search}", names.search, "{save}", names.save,
		"{check}", names.check, "{correct}", names.correct, "{observe}", names.observe, "{fence}", fenceSentence(p),
	).Replace(strings.TrimSpace(instructions))
}

// fenceSentence returns where the answers of a profile have stored text. Those of the drop-ins
// have a fence for clients that give them to a model.
func fenceSentence(p Profile) string {
	const fence = "between BEGIN DATA and END DATA with the same random mark."
	if p == CortexGraph || p == Reference {
		return "Stored text is the whole answer, or the part " + fence
	}
	return "Answers contain stored text " + fence
}

//go:embed instructions.md
var instructions string

// names are what the tools of a profile are called, in the sentences of the instructions.
type names struct{ search, open, save, check, correct, observe, relate string }

func toolNames(p Profile) names {
	switch p {
	case CortexGraph:
		return names{"search_unified", "open_memories", "save_memory",
			"search, and save only new facts.", "save the correct fact and relate the two memories",
			"after an answer that used memories, call observe_memory_usage with their IDs.", "create_relation"}
	case Reference:
		return names{"search_nodes", "open_nodes", "create_entities and add_observations",
			"search, and add to existing entities.", "call delete_observations and add_observations",
			"emberd counts the reads of search_nodes and open_nodes as accesses.", "create_relations"}
	}
	return names{"memory_query", "memory_open", "memory_add",
		"call memory_verify first; for a known fact, memory_reinforce or memory_edit.", "call memory_edit",
		"after an answer that used memories, call memory_used with their IDs.", "memory_relate"}
}
