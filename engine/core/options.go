package core

import (
	"context"
	"log/slog"
	"math"
	"time"

	"emberd/decay"
	"emberd/embedding"
	"emberd/internal/beads"
	"emberd/internal/durable"
	"emberd/internal/intent"
	"emberd/internal/power"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// Options are the settings of an Engine. Start from [DefaultOptions], because zero is a
// meaningful value of most settings.
type Options struct {
	Data   string // folder of the log
	State  string // folder of the lock and of files that can be rebuilt
	Socket string // for status only

	// Sandbox describes what the process may still do, for status and for errors; nil without
	// a sandbox. The caller may fill it in until Run or the first Invoke.
	Sandbox *Sandbox

	// Power is where to look whether the machine is on battery; the zero value never is.
	Power power.Machine

	Version string           // for status only
	Logger  *slog.Logger     // nil discards
	Now     func() time.Time // nil: time.Now
	FS      durable.FS       // nil: the real disk

	Durability   stm.Durability
	AcceptEmpty  bool          // start an empty log if the log that State records is missing
	Repair       bool          // start it with what the snapshot holds instead
	SegmentBytes int64         // 0: stm's default
	SegmentAge   time.Duration // 0: stm's default
	TrashKeep    time.Duration // how long deleted memories can be restored, 1 hour or more
	HistoryKeep  time.Duration // how long superseded versions stay, TrashKeep or more

	Decay       decay.Params
	AgeExponent float64 // how much age lowers the rank of a memory, see [decay.RankFactor]; 0 to 1
	STMWeight   float64 // factor on the rank of every memory, 0 to 2

	LTMWeight float64 // factor on the rank of every note, 0 to 2

	// Vaults are folders of notes, at most one. VaultIgnore are patterns of notes and folders
	// to skip, see vault.Options. VaultArchive is the folder for the texts of archived memories;
	// its notes can be linked to and opened, and searches find their memories.
	Vaults       []string
	VaultIgnore  []string
	VaultArchive string
	// VaultPromoted is the folder of new notes in the vault; "" is the vault itself.
	VaultPromoted string
	// LinkEntities says which entities are links in the notes of memories; LinkRelations whether their relations are.
	LinkEntities  EntityLinks
	LinkRelations bool
	// VaultAgents are the folders in which callers may write notes, beside VaultPromoted; "" is the vault itself.
	VaultAgents []string
	// VaultIndex and VaultCore are the paths of the notes that list memories by section and
	// core memories; "" writes none.
	VaultIndex, VaultCore string
	// VaultProjects is the folder of a note for each project of memories; "" writes none.
	VaultProjects string
	// ReviewInbox is the path of the note in which a reviewer decides by ticking boxes; ""
	// writes none. DecideAfter is when an undecided review item closes, 0 for never.
	ReviewInbox string
	DecideAfter time.Duration

	SearchLimit   int  // results of a search without a limit of its own, 1 to 100
	PreviewLength int  // characters of a snippet, 0 to 5,000; 0 shows the whole text
	TrackAccess   bool // whether searches count as accesses of what they return
	DetectSecrets bool // whether saves and edits are scanned for credentials

	// Enrich sets missing entities and strength of a save from its content. Phrases classify
	// the wording; nil stands for the built-in lists. Reinforce lets observed use strengthen
	// memories.
	Enrich    bool
	Phrases   *intent.Analyzer
	Reinforce bool

	// Lifecycle are the rules of fading. The primary device applies them every
	// LifecyclePeriod; 0 is never.
	Lifecycle       rekindle.Policy
	LifecyclePeriod time.Duration
	// Promotion are the promotion criteria. AutoPromote creates notes for memories that meet
	// them.
	Promotion   decay.Promotion
	AutoPromote bool
	ForgetBelow float64 // decay score below which gc collects, 0 to 1
	Agents      Agents

	// Review is the range of decay scores from which searches add matching memories, up to a
	// share ReviewRatio of the answer, 0 to 1.
	Review      decay.Zone
	ReviewRatio float64

	// Beads is the issue tracker that mirrors review items; nil for none.
	Beads *beads.Tracker

	Known Known
	// Duplicate is the similarity above which two memories are reported as duplicates.
	Duplicate float64
	Rekindle  RekindleMode
	Author    Author

	Meaning Meaning
	Cleanup Cleanup
	Backup  Backup

	Hooks SessionHooks

	// EchoWindow is how long the recall guard refuses a text that a search returned; 0 turns
	// it off.
	EchoWindow time.Duration

	// ThrottleBelow is the score of saved memories below which a caller is throttled
	// ([Admin.ThrottleReason]), 0 to 1; 0 is never.
	ThrottleBelow float64

	Pace     SyncDelays
	Patience time.Duration // how long a search waits for texts of cold memories, 0: [rekindleBudget]
}

// Backup says which automatic backups are kept: the newest of each of the last days and weeks that have
// one, of Daily days and Weekly weeks, as long as all together have no more than MaxBytes. The newest
// always stays. None are made if both are 0.
type Backup struct {
	Daily, Weekly int
	MaxBytes      int64
}

// Sandbox describes what the process may still do.
type Sandbox struct {
	Status op.SandboxStatus
	// Reaches reports whether the process may create a file at a path; nil stands for any
	// path.
	Reaches func(path string) bool
}

// Closed reports whether the sandbox prevents the engine from creating a file at path.
func (s *Sandbox) Closed(path string) bool { return s != nil && s.Reaches != nil && !s.Reaches(path) }

// Meaning are the settings of semantic search; the zero Meaning turns it off.
type Meaning struct {
	Embedder *embedding.Embedder // nil: no embeddings
	// Off is why there is no Embedder, and how the user can get one.
	Off string
	// Dir is the folder of vector indexes, one folder for each model.
	Dir string
	// Shared says that other devices may keep their vectors in Dir.
	Shared bool
	// Weight is the weight of embeddings in ranking, 0 to 1. If it is negative, the
	// calibration of the model decides, or a quarter for embeddings of spelling, which have no
	// calibration.
	Weight float64
	// Wait is how long a search waits for the embedding of its query.
	Wait time.Duration
	// Share is the part of one processor for embedding texts, more than 0 to 1. With 1 they
	// do not wait on battery either.
	Share float64

	Grade embedding.Calibration // set by tests to replace the calibration
}

// Known are the similarities, 0 to 1, above which a text counts as known. They are cosines of
// embeddings; similarities of words are mapped to the same scale.
type Known struct {
	Add       float64 // adding a text reinforces a memory above this similarity
	Related   float64 // a memory above it is related to a claim
	Confirmed float64 // a memory above it confirms a claim
	Reinforce float64 // a text reinforces a memory above it
}

// RekindleMode is what a search does with a cold memory that matches.
type RekindleMode string

// The modes: restore the text, report that it can be restored, or neither.
const (
	RekindleAuto RekindleMode = "auto"
	RekindleAsk  RekindleMode = "ask"
	RekindleOff  RekindleMode = "off"
)

// EntityLinks says which entities are links in the notes of memories.
type EntityLinks string

// The choices: those with a note of their own, these and what several memories with notes name, all, or none.
const (
	LinkExisting EntityLinks = "existing"
	LinkShared   EntityLinks = "shared"
	LinkAll      EntityLinks = "all"
	LinkNone     EntityLinks = "none"
)

// SessionHooks are the settings of what hooks of coding agents get and leave.
type SessionHooks struct {
	Recall  string // what prompts get: off, shadow (found and counted, not shown) or on
	Capture bool   // keep sentences of sessions
	// StartTokens and PromptTokens bound what a model is told.
	StartTokens, PromptTokens int
	Off                       []string // projects without hooks
	// Ask has a language model choose among the sentences of a turn as well; nil for none.
	Ask func(ctx context.Context, system, user string, tokens int) (string, error)
}

// DefaultOptions returns the default of every setting but the folders.
func DefaultOptions() Options {
	return Options{
		Durability:    stm.Full,
		TrashKeep:     30 * 24 * time.Hour,
		HistoryKeep:   90 * 24 * time.Hour,
		Decay:         decay.DefaultParams(),
		AgeExponent:   decay.RankExponent,
		STMWeight:     1,
		LTMWeight:     0.7,
		VaultArchive:  "Memories/Archive",
		VaultPromoted: "Memories",
		LinkEntities:  LinkShared,
		LinkRelations: true,
		VaultIndex:    "Memories/Index.md",
		VaultCore:     "Memories/Core.md",
		ReviewInbox:   "Memories/Inbox.md",
		DecideAfter:   30 * 24 * time.Hour,
		SearchLimit:   10,
		PreviewLength: 300,
		TrackAccess:   true,
		DetectSecrets: true,
		Enrich:        true,
		Reinforce:     true,

		Lifecycle:       rekindle.DefaultPolicy(),
		LifecyclePeriod: time.Hour,
		Promotion:       decay.DefaultPromotion(),
		AutoPromote:     true,
		ForgetBelow:     decay.ForgetThreshold,
		Agents:          DefaultAgents(),
		Review:          decay.DefaultZone(),
		ReviewRatio:     0.3,
		Duplicate:       op.DuplicateThreshold,
		Known:           Known{Add: 0.85, Related: 0.6, Confirmed: 0.85, Reinforce: 0.75},
		Rekindle:        RekindleAuto,
		EchoWindow:      time.Hour,
		Hooks:           SessionHooks{Recall: "shadow", Capture: true, StartTokens: 900, PromptTokens: 300},
		Cleanup:         DefaultCleanup(),
		Backup:          Backup{Daily: 7, Weekly: 4, MaxBytes: 2 << 30},
	}
}

// Complete sets defaults for nil fields and returns an error for the first setting out of
// bounds.
func (o Options) Complete() (Options, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	now := o.Now
	o.Now = func() time.Time { return now().UTC() } // as all times in files are
	if o.FS == nil {
		o.FS = durable.OS{}
	}
	if o.Phrases == nil {
		o.Phrases = intent.Default()
	}
	if o.Pace == (SyncDelays{}) {
		o.Pace = SyncDelays{Settle: SettleAfter, Others: OthersAfter, Mirror: beadsGap}
	}
	if o.Patience == 0 {
		o.Patience = rekindleBudget
	}
	if o.Data == "" || o.State == "" {
		return o, memory.Errorf(memory.Invalid, "missing data folder or state folder; set both folders")
	}
	if err := o.Decay.Validate(); err != nil {
		return o, memory.Errorf(memory.Invalid, "%w", err)
	}
	if err := o.Lifecycle.Validate(); err != nil {
		return o, memory.Errorf(memory.Invalid, "%w", err)
	}
	if o.HistoryKeep < o.TrashKeep {
		return o, memory.Errorf(memory.Invalid,
			"history.keep %s is shorter than trash.keep %s; set history.keep to at least the value of trash.keep",
			o.HistoryKeep, o.TrashKeep)
	}
	if len(o.Vaults) > 1 {
		return o, memory.Errorf(memory.Invalid, "vaults must be one folder, not %d", len(o.Vaults))
	}
	if o.Known.Related > o.Known.Confirmed {
		return o, memory.Errorf(memory.Invalid, "verify.related %v must not exceed verify.confirmed %v",
			o.Known.Related, o.Known.Confirmed)
	}
	return o, FirstError(
		o.Agents.check(),
		memory.CheckRange("add.threshold", o.Known.Add, 0, 1),
		memory.CheckRange("verify.related", o.Known.Related, 0, 1),
		memory.CheckRange("verify.confirmed", o.Known.Confirmed, 0, 1),
		memory.CheckRange("reinforce.threshold", o.Known.Reinforce, 0, 1),
		memory.CheckRange("age exponent", o.AgeExponent, 0, 1),
		memory.CheckRange("short-term weight", o.STMWeight, 0, 2),
		memory.CheckRange("long-term weight", o.LTMWeight, 0, 2),
		memory.CheckRange("search limit", float64(o.SearchLimit), 1, memory.MaxResults),
		memory.CheckRange("preview length", float64(o.PreviewLength), 0, 5000),
		memory.CheckRange("trash.keep in hours", o.TrashKeep.Hours(), 1, math.MaxInt32),
		memory.CheckRange("forget.threshold", o.ForgetBelow, 0, 1),
		memory.CheckRange("review.blend_ratio", o.ReviewRatio, 0, 1),
		memory.CheckRange("audit.throttle_below", o.ThrottleBelow, 0, 1),
		memory.CheckRange("cleanup.threshold", o.Cleanup.Threshold, 0, 1),
		memory.CheckRange("cleanup.rollback_at", o.Cleanup.Worse, 0, 1),
	)
}
