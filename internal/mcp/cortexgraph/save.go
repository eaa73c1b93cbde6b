// Package cortexgraph contains the tools of CortexGraph's API reference, with the names,
// parameters and results of that reference. Numbers have as many digits as there, times are
// seconds since 1970, and an answer whose contents do not fit says so.
package cortexgraph

import (
	"context"
	"encoding/json"

	"emberd/internal/mcp/tool"
	"emberd/memory"
	"emberd/op"
)

// Tools returns the tools of CortexGraph.
func Tools() []*tool.Tool {
	tools := []*tool.Tool{
		tool.Define("save_memory", op.Write,
			"Save a new memory. If entities or strength are missing, emberd computes them from the content.",
			saveMemory,
			tool.CortexGraph, tool.All),
		tool.Define("search_memory", op.Read,
			"Search memories by words, tags, time and decay score.",
			searchMemory,
			tool.CortexGraph, tool.All),
		tool.Define("search_unified", op.Read,
			"Search memories and the notes of the vault in one ranking, without duplicates.",
			searchUnified,
			tool.CortexGraph, tool.All),
		tool.Define("touch_memory", op.Write,
			"Reinforce a memory. emberd updates its last access and its use count.",
			touchMemory,
			tool.CortexGraph, tool.All),
		tool.Define("observe_memory_usage", op.Write,
			"Record that an answer used memories. A used memory fades later. If its tags differ from the tags "+
				"of the conversation, its strength rises too.",
			observeMemoryUsage, tool.CortexGraph, tool.All),
		tool.Define("analyze_message", op.Read,
			"Rate whether a message contains something to save. The answer suggests entities, tags and "+
				"strength.",
			analyzeMessage, tool.CortexGraph, tool.All),
		tool.Define("analyze_for_recall", op.Read,
			"Estimate whether a message requires a search, and suggest a query.",
			analyzeForRecall,
			tool.CortexGraph, tool.All),
		tool.Define("gc", op.Destructive,
			"Delete the memories with the lowest decay scores. By default, emberd only shows the memories. "+
				"Deleted memories can be restored for 30 days.",
			gc, tool.CortexGraph, tool.All),
		tool.Define("read_graph", op.Read,
			"List all memories and relations, newest memory first. Returns one page.",
			readGraph,
			tool.CortexGraph, tool.All),
		tool.Define("open_memories", op.Read,
			"Open memories by their IDs, with full texts and relations.",
			openMemories, tool.CortexGraph, tool.All),
		tool.Define("create_relation", op.Write,
			"Create a relation between two memories.",
			createRelation,
			tool.CortexGraph, tool.All),
		tool.Define("promote_memory", op.Write,
			"Create notes in the vault for memories with a high score or many uses.",
			promoteMemory, tool.CortexGraph, tool.All),
		tool.Define("cluster_memories", op.Read,
			"List groups of similar memories, or pairs of near-duplicates. Memories with different numbers, "+
				"dates, names or negation are never in one group.",
			clusterMemories, tool.CortexGraph, tool.All),
		tool.Define("consolidate_memories", op.Write,
			"Preview, merge or link a group of similar memories. A merge archives the source memories, and undo "+
				"restores them.",
			consolidateMemories, tool.CortexGraph, tool.All),
	}
	advise := tool.Advice(append([]tool.Replacement{
		{Command: `memory (\S+) already has this relation to (\S+), as (\S+);`,
			Tool: "a relation from $1 to $2 already exists: $3;"},
		{Command: `run: emberd list(, or emberd search|$)`,
			Tool: "call search_memory to find memories by words, or read_graph for the newest"},
		{Command: `emberd show (lists|[0-9a-f-]+)`, Tool: "open_memories"},
	}, tool.WithoutAgain()...)...)
	for _, t := range tools {
		t.Advise, t.NamesRelation = advise, t.Def.Name == "create_relation"
	}
	return tools
}

type saveMemoryIn struct {
	Content  string                     `json:"content" min:"1" max:"50000" doc:"text of the memory"`
	Tags     []string                   `json:"tags,omitempty" max:"50" doc:"tags of the memory, for filters"`
	Entities []string                   `json:"entities,omitzero" max:"100" doc:"entities of the memory; by default, emberd detects entities in the content; an empty list means none"`
	Source   string                     `json:"source,omitempty" max:"500" doc:"source of the text"`
	Context  string                     `json:"context,omitempty" max:"1000" doc:"occasion for which the memory is saved"`
	Meta     map[string]json.RawMessage `json:"meta,omitempty" doc:"JSON object to store with the memory"`
	Strength *float64                   `json:"strength,omitempty" min:"1" max:"2" doc:"factor on the decay score; by default, emberd computes the strength from the content"`
}

type saveMemoryOut struct {
	Success           bool      `json:"success"`
	MemoryID          memory.ID `json:"memory_id"`
	Message           string    `json:"message"`
	HasEmbedding      bool      `json:"has_embedding" doc:"true: the text has an embedding; if not, the daemon computes one in the background if a model is available"`
	EnrichmentApplied bool      `json:"enrichment_applied"`
}

func saveMemory(ctx context.Context, c *tool.Call, in *saveMemoryIn) (*saveMemoryOut, error) {
	res, err := op.Save.Call(ctx, c, &op.SaveRequest{Content: in.Content, Tags: in.Tags, Entities: in.Entities,
		Source: in.Source, Context: in.Context, Meta: in.Meta, Strength: in.Strength,
		Project: c.Options.Project, ProjectInferred: true, EvenRecalled: true}) // each save has a new id there
	if err != nil {
		return nil, err
	}
	return &saveMemoryOut{Success: true, MemoryID: res.Memory.ID,
		Message:           "Memory saved with ID: " + string(res.Memory.ID),
		HasEmbedding:      res.Memory.HasEmbedding,
		EnrichmentApplied: res.EnrichmentApplied}, nil
}
