package cortexgraph

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// maxText bounds the contents and relations of one answer, in bytes. What does not fit
// any more is cut, and the answer says so. Any memory fits alone.
const maxText = answer.Max - 32<<10

// room is what is left of it.
type room struct {
	left int
	cut  bool
}

// take reports whether there is room for so many bytes, and takes it.
func (r *room) take(n int) bool {
	if n > r.left {
		r.cut = true
		return false
	}
	r.left -= n
	return true
}

// content returns a text, of one that does not fit the beginning.
func (r *room) content(text string) string {
	const preview = 300
	if r.take(len(text)) {
		return text
	}
	return similarity.Truncate(text, preview)
}

type readGraphIn struct {
	Status        string `json:"status,omitempty" max:"20" default:"\"active\"" doc:"list only memories with this status: active, promoted, archived or all"`
	IncludeScores bool   `json:"include_scores,omitempty" default:"true" doc:"true: return the decay score and age of each memory"`
	Limit         int    `json:"limit,omitempty" min:"1" max:"10000" doc:"maximum number of memories on all pages together"`
	Page          int    `json:"page,omitempty" min:"1" max:"1000000" default:"1" doc:"page number, from 1"`
	PageSize      int    `json:"page_size,omitempty" min:"1" max:"100" default:"10" doc:"number of memories on a page"`
}

type Graph struct {
	Success    bool            `json:"success"`
	Memories   []graphMemory   `json:"memories"`
	Relations  []graphRelation `json:"relations" doc:"relations of the memories on this page; the page of the source memory contains the relation"`
	Stats      op.GraphStats   `json:"stats" doc:"numbers of memories and relations on all pages together"`
	Pagination op.Pagination   `json:"pagination"`
	Truncated  bool            `json:"truncated,omitempty"`
	Message    string          `json:"message,omitempty"`
}

type graphMemory struct {
	ID        memory.ID `json:"id"`
	Content   string    `json:"content"`
	Entities  []string  `json:"entities"`
	Tags      []string  `json:"tags"`
	CreatedAt int64     `json:"created_at" doc:"creation time, in seconds since 1970"`
	LastUsed  int64     `json:"last_used" doc:"time of the last use, in seconds since 1970"`
	UseCount  int64     `json:"use_count"`
	Strength  decimal   `json:"strength"`
	Status    string    `json:"status"`
	Score     *decimal  `json:"score,omitempty" doc:"decay score of the memory"`
	AgeDays   *decimal  `json:"age_days,omitempty"`
}

type graphRelation struct {
	ID        string    `json:"id"`
	From      memory.ID `json:"from"`
	To        memory.ID `json:"to"`
	Type      string    `json:"type"`
	Strength  decimal   `json:"strength"`
	CreatedAt int64     `json:"created_at" doc:"creation time, in seconds since 1970"`
}

func readGraph(ctx context.Context, c *tool.Call, in *readGraphIn) (*Graph, error) {
	if strings.ContainsRune(in.Status, ',') {
		return nil, memory.Errorf(memory.Invalid, "invalid status %q; use active, promoted, archived or all",
			in.Status).At("status")
	}
	res, err := op.Graph.Call(ctx, c,
		&op.GraphRequest{Status: in.Status, Limit: in.Limit, Page: in.Page, PageSize: in.PageSize})
	if err != nil {
		return nil, err
	}
	out := &Graph{Success: true, Stats: res.Stats, Pagination: res.Pagination}
	out.Stats.AvgScore = float64(round(res.Stats.AvgScore, 4))
	out.Stats.AvgUseCount = float64(round(res.Stats.AvgUseCount, 2))
	space := room{left: maxText}
	for _, m := range res.Memories {
		g := graphMemory{ID: m.ID, Content: space.content(m.Content), Entities: m.Entities, Tags: m.Tags,
			CreatedAt: epoch(m.CreatedAt),
			LastUsed:  epoch(m.LastUsed), UseCount: m.UseCount, Strength: round(m.Strength, 4), Status: m.Status}
		if in.IncludeScores {
			g.Score, g.AgeDays = new(round(m.Score, 4)), new(round(m.AgeDays, 1))
		}
		out.Memories = append(out.Memories, g)
	}
	for _, r := range res.Relations {
		out.Relations = append(out.Relations,
			graphRelation{r.ID, r.From, r.To, r.Type, round(r.Strength, 4), epoch(r.CreatedAt)})
	}
	if out.Truncated = res.Truncated || space.cut; out.Truncated {
		out.Message = "Contents or relations of the last memories are cut; a smaller page_size shows them whole."
	}
	return out, nil
}

