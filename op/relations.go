package op

import (
	"encoding/json"
	"time"

	"emberd/memory"
)

// RelateRequest asks for a relation between two memories.
type RelateRequest struct {
	From      string                     `json:"from" doc:"ID of the source memory, or at least the first or last four characters of the ID"`
	To        string                     `json:"to" doc:"ID of the target memory, or at least the first or last four characters of the ID"`
	Type      string                     `json:"type" doc:"type of the relation: related, causes, supports, contradicts, has_decision or consolidated_from"`
	Kind      string                     `json:"kind,omitempty" doc:"description of the relation in your own words, up to 100 characters"`
	Strength  *float64                   `json:"strength,omitempty" doc:"strength of the relation, 0 to 1, default 1"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty" doc:"JSON object to store with the relation, up to 8 KiB"`
	CreatedAt time.Time                  `json:"created_at,omitzero" doc:"creation time of an imported memory or relation; emberd refuses a time in the future"`
	// AllowSecret stores it although it looks as if it held a credential.
	AllowSecret bool `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// RelateResult is the relation as it was stored.
type RelateResult struct {
	Relation memory.Relation `json:"relation"`
	Tx       string          `json:"tx"`
}

// RelateBatchRequest asks for up to 500 relations, as one journal entry. A batch that
// names the journal entry of an earlier one, of memories or relations, joins it.
type RelateBatchRequest struct {
	Tx     string          `json:"tx,omitempty" doc:"ID (tx) of the change that an earlier batch made; emberd adds this batch to the same change"`
	DryRun bool            `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	Items  []RelateRequest `json:"items" doc:"relations to create, each with the parameters of the operation relate"`
}

// RelateBatchResult answers each item in its place.
type RelateBatchResult struct {
	Tx      string              `json:"tx,omitempty"`
	Results []RelateBatchAnswer `json:"results"`
}

// RelateBatchAnswer is the fate of one item: an id, or an error. One that there was
// before has the error conflict and its id.
type RelateBatchAnswer struct {
	ID    string   `json:"id,omitempty"`
	Error *Problem `json:"error,omitempty"`
}

// UnrelateRequest names relations.
type UnrelateRequest struct {
	ID string `json:"-" path:"id" doc:"ID of a relation, or the first characters of the ID; up to 100 IDs separated by commas; if a relation is not found, emberd removes nothing"`
}

// UnrelateResult reports what was removed.
type UnrelateResult struct {
	Removed []memory.Relation `json:"removed"`
	Tx      string            `json:"tx"`
}

// GraphRequest selects memories and what is between them, newest first. Its status
// stands for that of the filter.
type GraphRequest struct {
	Filter
	Status   string `json:"status,omitempty" query:"status" doc:"return only memories with this status: active (default), promoted or archived; several statuses separated by commas; or all"`
	Limit    int    `json:"limit,omitempty" query:"limit" doc:"maximum number of memories on all pages together, 1 to 10,000; default: all memories"`
	Page     int    `json:"page,omitempty" query:"page" doc:"page number, from 1, default 1"`
	PageSize int    `json:"page_size,omitempty" query:"page_size" doc:"number of memories on a page, 1 to 100, default 10"`
}

// GraphResult is one page. Every relation between selected memories is on the page of
// the memory that it starts at, in the order of the memories and then newest first.
type GraphResult struct {
	Memories   []Memory          `json:"memories"`
	Relations  []memory.Relation `json:"relations"`
	Stats      GraphStats        `json:"stats"`
	Pagination Pagination        `json:"pagination"`
	// Truncated says that relations of the last memories are left out, for there are
	// more than 2,000 without them. A smaller page has them.
	Truncated bool `json:"truncated,omitempty"`
}

// GraphStats are about all pages together.
type GraphStats struct {
	TotalMemories  int     `json:"total_memories"`
	TotalRelations int     `json:"total_relations"`
	AvgScore       float64 `json:"avg_score"`
	AvgUseCount    float64 `json:"avg_use_count"`
	StatusFilter   string  `json:"status_filter"`
}

// Pagination reports where a page is.
type Pagination struct {
	Page       int  `json:"page"`
	PageSize   int  `json:"page_size"`
	TotalCount int  `json:"total_count"`
	TotalPages int  `json:"total_pages"`
	HasMore    bool `json:"has_more"`
}

// OpenManyRequest names memories to open whole, which delays the fading of each.
type OpenManyRequest struct {
	IDs       []string `json:"ids,omitempty" query:"id" doc:"up to 100 IDs of memories, or at least the first or last four characters of each ID"`
	Relations *bool    `json:"relations,omitempty" query:"relations" doc:"return the relations from and to each memory, default true"`
	Track     *bool    `json:"track,omitempty" query:"track" doc:"record that the caller opened the memories, which delays their fading; default true"`
}

// OpenManyResult holds the memories in the order of the request, each once, and what
// of the request names none, in order too.
type OpenManyResult struct {
	Memories []OpenedMemory `json:"memories"`
	NotFound []string       `json:"not_found"`
}

// OpenedMemory is a memory with what leads from and to it.
type OpenedMemory struct {
	Memory
	Relations *RelationsOf `json:"relations,omitempty"`
}

// RelationsOf are the relations of one memory, newest first and at most 1,000 either way.
type RelationsOf struct {
	Outgoing []memory.Relation `json:"outgoing"`
	Incoming []memory.Relation `json:"incoming"`
	// Truncated says that there are more. The graph has all, each with the memory that it
	// starts at.
	Truncated bool `json:"truncated,omitempty"`
}

// ForgetBatchRequest names memories to be moved to the trash as one journal entry.
type ForgetBatchRequest struct {
	IDs    []string `json:"ids" doc:"up to 500 IDs of memories"`
	DryRun bool     `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}
