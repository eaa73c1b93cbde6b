// Package memory is the vocabulary of emberd: what a memory is, how it is
// named, which bounds its fields have, and the errors everyone speaks. It
// imports nothing else of ours and does nothing beyond parsing and validation.
//
// The JSON names of [Memory] are used in the log, on the socket and in exports
// alike. Values are plain data: a function that returns a Memory gives its
// slices and maps away, and one that takes a Memory does not keep them.
package memory

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Stage is how far a memory has faded. The zero value is not a stage.
type Stage string

// The four stages, from spec "lifecycle and rekindling".
const (
	Active       Stage = "active"
	Demoted      Stage = "demoted"
	Archived     Stage = "archived"
	Rehydratable Stage = "rehydratable"
)

// Stages lists every stage, warmest first. It returns a fresh slice.
func Stages() []Stage { return []Stage{Active, Demoted, Archived, Rehydratable} }

// Cold reports whether what the log has of a memory in this stage is not all of its
// text: it was archived, and perhaps faded further.
func (s Stage) Cold() bool { return s == Archived || s == Rehydratable }

// ScoreMultiplier is the part of its score that a memory keeps in this stage, as the spec "lifecycle and
// rekindling" has it. It is reported, and does not enter the rank of a search.
func (s Stage) ScoreMultiplier() float64 {
	switch s {
	case Demoted:
		return 0.5
	case Archived:
		return 0.1
	case Rehydratable:
		return 0.01
	default:
		return 1
	}
}

// ParseStage accepts the four names in any case.
func ParseStage(s string) (Stage, error) {
	for _, st := range Stages() {
		if equalFold(s, string(st)) {
			return st, nil
		}
	}
	return "", Errorf(Invalid, "invalid stage %q; use active, demoted, archived or rehydratable", Clip(s)).At("stage")
}

// DefaultCollection is where a memory goes that names no collection.
const DefaultCollection = "knowledge"

// EntityCollection is where the tools of the protocol's reference memory server keep entities.
const EntityCollection = "entities"