type openMemoriesIn struct {
	MemoryIDs        wire.OneOrMore `json:"memory_ids" max:"100" doc:"ID of the memory to return, or a list of IDs"`
	IncludeRelations bool           `json:"include_relations,omitempty" default:"true" doc:"true: return the relations from and to each memory"`
	IncludeScores    bool           `json:"include_scores,omitempty" default:"true" doc:"true: return the decay score and age of each memory"`
	Page             int            `json:"page,omitempty" min:"1" max:"100" default:"1" doc:"page number, from 1"`
	PageSize         int            `json:"page_size,omitempty" min:"1" max:"100" default:"10" doc:"number of IDs on a page"`
}

type OpenedMemories struct {
	Success   bool           `json:"success"`
	Count     int            `json:"count"`
	Memories  []openedMemory `json:"memories"`
	NotFound  []string       `json:"not_found"`
	Truncated bool           `json:"truncated,omitempty"`
	Message   string         `json:"message,omitempty"`
}

type openedMemory struct {
	ID         memory.ID        `json:"id"`
	Content    string           `json:"content"`
	Entities   []string         `json:"entities"`
	Tags       []string         `json:"tags"`
	Source     *string          `json:"source"`
	Context    *string          `json:"context"`
	CreatedAt  int64            `json:"created_at" doc:"creation time, in seconds since 1970"`
	LastUsed   int64            `json:"last_used" doc:"time of the last use, in seconds since 1970"`
	UseCount   int64            `json:"use_count"`
	Strength   decimal          `json:"strength"`
	Status     string           `json:"status"`
	PromotedAt *int64           `json:"promoted_at" doc:"time of the promotion, in seconds since 1970; null if the memory has no note"`
	PromotedTo *string          `json:"promoted_to" doc:"path of the note of the memory; null if the memory has no note"`
	HasVector  bool             `json:"has_embedding" doc:"true: the text of the memory has an embedding"`
	Score      *decimal         `json:"score,omitempty" doc:"decay score of the memory"`
	AgeDays    *decimal         `json:"age_days,omitempty"`
	Relations  *openedRelations `json:"relations,omitempty"`
}

type openedRelations struct {
	Outgoing []outgoing `json:"outgoing"`
	Incoming []incoming `json:"incoming"`
}

type outgoing struct {
	To       memory.ID `json:"to"`
	Type     string    `json:"type"`
	Strength decimal   `json:"strength"`
}

type incoming struct {
	From     memory.ID `json:"from"`
	Type     string    `json:"type"`
	Strength decimal   `json:"strength"`
}

// openMemories opens the ids of one page, and counts no use of the others.
func openMemories(ctx context.Context, c *tool.Call, in *openMemoriesIn) (*OpenedMemories, error) {
	ids := in.MemoryIDs
	from, to := min(len(ids), (in.Page-1)*in.PageSize), min(len(ids), in.Page*in.PageSize)
	out := &OpenedMemories{Success: true}
	if from == to {
		return out, nil
	}
	res, err := op.OpenMany.Call(ctx, c, &op.OpenManyRequest{IDs: ids[from:to], Relations: &in.IncludeRelations})
	if err != nil {
		return nil, err
	}
	out.Count, out.NotFound = len(res.Memories), res.NotFound
	space := room{left: maxText}
	for _, m := range res.Memories {
		out.Memories = append(out.Memories, opened(&m, in.IncludeScores, &space))
	}
	var how []string
	if space.cut {
		how = append(how,
			"Contents or relations are cut: open fewer memories at a time, and read_graph has all relations.")
	}
	if rest := len(ids) - to; rest > 0 {
		how = append(how, fmt.Sprintf("%d more ids were given: page %d has the next.", rest, in.Page+1))
	}
	out.Truncated, out.Message = len(how) > 0, strings.Join(how, " ")
	return out, nil
}

