package op

import (
	"time"

	"emberd/memory"
)

// StatusRequest has no fields.
type StatusRequest struct{}

// StatusResult tells how the daemon is. Health is "ok", "loading", "degraded"
// (it works, but see Warnings) or "read-only".
type StatusResult struct {
	Health   string        `json:"health"`
	Version  VersionResult `json:"version"`
	Started  time.Time     `json:"started"`
	Device   string        `json:"device"`
	Data     string        `json:"data"`
	State    string        `json:"state"`
	Socket   string        `json:"socket"`
	Memories int           `json:"memories"`
	Trash    int           `json:"trash"`
	Loading  *Loading      `json:"loading,omitempty"`
	Log      LogStatus     `json:"log"`
	Vaults   []VaultStatus `json:"vaults,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	// Timers are the daemon's recurring wake-ups, by name, with their period;
	// empty when nothing ticks.
	Timers map[string]string `json:"timers,omitempty"`
}

// LogStatus is the state of the append-only log.
type LogStatus struct {
	Segments   int           `json:"segments"`
	Bytes      int64         `json:"bytes"`
	Active     string        `json:"active,omitempty"` // segment being written, none before the first write
	Durability string        `json:"durability"`
	ReadOnly   string        `json:"read_only,omitempty"` // why writes are refused
	LowSpace   string        `json:"low_space,omitempty"` // why saves are refused; forgetting works
	Recovery   RecoveryCount `json:"recovery"`
	LoadMillis int64         `json:"load_ms"`
	Snapshot   string        `json:"snapshot"` // used, absent, stale or damaged: ...
}

// RecoveryCount counts the lines met at the last start.
type RecoveryCount struct {
	Applied     int `json:"applied"`
	Duplicate   int `json:"duplicate"`
	TornTail    int `json:"torn_tail"`
	NulTail     int `json:"nul_tail"`
	Quarantined int `json:"quarantined"`
	HandEdited  int `json:"hand_edited"`
	Future      int `json:"future"`
	Unknown     int `json:"unknown"`
	Gaps        int `json:"gaps"`
	BadSeals    int `json:"bad_seals"`
}

// StatsRequest narrows the counts.
type StatsRequest struct {
	Project    string `json:"project,omitempty" query:"project"`
	Collection string `json:"collection,omitempty" query:"collection"`
}

// StatsResult counts the memories that are not in the trash.
type StatsResult struct {
	Total       int                  `json:"total"`
	Trash       int                  `json:"trash"`
	Stages      map[memory.Stage]int `json:"stages"`
	Statuses    map[string]int       `json:"statuses"`
	Collections map[string]int       `json:"collections"`
	Projects    map[string]int       `json:"projects"`
	TopTags     []TagCount           `json:"top_tags"` // at most 20, most frequent first
	AvgScore    float64              `json:"avg_score"`
	AvgUses     float64              `json:"avg_use_count"`
	Oldest      time.Time            `json:"oldest,omitzero"`
	Newest      time.Time            `json:"newest,omitzero"`
	LogBytes    int64                `json:"log_bytes"`
	Segments    int                  `json:"segments"`
}

// TagCount is how many memories carry a tag.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// VersionRequest has no fields.
type VersionRequest struct{}

// VersionResult identifies a daemon or a client.
type VersionResult struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
	PID      int    `json:"pid,omitempty"`
}

// Event is one thing that happened, as /v1/events streams it.
type Event struct {
	ID   string      `json:"id"`   // journal entry; Last-Event-ID resumes after it while the daemon still has it
	Type string      `json:"type"` // save, edit, forget, undo, restore, import, status
	At   time.Time   `json:"at"`
	IDs  []memory.ID `json:"ids,omitempty"`
	Text string      `json:"text,omitempty"` // for type status
}
