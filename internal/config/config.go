// Package config turns flags, environment variables and the config file into
// one checked Config.
//
// Every setting is one row of a single table. Parsing, bounds, defaults, the
// names of variables, the listing of `emberd config`, the Markdown reference
// and the example file all come from that table, so they cannot disagree.
//
// A setting takes its value from the first of these places that names it:
//
//  1. --set key=value (the last one wins when a key is given twice),
//  2. its own variable, EMBERD_ and the key in capitals with "_" for ".",
//  3. the variables CortexGraph knows it by, under their own names and in
//     their own units,
//  4. the config file,
//  5. the default.
//
// Only the winner is checked, so a stronger place can always overrule a broken
// weaker one. A variable set to nothing counts as not set. Unknown keys in
// flags and in the file, and unknown EMBERD_ variables, are errors that name
// the nearest known one; all faults are reported at once.
//
// The file is YAML, read as plain text values without anchors, tags or more
// than one document; see readYAML for its limits.
//
// Nothing here keeps or changes what callers pass in. A Config is not changed
// after Load, so goroutines may share it as long as they only read.
package config

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Source is everything Load may look at; it reads nothing else from the
// process but its working directory, which relative paths start from.
type Source struct {
	Flags      []string // key=value, in the order given
	Env        []string // NAME=value, as os.Environ returns them
	Home       string   // --home: one directory for data, state, socket and config file
	ConfigFile string   // --config: must exist when set
	GOOS       string   // runtime.GOOS when empty
	UserHome   string   // the user's home directory
}

// Config holds the effective value of every setting. The table in keys.go
// says what each one means, its bounds and its default.
type Config struct {
	File     string // the config file looked for, absolute
	FileRead bool   // whether it was there

	Data   string // absolute
	State  string // absolute
	Socket string // absolute, short enough for the platform
	Listen string // a loopback address with a port, "" for none
	// TokenFile has the token that the daemon is shown; absolute, "" for none.
	TokenFile string

	Log           Log
	STM           STM
	Vaults        []string // absolute, without duplicates
	Vault         Vault
	Decay         Decay
	Promote       Promote
	LLM           LLM
	Lifecycle     Lifecycle
	StageWeight   StageWeight
	Search        Search
	Review        Review
	Recall        Recall
	Embedding     Embedding
	Similarity    Similarity
	Known         Known
	Cluster       Cluster
	Consolidation Consolidation
	Cleanup       Cleanup
	MCP           MCP
	Limits        Limits

	ForgetThreshold float64       // decay score below which a memory may be forgotten
	RekindleMode    string        // auto, ask or off
	EchoWindow      time.Duration // 0 is off
	ThrottleBelow   float64       // score of a caller's memory, 0 is never
	IndexArchive    bool          // whether the archive folder is searched like other notes
	Enrich          bool          // whether saves get entities and strength from their content
	Phrases         string        // file of phrases, "" for those that come with emberd
	AutoReinforce   bool          // whether observed use strengthens memories
	SecretsDetect   string        // "block" or "off"
	Sandbox         string        // auto, on or off
	HistoryKeep     time.Duration // how long superseded values stay
	TrashKeep       time.Duration // how long forgotten memories can be restored
	CortexGraphPath string        // where import looks for a CortexGraph store, absolute; empty without a home directory

	settings []Setting
}

// Log says how the daemon writes its own diagnostics.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // text or json
}

// STM holds what the append-only log of memories needs.
type STM struct {
	Durability   string // "full", "barrier" or "none"
	SegmentBytes int64
	SegmentAge   time.Duration
}

// Vault names the folders emberd writes to, relative to the vault, with "/".
type Vault struct {
	Ignore         []string
	PromotedFolder string
	ArchiveFolder  string
	// IndexNote and CoreNote are notes, none if they are "".
	IndexNote, CoreNote string
}

// Decay parametrises the decay score. Lambda is always filled in: an explicit
// one as given, else ln 2 divided by HalfLife in seconds.
type Decay struct {
	Model        string // power_law, exponential or two_component
	HalfLife     time.Duration
	Alpha        float64
	Lambda       float64 // per second
	Beta         float64
	TCLambdaFast float64 // per second
	TCLambdaSlow float64 // per second
	TCWeight     float64
}

// Promote says when a memory becomes a note by itself.
type Promote struct {
	Threshold float64
	UseCount  int
	Window    time.Duration
	MinAge    time.Duration
	MinUses   int
	Auto      bool
}

// Lifecycle holds the times without use after which a memory changes stage.
type Lifecycle struct {
	DemoteAfter       time.Duration
	ArchiveAfter      time.Duration
	RehydratableAfter time.Duration
	Categories        []string // NAME=DEMOTE/ARCHIVE/REHYDRATABLE
	Most              int      // memories that one run moves
	MaxShare          float64  // and the share of all
	ReportShare       float64  // above which a run reports first
}

