package mcp

import (
	"context"
	"math"
	"strings"
	"time"

	"emberd/internal/mcp/tool"
	"emberd/memory"
	"emberd/op"
)

// healthTools returns the tools of the specification "adaptive memory health", by its names.
// Its errors are under error, which repeats message here.
func healthTools() []*tool.Tool {
	tools := []*tool.Tool{
		tool.Define("vector_search_knowledge", op.Read,
			"Search memories by words and embeddings. emberd counts the search as an access to each result.",
			vectorSearchKnowledge, All),
		tool.Define("memory_health_stale", op.Read,
			"List memories that no search has returned in the last N days, the longest time first.", memoryHealthStale,
			All),
		tool.Define("memory_health_low_access", op.Read,
			"List memories that searches rarely return, the fewest accesses first.", memoryHealthLowAccess, All),
		tool.Define("memory_health_duplicates", op.Read, "List pairs of near-duplicate memories. Returns the "+
			"similarity of each pair. To merge a pair, use memory_consolidate.", memoryHealthDuplicates, All),
		tool.Define("memory_consolidate", op.Destructive, "Merge two similar memories. emberd keeps one memory, with "+
			"the accesses, confidence and relations of both memories, and moves the "+
			"other memory to the trash. To revert the merge, use memory_undo or undo.", memoryConsolidate, All),
		tool.Define("memory_migration_run", op.Write, "Add missing fields to the records of old memories. The fields "+
			"are access, session_id and embedding_version. A second call changes nothing.", memoryMigrationRun, All),
	}
	advise := operationAdvice()
	for _, t := range tools {
		t.SpellsError, t.Advise = true, advise
	}
	return tools
}

type vectorSearchIn struct {
	Query         string  `json:"query" min:"1" max:"4096" doc:"words or question to search for"`
	Category      string  `json:"category,omitempty" max:"200" doc:"return only memories of this category"`
	MinConfidence float64 `json:"min_confidence,omitempty" min:"0" max:"1" default:"0.0" doc:"return only memories with at least this confidence"`
	TopK          int     `json:"top_k,omitempty" min:"1" max:"100" default:"5" doc:"maximum number of results"`
	TrackAccess   *bool   `json:"track_access,omitempty" default:"true" doc:"true: count the search as an access to each result"`
}

type vectorSearchOut struct {
	Success bool         `json:"success"`
	Count   int          `json:"count"`
	Results []vectorFact `json:"results"`
}

type vectorFact struct {
	ID         memory.ID  `json:"id"`
	Text       string     `json:"text"`
	Similarity float64    `json:"similarity" doc:"similarity of the memory and the query, 0 to 1; without embeddings, the share of query words that the memory contains"`
	ComparedBy string     `json:"compared_by" enum:"vectors|words" doc:"\"vectors\" if emberd compared the query with the memory by embeddings, otherwise \"words\""`
	Metadata   vectorMeta `json:"metadata"`
}

// vectorMeta has the metadata of the specification, which always has each field. An
// unknown time is that of creation.
type vectorMeta struct {
	Category         string      `json:"category"`
	Confidence       float64     `json:"confidence"`
	Source           string      `json:"source"`
	AddedAt          time.Time   `json:"added_at"`
	Type             string      `json:"type"`
	AccessCount      int64       `json:"access_count"`
	LastAccessed     float64     `json:"last_accessed_ts" doc:"time of the last access, in seconds since 1970"`
	RelatedMemories  []memory.ID `json:"related_memories"`
	SessionID        string      `json:"session_id"`
	EmbeddingVersion string      `json:"embedding_version" doc:"name of the model that computed the embedding; \"words\" if the memory has no embedding"`
	Collection       string      `json:"collection"`
}

// wordsVersion stands for the model of a memory that has no vector.
const wordsVersion = "words"

func vectorSearchKnowledge(ctx context.Context, c *tool.Call, in *vectorSearchIn) (*vectorSearchOut, error) {
	if strings.TrimSpace(in.Query) == "" {
		return nil, memory.Errorf(memory.Invalid, "missing query; pass the words to search for").At("query")
	}
	res, err := op.Search.Call(ctx, c,
		&op.SearchRequest{Query: in.Query, Scope: "memories", Limit: in.TopK, Track: in.TrackAccess, Explain: true,
			Filter: op.Filter{Collection: memory.DefaultCollection, Category: in.Category,
				MinConfidence: in.MinConfidence}})
	if err != nil {
		return nil, err
	}
	related, err := relatedTo(ctx, c, res.Hits)
	if err != nil {
		return nil, err
	}
	out := &vectorSearchOut{Success: true, Count: len(res.Hits)}
	for _, h := range res.Hits {
		m := h.Memory
		accessed := m.LastAccessed
		if accessed.IsZero() {
			accessed = m.CreatedAt
		}
		alike, by := tool.Similarity(&h)
		version := wordsVersion
		if m.HasEmbedding {
			version = m.EmbeddingVersion
		}
		out.Results = append(out.Results,
			vectorFact{ID: m.ID, Text: m.Content, Similarity: math.Round(alike*1e4) / 1e4, ComparedBy: by,
				Metadata: vectorMeta{
					Category: m.Category, Confidence: m.Confidence, Source: m.Source, AddedAt: m.CreatedAt,
					Type:         m.Type,
					AccessCount:  m.AccessCount,
					LastAccessed: float64(accessed.UnixMilli()) / 1e3, RelatedMemories: related[m.ID],
					SessionID:        m.SessionID,
					EmbeddingVersion: version, Collection: m.Collection}})
	}
	return out, nil
}

