package mcpserver

import (
	"context"
	"encoding/json"

	"emberd/memory"
	"emberd/op"
)

// cortexGraphTools are the tools of CortexGraph's API reference, names, parameters and
// results as there.
func cortexGraphTools() []*tool {
	return []*tool{
		define("save_memory", op.Write, "Save a new memory. Entities and strength are worked out of the content unless they are given.", saveMemory, CortexGraph, All),
		define("search_memory", op.Read, "Search for memories with optional filters and scoring.", searchMemory, CortexGraph, All),
		define("search_unified", op.Read, "Search memories and the notes of the vault, with unified ranking and deduplication.", searchUnified, CortexGraph, All),
		define("touch_memory", op.Write, "Reinforce a memory by updating its access time and use count.", touchMemory, CortexGraph, All),
		define("observe_memory_usage", op.Write, "Record that memories were used in an answer, not just retrieved. They fade later, and more so when used in another domain than their tags say.", observeMemoryUsage, CortexGraph, All),
		define("analyze_message", op.Read, "Judge whether a message says something worth keeping, and with which entities, tags and strength to save it.", analyzeMessage, CortexGraph, All),
		define("analyze_for_recall", op.Read, "Judge whether a message asks for something kept earlier, and what to search for.", analyzeForRecall, CortexGraph, All),
		define("gc", op.Destructive, "Perform garbage collection on low-scoring memories; a dry run unless told otherwise. What is removed can be restored for 30 days.", gc, CortexGraph, All),
		define("read_graph", op.Read, "Read the entire knowledge graph of memories and relations, newest memory first, page by page.", readGraph, CortexGraph, All),
		define("open_memories", op.Read, "Retrieve specific memories by their IDs, whole and with their relations.", openMemories, CortexGraph, All),
		define("create_relation", op.Write, "Create an explicit relation between two memories.", createRelation, CortexGraph, All),
		define("promote_memory", op.Write, "Promote high-value memories to long-term storage: notes in the vault.", promoteMemory, CortexGraph, All),
		define("cluster_memories", op.Read, "Cluster similar memories for potential consolidation, or find duplicates. What differs in numbers, dates, names or negation is never in one cluster.", clusterMemories, CortexGraph, All),
		define("consolidate_memories", op.Write, "Consolidate similar memories: preview, merge them into one (the sources are archived; undo brings them back), or link them.", consolidateMemories, CortexGraph, All),
	}
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
	HasEmbedding      bool      `json:"has_embedding"`
	EnrichmentApplied bool      `json:"enrichment_applied"`
}

func saveMemory(ctx context.Context, c *call, in *saveMemoryIn) (*saveMemoryOut, error) {
	res, err := op.Save.Call(ctx, c, &op.SaveRequest{Content: in.Content, Tags: in.Tags, Entities: in.Entities,
		Source: in.Source, Context: in.Context, Meta: in.Meta, Strength: in.Strength, Project: c.opt.Project,
		EvenRecalled: true}) // each save has a new id there
	if err != nil {
		return nil, err
	}
	return &saveMemoryOut{Success: true, MemoryID: res.Memory.ID, Message: "Memory saved with ID: " + string(res.Memory.ID),
		EnrichmentApplied: res.EnrichmentApplied}, nil
}
