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
			"Save a new memory. If entities or strength are missing, emberd computes these values from the content.",
			saveMemory, tool.CortexGraph, tool.All),
		tool.Define("search_memory", op.Read, "Search memories by words, tags, time and decay score.", searchMemory,
			tool.CortexGraph, tool.All),
		tool.Define("search_unified", op.Read,
			"Search memories and notes of the vault. emberd ranks memories and notes together, without duplicates.",
			searchUnified, tool.CortexGraph, tool.All),
		tool.Define("touch_memory", op.Write,
			"Record a use of a memory. emberd updates the use count and the time of the last use of the memory.",
			touchMemory, tool.CortexGraph, tool.All),
		tool.Define("observe_memory_usage", op.Write, "Record which memories an answer used. Used memories fade "+
			"later. If a memory has few of the tags of the conversation, "+
			"emberd also raises the strength of the memory.", observeMemoryUsage, tool.CortexGraph, tool.All),
		tool.Define("analyze_message", op.Read,
			"Estimate whether a message contains a fact to save, and suggest entities, tags and strength.",
			analyzeMessage, tool.CortexGraph, tool.All),
		tool.Define("analyze_for_recall", op.Read,
			"Estimate whether a message requires a search of memories, and suggest a query.", analyzeForRecall,
			tool.CortexGraph, tool.All),
		tool.Define("gc", op.Destructive, "Delete the memories with the lowest decay scores. By default, emberd only "+
			"lists the memories and changes nothing. You can restore deleted memories for 30 days.", gc,
			tool.CortexGraph, tool.All),
		tool.Define("read_graph", op.Read,
			"List all memories and their relations, newest memory first. Returns one page of memories.", readGraph,
			tool.CortexGraph, tool.All),
		tool.Define("open_memories", op.Read, "Return memories by their IDs, with full texts and relations.",
			openMemories, tool.CortexGraph, tool.All),
		tool.Define("create_relation", op.Write, "Create a relation between two memories.", createRelation,
			tool.CortexGraph, tool.All),
		tool.Define("promote_memory", op.Write,
			"Create a note in the vault for one memory, or for all memories that meet the promotion criteria.",
			promoteMemory, tool.CortexGraph, tool.All),
		tool.Define("cluster_memories", op.Read, "List groups of similar memories, or pairs of near-duplicates. "+
			"emberd does not put memories with different numbers, dates, names or negation into one group.",
			clusterMemories, tool.CortexGraph, tool.All),
		tool.Define("consolidate_memories", op.Write, "Preview, merge or link a group of similar memories. A merge "+
			"archives the original memories; an undo restores these memories.", consolidateMemories, tool.CortexGraph,
			tool.All),
	}
	advise := tool.Advice(append([]tool.Replacement{
		{Command: `a relation of this type from memory (\S+) to memory (\S+) already exists: `,
			Tool: "a relation from $1 to $2 already exists: "},
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
	Tags     []string                   `json:"tags,omitempty" max:"50" doc:"tags of the memory, to filter searches"`
	Entities []string                   `json:"entities,omitzero" max:"100" doc:"entities of the memory; if entities is missing, emberd detects entities in the content"`
	Source   string                     `json:"source,omitempty" max:"500" doc:"source of the text, such as a person or page"`
	Context  string                     `json:"context,omitempty" max:"1000" doc:"reason for the save"`
	Meta     map[string]json.RawMessage `json:"meta,omitempty" doc:"JSON object to store with the memory"`
	Strength *float64                   `json:"strength,omitempty" min:"1" max:"2" doc:"factor that multiplies the decay score; if strength is missing, emberd computes the strength from the content"`
}

type saveMemoryOut struct {
	Success           bool      `json:"success"`
	MemoryID          memory.ID `json:"memory_id"`
	Message           string    `json:"message"`
	HasEmbedding      bool      `json:"has_embedding" doc:"true: the text has an embedding; false: if a model is available, the daemon computes an embedding in the background"`
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