// Memory is one remembered thing. Times are UTC with millisecond precision.
// A zero time, empty string or nil slice means "not set" and is left out of JSON.
type Memory struct {
	ID ID `json:"id"`
	// Aliases are IDs that other systems have for the memory. A caller can use one of them
	// in place of ID, exactly as it is written. See [NormalizeAliases].
	Aliases []string `json:"aliases,omitempty"`
	// Content is the text, of an archived memory its summary.
	Content  string   `json:"content"`
	Tags     []string `json:"tags,omitempty"`
	Entities []string `json:"entities,omitempty"`
	// EntitiesFound is set if emberd found the entities in the content,
	// which has all their words.
	EntitiesFound bool `json:"entities_found,omitempty"`
	// StrengthFound says the same of the strength, which is in no note then.
	StrengthFound bool `json:"strength_found,omitempty"`

	Source   string                     `json:"source,omitempty"`
	Context  string                     `json:"context,omitempty"`
	Meta     map[string]json.RawMessage `json:"meta,omitempty"`
	Category string                     `json:"category,omitempty"`
	Type     string                     `json:"type,omitempty"`
	Section  string                     `json:"section,omitempty"`

	// Confidence and Importance are 0–1; Strength is 0–2 and multiplies decay.
	Confidence float64 `json:"confidence"`
	Importance float64 `json:"importance"`
	Strength   float64 `json:"strength"`
	// Core memories never fade and are never collected.
	Core bool `json:"core,omitempty"`

	SessionID  string `json:"session_id,omitempty"`
	Collection string `json:"collection"`
	Project    string `json:"project,omitempty"`

	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when content or fields last changed; use does not count.
	UpdatedAt time.Time `json:"updated_at,omitzero"`

	// LastUsed and UseCount feed decay, stages and promotion. AccessCount and
	// LastAccessed only report how often searches returned the memory.
	LastUsed         time.Time `json:"last_used"`
	UseCount         int64     `json:"use_count"`
	ReviewCount      int64     `json:"review_count,omitempty"`
	LastReviewAt     time.Time `json:"last_review_at,omitzero"`
	CrossDomainCount int64     `json:"cross_domain_count,omitempty"`
	AccessCount      int64     `json:"access_count"`
	LastAccessed     time.Time `json:"last_accessed_ts,omitzero"`

	Stage         Stage     `json:"stage"`
	ArchivedAt    time.Time `json:"archived_at,omitzero"`
	ArchiveReason string    `json:"archive_reason,omitempty"`
	// Summary is the Content of an archived memory, in answers; it is not stored.
	Summary string `json:"summary,omitempty"`
	// TextDigest identifies the text of a cold memory, which is in the note at
	// VaultPath: "sha256:" and 64 hex digits. TextEdges are the white space that stood
	// before and behind it and that a note does not keep, and, third, where the note has characters
	// more than the text: numbers of bytes, each from the one before. KeyTerms are the words that
	// the memory is found by beside its summary.
	TextDigest string   `json:"text_digest,omitempty"`
	TextEdges  []string `json:"text_edges,omitempty"`
	KeyTerms   []string `json:"key_terms,omitempty"`

	PromotedAt time.Time `json:"promoted_at,omitzero"`
	PromotedTo string    `json:"promoted_to,omitempty"`
	VaultPath  string    `json:"vault_path,omitempty"`
	// NoteSeen is what the memory's note held when it was last taken over: of each
	// field that the note decides the first 16 hex digits of a SHA-256, or a word that
	// is none: the user has edited the field since. NoteGone is when that note was
	// found deleted.
	NoteSeen map[string]string `json:"note_seen,omitempty"`
	NoteGone time.Time         `json:"note_gone,omitzero"`
	// Sources is the provenance chain, the first link first and then the latest, and
	// SourcesDropped how often it was learned by links that are no longer in it.
	Sources        []Source `json:"sources,omitempty"`
	SourcesDropped int64    `json:"sources_dropped,omitempty"`
	// Origin is whose words the content is: see [Source.Kind]. ConfirmedAt is when a person
	// said that it holds although a tool or the web said it.
	Origin      string    `json:"origin,omitempty"`
	ConfirmedAt time.Time `json:"confirmed_at,omitzero"`
	// SupersededBy is the memory that replaced this one.
	SupersededBy ID        `json:"superseded_by,omitempty"`
	SupersededAt time.Time `json:"superseded_at,omitzero"`

	EmbeddingVersion string          `json:"embedding_version,omitempty"`
	Quality          json.RawMessage `json:"quality,omitempty"`
	// ConsolidatedFrom are the memories that this one was merged of, ConsolidatedInto the
	// one that has this one's text since it was merged.
	ConsolidatedFrom []ID      `json:"consolidated_from,omitempty"`
	ConsolidatedInto ID        `json:"consolidated_into,omitempty"`
	ConsolidatedAt   time.Time `json:"consolidated_at,omitzero"`
}

// Where the words of a memory come from, as [Source.Kind] and [Memory.Origin] say.
const (
	FromUser   = "user"
	FromAgent  = "agent"
	FromTool   = "tool"
	FromWeb    = "web"
	FromImport = "import"
)

// Source is one link of a memory's provenance chain: where it was learned or
// confirmed, and with which words. Links that differ only in time are one, with the
// latest time. By is its author: UID and PID as the kernel had them, the rest as claimed.
type Source struct {
	Kind     string    `json:"kind,omitempty"`
	Ref      string    `json:"ref,omitempty"` // file, address or name of what it was learned from
	Line     int       `json:"line,omitempty"`
	At       time.Time `json:"at,omitzero"`
	Evidence string    `json:"evidence,omitempty"` // the quote
	Project  string    `json:"project,omitempty"`
	By       *Actor    `json:"by,omitempty"`
	Times    int64     `json:"times,omitempty"` // how often, 0 stands for 1
}

// DataOnly reports whether it comes from a tool or the web and no user confirmed it. Such a
// memory is never promoted by itself, and nothing it says of itself raises its rank.
func (m *Memory) DataOnly() bool {
	return (m.Origin == FromTool || m.Origin == FromWeb) && m.ConfirmedAt.IsZero()
}

