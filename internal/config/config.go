// Package config turns flags, environment variables and the config file into one checked Config.
//
// Every setting is one row of a single table. Parsing, bounds, defaults, the names of variables,
// the listing of `emberd config`, the Markdown reference and the example file all come from that
// table, so they cannot disagree.
//
// A setting takes its value from the first of these places that names it:
//
//  1. --set key=value (the last one wins when a key is given twice),
//  2. its own variable, EMBERD_ and the key in capitals with "_" for ".",
//  3. the variables CortexGraph knows it by, under their own names and in their own units,
//  4. the config file,
//  5. the default.
//
// Only the winner is checked, so a stronger place can always overrule a broken weaker one. A
// variable set to nothing counts as not set. Unknown keys in flags and in the file, and unknown
// EMBERD_ variables, are errors that name the nearest known one; all faults are reported at once.
// A key that an earlier version had is ignored with a warning instead, see removed.go.
//
// The file is YAML, read as plain text values without aliases or more than one document.
//
// The package does not keep or change what callers pass in. A Config does not change after Load,
// so goroutines may share it as long as they only read.
package config

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Source is everything Load may look at; it reads nothing else from the process but its working
// directory, which relative paths start from.
type Source struct {
	Flags      []string // key=value, in the order given
	Env        []string // NAME=value, as os.Environ returns them
	Home       string   // --home: one directory for data, state, socket and config file
	ConfigFile string   // --config: must exist when set
	GOOS       string   // runtime.GOOS when empty
	UserHome   string   // the user's home directory
}

// Config contains the effective value of every setting. help.txt says what each one means, the
// table in table.go its bounds and its default. Paths are absolute; an optional one is "" if it
// is not set.
type Config struct {
	File     string   // the config file looked for
	FileRead bool     // whether it exists
	Warnings []string // settings that were ignored, one sentence each

	Data, State, Socket string
	TokenFile           string // contains the token that commands send to the daemon
	CortexGraphPath     string // where import looks for a store; "" without a home directory
	Phrases             string

	LogLevel string // debug, info, warn or error
	Sandbox  string // auto, on or off
	// MemoryLimitMiB is the soft limit of the daemon's private memory, 0 for none.
	MemoryLimitMiB int
	SecretsDetect  string // block or off
	Tools          string // agent, notes, all, cortexgraph or reference
	Form           string // of the answers to agents: auto, text or structured
	PageListen     string // address of the page, of this machine

	Vaults    []string // at most one
	Vault     Vault
	Hooks     Hooks
	Decay     Decay
	Promote   Promote
	Lifecycle Lifecycle
	LLM       LLM
	Search    Search
	Embedding Embedding
	Review    Review
	Known     Known
	Cluster   Cluster

	Consolidation Consolidation
	Cleanup       Cleanup

	RekindleMode    string // auto, ask or off
	AutoReinforce   bool
	HistoryKeep     time.Duration
	TrashKeep       time.Duration
	Backup          Backup
	ForgetThreshold float64
	Duplicate       float64  // similarity of duplicates
	ThrottleBelow   float64  // score of a caller, 0 for never
	Requests        int      // a second and program, 0 for any number
	Tuning          []string // NAME=NUMBER

	keys     []key // the table, bound to this Config
	settings []Setting
}

// Hooks are what hooks of coding agents get and leave.
type Hooks struct {
	Recall                    string // off, shadow or on
	Capture, LLM              bool
	StartTokens, PromptTokens int
	Off                       []string // projects
}

// Vault names folders and notes of the vault, relative to it, with "/".
type Vault struct {
	Ignore         []string
	PromotedFolder string
	ArchiveFolder  string
	// IndexNote and CoreNote are notes, none if they are "".
	IndexNote, CoreNote string
	AgentFolders        []string // in which agents write, beside PromotedFolder; / is the vault itself
	LinkEntities        string   // existing, shared, all or none
	LinkRelations       bool
	ProjectHubs         bool
}

