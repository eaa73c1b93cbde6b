// Package reference contains the tools of the memory server in the protocol's own repository
// (@modelcontextprotocol/server-memory 2026.8.31), with the names, parameters and results of
// that server. Package refgraph says how the entities of its graph are memories.
//
// Servers that work on the same entities at the same time lose no observation: a change
// that meets another one is repeated on the new text.
package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"emberd/internal/mcp/tool"
	"emberd/internal/refgraph"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// Tools returns the tools of the reference server.
func Tools() []*tool.Tool {
	tools := []*tool.Tool{
		tool.Define("create_entities", op.Write, "Create entities with observations. If an entity with the same name "+
			"exists, emberd does not change that entity. Returns the new entities.", createEntities, tool.Reference),
		tool.Define("create_relations", op.Write, "Create relations between entities. Write the type of a relation "+
			"as a verb in the active voice, such as \"uses\". Returns the new relations.", createRelations,
			tool.Reference),
		tool.Define("add_observations", op.Write,
			"Add observations to existing entities. Returns the new observations.", addObservations, tool.Reference),
		idempotent(tool.Define("delete_entities", op.Destructive,
			"Delete entities and their relations. emberd ignores names of unknown entities.", deleteEntities,
			tool.Reference)),
		idempotent(tool.Define("delete_observations", op.Destructive,
			"Delete observations of entities. Each text must be equal to a stored observation of the entity.",
			deleteObservations, tool.Reference)),
		idempotent(tool.Define("delete_relations", op.Destructive, "Delete relations between entities.",
			deleteRelations, tool.Reference)),
		idempotent(tool.Define("read_graph", op.Read,
			"Return all entities and the relations between the entities, newest first.", readEntities, tool.Reference)),
		idempotent(tool.Define("search_nodes", op.Read, "Find entities that contain a text in the name, type or "+
			"observations. Returns the entities, and the relations from and to each entity.", searchNodes,
			tool.Reference)),
		idempotent(tool.Define("open_nodes", op.Read,
			"Return the entities with the given names, and the relations from and to each entity.", openNodes,
			tool.Reference)),
	}
	advise := tool.Advice(append([]tool.Replacement{
		{Command: `run: emberd list(, or emberd search|$)`,
			Tool: "call search_nodes to find entities, or read_graph for the newest"},
	}, tool.WithoutAgain()...)...)
	for _, t := range tools {
		t.Advise, t.Verbatim, t.PlainErrors, t.OpenInput = advise, true, true, true
		t.Run = conforming(t)
	}
	return tools
}

// idempotent marks a tool that does nothing more when it is called again.
func idempotent(t *tool.Tool) *tool.Tool {
	t.Def.Annotations.IdempotentHint = true
	return t
}

// Changes reports whether a tool of this package changes the graph.
func Changes(name string) bool {
	return slices.Contains([]string{"create_entities", "create_relations", "add_observations", "delete_entities",
		"delete_observations", "delete_relations"}, name)
}

type createEntitiesIn struct {
	Entities []refgraph.Entity `json:"entities" max:"5000" doc:"entities to create, each with a name, a type and observations"`
}

type entitiesOut struct {
	Entities []refgraph.Entity `json:"entities"`
}

func (o *entitiesOut) Text() string { return spread(o.Entities) }

type relationsIn struct {
	Relations []refgraph.Relation `json:"relations" max:"5000" doc:"relations, each with from, to and relationType"`
}

type relationsOut struct {
	Relations []refgraph.Relation `json:"relations"`
}

func (o *relationsOut) Text() string { return spread(o.Relations) }

type addObservationsIn struct {
	Observations []addition `json:"observations" max:"5000" doc:"observations to add, for each entity"`
}

type addition struct {
	EntityName string   `json:"entityName" jsonschema:"name of the entity"`
	Contents   []string `json:"contents" jsonschema:"observations to add, one fact in each observation"`
}

type addObservationsOut struct {
	Results []added `json:"results"`
}