// relatedTo returns the memories that are related to those of hits, in either direction, and
// those that were merged into them. A memory that was deleted since the search has none.
func relatedTo(ctx context.Context, c *tool.Call, hits []op.Hit) (map[memory.ID][]memory.ID, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	req := &op.OpenManyRequest{Track: new(false)}
	for _, h := range hits {
		req.IDs = append(req.IDs, string(h.ID))
	}
	res, err := op.OpenMany.Call(ctx, c, req)
	if err != nil {
		return nil, err
	}
	out := make(map[memory.ID][]memory.ID, len(res.Memories))
	for _, m := range res.Memories {
		out[m.ID] = op.RelatedMemories(&m)
	}
	return out, nil
}

type healthStaleIn struct {
	DaysUnused    *int     `json:"days_unused,omitempty" min:"0" max:"36500" default:"30" doc:"list memories that no search returned in the last N days"`
	Collection    string   `json:"collection,omitempty" max:"200" default:"\"knowledge\"" doc:"collection to check, or all for every collection"`
	MinConfidence *float64 `json:"min_confidence,omitempty" min:"0" max:"1" doc:"list only memories with less than this confidence"`
	Limit         int      `json:"limit,omitempty" min:"1" max:"1000" default:"20" doc:"maximum number of memories to list"`
}

type healthStaleOut struct {
	Success bool `json:"success"`
	op.HealthStaleResult
}

func memoryHealthStale(ctx context.Context, c *tool.Call, in *healthStaleIn) (*healthStaleOut, error) {
	res, err := op.HealthStale.Call(ctx, c, &op.HealthStaleRequest{DaysUnused: in.DaysUnused, Collection: in.Collection,
		MinConfidence: in.MinConfidence, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return &healthStaleOut{true, *res}, nil
}

type healthLowAccessIn struct {
	MaxAccessCount *int64 `json:"max_access_count,omitempty" min:"0" default:"2" doc:"list memories that searches returned at most this many times"`
	MinAgeDays     *int   `json:"min_age_days,omitempty" min:"0" max:"36500" default:"7" doc:"list only memories that are at least this many days old"`
	Collection     string `json:"collection,omitempty" max:"200" default:"\"knowledge\"" doc:"collection to check, or all for every collection"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"1000" default:"20" doc:"maximum number of memories to list"`
}

type healthLowAccessOut struct {
	Success bool `json:"success"`
	op.HealthLowAccessResult
}

func memoryHealthLowAccess(ctx context.Context, c *tool.Call, in *healthLowAccessIn) (*healthLowAccessOut, error) {
	res, err := op.HealthLowAccess.Call(ctx, c, &op.HealthLowAccessRequest{MaxAccessCount: in.MaxAccessCount,
		MinAgeDays: in.MinAgeDays, Collection: in.Collection, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return &healthLowAccessOut{true, *res}, nil
}

type healthDuplicatesIn struct {
	Collection          string   `json:"collection,omitempty" max:"200" default:"\"knowledge\"" doc:"collection to check, or all for every collection"`
	SimilarityThreshold *float64 `json:"similarity_threshold,omitempty" min:"0" max:"1" default:"0.95" doc:"minimum similarity of a pair"`
	Limit               int      `json:"limit,omitempty" min:"1" max:"1000" default:"20" doc:"maximum number of pairs to list"`
	SampleSize          int      `json:"sample_size,omitempty" min:"1" doc:"number of newest memories to compare with all memories; default: all memories"`
}

type healthDuplicatesOut struct {
	Success bool `json:"success"`
	op.HealthDuplicatesResult
}

func memoryHealthDuplicates(ctx context.Context, c *tool.Call, in *healthDuplicatesIn) (*healthDuplicatesOut, error) {
	res, err := op.HealthDuplicates.Call(ctx, c, &op.HealthDuplicatesRequest{Collection: in.Collection,
		SimilarityThreshold: in.SimilarityThreshold, Limit: in.Limit, SampleSize: in.SampleSize})
	if err != nil {
		return nil, err
	}
	return &healthDuplicatesOut{true, *res}, nil
}

type memoryConsolidateIn struct {
	ID1        string `json:"id1" max:"1000" doc:"ID of the first memory"`
	ID2        string `json:"id2" max:"1000" doc:"ID of the second memory"`
	Collection string `json:"collection,omitempty" max:"200" default:"\"knowledge\"" doc:"collection that contains both memories, or all for any collection"`
	Keep       string `json:"keep,omitempty" enum:"higher_confidence|higher_access|id1|id2" default:"\"higher_confidence\"" doc:"memory to keep; if the merge would lose text, emberd merges only with id1 (first memory) or id2 (second memory)"`
}

type memoryConsolidateOut struct {
	Success bool `json:"success"`
	op.HealthMergeResult
}

func memoryConsolidate(ctx context.Context, c *tool.Call, in *memoryConsolidateIn) (*memoryConsolidateOut, error) {
	res, err := op.HealthMerge.Call(ctx, c,
		&op.HealthMergeRequest{ID1: in.ID1, ID2: in.ID2, Collection: in.Collection, Keep: in.Keep})
	if err != nil {
		return nil, err
	}
	return &memoryConsolidateOut{true, *res}, nil
}

type memoryMigrationIn struct {
	Collection string `json:"collection,omitempty" max:"200" default:"\"knowledge\"" doc:"collection to migrate, or all for every collection"`
}

type memoryMigrationOut struct {
	Success bool `json:"success"`
	op.MigrateResult
}

func memoryMigrationRun(ctx context.Context, c *tool.Call, in *memoryMigrationIn) (*memoryMigrationOut, error) {
	res, err := op.Migrate.Call(ctx, c, &op.MigrateRequest{Collection: in.Collection})
	if err != nil {
		return nil, err
	}
	return &memoryMigrationOut{true, *res}, nil
}