// Decay parametrises the decay score. Lambda is always filled in: an explicit one as given, else
// ln 2 divided by HalfLife in seconds.
type Decay struct {
	Model    string // power_law, exponential or two_component
	HalfLife time.Duration
	Lambda   float64 // per second
	Beta     float64
}

// Promote says when emberd writes a note for a memory.
type Promote struct {
	Threshold float64
	UseCount  int
	MinAge    time.Duration
	MinUses   int
	Auto      bool
}

// Lifecycle contains the times without use after which a memory changes stage.
type Lifecycle struct {
	DemoteAfter       time.Duration
	ArchiveAfter      time.Duration
	RehydratableAfter time.Duration
	Categories        []string // NAME=DEMOTE/ARCHIVE/REHYDRATABLE
}

// LLM is the chat endpoint that writes summaries; without a URL there is none.
type LLM struct{ URL, Model, KeyFile string }

// Search contains the weights of a search.
type Search struct {
	LTMWeight   float64
	AgeExponent float64 // how much the age of a memory lowers its rank
	Meaning     float64 // weight of embeddings, 0 for none at all; negative is by calibration
	MeaningWait time.Duration
}

// Backup says how many automatic backups are kept.
type Backup struct {
	Daily, Weekly int // days and weeks, 0 for none
	MaxMiB        int
}

// Review says which fading memories are mixed into answers, and how decisions are asked for.
type Review struct {
	BlendRatio float64
	DangerMin  float64
	DangerMax  float64
	Inbox      string // note of the vault
	Beads      bool   // whether items are mirrored in a bd tracker
	BeadsDir   string // folder that bd is run in, "" for that of the daemon
}

// Embedding says how embeddings are made.
type Embedding struct {
	Providers     []string // llama, http, go, words
	Model         string
	Engine        string // auto, none, the name of an installed one, or a path
	Folder        string // of installed models and engines
	URL           string // of a server of this machine
	URLModel      string // "" for the server's only one
	KeyFile       string
	MaxTokens     int
	QueryPrefix   string
	PassagePrefix string
	Store         string  // state or data
	CPUShare      float64 // of one processor
}

// Known contains the similarities from which a text counts as known.
type Known struct {
	Add       float64 // adding a text reinforces what exists
	Related   float64 // related to a claim
	Confirmed float64 // says the same as a claim
	Reinforce float64 // reinforced by a text
}

// Cluster says how near-duplicates are grouped.
type Cluster struct {
	Threshold float64
	MinSize   int
}

// Consolidation says how the maintenance agents run.
type Consolidation struct {
	Interval      time.Duration
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
	MaxDeletions float64 // share of the memories
	RollbackAt   float64 // share of the accuracy
	Queries      string
	LLM          bool
}

// OtherVault says how to use emberd with a second vault.
const OtherVault = "for each other vault, run another daemon with its own folder: emberd serve --home DIR"

// Load reads the config file that s points at and returns the effective settings. The error joins
// every fault found, each on a line that says where the value was set, what is allowed and, for a
// misspelt name, the nearest known one.
func Load(s Source) (*Config, error) {
	env := environ(s.Env)
	pl, err := locate(s, env)
	if err != nil {
		return nil, err
	}
	c := &Config{File: pl.file}
	layers, err := c.collect(s, env, pl)
	faults := []error{err}
	for _, k := range numberKeys(c) {
		faults = append(faults, k.value.set(k.def, nil))
	}
	c.keys = tableOf(c)
	for i := range c.keys {
		st, err := c.keys[i].settle(layers, pl)
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
	for i, k := range c.keys {
		c.settings[i].Value = k.value.text()
	}
	return c, nil
}

// File returns the path of the config file that Load looks for, which may contain faults.
func File(s Source) (string, error) {
	pl, err := locate(s, environ(s.Env))
	if err != nil {
		return "", err
	}
	return pl.file, nil
}

// fillAuto computes the values that were left to "auto".
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
	for p, name := range map[*string]string{
		&c.Vault.IndexNote: "Index.md", &c.Vault.CoreNote: "Core.md", &c.Review.Inbox: "Inbox.md",
	} {
		if *p == auto {
			*p = path.Join(c.Vault.PromotedFolder, name)
		}
	}
	if c.Decay.Lambda == 0 {
		c.Decay.Lambda = math.Ln2 / c.Decay.HalfLife.Seconds()
	}
}