// LLM is the chat endpoint that writes summaries; without a URL there is none.
type LLM struct {
	URL     string
	Model   string
	KeyFile string // absolute, "" for none
	Timeout time.Duration
}

// StageWeight holds the factor of each stage in ranking.
type StageWeight struct {
	Active       float64
	Demoted      float64
	Archived     float64
	Rehydratable float64
}

// Search holds the defaults of a search.
type Search struct {
	Limit         int
	DecayFloor    float64
	STMWeight     float64
	LTMWeight     float64
	PreviewLength int // characters; 0 shows everything
	TrackAccess   bool
	Meaning       float64 // weight of vectors, 0 for none at all; negative is by the model's exam
	MeaningWait   time.Duration
}

// Review says which fading memories are mixed into answers, and how what is to be decided
// about memories is asked.
type Review struct {
	BlendRatio  float64
	DangerMin   float64
	DangerMax   float64
	Inbox       string        // note of the vault, "" for none
	DecideAfter time.Duration // 0 for never
	Beads       bool          // whether items are mirrored in a bd tracker
	BeadsDir    string        // folder that bd is run in, "" for that of the daemon
}

// Recall says when a conversation brings back memories by itself.
type Recall struct {
	Enabled     bool
	Mode        string // silent, subtle or interactive
	Relevance   float64
	MaxResults  int
	MinInterval time.Duration
}

// Embedding says how vectors are made.
type Embedding struct {
	Providers     []string // llama, http, go, words
	Model         string   // absolute, "" for none
	Engine        string   // auto, none, the name of an installed one, or an absolute path
	Folder        string   // absolute; of installed models and engines
	URL           string   // of a server of this machine, "" for none
	URLModel      string   // "" for the server's only one
	KeyFile       string   // absolute, "" for none
	MaxTokens     int
	QueryPrefix   string
	PassagePrefix string
	CPUShare      float64 // of one processor
	UnloadAfter   time.Duration
	Store         string // state or data
}

// Similarity holds from which similarity on pairs are told as duplicates.
type Similarity struct {
	Duplicate float64
}

// Known holds the similarities from which something counts as known.
type Known struct {
	Add       float64 // so that adding it reinforces what is there
	Related   float64 // what has to do with a claim
	Confirmed float64 // what says the same as a claim
	Reinforce float64 // what a text reinforces
}

// Cluster says how near-duplicates are grouped.
type Cluster struct {
	Threshold float64
	MinSize   int
	MaxSize   int
}

// Consolidation says how the background agents run.
type Consolidation struct {
	Interval      time.Duration
	Agents        bool
	AutoMerge     bool
	AutoMergeAt   float64
	ReviewAt      float64
	Rate          int
	MinShared     int
	MinConfidence float64
}

// Cleanup says how collections are cleaned up, see engine.Cleanup.
type Cleanup struct {
	Enabled      bool
	Schedule     string // off, daily, weekly or monthly
	Threshold    float64
	DeleteBelow  float64
	MergeAt      float64
	MaxDeletions float64 // part of the memories
	RollbackAt   float64 // part of the accuracy
	Queries      string  // absolute, "" for none
	LLM          bool
	MaxCalls     int
}

// Limits bound what a program that calls the daemon may ask of it.
type Limits struct {
	Requests int // a second, 0 for any number
}

// MCP says what agents see of emberd.
type MCP struct {
	Tools string // agent, all, cortexgraph or reference
}

