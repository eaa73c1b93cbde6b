package op

import "emberd/memory"

// What a clustering does by default. The thresholds are cosines of
// embeddings; similarities of words are mapped to that scale.
const (
	ClusterThreshold   = 0.83
	DuplicateThreshold = 0.88
	CohesionThreshold  = 0.75
	MaxClusterSize     = 12
)

// ClustersRequest asks for memories that say nearly the same. Only those count whose text
// is all there and that have no note, of one collection and project.
type ClustersRequest struct {
	Strategy           string  `json:"strategy,omitempty" query:"strategy" doc:"how emberd groups memories; similarity is the only strategy"`
	Threshold          float64 `json:"threshold,omitempty" query:"threshold" doc:"minimum similarity at which emberd puts two memories into one group, 0 to 1, default 0.83"`
	MaxClusterSize     int     `json:"max_cluster_size,omitempty" query:"max_cluster_size" doc:"maximum number of memories in a group, 1 to 100, default 12"`
	FindDuplicates     bool    `json:"find_duplicates,omitempty" query:"find_duplicates" doc:"true: list pairs of near-duplicates instead of groups"`
	DuplicateThreshold float64 `json:"duplicate_threshold,omitempty" query:"duplicate_threshold" doc:"minimum similarity of a near-duplicate pair, 0 to 1, default 0.88"`
	Limit              int     `json:"limit,omitempty" query:"limit" doc:"maximum number of groups or pairs to list, 1 to 100, default 20"`
}

// The modes of a ClustersResult.
const (
	ModeClustering = "clustering"
	ModeDuplicates = "duplicate_detection"
)

// ClustersResult lists the most cohesive clusters, or the most similar pairs. Found counts
// all. Apart are pairs as similar that do not say the same, with a word on why.
type ClustersResult struct {
	Mode      string        `json:"mode"`
	Strategy  string        `json:"strategy"`
	Threshold float64       `json:"threshold"`
	Memories  int           `json:"memories"` // that were compared
	Found     int           `json:"found"`
	Clusters  []Cluster     `json:"clusters,omitempty"`
	Pairs     []SimilarPair `json:"pairs,omitempty"`
	Apart     []SimilarPair `json:"apart,omitempty"`
	// ApartFound counts all of those.
	ApartFound int `json:"apart_found,omitempty"`
	// Compared is ComparedByVectors if any of these was compared so, else "".
	Compared string `json:"compared_by,omitempty"`
	Message  string `json:"message"`
}

// Cluster is a group of memories. Its id is made of theirs, so it is the same as long as
// they are. Previews are of the first three.
type Cluster struct {
	ID              string      `json:"id"`
	Size            int         `json:"size"`
	Cohesion        float64     `json:"cohesion"`         // mean similarity of all pairs
	SuggestedAction string      `json:"suggested_action"` // auto-merge, llm-review or keep-separate
	MemoryIDs       []memory.ID `json:"memory_ids"`
	ContentPreviews []string    `json:"content_previews"`
	Compared        string      `json:"compared_by,omitempty"` // as of ClustersResult
}

// SimilarPair is two memories.
type SimilarPair struct {
	ID1             memory.ID `json:"id1"`
	ID2             memory.ID `json:"id2"`
	Content1Preview string    `json:"content1_preview"`
	Content2Preview string    `json:"content2_preview"`
	Similarity      float64   `json:"similarity"`
	Compared        string    `json:"compared_by,omitempty"` // as of ClustersResult
	Why             string    `json:"why,omitempty"`         // they do not say the same
}

// The modes of a ConsolidateRequest.
const (
	ModePreview = "preview"
	ModeApply   = "apply"
	ModeLink    = "link"
)

// ConsolidateRequest asks to merge or link the memories of a cluster, or of all that are
// cohesive enough. Everything that it does is one journal entry.
type ConsolidateRequest struct {
	ClusterID         string   `json:"cluster_id,omitempty" doc:"ID of the group, from clusters; required if auto_detect is false"`
	Mode              string   `json:"mode,omitempty" doc:"preview (default) shows the result, apply merges the group, link relates its memories without merging them"`
	AutoDetect        bool     `json:"auto_detect,omitempty" doc:"true: select every group with a cohesion of at least cohesion_threshold"`
	CohesionThreshold *float64 `json:"cohesion_threshold,omitempty" doc:"minimum cohesion (mean similarity) of a group that auto_detect selects, 0 to 1, default 0.75"`
	Limit             int      `json:"limit,omitempty" doc:"maximum number of groups to preview, merge or link, 1 to 100, default 20"`
}

// ConsolidateResult reports what would be done, or what was. Found counts the clusters that
// there are; the lists have no more than the limit.
type ConsolidateResult struct {
	Mode       string          `json:"mode"`
	AutoDetect bool            `json:"auto_detect"`
	Found      int             `json:"candidates_found"`
	Previews   []MergePreview  `json:"previews,omitempty"`
	Merged     []MergedCluster `json:"merged,omitempty"`
	Linked     []LinkedCluster `json:"linked,omitempty"`
	// Refused are clusters that stay as they are, of several.
	Refused []RefusedCluster `json:"refused,omitempty"`
	Message string           `json:"message"`
	Tx      string           `json:"tx,omitempty"`
}

// MergePreview is what a merge would make of a cluster. Refused reports why it would not.
type MergePreview struct {
	ClusterID            string      `json:"cluster_id"`
	Cohesion             float64     `json:"cohesion"`
	MemoryCount          int         `json:"memory_count"`
	MergedContentPreview string      `json:"merged_content_preview"`
	MergedEntities       []string    `json:"merged_entities"`
	MergedTags           []string    `json:"merged_tags"`
	CalculatedStrength   float64     `json:"calculated_strength"`
	MemoryIDs            []memory.ID `json:"memory_ids"`
	Refused              string      `json:"refused,omitempty"`
}

// MergedCluster is a cluster of which one memory was made. The sources are archived.
type MergedCluster struct {
	ClusterID   string      `json:"cluster_id"`
	NewMemoryID memory.ID   `json:"new_memory_id"`
	SourceIDs   []memory.ID `json:"source_ids"`
	RelationIDs []string    `json:"relation_ids"`
}

// LinkedCluster is a cluster of which each memory is related to each other.
type LinkedCluster struct {
	ClusterID   string      `json:"cluster_id"`
	MemoryIDs   []memory.ID `json:"memory_ids"`
	RelationIDs []string    `json:"relation_ids"` // that were made, two for each pair
}

// Pairs returns the number of pairs that were related, which CortexGraph counts as bidirectional relations.
func (l *LinkedCluster) Pairs() int { return len(l.RelationIDs) / 2 }

// RefusedCluster is a cluster that stays as it is.
type RefusedCluster struct {
	ClusterID string `json:"cluster_id"`
	Reason    string `json:"reason"`
}
