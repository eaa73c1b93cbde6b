package cortexgraph

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"emberd/internal/mcp/tool"
	"emberd/memory"
	"emberd/op"
)

type clusterMemoriesIn struct {
	Strategy           string  `json:"strategy,omitempty" enum:"similarity" default:"\"similarity\"" doc:"how emberd groups memories; similarity is the only strategy"`
	Threshold          float64 `json:"threshold,omitempty" min:"0" max:"1" doc:"minimum similarity at which emberd puts two memories into one group; default: the setting cluster.threshold (0.83)"`
	MaxClusterSize     int     `json:"max_cluster_size,omitempty" min:"1" max:"100" default:"12" doc:"maximum number of memories in a group"`
	FindDuplicates     bool    `json:"find_duplicates,omitempty" default:"false" doc:"true: list pairs of near-duplicates instead of groups"`
	DuplicateThreshold float64 `json:"duplicate_threshold,omitempty" min:"0" max:"1" doc:"minimum similarity of a near-duplicate pair; default: the setting similarity.duplicate (0.88)"`
}

// clusterMemoriesOut has the members of a clustering, or those of a search for
// duplicates.
type clusterMemoriesOut struct {
	Success         bool          `json:"success"`
	Mode            string        `json:"mode" doc:"kind of the results: clustering (groups) or duplicate_detection (pairs)"`
	ClustersFound   *int          `json:"clusters_found,omitempty"`
	Strategy        string        `json:"strategy,omitempty"`
	Threshold       *decimal      `json:"threshold,omitempty"`
	Clusters        []similar     `json:"clusters,omitzero" doc:"the groups with the highest cohesion (mean similarity), at most 20, highest first"`
	DuplicatesFound *int          `json:"duplicates_found,omitempty"`
	Duplicates      []similarPair `json:"duplicates,omitzero" doc:"the pairs with the highest similarity, at most 20, highest first"`
	Message         string        `json:"message"`
	Truncated       bool          `json:"truncated,omitempty" doc:"true: the answer contains only some of the groups or pairs"`
	HowToGoOn       string        `json:"how_to_go_on,omitempty"`
}

type similar struct {
	ID              string      `json:"id"`
	Size            int         `json:"size"`
	Cohesion        decimal     `json:"cohesion"`
	SuggestedAction string      `json:"suggested_action" doc:"suggested decision: auto-merge, llm-review or keep-separate"`
	MemoryIDs       []memory.ID `json:"memory_ids"`
	ContentPreviews []string    `json:"content_previews" doc:"first words of the first three memories of the group"`
	ComparedBy      string      `json:"compared_by" enum:"vectors|words" doc:"\"vectors\" if emberd compared at least two memories by embeddings, otherwise \"words\""`
}

type similarPair struct {
	ID1             memory.ID `json:"id1"`
	ID2             memory.ID `json:"id2"`
	Content1Preview string    `json:"content1_preview"`
	Content2Preview string    `json:"content2_preview"`
	Similarity      decimal   `json:"similarity"`
	ComparedBy      string    `json:"compared_by" enum:"vectors|words"`
}

func clusterMemories(ctx context.Context, c *tool.Call, in *clusterMemoriesIn) (*clusterMemoriesOut, error) {
	res, err := op.Clusters.Call(ctx, c,
		&op.ClustersRequest{Strategy: in.Strategy, Threshold: in.Threshold, MaxClusterSize: in.MaxClusterSize,
			FindDuplicates: in.FindDuplicates, DuplicateThreshold: in.DuplicateThreshold})
	if err != nil {
		return nil, err
	}
	out := &clusterMemoriesOut{Success: true, Mode: res.Mode, Message: res.Message}
	if in.FindDuplicates {
		out.DuplicatesFound, out.Duplicates = &res.Found, []similarPair{}
		for _, p := range res.Pairs {
			out.Duplicates = append(out.Duplicates,
				similarPair{ID1: p.ID1, ID2: p.ID2, Content1Preview: p.Content1Preview,
					Content2Preview: p.Content2Preview, Similarity: round(p.Similarity, 4),
					ComparedBy: cmp.Or(p.Compared, op.ComparedByWords)})
		}
	} else {
		out.ClustersFound, out.Strategy, out.Clusters = &res.Found, res.Strategy, []similar{}
		out.Threshold = (*decimal)(&res.Threshold)
		for _, g := range res.Clusters {
			out.Clusters = append(out.Clusters, similar{ID: g.ID, Size: g.Size, Cohesion: round(g.Cohesion, 4),
				SuggestedAction: g.SuggestedAction, MemoryIDs: g.MemoryIDs, ContentPreviews: g.ContentPreviews,
				ComparedBy: cmp.Or(g.Compared, op.ComparedByWords)})
		}
	}
	if shown := len(out.Clusters) + len(out.Duplicates); shown < res.Found {
		out.Truncated, out.HowToGoOn = true,
			fmt.Sprintf("%d of %d are listed; raise the threshold, or consolidate these first", shown, res.Found)
	}
	return out, nil
}