type added struct {
	EntityName        string   `json:"entityName"`
	AddedObservations []string `json:"addedObservations"`
}

func (o *addObservationsOut) Text() string { return spread(o.Results) }

type deleteEntitiesIn struct {
	EntityNames []string `json:"entityNames" max:"5000" doc:"names of the entities to delete"`
}

type deleteObservationsIn struct {
	Deletions []deletion `json:"deletions" max:"5000" doc:"observations to delete, for each entity"`
}

type deletion struct {
	EntityName   string   `json:"entityName" jsonschema:"name of the entity"`
	Observations []string `json:"observations" jsonschema:"exact texts of the observations to delete"`
}

type deletedOut struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

func (o *deletedOut) Text() string { return o.Message }

type readEntitiesIn struct {
	Cursor string `json:"cursor,omitempty" max:"200" doc:"next_cursor of the previous page, to continue"`
}

type searchNodesIn struct {
	Query  string `json:"query" max:"4000" doc:"exact text to find, in any letter case"`
	Cursor string `json:"cursor,omitempty" max:"200" doc:"next_cursor of the previous page, to continue"`
}

type openNodesIn struct {
	Names  []string `json:"names" max:"5000" doc:"names of the entities to return"`
	Cursor string   `json:"cursor,omitempty" max:"200" doc:"next_cursor of the previous page, to continue"`
}

// Graph is a graph, or as much of it as fits an answer.
type Graph struct {
	Entities   []refgraph.Entity   `json:"entities"`
	Relations  []refgraph.Relation `json:"relations"`
	Truncated  bool                `json:"truncated,omitempty"`
	NextCursor string              `json:"next_cursor,omitempty"`
	Note       string              `json:"note,omitempty"`
}

func (o *Graph) Text() string { return spread(o) }

// spread returns JSON over many lines, as the reference server writes it.
func spread(v any) string {
	raw, err := wire.Marshal(v)
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}

// openMany returns the memories of these ids that there are, by id.
func openMany(ctx context.Context, c *tool.Call, ids []memory.ID, relations,
	track bool) (map[memory.ID]*op.OpenedMemory, error) {
	out := make(map[memory.ID]*op.OpenedMemory)
	for some := range slices.Chunk(ids, memory.MaxIDs) {
		req := &op.OpenManyRequest{Relations: &relations, Track: &track}
		for _, id := range some {
			req.IDs = append(req.IDs, string(id))
		}
		res, err := op.OpenMany.Call(ctx, c, req)
		if err != nil {
			return nil, err
		}
		for i := range res.Memories {
			out[res.Memories[i].ID] = &res.Memories[i]
		}
	}
	return out, nil
}

// entityIDs returns the ids of the memories of entities, each once.
func entityIDs(names []string) []memory.ID {
	var out []memory.ID
	seen := make(map[string]bool)
	for _, name := range names {
		if !seen[name] {
			out = append(out, refgraph.ID(name))
		}
		seen[name] = true
	}
	return out
}

// needEntities returns the memories of entities, or the error for the first name that none
// has.
func needEntities(ctx context.Context, c *tool.Call, names []string) (map[memory.ID]*op.OpenedMemory, error) {
	there, err := openMany(ctx, c, entityIDs(names), false, false)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if m := there[refgraph.ID(name)]; m == nil || refgraph.Mentioned(&m.Memory.Memory) {
			return nil, memory.Errorf(memory.NotFound, "Entity with name %s not found", name)
		}
	}
	return there, nil
}

// warm returns an entity's memory with all of its text, which a cold one has in a note and
// gets back from there. What is left of one whose note is gone stays cold.
func warm(ctx context.Context, c *tool.Call, m *op.Memory) (*op.Memory, error) {
	if !refgraph.Shortened(&m.Memory) {
		return m, nil
	}
	res, err := op.Rekindle.Call(ctx, c, &op.RekindleRequest{Query: string(m.ID)})
	if err != nil {
		return nil, err
	}
	if len(res.Results) == 0 {
		return m, nil
	}
	return &res.Results[0].Memory, nil
}
