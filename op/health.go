package op

import (
	"slices"
	"time"

	"emberd/memory"
)

// HealthStaleRequest asks for memories that no search returned for long. These requests and
// results have the names and defaults of the specification "adaptive memory health".
type HealthStaleRequest struct {
	DaysUnused    *int     `json:"days_unused,omitempty" query:"days_unused" doc:"list memories that no search returned in the last N days, 0 to 36500, default 30"`
	Collection    string   `json:"collection,omitempty" query:"collection" doc:"collection to check, or all for every collection; default: knowledge"`
	MinConfidence *float64 `json:"min_confidence,omitempty" query:"min_confidence" doc:"list only memories with less than this confidence, 0 to 1"`
	Limit         int      `json:"limit,omitempty" query:"limit" doc:"maximum number of memories to list, 1 to 1000, default 100"`
}

// UnusedMemory is one of them. Times are RFC 3339, or "never".
type UnusedMemory struct {
	ID              memory.ID `json:"id"`
	Text            string    `json:"text"` // the first 200 characters
	FullText        string    `json:"full_text"`
	LastAccessed    string    `json:"last_accessed"`
	DaysSinceAccess int       `json:"days_since_access"`
	AccessCount     int64     `json:"access_count"`
	Confidence      float64   `json:"confidence"`
	Category        string    `json:"category"` // unknown without one
	Source          string    `json:"source"`
}

// HealthStaleResult lists the longest unused first. Found counts all, StaleCount the listed.
type HealthStaleResult struct {
	StaleMemories []UnusedMemory `json:"stale_memories"`
	TotalChecked  int            `json:"total_checked"`
	StaleCount    int            `json:"stale_count"`
	Found         int            `json:"found"`
	CutoffDate    time.Time      `json:"cutoff_date"`
	DaysThreshold int            `json:"days_threshold"`
}

// HealthLowAccessRequest asks for memories that searches hardly ever return.
type HealthLowAccessRequest struct {
	MaxAccessCount *int64 `json:"max_access_count,omitempty" query:"max_access_count" doc:"list memories that searches returned at most this many times, default 2"`
	MinAgeDays     *int   `json:"min_age_days,omitempty" query:"min_age_days" doc:"list only memories that are at least this many days old, 0 to 36500, default 7"`
	Collection     string `json:"collection,omitempty" query:"collection" doc:"collection to check, or all for every collection; default: knowledge"`
	Limit          int    `json:"limit,omitempty" query:"limit" doc:"maximum number of memories to list, 1 to 1000, default 100"`
}

// LowAccessMemory is one of them.
type LowAccessMemory struct {
	ID          memory.ID `json:"id"`
	Text        string    `json:"text"` // the first 200 characters
	AccessCount int64     `json:"access_count"`
	AgeDays     int       `json:"age_days"`
	Confidence  float64   `json:"confidence"`
	Category    string    `json:"category"`
}

// HealthLowAccessResult lists the least used first, of equal ones the oldest.
type HealthLowAccessResult struct {
	LowAccessMemories []LowAccessMemory `json:"low_access_memories"`
	TotalChecked      int               `json:"total_checked"`
	FlaggedCount      int               `json:"flagged_count"`
	Found             int               `json:"found"`
}

// HealthDuplicatesRequest asks for pairs of memories that say nearly the same.
type HealthDuplicatesRequest struct {
	Collection          string   `json:"collection,omitempty" query:"collection" doc:"collection to check, or all for every collection; default: knowledge"`
	SimilarityThreshold *float64 `json:"similarity_threshold,omitempty" query:"similarity_threshold" doc:"minimum similarity of a pair, 0 to 1, default 0.95"`
	Limit               int      `json:"limit,omitempty" query:"limit" doc:"maximum number of pairs to list, 1 to 1000, default 100"`
	SampleSize          int      `json:"sample_size,omitempty" query:"sample_size" doc:"number of newest memories to compare with all memories; default: all memories"`
}

// DuplicatePair is two of them. Why reports what keeps them from being merged automatically.
type DuplicatePair struct {
	ID1        memory.ID `json:"id1"`
	ID2        memory.ID `json:"id2"`
	Similarity float64   `json:"similarity"`
	Text1      string    `json:"text1"` // the first 150 characters
	Text2      string    `json:"text2"`
	Why        string    `json:"why,omitempty"`
}