func opened(m *op.OpenedMemory, scores bool, space *room) openedMemory {
	out := openedMemory{ID: m.ID, Content: space.content(m.Content), Entities: m.Entities, Tags: m.Tags,
		Source:  unlessEmpty(m.Source),
		Context: unlessEmpty(m.Context), CreatedAt: epoch(m.CreatedAt), LastUsed: epoch(m.LastUsed),
		UseCount: m.UseCount,
		Strength: round(m.Strength, 4), Status: m.Status, PromotedTo: unlessEmpty(m.PromotedTo),
		HasVector: m.HasEmbedding}
	promoted := m.PromotedAt
	if path, at, is := m.PromotedElsewhere(); is {
		out.PromotedTo, promoted = unlessEmpty(path), at
	}
	if !promoted.IsZero() {
		out.PromotedAt = new(epoch(promoted))
	}
	if scores {
		out.Score, out.AgeDays = new(round(m.Score, 4)), new(round(m.AgeDays, 1))
	}
	if m.Relations == nil {
		return out
	}
	space.cut = space.cut || m.Relations.Truncated
	out.Relations = new(openedRelations)
	const each = 110 // bytes of one as JSON
	if !space.take(each * (len(m.Relations.Outgoing) + len(m.Relations.Incoming))) {
		return out
	}
	for _, r := range m.Relations.Outgoing {
		out.Relations.Outgoing = append(out.Relations.Outgoing, outgoing{r.To, r.Type, round(r.Strength, 4)})
	}
	for _, r := range m.Relations.Incoming {
		out.Relations.Incoming = append(out.Relations.Incoming, incoming{r.From, r.Type, round(r.Strength, 4)})
	}
	return out
}

// unlessEmpty returns null in JSON for a text that is not set.
func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type createRelationIn struct {
	From     string                     `json:"from_memory_id" min:"1" max:"1000" doc:"ID of the source memory, or its ID in another system"`
	To       string                     `json:"to_memory_id" min:"1" max:"1000" doc:"ID of the target memory, or its ID in another system"`
	Type     string                     `json:"relation_type" enum:"related|causes|supports|contradicts|has_decision|consolidated_from" doc:"type of the relation from the source memory to the target memory"`
	Strength float64                    `json:"strength,omitempty" min:"0" max:"1" default:"1.0" doc:"strength of the relation"`
	Metadata map[string]json.RawMessage `json:"metadata,omitempty" default:"{}" doc:"JSON object to store with the relation"`
}

type CreatedRelation struct {
	Success    bool      `json:"success"`
	RelationID string    `json:"relation_id"`
	From       memory.ID `json:"from"`
	To         memory.ID `json:"to"`
	Type       string    `json:"type"`
	Strength   decimal   `json:"strength"`
	Message    string    `json:"message"`
}

func createRelation(ctx context.Context, c *tool.Call, in *createRelationIn) (*CreatedRelation, error) {
	res, err := op.Relate.Call(ctx, c,
		&op.RelateRequest{From: in.From, To: in.To, Type: in.Type, Strength: &in.Strength, Metadata: in.Metadata})
	if err != nil {
		return nil, ofEnd(err)
	}
	r := res.Relation
	return &CreatedRelation{Success: true, RelationID: r.ID, From: r.From, To: r.To, Type: r.Type,
		Strength: round(r.Strength, 4),
		Message:  fmt.Sprintf("Relation created: %s --[%s]--> %s", r.From, r.Type, r.To)}, nil
}

// ofEnd calls the ends of a relation as the tool does.
func ofEnd(err error) error {
	if e := tool.AsError(err); e != nil && (e.Field == "from" || e.Field == "to") {
		field := e.Field + "_memory_id"
		return memory.Errorf(e.Code, "%s: %w", field, e).At(field)
	}
	return err
}