// Load reads the config file that s points at and returns the effective
// settings. The error joins every fault found, each on a line that says where
// the value was set, what is allowed and, for a misspelt name, the nearest
// known one.
func Load(s Source) (*Config, error) {
	env := environ(s.Env)
	pl, err := locate(s, env)
	if err != nil {
		return nil, err
	}
	layers, read, err := collect(s, env, pl)
	faults := []error{err}
	c := &Config{File: pl.file, FileRead: read}
	for _, k := range keys {
		st, err := k.settle(c, layers, pl)
		faults = append(faults, err)
		c.settings = append(c.settings, st)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	c.fillAuto(pl)
	if err := errors.Join(c.contradictions(), c.checkPlaces(pl)); err != nil {
		return nil, err
	}
	c.render()
	return c, nil
}

// fillAuto computes what was left to "auto".
func (c *Config) fillAuto(pl *places) {
	fill := func(p *string, to string) {
		if *p == "" {
			*p = to
		}
	}
	fill(&c.Data, pl.data)
	fill(&c.State, pl.state)
	fill(&c.Socket, pl.socket(c.State))
	fill(&c.Embedding.Folder, pl.models)
	if name := c.Embedding.Model; name != "" && !filepath.IsAbs(name) {
		c.Embedding.Model = filepath.Join(c.Embedding.Folder, name+modelSuffix)
	}
	if pl.userHome != "" {
		fill(&c.CortexGraphPath, filepath.Join(pl.userHome, ".config", "cortexgraph", "jsonl"))
	}
	fillNote := func(p *string, name string) {
		switch *p {
		case auto:
			*p = path.Join(c.Vault.PromotedFolder, name)
		case none:
			*p = ""
		}
	}
	fillNote(&c.Vault.IndexNote, "Index.md")
	fillNote(&c.Vault.CoreNote, "Core.md")
	fillNote(&c.Review.Inbox, "Inbox.md")
	if c.Decay.Lambda == 0 {
		c.Decay.Lambda = math.Ln2 / c.Decay.HalfLife.Seconds()
	}
}

// contradictions reports pairs of settings that are each within bounds but
// exclude one another.
func (c *Config) contradictions() error {
	pairs := []struct {
		low, high string
		ok        bool
	}{
		{"trash.keep", "history.keep", c.TrashKeep <= c.HistoryKeep},
		{"forget.threshold", "promote.threshold", c.ForgetThreshold <= c.Promote.Threshold},
		{"decay.tc_lambda_slow", "decay.tc_lambda_fast", c.Decay.TCLambdaSlow <= c.Decay.TCLambdaFast},
		{"lifecycle.demote_after", "lifecycle.archive_after", c.Lifecycle.DemoteAfter <= c.Lifecycle.ArchiveAfter},
		{"lifecycle.archive_after", "lifecycle.rehydratable_after", c.Lifecycle.ArchiveAfter <= c.Lifecycle.RehydratableAfter},
		{"review.danger_min", "review.danger_max", c.Review.DangerMin <= c.Review.DangerMax},
		{"consolidation.review_at", "consolidation.auto_merge_at", c.Consolidation.ReviewAt <= c.Consolidation.AutoMergeAt},
		{"verify.related", "verify.confirmed", c.Known.Related <= c.Known.Confirmed},
		{"cluster.min_size", "cluster.max_size", c.Cluster.MinSize <= c.Cluster.MaxSize},
	}
	var faults []error
	for _, p := range pairs {
		if !p.ok {
			faults = append(faults, fmt.Errorf("%s must not exceed %s", c.cite(p.low), c.cite(p.high)))
		}
	}
	if folderHolds(c.Vault.ArchiveFolder, c.Vault.PromotedFolder) {
		faults = append(faults, fmt.Errorf("%s must not lie in %s, which ordinary searches leave out",
			c.cite("vault.promoted_folder"), c.cite("vault.archive_folder")))
	}
	return errors.Join(append(faults, c.sameNotes())...)
}

// sameNotes refuses one note for two of the things that emberd writes.
func (c *Config) sameNotes() error {
	notes := []struct{ key, path string }{
		{"vault.index_note", c.Vault.IndexNote}, {"vault.core_note", c.Vault.CoreNote}, {"review.inbox", c.Review.Inbox},
	}
	var faults []error
	for i, one := range notes {
		for _, other := range notes[i+1:] {
			if one.path != "" && strings.EqualFold(one.path, other.path) {
				faults = append(faults, fmt.Errorf("%s and %s must be two notes", c.cite(one.key), c.cite(other.key)))
			}
		}
	}
	return errors.Join(faults...)
}

// checkPlaces refuses a socket path that the platform cannot bind, and data
// and state in one another: data may be synced and state never, and state may
// be thrown away and data never.
func (c *Config) checkPlaces(pl *places) error {
	var faults []error
	if n, most := len(c.Socket), pl.maxSocket(); n > most {
		faults = append(faults, fmt.Errorf(
			"socket path %s is %d bytes long and %s allows %d: set socket or EMBERD_SOCKET to a shorter path",
			c.Socket, n, pl.goos, most))
	}
	if dirHolds(c.Data, c.State) || dirHolds(c.State, c.Data) {
		faults = append(faults, fmt.Errorf("%s and %s must not contain one another: set them to separate directories",
			c.cite("data"), c.cite("state")))
	}
	return errors.Join(faults...)
}

// cite names a setting with its value and where that came from.
func (c *Config) cite(name string) string {
	i := position(name)
	return fmt.Sprintf("%s %s (%s)", name, keys[i].field(c), c.settings[i].From)
}

func dirHolds(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && filepath.IsLocal(rel)
}

func folderHolds(outer, inner string) bool {
	return inner == outer || strings.HasPrefix(inner, path.Clean(outer)+"/")
}