type consolidateMemoriesIn struct {
	ClusterID         string   `json:"cluster_id,omitempty" max:"100" doc:"ID of the group, from cluster_memories; required if auto_detect is false"`
	Mode              string   `json:"mode,omitempty" enum:"preview|apply|link" default:"\"preview\"" doc:"preview shows the result, apply merges the group, link relates its memories without merging them"`
	AutoDetect        bool     `json:"auto_detect,omitempty" default:"false" doc:"true: select every group with a cohesion of at least cohesion_threshold"`
	CohesionThreshold *float64 `json:"cohesion_threshold,omitempty" min:"0" max:"1" default:"0.75" doc:"minimum cohesion (mean similarity) of a group that auto_detect selects"`
}

// consolidateMemoriesOut has the members of its mode. Of several clusters that were
// merged, the new memory is the first one's, and the message names the others.
type consolidateMemoriesOut struct {
	Success          bool           `json:"success"`
	Mode             string         `json:"mode"`
	AutoDetect       *bool          `json:"auto_detect,omitempty"`
	CandidatesFound  *int           `json:"candidates_found,omitempty"`
	Previews         []mergePreview `json:"previews,omitzero" doc:"the groups with the highest cohesion (mean similarity), at most 20, highest first"`
	NewMemoryID      memory.ID      `json:"new_memory_id,omitempty"`
	SourceIDs        []memory.ID    `json:"source_ids,omitzero"`
	RelationIDs      []string       `json:"relation_ids,omitzero"`
	ArchivedCount    *int           `json:"archived_count,omitempty"`
	RelationsCreated *int           `json:"relations_created,omitempty"`
	ClusterID        string         `json:"cluster_id,omitempty"`
	Message          string         `json:"message,omitempty"`
	Truncated        bool           `json:"truncated,omitempty" doc:"true: the answer contains only some of the groups"`
	HowToGoOn        string         `json:"how_to_go_on,omitempty"`
}

type mergePreview struct {
	ClusterID            string   `json:"cluster_id"`
	Cohesion             decimal  `json:"cohesion"`
	MemoryCount          int      `json:"memory_count"`
	MergedContentPreview string   `json:"merged_content_preview"`
	MergedEntities       []string `json:"merged_entities"`
	MergedTags           []string `json:"merged_tags"`
	CalculatedStrength   decimal  `json:"calculated_strength"`
}

func consolidateMemories(ctx context.Context, c *tool.Call,
	in *consolidateMemoriesIn) (*consolidateMemoriesOut, error) {
	res, err := op.Consolidate.Call(ctx, c,
		&op.ConsolidateRequest{ClusterID: in.ClusterID, Mode: in.Mode, AutoDetect: in.AutoDetect,
			CohesionThreshold: in.CohesionThreshold})
	if err != nil {
		return nil, err
	}
	out := &consolidateMemoriesOut{Success: true, Mode: res.Mode}
	switch res.Mode {
	case op.ModeApply:
		out.applied(res)
	case op.ModeLink:
		out.linked(res)
	default:
		out.previewed(res)
	}
	if done := len(res.Previews) + len(res.Merged) + len(res.Linked) + len(res.Refused); done < res.Found {
		out.Truncated, out.HowToGoOn = true,
			fmt.Sprintf("emberd checked %d of %d groups; merge or link these groups first, or raise cohesion_threshold",
				done, res.Found)
	}
	return out, nil
}

func (o *consolidateMemoriesOut) previewed(res *op.ConsolidateResult) {
	o.AutoDetect, o.CandidatesFound, o.Previews = &res.AutoDetect, &res.Found, []mergePreview{}
	for _, p := range res.Previews {
		o.Previews = append(o.Previews,
			mergePreview{ClusterID: p.ClusterID, Cohesion: round(p.Cohesion, 4), MemoryCount: p.MemoryCount,
				MergedContentPreview: p.MergedContentPreview, MergedEntities: p.MergedEntities,
				MergedTags:         p.MergedTags,
				CalculatedStrength: round(p.CalculatedStrength, 4)})
	}
}

func (o *consolidateMemoriesOut) applied(res *op.ConsolidateResult) {
	o.SourceIDs, o.RelationIDs, o.Message = []memory.ID{}, []string{}, res.Message
	var made []string
	for _, m := range res.Merged {
		o.SourceIDs, o.RelationIDs = append(o.SourceIDs, m.SourceIDs...), append(o.RelationIDs, m.RelationIDs...)
		made = append(made, string(m.NewMemoryID))
	}
	o.ArchivedCount = new(len(o.SourceIDs))
	if len(made) > 0 {
		o.NewMemoryID = res.Merged[0].NewMemoryID
	}
	if len(made) > 1 {
		o.Message += "; they are " + strings.Join(made, ", ")
	}
	o.Message += reasonsOf(res)
}

func (o *consolidateMemoriesOut) linked(res *op.ConsolidateResult) {
	o.RelationsCreated, o.Message = new(0), res.Message
	var clusters []string
	for _, l := range res.Linked {
		*o.RelationsCreated += l.Pairs()
		clusters = append(clusters, l.ClusterID)
	}
	o.ClusterID = strings.Join(clusters, ", ")
	o.Message += reasonsOf(res)
}

// reasonsOf returns why clusters stay as they are.
func reasonsOf(res *op.ConsolidateResult) string {
	var out strings.Builder
	for _, r := range res.Refused {
		fmt.Fprintf(&out, "; %s: %s", r.ClusterID, r.Reason)
	}
	return out.String()
}