// contradictions reports pairs of settings that are each within bounds but exclude one another.
func (c *Config) contradictions() error {
	life, agents := c.Lifecycle, c.Consolidation
	pairs := []struct {
		low, high string
		ok        bool
	}{
		{"trash.keep", "history.keep", c.TrashKeep <= c.HistoryKeep},
		{"forget.threshold", "promote.threshold", c.ForgetThreshold <= c.Promote.Threshold},
		{"lifecycle.demote_after", "lifecycle.archive_after", life.DemoteAfter <= life.ArchiveAfter},
		{"lifecycle.archive_after", "lifecycle.rehydratable_after", life.ArchiveAfter <= life.RehydratableAfter},
		{"review.danger_min", "review.danger_max", c.Review.DangerMin <= c.Review.DangerMax},
		{"consolidation.review_at", "consolidation.auto_merge_at", agents.ReviewAt <= agents.AutoMergeAt},
		{"verify.related", "verify.confirmed", c.Known.Related <= c.Known.Confirmed},
	}
	var faults []error
	for _, p := range pairs {
		if !p.ok {
			faults = append(faults, fmt.Errorf("%s must not exceed %s", c.cite(p.low), c.cite(p.high)))
		}
	}
	if folderHolds(c.Vault.ArchiveFolder, c.Vault.PromotedFolder) {
		faults = append(faults, fmt.Errorf("%s must not be inside %s, because searches exclude that folder by default",
			c.cite("vault.promoted_folder"), c.cite("vault.archive_folder")))
	}
	return errors.Join(append(faults, c.sameNotes())...)
}

// sameNotes refuses one note for two of the lists that emberd writes.
func (c *Config) sameNotes() error {
	notes := []struct{ key, path string }{
		{"vault.index_note", c.Vault.IndexNote}, {"vault.core_note", c.Vault.CoreNote},
		{"review.inbox", c.Review.Inbox},
	}
	var faults []error
	for i, one := range notes {
		for _, other := range notes[i+1:] {
			if one.path != "" && strings.EqualFold(one.path, other.path) {
				faults = append(faults, fmt.Errorf("%s and %s must be different notes", c.cite(one.key),
					c.cite(other.key)))
			}
		}
	}
	return errors.Join(faults...)
}

// checkPlaces refuses a socket path that the platform cannot bind, and data and state in one
// another: data may be synced and state never, and state may be thrown away and data never.
func (c *Config) checkPlaces(pl *places) error {
	var faults []error
	if n, limit := len(c.Socket), pl.maxSocket(); n > limit {
		faults = append(faults, fmt.Errorf(
			"socket path %s has %d bytes, and %s allows only %d; set socket or EMBERD_SOCKET to a shorter path",
			c.Socket, n, pl.goos, limit))
	}
	if dirHolds(c.Data, c.State) || dirHolds(c.State, c.Data) {
		faults = append(faults, fmt.Errorf("%s and %s must not contain each other; set them to separate directories",
			c.cite("data"), c.cite("state")))
	}
	return errors.Join(faults...)
}

// cite names a setting, or a number of tuning, with its value and where that was set.
func (c *Config) cite(name string) string {
	if i := find(keys(), name); i >= 0 {
		return fmt.Sprintf("%s %s (%s)", name, c.keys[i].value.text(), c.settings[i].From)
	}
	from := string(FromDefault)
	if slices.ContainsFunc(c.Tuning, func(s string) bool { return strings.HasPrefix(s, name+"=") }) {
		from = c.settings[find(keys(), "tuning")].From
	}
	return fmt.Sprintf("%s %s (%s)", name, numberKeys(c)[find(numbers(), name)].value.text(), from)
}

func dirHolds(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && filepath.IsLocal(rel)
}

func folderHolds(outer, inner string) bool {
	return inner == outer || strings.HasPrefix(inner, path.Clean(outer)+"/")
}
