package core

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"emberd/internal/cleanup"
	"emberd/internal/cleanup/quality"
	"emberd/internal/cleanup/runstore"
	"emberd/internal/dedupe"
	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

const (
	// beadsGap is the minimum time between two updates of the issue tracker.
	beadsGap = 2 * time.Second
)

// An Author is a model that writes summaries, and its description for status.
type Author struct {
	Write    rekindle.Model // nil: summaries are extracts
	Endpoint string         // where the model runs, as status may show it
	Remote   bool           // on another machine, so that texts leave this one
}

// autoBackup matches the names of automatic backups.
var autoBackup = text.Pattern(`^auto-(\d{8}T\d{6}\.\d{3}Z)-[0-9a-z]{8}\.tar\.gz$`)

// AutoBackup reports whether a file of the backup folder has the name of an automatic backup, and when that
// was made. The daemon removes such files again; backups with any other name stay.
func AutoBackup(base string) (made time.Time, ok bool) {
	m := autoBackup().FindStringSubmatch(base)
	if m == nil {
		return time.Time{}, false
	}
	made, err := time.Parse("20060102T150405.000Z", m[1])
	return made, err == nil
}

// BackupFolder returns the folder of backups that have no name of their own.
func BackupFolder(state string) string { return filepath.Join(state, "backups") }

// ChainDir is the folder of the audit log in the state folder.
const ChainDir = "audit"

// Agents are the settings of the maintenance agents.
type Agents struct {
	// Interval is how often the agents run automatically on the primary device; 0 is never.
	Interval time.Duration
	// AutoMerge lets the agents merge the clusters that Ladder accepts without review.
	AutoMerge bool
	Ladder    dedupe.Ladder
	// Rate is how many changes an agent makes in any minute, 1 or more.
	Rate int
	// Relations are the rules for relations between memories.
	Relations dedupe.RelationRules
	// Threshold is the minimum similarity of memories in one cluster, which has MinSize to
	// MaxSize memories.
	Threshold        float64
	MinSize, MaxSize int
}

// DefaultAgents returns the defaults of CortexGraph's page.
func DefaultAgents() Agents {
	return Agents{Interval: time.Hour, Ladder: dedupe.DefaultLadder(), Rate: 60, Threshold: op.ClusterThreshold,
		MinSize: 2, MaxSize: op.MaxClusterSize,
		Relations: dedupe.RelationRules{MinShared: 2, MinConfidence: 0.5, MinStrength: dedupe.MinRelationStrength,
			Same: op.ClusterThreshold, Most: 10}}
}

// check returns an error for the first setting out of bounds.
func (a *Agents) check() error {
	if a.Ladder.Review > a.Ladder.AutoMerge {
		return memory.Errorf(memory.Invalid,
			"consolidation.review_at %v must not exceed consolidation.auto_merge_at %v", a.Ladder.Review,
			a.Ladder.AutoMerge)
	}
	return FirstError(
		memory.CheckRange("consolidation.auto_merge_at", a.Ladder.AutoMerge, 0, 1),
		memory.CheckRange("consolidation.review_at", a.Ladder.Review, 0, 1),
		memory.CheckRange("rate", float64(a.Rate), 1, 1e6),
		memory.CheckRange("shared entities", float64(a.Relations.MinShared), 1, memory.MaxEntities),
		memory.CheckRange("consolidation.min_confidence", a.Relations.MinConfidence, 0, 1),
		memory.CheckRange("cluster threshold", a.Threshold, 0, 1),
		memory.CheckRange("minimum cluster size", float64(a.MinSize), 2, 1000),
		memory.CheckRange("maximum cluster size", float64(a.MaxSize), float64(a.MinSize), 1000),
	)
}

// Cleanup are the settings of cleanup runs. Policy maps findings to actions.
type Cleanup struct {
	Enabled   bool          // if false, runs only report
	Every     time.Duration // period of automatic runs on the primary device, 0 for never
	Threshold float64       // minimum similarity of memories in one cluster, 0 to 1
	Policy    cleanup.Policy
	// Worse is how much search accuracy a run may lose before it is rolled back, 0 to 1.
	Worse float64
	// Queries is a file of searches, one a line, whose answers must stay; "" for none.
	Queries string
	Ask     quality.Ask // model that judges besides the rules; nil for none
	Model   string      // name of the model
	Calls   int         // maximum number of calls to the model in a run

	Tampered func(*runstore.Plan) // set by tests: changes the plan as a faulty planner would
	Batch    int                  // memories that one batch locks, 0 for batchMemories
}

// DefaultCleanup returns the defaults of the specification.
func DefaultCleanup() Cleanup {
	return Cleanup{Enabled: true, Threshold: 0.85, Policy: cleanup.DefaultPolicy(), Worse: 0.2, Calls: 100}
}

// Least returns the similarity below which no threshold is met.
func (k *Known) Least() float64 { return min(k.Add, k.Related, k.Confirmed, k.Reinforce) }

// How long a note must stay unchanged before its edits are applied to the memory.
const (
	SettleAfter = time.Minute
	OthersAfter = 90 * time.Second
)

// SyncDelays are how long notes must stay unchanged. On a shared vault, the primary device
// waits for Settle and the other devices for Others, so that they find nothing left to do.
type SyncDelays struct{ Settle, Others, Mirror time.Duration }

// Journal verbs of changes that come from notes.
const (
	NoteVerb = "note"
	GoneVerb = "note gone"
)

// VaultActor returns the actor of changes that come from notes.
func VaultActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: stm.VaultClient} }

// LastState reads a file in the state folder that is replaced as a whole, or returns nil if it
// does not exist. It creates the folder and removes temporary files after a crash.
func LastState(fsys durable.FS, file string) ([]byte, error) {
	dir := filepath.Dir(file)
	if err := durable.MkdirAll(fsys, dir); err != nil {
		return nil, err
	}
	if err := durable.SweepTemps(fsys, dir); err != nil {
		return nil, err
	}
	data, err := durable.ReadAll(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