// How far the words of a memory are to be trusted, as [Memory.Trust] says.
const (
	TrustConfirmed = "confirmed" // a tool or the web said it, and a person that it holds
	TrustUser      = "user"      // the user said it
	TrustAgent     = "agent"     // an agent or an import did, or the author is unknown
	TrustData      = "data"      // a tool or the web did, and no user confirmed it
)

// Trust is one of those words.
func (m *Memory) Trust() string {
	switch {
	case m.DataOnly():
		return TrustData
	case !m.ConfirmedAt.IsZero():
		return TrustConfirmed
	case m.Origin == FromUser:
		return TrustUser
	}
	return TrustAgent
}

// SaidByUser begins the context of what a hook took from a message of the user.
const SaidByUser = "said by the user"

// Heard reports whether a hook took the text from a message of the user, and nobody else said or changed it since.
func (m *Memory) Heard() bool {
	return m.Trust() == TrustAgent && strings.HasPrefix(m.Context, SaidByUser) &&
		!slices.ContainsFunc(m.Sources, func(s Source) bool { return !s.By.IsHook() })
}

// stated are the fields that whoever writes a memory decides: what a reader takes for the author's
// words, and what the author says of their weight and place.
var stated = []string{"content", "tags", "entities", "source", "context", "meta", "category", "type", "section",
	"confidence", "importance", "strength", "core", "collection", "project"}

// Stated reports whether a field is among those that the author of a memory decides. [Memory.Trust] is
// about all of them.
func Stated(field string) bool { return slices.Contains(stated, field) }

// Learned is how often the memory was learned, by all links of its chain; at least 1.
func (m *Memory) Learned() int {
	n := m.SourcesDropped
	for _, s := range m.Sources {
		n += s.Count()
	}
	return int(max(1, n))
}

// Statuses lists the values of Status. It returns a fresh slice.
func Statuses() []string { return []string{"active", "promoted", "archived"} }

// ForeignStatusKey is the key of Meta that holds the status of a memory in the CortexGraph store that it was
// imported from: archived or promoted. Its note, if promoted, is at the path that Meta holds under promoted_to.
const ForeignStatusKey = "cortexgraph_status"

// Status is the three-valued state that callers of the CortexGraph tools know. An imported memory keeps the one that
// it had: promoted, or archived until it is used.
func (m *Memory) Status() string {
	foreign := m.metaText(ForeignStatusKey)
	switch {
	case m.PromotedTo != "" || foreign == "promoted":
		return "promoted"
	case m.Stage.Cold() || m.Stage == Demoted && foreign == "archived":
		return "archived"
	}
	return "active"
}

// PromotedElsewhere returns the path and time of the note that CortexGraph made for an imported memory, if it made
// one. Either can be unknown.
func (m *Memory) PromotedElsewhere() (path string, at time.Time, ok bool) {
	if m.PromotedTo != "" || m.metaText(ForeignStatusKey) != "promoted" {
		return "", at, false
	}
	var seconds float64
	if json.Unmarshal(m.Meta["promoted_at"], &seconds) == nil && seconds > 0 {
		at = time.Unix(int64(seconds), 0).UTC()
	}
	return m.metaText("promoted_to"), at, true
}

func (m *Memory) metaText(key string) (text string) {
	if raw := m.Meta[key]; raw == nil || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// Later returns the later one of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Actor identifies the caller of an operation. UID and PID come from the kernel, Token was checked; the rest is
// claimed by the client.
type Actor struct {
	Via     string `json:"via"` // cli, http, mcp or emberd itself
	UID     int    `json:"uid"`
	PID     int    `json:"pid,omitempty"`
	Client  string `json:"client,omitempty"`
	Session string `json:"session,omitempty"`
	Token   string `json:"token,omitempty"` // name of the capability token that was shown
}

// IsHook reports whether the actor is a hook of a coding agent, or not known.
func (a *Actor) IsHook() bool {
	return a == nil || a.Client == "" || strings.HasPrefix(a.Client, "hook/")
}

// Origin is whose words those are most likely that the actor writes without saying whose.
// A caller with a token is not a person at a terminal, whatever it claims.
func (a *Actor) Origin() string {
	if a.Via == "cli" && a.Token == "" {
		return FromUser
	}
	return FromAgent
}
