package op

import (
	"time"

	"emberd/memory"
)

// StatusRequest has no fields.
type StatusRequest struct{}

// StatusResult reports how the daemon is. Health is "ok", "loading", "degraded"
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
	// Devices are those that share the data folder, this one included.
	Devices []DeviceStatus `json:"devices"`
	Vaults  []VaultStatus  `json:"vaults,omitempty"`
	// Backup describes the newest backup in the state folder, and the automatic ones.
	Backup *BackupStatus `json:"backup,omitempty"`
	// Tokens counts the capability tokens; nil without any.
	Tokens *TokenStatus `json:"tokens,omitempty"`
	// Sandbox is what the daemon may still do; nil when it did not look.
	Sandbox *SandboxStatus `json:"sandbox,omitempty"`
	// Author is the model that writes summaries; nil when they are extracts.
	Author *AuthorStatus `json:"author,omitempty"`
	// Meaning describes the vectors; nil when there are to be none.
	Meaning  *Meaning `json:"meaning,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Waits lists what waits for the user, the most urgent first.
	Waits []Waiting `json:"waits,omitempty"`
	// Timers are the daemon's recurring wake-ups, by name, with their period;
	// empty when nothing ticks.
	Timers map[string]string `json:"timers,omitempty"`
}

// BackupStatus reports the newest backup in the state folder, which was verified when it was made, and of how
// many days and weeks an automatic one is kept.
type BackupStatus struct {
	File     string    `json:"file,omitempty"` // "" if there is none
	Created  time.Time `json:"created,omitzero"`
	Memories int       `json:"memories,omitempty"`
	Daily    int       `json:"daily"`
	Weekly   int       `json:"weekly"`
	Folder   string    `json:"folder"`        // where backups are made
	Next     time.Time `json:"next,omitzero"` // when the next automatic one is due; zero if nothing changed
	// Problem is why the last automatic backup failed, "" if it did not.
	Problem string `json:"problem,omitempty"`
}

// SandboxStatus lists what the daemon took from itself when it started: all but what is
// listed here, and files that it reads.
type SandboxStatus struct {
	On  bool   `json:"on"`
	ABI int    `json:"abi,omitempty"` // version of Landlock
	Why string `json:"why,omitempty"` // it is off

	Write   []string `json:"write,omitempty"`   // folders
	Run     []string `json:"run,omitempty"`     // programs
	Connect []uint16 `json:"connect,omitempty"` // TCP ports
	// Exposed are files that configure the daemon and lie in a folder that it may write to.
	Exposed []string `json:"exposed,omitempty"`
}

// AuthorStatus describes the model that writes the summaries of archived memories.
type AuthorStatus struct {
	Endpoint string    `json:"endpoint"`
	Remote   bool      `json:"remote"`             // on another machine, so texts of memories leave this one
	Cleanup  bool      `json:"cleanup,omitempty"`  // cleanups ask it too, about any memory
	Sessions bool      `json:"sessions,omitempty"` // it chooses sentences of sessions too, of all that is said in them
	Problem  string    `json:"problem,omitempty"`  // why summaries are extracts at present
	Again    time.Time `json:"again,omitzero"`     // it is left alone until then
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
	// CameBack is what the log had lost and got back from a copy at this start, or since.
	CameBack   *CameBack   `json:"came_back,omitempty"`
	LoadMillis int64       `json:"load_ms"`
	Snapshot   string      `json:"snapshot"`   // used, absent, stale or damaged: ...
	Dead       int64       `json:"dead_bytes"` // about what a compaction would take away
	Compaction *Compaction `json:"compaction,omitempty"`
}

// CameBack is about memories that the log had lost.
type CameBack struct {
	Memories int       `json:"memories"`
	From     []string  `json:"from"`   // the snapshot, other devices
	Oldest   time.Time `json:"oldest"` // of the changes that came back
	Newest   time.Time `json:"newest"`
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
	Replaced    int `json:"replaced"`
}

// StatsRequest narrows the counts.
type StatsRequest struct {
	Project    string `json:"project,omitempty" query:"project" doc:"count only memories of this project"`
	Collection string `json:"collection,omitempty" query:"collection" doc:"count only memories of this collection"`
	Log        bool   `json:"log,omitempty" query:"log" doc:"also read the log of this device, and show how many bytes compaction would free"`
}

// StatsResult counts the memories that are not in the trash.
type StatsResult struct {
	Total       int                  `json:"total"`
	Trash       int                  `json:"trash"`
	Stages      map[memory.Stage]int `json:"stages"`
	Statuses    map[string]int       `json:"statuses"`
	Collections map[string]int       `json:"collections"`
	Projects    map[string]int       `json:"projects"`
	TopTags     []TagCount           `json:"top_tags"`  // at most 20, most frequent first
	AvgScore    float64              `json:"avg_score"` // of more than 10,000 memories as it was at most a minute ago
	AvgUses     float64              `json:"avg_use_count"`
	Oldest      time.Time            `json:"oldest,omitzero"`
	Newest      time.Time            `json:"newest,omitzero"`
	LogBytes    int64                `json:"log_bytes"`
	Segments    int                  `json:"segments"`
	Log         *LogStats            `json:"log,omitempty"` // if asked for
}

// LogStats counts what this device's log holds and no longer needs.
type LogStats struct {
	Live         int    `json:"live"`       // memories, of all devices
	Tombstones   int    `json:"tombstones"` // deletions that are remembered
	Lines        int    `json:"lines"`
	Duplicates   int    `json:"duplicates"` // lines that no longer count
	Bytes        int64  `json:"bytes"`
	Dead         int64  `json:"dead_bytes"` // what a compaction would take away now
	HistoryBytes int64  `json:"history_bytes"`
	Due          bool   `json:"compaction_due"`
	Why          string `json:"compaction_reason"`
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
	Type string      `json:"type"` // what the journal calls the entry, lifecycle for a run, or status; of this device or another
	At   time.Time   `json:"at"`
	IDs  []memory.ID `json:"ids,omitempty"`
	Text string      `json:"text,omitempty"` // for types status and lifecycle
}
