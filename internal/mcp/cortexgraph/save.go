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
			"Save a new memory. Entities and strength are worked out of the content unless they are given.", saveMemory,
			tool.CortexGraph, tool.All),
		tool.Define("search_memory", op.Read, "Search for memories with optional filters and scoring.", searchMemory,
			tool.CortexGraph, tool.All),
		tool.Define("search_unified", op.Read,
			"Search memories and the notes of the vault, with unified ranking and deduplication.", searchUnified,
			tool.CortexGraph, tool.All),
		tool.Define("touch_memory", op.Write, "Reinforce a memory by updating its access time and use count.",
			touchMemory,
			tool.CortexGraph, tool.All),
		tool.Define("observe_memory_usage", op.Write,
			"Record that memories were used in an answer, not just retrieved. They fade later, and more so when "+
				"used in another domain than their tags say.", observeMemoryUsage, tool.CortexGraph, tool.All),
		tool.Define("analyze_message", op.Read,
			"Judge whether a message says something worth keeping, and with which entities, tags and strength to "+
				"save it.", analyzeMessage, tool.CortexGraph, tool.All),
		tool.Define("analyze_for_recall", op.Read,
			"Judge whether a message asks for something kept earlier, and what to search for.", analyzeForRecall,
			tool.CortexGraph, tool.All),
		tool.Define("gc", op.Destructive,
			"Perform garbage collection on low-scoring memories; a dry run unless told otherwise. What is removed "+
				"can be restored for 30 days.", gc, tool.CortexGraph, tool.All),
		tool.Define("read_graph", op.Read,
			"Read the entire knowledge graph of memories and relations, newest memory first, page by page.", readGraph,
			tool.CortexGraph, tool.All),
		tool.Define("open_memories", op.Read,
			"Retrieve specific memories by their IDs, whole and with their relations.",
			openMemories, tool.CortexGraph, tool.All),
		tool.Define("create_relation", op.Write, "Create an explicit relation between two memories.", createRelation,
			tool.CortexGraph, tool.All),
		tool.Define("promote_memory", op.Write, "Promote high-value memories to long-term storage: notes in the vault.",
			promoteMemory, tool.CortexGraph, tool.All),
		tool.Define("cluster_memories", op.Read,
			"Cluster similar memories for potential consolidation, or find duplicates. What differs in numbers, "+
				"dates, names or negation is never in one cluster.", clusterMemories, tool.CortexGraph, tool.All),
		tool.Define("consolidate_memories", op.Write,
			"Consolidate similar memories: preview, merge them into one (the sources are archived; undo brings them "+
				"back), or link them.", consolidateMemories, tool.CortexGraph, tool.All),
	}
	advise := tool.Advice(append([]tool.Replacement{
		// As CortexGraph has it.
		{Command: `there is no memory ([^ ;]+)`, Tool: "memory $1 not found"},
		{Command: `memory (\S+) has this relation to (\S+) already, as (\S+);`,
			Tool: "a relation from $1 to $2 already exists: $3;"},
		{Command: `emberd list shows (those there are|ids)`,
			Tool: "search_memory finds memories by their words, and read_graph shows the newest"},
		{Command: `copy (it|one) from emberd list or emberd search`, Tool: "copy $1 from search_memory or read_graph"},
		{Command: `emberd show (lists|[0-9a-f-]+)`, Tool: "open_memories"},
	}, tool.WithoutAgain()...)...)
	for _, t := range tools {
		t.Advise, t.NamesRelation = advise, t.Def.Name == "create_relation"
	}
	return tools
}

type saveMemoryIn struct {
	Content  string                     `json:"content" min:"1" max:"50000" doc:"The content to remember"`
	Tags     []string                   `json:"tags,omitempty" max:"50" doc:"Tags for categorization"`
	Entities []string                   `json:"entities,omitzero" max:"100" doc:"Named entities (auto-extracted if left out; an empty list is none)"`
	Source   string                     `json:"source,omitempty" max:"500" doc:"Source of the memory"`
	Context  string                     `json:"context,omitempty" max:"1000" doc:"Context when memory was created"`
	Meta     map[string]json.RawMessage `json:"meta,omitempty" doc:"Additional custom metadata"`
	Strength *float64                   `json:"strength,omitempty" min:"1" max:"2" doc:"Importance multiplier (auto-calculated if left out)"`
}

type saveMemoryOut struct {
	Success           bool      `json:"success"`
	MemoryID          memory.ID `json:"memory_id"`
	Message           string    `json:"message"`
	HasEmbedding      bool      `json:"has_embedding" doc:"its text has a vector already; else it gets one in the background, if there is a model"`
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