// HealthDuplicatesResult lists the most similar first.
type HealthDuplicatesResult struct {
	DuplicatePairs  []DuplicatePair `json:"duplicate_pairs"`
	TotalChecked    int             `json:"total_checked"`
	DuplicatesFound int             `json:"duplicates_found"`
	Found           int             `json:"found"`
	Threshold       float64         `json:"threshold"`
	Compared        string          `json:"compared_by,omitempty"` // as of ClustersResult
}

// The strategies of a HealthMergeRequest.
const (
	KeepHigherConfidence = "higher_confidence"
	KeepHigherAccess     = "higher_access"
	KeepFirst            = "id1"
	KeepSecond           = "id2"
)

// HealthMergeRequest asks to keep one of two similar memories.
type HealthMergeRequest struct {
	ID1        string `json:"id1"`
	ID2        string `json:"id2"`
	Collection string `json:"collection,omitempty" doc:"collection that contains both memories, or all for any collection; default: knowledge"`
	Keep       string `json:"keep,omitempty" doc:"memory to keep: higher_confidence (default), higher_access, id1 (the first memory) or id2 (the second memory)"`
}

// HealthMergeResult reports what is left. The other memory is in the trash.
type HealthMergeResult struct {
	KeptID          memory.ID   `json:"kept_id"`
	DiscardedID     memory.ID   `json:"discarded_id"`
	NewAccessCount  int64       `json:"new_access_count"`
	NewConfidence   float64     `json:"new_confidence"`
	RelatedMemories []memory.ID `json:"related_memories"`
	Tx              string      `json:"tx,omitempty"`
}

// RelatedMemories are the memories that an opened one is related to, either way, and those
// that were merged into it, by id.
func RelatedMemories(m *OpenedMemory) []memory.ID {
	out := slices.Clone(m.ConsolidatedFrom)
	if m.Relations != nil {
		for _, r := range m.Relations.Outgoing {
			if r.Type == memory.Related {
				out = append(out, r.To)
			}
		}
		for _, r := range m.Relations.Incoming {
			if r.Type == memory.Related {
				out = append(out, r.From)
			}
		}
	}
	slices.Sort(out)
	return append([]memory.ID{}, slices.Compact(out)...)
}

// MigrateRequest asks to bring old records up to date.
type MigrateRequest struct {
	Collection string `json:"collection,omitempty" doc:"collection to migrate, or all for every collection; default: knowledge"`
}

// MigrateResult counts them.
type MigrateResult struct {
	Collection   string `json:"collection"`
	TotalVectors int    `json:"total_vectors"`
	Migrated     int    `json:"migrated"`
	Skipped      int    `json:"skipped"`
	Message      string `json:"message,omitempty"`
	Tx           string `json:"tx,omitempty"`
}

// HealthRequest asks for the report on all that a store could do with.
type HealthRequest struct {
	Collection string `json:"collection,omitempty" query:"collection" doc:"collection to check, or all (default) for every collection"`
	Fresh      bool   `json:"fresh,omitempty" query:"fresh" doc:"create a new report even if emberd already created a report today"`
}

// HealthResult is that report.
type HealthResult struct {
	At         time.Time           `json:"at"` // when it was made
	Cached     bool                `json:"cached,omitempty"`
	Collection string              `json:"collection"`
	Memories   int                 `json:"memories"`
	Stages     []StageStatus       `json:"stages"`
	Scores     []HealthBand        `json:"scores"` // of decay, lowest first
	Ages       []HealthBand        `json:"last_access"`
	Stale      int                 `json:"stale"`
	LowAccess  int                 `json:"low_access"`
	Duplicates int                 `json:"duplicates"`
	Clusters   int                 `json:"clusters"`
	AtRisk     int                 `json:"at_risk"`        // in the danger zone
	Review     int                 `json:"review"`         // undecided items
	Junk       *int                `json:"junk,omitempty"` // quality below what cleanup deletes, nil if not judged
	Migrate    int                 `json:"migrate"`        // records that migrate would bring up to date
	Next       []string            `json:"next"`           // commands that repair something
	Examples   map[string][]string `json:"examples,omitempty"`
	Millis     int64               `json:"ms"`
}

// HealthBand is a bar of the report.
type HealthBand struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}
