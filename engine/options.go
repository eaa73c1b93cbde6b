package engine

import (
	"log/slog"
	"math"
	"time"

	"emberd/decay"
	"emberd/embedding"
	"emberd/internal/beads"
	"emberd/internal/durable"
	"emberd/internal/intent"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// Options are the settings of an Engine. Start from [DefaultOptions]: zero is a
// meaningful value of most of them.
type Options struct {
	Data   string // folder of the log
	State  string // folder of the lock and of what can be rebuilt
	Socket string // only shown by status

	MCP *op.MCPStatus // only shown by status; nil when no port is open

	// Sandbox tells what the process may still do, for status and for errors that it
	// explains; nil where there is none. It may be filled in until Run or the first Invoke.
	Sandbox *Sandbox

	Version string           // only shown
	Logger  *slog.Logger     // nil discards
	Now     func() time.Time // nil: time.Now
	FS      durable.FS       // nil: the real disk

	Durability   stm.Durability
	AcceptEmpty  bool          // start anew where the log that State knows of is gone
	SegmentBytes int64         // 0: stm's default
	SegmentAge   time.Duration // 0: stm's default
	TrashKeep    time.Duration // how long forgotten memories can be restored, 1 hour or more
	HistoryKeep  time.Duration // how long superseded versions stay, TrashKeep or more

	Decay       decay.Params
	DecayFloor  float64 // see [DefaultDecayFloor]; 0 to 1
	StageFactor StageFactors
	STMWeight   float64 // factor on every short-term memory in ranking, 0 to 2

	LTMWeight float64 // factor on every note in ranking, 0 to 2

	// Vaults are folders of notes; at most one for now. VaultIgnore are patterns
	// of notes and folders to pass over, see vault.Options. VaultArchive is a
	// folder whose notes can be linked to and opened, but are not searched.
	Vaults       []string
	VaultIgnore  []string
	VaultArchive string
	// IndexArchive searches the notes of the archive folder like all others.
	IndexArchive bool
	// VaultPromoted is the folder of new notes, in the vault; "" is the vault's own.
	VaultPromoted string
	// VaultIndex and VaultCore are the notes that list memories by section and those
	// that are core; "" is none.
	VaultIndex, VaultCore string
	// ReviewInbox is the note in which decisions about memories are made by ticking boxes;
	// "" is none. DecideAfter is when a review item that nobody decides is closed, 0 never.
	ReviewInbox string
	DecideAfter time.Duration

	SearchLimit   int  // results of a search that names no limit, 1 to 100
	PreviewLength int  // characters of a snippet, 0 to 5,000; 0 shows the whole text
	TrackAccess   bool // whether searches count as accesses of what they return
	DetectSecrets bool // whether saves and edits are scanned for credentials

	// Enrich has saves that leave out entities or strength get what their content says.
	// Phrases judge its wording, nil by the lists that come with emberd. Reinforce lets
	// use that is observed strengthen memories.
	Enrich    bool
	Phrases   *intent.Analyzer
	Reinforce bool

	// Lifecycle says when memories fade; the keeper looks every LifecyclePeriod,
	// never if that is 0.
	Lifecycle       rekindle.Policy
	LifecyclePeriod time.Duration
	// Promotion says which memories deserve a note; AutoPromote gives them one
	// without anybody asking.
	Promotion   decay.Promotion
	AutoPromote bool
	ForgetBelow float64 // decay score below which gc collects, 0 to 1
	Agents      Agents

	// Review is the danger zone, from which searches mix in what matches, up to a
	// share ReviewRatio of the answer, 0 to 1.
	Review      decay.Zone
	ReviewRatio float64

	// Beads is a tracker that review items are mirrored in; nil is none.
	Beads *beads.Tracker

	Known Known
	// Duplicate is the similarity from which two memories are listed as duplicates.
	Duplicate float64
	Rekindle  RekindleMode
	Author    Author

	Meaning Meaning
	Cleanup Cleanup

	// EchoWindow is how long a text that was recalled is not saved again; 0 is not at all.
	EchoWindow time.Duration

	// ThrottleBelow is the score of its memory below which a caller is throttled ([Engine.Slow]),
	// 0 to 1; 0 is never.
	ThrottleBelow float64

	pace     pace
	patience time.Duration // how long a search waits for the texts of cold memories, 0: [rekindleBudget]
}

// Sandbox is what the process may still do.
type Sandbox struct {
	Status op.SandboxStatus
	// Reaches reports whether a file may be made at a path; nil is anywhere.
	Reaches func(path string) bool
}

// closed reports whether the sandbox keeps the engine from making a file there.
func (s *Sandbox) closed(path string) bool { return s != nil && s.Reaches != nil && !s.Reaches(path) }

// Meaning is how vectors take part; the zero Meaning is not at all.
type Meaning struct {
	Embedder *embedding.Embedder // nil: no vectors
	// Off is why there is no Embedder, or what is to be done to have one.
	Off string
	// Dir is the folder of vectors, one folder a model in it.
	Dir string
	// Shared says that other devices' vectors may lie beside those of this one.
	Shared bool
	// Weight is what rankings trust the vectors, 0 to 1; negative takes what the
	// embedder's exam says, and a quarter for vectors of spelling, which sit none.
	Weight float64
	// Wait is how long a search waits for the vector of its query.
	Wait time.Duration
	// Share is the part of one processor that making vectors may take, more than 0 to 1.
	Share float64

	grade embedding.Grade // of tests, instead of the exam's
}

// Known are the similarities, 0 to 1, from which something counts as known. They are
// those that cosines of embeddings have; words are brought to that scale.
type Known struct {
	Add       float64 // adding a text reinforces a memory that is so near
	Related   float64 // what is so near has to do with a claim
	Confirmed float64 // what is nearer confirms it
	Reinforce float64 // a text reinforces a memory that is so near
}

// RekindleMode says what a search does with a cold memory that it means.
type RekindleMode string

// The modes: bring it back, say that it could be, or neither.
const (
	RekindleAuto RekindleMode = "auto"
	RekindleAsk  RekindleMode = "ask"
	RekindleOff  RekindleMode = "off"
)

// StageFactors are what ranking multiplies a memory of each stage by, 0 to 1.
type StageFactors struct{ Active, Demoted, Archived, Rehydratable float64 }

func (f StageFactors) of(s memory.Stage) float64 {
	switch s {
	case memory.Demoted:
		return f.Demoted
	case memory.Archived:
		return f.Archived
	case memory.Rehydratable:
		return f.Rehydratable
	default:
		return f.Active
	}
}

func (f StageFactors) most() float64 {
	return max(f.Active, f.Demoted, f.Archived, f.Rehydratable)
}

// DefaultDecayFloor is the part of a match's relevance that no age takes away.
//
// What it has to ensure is that fading never hides what was asked for: an exact
// match, of any age, active or demoted, must stay above weak matches made
// today. Let weak mean at most a third of the exact one's relevance, as a memory
// has that holds one of three equally rare words. The worst case is an exact
// match that has decayed to nothing in the demoted stage, against a weak one
// with decay 1 in the active stage: floor × 0.5 against 1/3. So the floor must
// lie above 2/3, and it should not be much more, since 1 − floor is all that
// recency can say about two matches equally good. At 0.7 an active exact match
// of any age even stays above fresh ones with half of its relevance.
const DefaultDecayFloor = 0.7

// DefaultOptions returns the default of every setting but the folders.
func DefaultOptions() Options {
	return Options{
		Durability:    stm.Full,
		TrashKeep:     30 * 24 * time.Hour,
		HistoryKeep:   90 * 24 * time.Hour,
		Decay:         decay.DefaultParams(),
		DecayFloor:    DefaultDecayFloor,
		StageFactor:   StageFactors{Active: 1, Demoted: 0.5, Archived: 0.1, Rehydratable: 0.01},
		STMWeight:     1,
		LTMWeight:     0.7,
		VaultArchive:  "Memories/Archive",
		VaultPromoted: "Memories",
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
		Cleanup:         DefaultCleanup(),
	}
}

// complete fills in what may be nil and refuses the first setting out of bounds.
func (o Options) complete() (Options, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FS == nil {
		o.FS = durable.OS{}
	}
	if o.Phrases == nil {
		o.Phrases = intent.Default()
	}
	if o.pace == (pace{}) {
		o.pace = pace{settle: settleAfter, others: othersAfter, mirror: beadsGap}
	}
	if o.patience == 0 {
		o.patience = rekindleBudget
	}
	if o.Data == "" || o.State == "" {
		return o, memory.Errorf(memory.Invalid, "the data or the state folder has no name; set both")
	}
	if err := o.Decay.Validate(); err != nil {
		return o, memory.Errorf(memory.Invalid, "%w", err)
	}
	if err := o.Lifecycle.Validate(); err != nil {
		return o, memory.Errorf(memory.Invalid, "%w", err)
	}
	if o.HistoryKeep < o.TrashKeep {
		return o, memory.Errorf(memory.Invalid, "superseded versions are kept for %s, and forgotten memories for %s; keep the versions at least as long", o.HistoryKeep, o.TrashKeep)
	}
	if len(o.Vaults) > 1 {
		return o, memory.Errorf(memory.Invalid, "%d vaults are named, and one is searched so far; name one, and run a second emberd with --home for another", len(o.Vaults))
	}
	if o.Known.Related > o.Known.Confirmed {
		return o, memory.Errorf(memory.Invalid, "what is %v alike has to do with a claim, and what is %v alike confirms it; the first must not exceed the second", o.Known.Related, o.Known.Confirmed)
	}
	return o, firstError(
		o.Agents.check(),
		memory.CheckRange("similarity to add", o.Known.Add, 0, 1),
		memory.CheckRange("similarity of what is related", o.Known.Related, 0, 1),
		memory.CheckRange("similarity of what confirms", o.Known.Confirmed, 0, 1),
		memory.CheckRange("similarity to reinforce", o.Known.Reinforce, 0, 1),
		memory.CheckRange("decay floor", o.DecayFloor, 0, 1),
		memory.CheckRange("active stage factor", o.StageFactor.Active, 0, 1),
		memory.CheckRange("demoted stage factor", o.StageFactor.Demoted, 0, 1),
		memory.CheckRange("archived stage factor", o.StageFactor.Archived, 0, 1),
		memory.CheckRange("rehydratable stage factor", o.StageFactor.Rehydratable, 0, 1),
		memory.CheckRange("short-term weight", o.STMWeight, 0, 2),
		memory.CheckRange("long-term weight", o.LTMWeight, 0, 2),
		memory.CheckRange("search limit", float64(o.SearchLimit), 1, memory.MaxResults),
		memory.CheckRange("preview length", float64(o.PreviewLength), 0, 5000),
		memory.CheckRange("hours of trash", o.TrashKeep.Hours(), 1, math.MaxInt32),
		memory.CheckRange("score to forget below", o.ForgetBelow, 0, 1),
		memory.CheckRange("share of reviews", o.ReviewRatio, 0, 1),
		memory.CheckRange("score to throttle below", o.ThrottleBelow, 0, 1),
		memory.CheckRange("similarity of a cleanup's clusters", o.Cleanup.Threshold, 0, 1),
		memory.CheckRange("loss of accuracy that a cleanup may cause", o.Cleanup.Worse, 0, 1),
	)
}

// store returns the options of the store below an engine.
func (o Options) store(analyzer *text.Analyzer, e *Engine) *stm.Options {
	return &stm.Options{
		Logger:       o.Logger,
		FS:           o.FS,
		Now:          o.Now,
		Durability:   o.Durability,
		AcceptEmpty:  o.AcceptEmpty,
		SegmentBytes: o.SegmentBytes,
		SegmentAge:   o.SegmentAge,
		TrashKeep:    o.TrashKeep,
		HistoryKeep:  o.HistoryKeep,
		Analyzer:     analyzer,
		Committed:    e.committed,
		Vet:          e.vet,
		Purged:       e.forgetPurged,
	}
}
