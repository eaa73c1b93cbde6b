package op

import (
	"encoding/json"
	"errors"
	"time"

	"emberd/memory"
)

// Memory is a memory as callers see it: with what is derived from it now.
type Memory struct {
	memory.Memory
	Rev     string  `json:"rev"`    // for If-Match
	Status  string  `json:"status"` // active, promoted or archived
	Score   float64 `json:"score"`  // decay score now
	AgeDays float64 `json:"age_days"`
	// Trust is [memory.Memory.Trust]. Hidden are the kinds of characters in the text that
	// a reader cannot see, such as "tag characters".
	Trust  string   `json:"trust,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	// Undecided is the ID of the open review item in which other texts of the memory wait for a decision.
	Undecided    string `json:"undecided,omitempty"`
	HasEmbedding bool   `json:"has_embedding,omitempty"` // the text has a vector, of the model in EmbeddingVersion
}

// SaveRequest holds a new memory. A field left out gets its default; a pointer
// tells "left out" from zero.
type SaveRequest struct {
	ID             memory.ID                  `json:"id,omitempty" doc:"ID that the client chooses for the new memory; if a memory with this ID and content exists, emberd returns the existing memory"`
	IdempotencyKey string                     `json:"-" header:"Idempotency-Key" doc:"key of the request, up to 200 characters; if a client repeats the key within 24 hours, emberd returns the result of the first request"`
	Content        string                     `json:"content" doc:"text of the memory, up to 50,000 characters or 200 KiB"`
	Aliases        []string                   `json:"aliases,omitempty" doc:"IDs of an imported memory in other systems, up to 50, each up to 1,000 characters"`
	Tags           []string                   `json:"tags,omitempty" doc:"tags of the memory, up to 50, each up to 100 characters"`
	Entities       []string                   `json:"entities,omitzero" doc:"entities of the memory, up to 100, each up to 100 characters; if entities is missing, emberd detects entities in the content"`
	Source         string                     `json:"source,omitempty" doc:"source of the text, such as a person or page, up to 500 characters"`
	Context        string                     `json:"context,omitempty" doc:"reason for the save, such as the task or question, up to 1,000 characters"`
	Meta           map[string]json.RawMessage `json:"meta,omitempty" doc:"JSON object to store with the memory, up to 64 KiB"`
	Category       string                     `json:"category,omitempty" doc:"category of the memory, to filter searches"`
	Type           string                     `json:"type,omitempty" doc:"type of the memory, such as decision or preference"`
	Section        string                     `json:"section,omitempty" doc:"section of the memory, such as Important Facts"`
	Confidence     *float64                   `json:"confidence,omitempty" doc:"confidence of the memory, 0 to 1, default 1"`
	Importance     *float64                   `json:"importance,omitempty" doc:"importance of the memory, 0 to 1, default 0.5"`
	Strength       *float64                   `json:"strength,omitempty" doc:"factor that multiplies the decay score, 0 to 2; if strength is missing, emberd computes the strength from the content"`
	Core           bool                       `json:"core,omitempty" doc:"true: the memory never fades, and emberd never deletes the memory automatically"`
	SessionID      string                     `json:"session_id,omitempty" doc:"ID of the session or conversation that the text comes from"`
	Collection     string                     `json:"collection,omitempty" doc:"collection that contains the memory; default: knowledge"`
	Project        string                     `json:"project,omitempty" doc:"project of the memory, to filter searches"`
	// ProjectInferred is for clients that fill in the project of the folder that they run in.
	ProjectInferred bool      `json:"project_inferred,omitempty" doc:"true: if the caller cannot write to the project, save the memory without a project"`
	CreatedAt       time.Time `json:"created_at,omitzero" doc:"creation time of an imported memory or relation; emberd refuses a time in the future"`
	LastUsed        time.Time `json:"last_used,omitzero" doc:"time of the last use of an imported memory, not before created_at; default: the time of the save"`
	UseCount        int64     `json:"use_count,omitempty" doc:"number of uses of an imported memory before the import, at least 0"`
	AllowSecret     bool      `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
	Again           bool      `json:"again,omitempty" doc:"save the memory even if a memory with this text or ID was deleted, or a search just returned the text"`
	Supersedes      []string  `json:"supersedes,omitempty" doc:"IDs of up to 100 memories that this memory supersedes; searches rank superseded memories below this memory"`
	// EvenRecalled is for callers that count on a memory of its own for each save.
	EvenRecalled bool `json:"even_recalled,omitempty" doc:"save the memory even if a search just returned the text"`
	Provenance
	Enrich *bool `json:"enrich,omitempty" doc:"if entities or strength are missing: true (default) computes them from the content; false saves no entities, and strength 1"`
}

// SaveResult reports what was saved.
type SaveResult struct {
	// Memory is what was saved, or what had the text already. Of a text that only a note
	// has it has no id, and the note's path.
	Memory   Memory `json:"memory"`
	Tx       string `json:"tx"`                 // journal entry, for undo
	Replayed bool   `json:"replayed,omitempty"` // the answer to an earlier, equal request
	Echo     *Echo  `json:"echo,omitempty"`     // nothing was stored, for the text had just been recalled
	// Confirmed says that nothing was stored: the user confirmed a memory of a tool or the web.
	Confirmed bool `json:"confirmed,omitempty"`
	// EnrichmentApplied says that entities or strength were left to emberd.
	EnrichmentApplied bool `json:"enrichment_applied,omitempty"`
	// Added is the tag or project, as a scope, that the memory was given since the caller's
	// token may not save without: tag:work.
	Added string `json:"added_scope,omitempty"`
	// RecordedOrigin is the origin that the text got in place of the claimed one, "" if that
	// was recorded: the words of a limited token are an agent's and not the user's.
	RecordedOrigin string      `json:"recorded_origin,omitempty"`
	Superseded     []memory.ID `json:"superseded,omitempty"` // memories that the saved one superseded
}

// SaveBatchRequest holds up to 500 new memories. A batch that names the journal
// entry of an earlier one joins it, so that one undo takes all back.
type SaveBatchRequest struct {
	Tx     string        `json:"tx,omitempty" doc:"ID (tx) of the change that an earlier batch made; emberd adds this batch to the same change"`
	DryRun bool          `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	Items  []SaveRequest `json:"items" doc:"memories to save, each with the parameters of the operation save"`
}

// MaxOffset is how far down a search can be paged.
const MaxOffset = 1000

// MaxBatch is how many memories one batch may hold.
const MaxBatch = 500

// SaveBatchResult answers each item in its place.
type SaveBatchResult struct {
	Tx      string            `json:"tx"`
	Results []SaveBatchAnswer `json:"results"`
}

// SaveBatchAnswer is the fate of one item: an id, or an error.
type SaveBatchAnswer struct {
	ID                memory.ID `json:"id,omitempty"`
	Replayed          bool      `json:"replayed,omitempty"`
	Named             bool      `json:"named,omitempty"` // it was there and gets aliases that it lacked
	EnrichmentApplied bool      `json:"enrichment_applied,omitempty"`
	Added             string    `json:"added_scope,omitempty"`     // as SaveResult has it
	RecordedOrigin    string    `json:"recorded_origin,omitempty"` // as SaveResult has it
	Error             *Problem  `json:"error,omitempty"`
}

// Problem is an error on the wire, after RFC 9457 (problem+json).
type Problem struct {
	Type    string      `json:"type,omitempty"`
	Title   string      `json:"title,omitempty"`
	Status  int         `json:"status,omitempty"`
	Detail  string      `json:"detail"`
	Code    memory.Code `json:"code"`
	Field   string      `json:"field,omitempty"`
	Current string      `json:"current,omitempty"` // the revision that holds now, with code conflict
	// Stored are names out of the store that the error is about, such as paths of notes: they may have any text.
	Stored []string `json:"stored,omitempty"`
}

// ProblemOf returns an error as one item of a result contains it.
func ProblemOf(err error) *Problem {
	p := &Problem{Detail: err.Error(), Code: memory.CodeOf(err)}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		p.Field, p.Current = e.Field, e.Current
	}
	return p
}

// Filter selects memories. Every field narrows; the zero Filter selects all
// that are not in the trash.
type Filter struct {
	Tags       []string       `json:"tags,omitempty" query:"tag" doc:"return only results with all of these tags; the tag a also matches a/b"`
	Project    string         `json:"project,omitempty" query:"project" doc:"return only memories of this project"`
	Collection string         `json:"collection,omitempty" query:"collection" doc:"return only memories of this collection; default: all collections"`
	Category   string         `json:"category,omitempty" query:"category" doc:"return only memories of this category"`
	Section    string         `json:"section,omitempty" query:"section" doc:"return only memories of this section, in any letter case"`
	Stages     []memory.Stage `json:"stages,omitempty" query:"stage" doc:"return only memories in these stages: active, demoted, archived or rehydratable"`
	Status     string         `json:"status,omitempty" query:"status" doc:"return only memories with this status: active, promoted or archived; several statuses separated by commas; or all (default)"`
	WindowDays float64        `json:"window_days,omitempty" query:"window_days" doc:"return only memories used or created, and notes modified, in the last N days, up to 3,650"`
	MinScore   float64        `json:"min_score,omitempty" query:"min_score" doc:"return only memories with at least this decay score"`
	// MinConfidence is 0 for any.
	MinConfidence float64 `json:"min_confidence,omitempty" query:"min_confidence" doc:"return only memories with at least this confidence, 0 to 1"`
}

// SearchRequest asks for the memories and notes that fit words best. Any word
// may match; more and rarer words rank higher. A filter that only memories have
// (project, collection, category, section, stage, status, min_score, min_confidence) leaves notes out;
// window_days asks when a memory was last used, and when a note was last modified.
// With keep_notes no filter but tags has a say about notes.
// When nothing matches, words that no memory and no note holds are taken for
// misspelt ones.
type SearchRequest struct {
	Query string `json:"q" query:"q" doc:"words to search for, with operators such as \"a phrase\", -word, tag:x, path:dir/ or before:2026-01; up to 4 KiB"`
	Scope string `json:"scope,omitempty" query:"scope" doc:"texts to search: all (default), memories, notes, archive (only archived memories) or sessions (messages of past sessions with coding agents)"`
	Filter
	KeepNotes bool `json:"keep_notes,omitempty" query:"keep_notes" doc:"true: filter notes only by tags, and memories by all filters"`
	Limit     int  `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 10"`
	// Offset reaches further pages. What is mixed in would move hits from one page to
	// another: later pages have none of it, and the first is asked for without.
	Offset        int      `json:"offset,omitempty" query:"offset" doc:"number of results to skip, up to 1,000"`
	STMWeight     *float64 `json:"stm_weight,omitempty" query:"stm_weight" doc:"weight of memories in the ranking, 0 to 2, default 1; a higher value moves memories up"`
	LTMWeight     *float64 `json:"ltm_weight,omitempty" query:"ltm_weight" doc:"weight of notes in the ranking, 0 to 2; a higher value moves notes up; default: the setting search.ltm_weight (0.7)"`
	AgeExponent   *float64 `json:"age_exponent,omitempty" query:"age_exponent" doc:"effect of age on the ranking, 0 (none) to 1; emberd multiplies the ranking score of a memory by (1 + days since the last use)^-age_exponent; default: the setting search.age_exponent (0.03)"`
	MeaningWeight *float64 `json:"meaning_weight,omitempty" query:"meaning_weight" doc:"weight of embeddings in the ranking, 0 (keyword search only) to 1; default: the setting search.meaning"`
	IncludeReview *bool    `json:"include_review_candidates,omitempty" query:"include_review_candidates" doc:"also return a few memories that match the query and fade soon, default true"`
	Track         *bool    `json:"track_access,omitempty" query:"track_access" doc:"count the search as an access to each result; if a caller then opens an archived result, emberd restores the full text of the memory; default true"`
	Explain       bool     `json:"explain,omitempty" query:"explain" doc:"for each result, show how emberd computed the ranking score"`
	// Trial asks for what search would answer and leaves nothing of it: no access, and no
	// text that counts as recalled.
	Trial bool `json:"trial,omitempty" query:"trial" doc:"true: do not record that the search returned the results"`
	// AsOf searches the memories of then. Notes are searched as they are now, and
	// nothing counts as an access.
	AsOf time.Time `json:"as_of,omitzero" query:"as_of" doc:"search the memories as they were at this time, and the notes as they are now"`
}

// SearchResult is the ranked answer.
type SearchResult struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"`
	Total int    `json:"total"` // how many matched before the limit
	// AtLeast says that Total is a lower bound: of phrases, of words that begin with the last one, or
	// of what means something alike, only the best were looked at.
	AtLeast bool     `json:"at_least,omitempty"`
	Loading *Loading `json:"loading,omitempty"`
	// Indexing says that notes are still being read for the first time.
	Indexing *Loading `json:"indexing,omitempty"`
	// Away is since when the vault is not there or released: notes are shown as they were then.
	Away time.Time `json:"away,omitzero"`
	// Meaning describes the vectors; nil when there is to be none.
	Meaning *Meaning `json:"meaning,omitempty"`
	// Similar says that nothing held what was asked for: the hits hold the words
	// of its phrases anywhere, or those in Respelled.
	Similar bool `json:"similar,omitempty"`
	// Nearest says that no hit has enough of what was asked to answer it: nothing fits, and
	// these come nearest.
	Nearest   bool         `json:"nearest,omitempty"`
	Respelled []Respelling `json:"respelled,omitempty"`
	AsOf      *Past        `json:"as_of,omitempty"`
}

// Past is set if an answer contains memories as they were at an earlier moment. It
// is of memories only: notes are shown as they are now.
type Past struct {
	At time.Time `json:"at"`
	// Since is from when on the log still tells everything, if that is after At:
	// what was changed or forgotten in between may be missing or in part.
	Since time.Time `json:"since,omitzero"`
	// Uncounted is how many memories were used at least as often as they say, and
	// maybe more; so their scores may have been higher.
	Uncounted int `json:"uncounted,omitempty"`
}

// Loading says that an answer was given while the word index was still being
// built: complete, but with coarse ranking for what is not indexed yet.
type Loading struct {
	Indexed int `json:"indexed"`
	Total   int `json:"total"`
}

// The tiers that hits come from.
const (
	TierMemory = "memory"
	TierNote   = "note"
	// TierSession is that of past sessions, which only their own scope has.
	TierSession = "session"
)

// Hit is one memory, note or past session that matched. Tier reports which of them it is; a
// memory and the note that was made of it are one hit and have both.
type Hit struct {
	Tier    string `json:"tier"`
	*Memory `json:",omitempty"`
	Note    *Note           `json:"note,omitempty"`
	Session *SessionPassage `json:"session,omitempty"`
	Rank    float64         `json:"rank"` // what the order is by
	// Relevance is how far the hit can be believed to answer, 0 to 1, the same for memories and
	// notes: 0.5 is as probable as not. It comes from the share of what was asked that it holds.
	Relevance float64  `json:"relevance"`
	Snippet   Snippet  `json:"snippet"`
	Explain   *Explain `json:"explain,omitempty"`
	// Review says that the memory is here because it matches and is about to fade, and
	// not for its rank.
	Review bool `json:"review,omitempty"`
	// Rekindle is "offered" for an archived memory that is relevant enough to be restored when it is opened or
	// used, or by emberd rekindle. Its text is shown, and stays in its note until then.
	Rekindle string `json:"rekindle,omitempty"`
	// Why says in a few words why the hit is here although its snippet has no word of the query
	// as it was typed.
	Why string `json:"why,omitempty"`
	// Superseded is what replaced the memory, which ranks above it if it matches.
	Superseded *Successor `json:"superseded,omitempty"`
}

// Shortened reports whether Content is the summary of an archived memory. A search shows the text instead, if it can
// read the note that has it.
func (m *Memory) Shortened() bool {
	return m.Stage.Cold() && (m.Summary == "" || m.Content == m.Summary)
}

// Successor is the memory that counts in the place of another.
type Successor struct {
	By   memory.ID `json:"by"`
	Text string    `json:"text"` // what it begins with
}

// RekindleOffered is what [Hit.Rekindle] says.
const RekindleOffered = "offered"

// Note is a note of the vault, with the section that answers best.
type Note struct {
	Vault    string    `json:"vault"`
	Path     string    `json:"path"` // from the vault's root, with slashes
	Title    string    `json:"title"`
	Heading  []string  `json:"heading,omitempty"` // of the section, outermost first
	Line     int       `json:"line"`              // where its text begins, from 1
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"`
	MemoryID memory.ID `json:"memory_id,omitempty"`
}

// Snippet is the part of a text that matched. Marks are byte ranges of Text.
type Snippet struct {
	Text  string   `json:"text"`
	Marks [][2]int `json:"marks,omitempty"`
}

// Explain takes a rank apart:
// rank = relevance × age × tier.
type Explain struct {
	Relevance float64       `json:"relevance"`
	Share     float64       `json:"share"` // of what was asked that it holds, by the weight (IDF) of the words, or means; 0 to 1
	Terms     []TermExplain `json:"terms"`
	// Meaning and Date are the other parts of relevance, where there are any.
	Meaning *MeaningExplain `json:"meaning,omitempty"`
	Date    *SignalExplain  `json:"date,omitempty"`
	// Similarity of the query and the hit by vectors is on the scale of the thresholds; nil without one.
	Similarity *float64 `json:"similarity,omitempty"`
	AgeDays    float64  `json:"age_days"`         // since a memory was last used or saved; 0 for a note or a core memory
	Age        float64  `json:"age"`              // factor: (1 + age_days)^-age_exponent
	Tier       float64  `json:"tier"`             // weight of short-term memory
	Coarse     bool     `json:"coarse,omitempty"` // found by scanning, while the index was loading
	// Above is a memory that this one replaced and that ranked higher: the rank
	// is that one's.
	Above memory.ID `json:"above,omitempty"`
}

// TermExplain is what one word of the query added to the relevance (BM25). A memory has one for its
// text, score = 0.9 × weight × idf × tf / (tf + norm). One of more than 120 words has 0.54 in place of
// 0.9, and another for its best passage with 0.36. A memory that has the word in the form of the query
// has another with 0.1 × weight × idf, or 0.2 for a name.
type TermExplain struct {
	Term   string  `json:"term"`
	For    string  `json:"for,omitempty"`   // word of the query in whose place it was searched for
	Field  string  `json:"field,omitempty"` // of a note: names, headings, tags, body, …; of a memory: passage, form
	TF     int     `json:"tf"`
	DF     int     `json:"df"`
	IDF    float64 `json:"idf"`
	Weight float64 `json:"weight,omitempty"` // how often the query says it, if not once
	Norm   float64 `json:"norm"`
	Score  float64 `json:"score"`
}

// Fields of a memory in TermExplain.
const (
	FieldPassage = "passage"
	FieldForm    = "form"
)

// ShowRequest names a memory by its id, or by at least four characters of its
// beginning or end.
type ShowRequest struct {
	ID    string `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
	Track *bool  `json:"track,omitempty" query:"track" doc:"record that the caller opened the memory, which delays its fading; default true"`
	// AsOf shows the memory as it was then, which is no use of it.
	AsOf time.Time `json:"as_of,omitzero" query:"as_of" doc:"show the memory as it was at this time"`
}

// ShowResult is the whole memory.
type ShowResult struct {
	Memory    Memory       `json:"memory"`
	Relations *RelationsOf `json:"relations,omitempty"` // if there are any
	AsOf      *Past        `json:"as_of,omitempty"`
	Rekindled bool         `json:"rekindled,omitempty"` // showing it restored its archived text
}

// ListRequest selects and orders memories.
type ListRequest struct {
	Filter
	Sort   string `json:"sort,omitempty" query:"sort" doc:"value that emberd sorts the memories by: created (default), used, score, uses or accesses; the newest or highest value is first"`
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
	// Contains asks for a text letter by letter, as it stands in the content or the
	// type, in any case; of a cold memory, in what is left of its content.
	Contains string `json:"contains,omitempty" query:"contains" doc:"return only memories whose content or type contains this text, in any letter case; up to 4 KiB"`
	// AsOf lists the memories of then.
	AsOf time.Time `json:"as_of,omitzero" query:"as_of" doc:"list the memories as they were at this time"`
}

// ListResult is one page.
type ListResult struct {
	Memories   []Memory `json:"memories"`
	Total      int      `json:"total"`
	NextCursor string   `json:"next_cursor,omitempty"`
	AsOf       *Past    `json:"as_of,omitempty"`
}

// EditRequest changes the fields that are set.
type EditRequest struct {
	ID          string                     `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
	IfMatch     string                     `json:"-" header:"If-Match" doc:"revision that the caller read; if the memory now has another revision, emberd changes nothing"`
	Content     *string                    `json:"content,omitempty" doc:"new text of the memory"`
	Tags        *[]string                  `json:"tags,omitempty" doc:"complete new list of the tags of the memory"`
	AddTags     []string                   `json:"add_tags,omitempty" doc:"tags to add to the memory"`
	RemoveTags  []string                   `json:"remove_tags,omitempty" doc:"tags to remove from the memory"`
	Entities    *[]string                  `json:"entities,omitempty" doc:"complete new list of the entities of the memory"`
	Source      *string                    `json:"source,omitempty" doc:"new source of the memory"`
	Context     *string                    `json:"context,omitempty" doc:"new context of the memory"`
	Meta        map[string]json.RawMessage `json:"meta,omitempty" doc:"JSON object to merge into the meta field of the memory; the value null removes a key"`
	Category    *string                    `json:"category,omitempty" doc:"new category of the memory; an empty text removes the category"`
	Type        *string                    `json:"type,omitempty" doc:"new type of the memory"`
	Section     *string                    `json:"section,omitempty" doc:"new section of the memory"`
	Confidence  *float64                   `json:"confidence,omitempty" doc:"new confidence of the memory, 0 to 1"`
	Importance  *float64                   `json:"importance,omitempty" doc:"new importance of the memory, 0 to 1"`
	Strength    *float64                   `json:"strength,omitempty" doc:"new strength of the memory, 0 to 2; the strength multiplies the decay score"`
	Core        *bool                      `json:"core,omitempty" doc:"true: the memory never fades"`
	Collection  *string                    `json:"collection,omitempty" doc:"new collection of the memory"`
	Project     *string                    `json:"project,omitempty" doc:"new project of the memory; an empty text removes the project"`
	Supersedes  []string                   `json:"supersedes,omitempty" doc:"IDs of up to 100 memories that this memory supersedes; searches rank superseded memories below this memory"`
	AllowSecret bool                       `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// EditResult is the memory after the edit. Changed lists the fields that are
// different now; an edit that changes nothing writes nothing and has no entry.
type EditResult struct {
	Memory  Memory   `json:"memory"`
	Tx      string   `json:"tx,omitempty"`
	Changed []string `json:"changed"`
	// Pending is why the memory's note does not have the change yet. emberd continues
	// trying.
	Pending *PendingWrite `json:"pending,omitempty"`
}

// ForgetRequest names one memory, or several ids joined by commas.
type ForgetRequest struct {
	ID      string `json:"-" path:"id" doc:"ID of a memory, or up to 100 IDs separated by commas; if a memory is not found, emberd deletes nothing"`
	IfMatch string `json:"-" header:"If-Match" doc:"revision that the caller read; if the memory now has another revision, emberd deletes nothing; requires exactly one ID"`
	DryRun  bool   `json:"-" query:"dry_run" doc:"show what would change, without changing anything"`
}

// ForgetResult reports what went to the trash, or would.
type ForgetResult struct {
	Forgotten []Memory `json:"forgotten"`
	Tx        string   `json:"tx,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
	// Until is when the trash lets go of them.
	Until time.Time `json:"until,omitzero"`
	// Notes are the paths of the notes that were made of them. They stay.
	Notes []string `json:"notes,omitempty"`
	// Error is why the others of a batch stay where they were.
	Error *Problem `json:"error,omitempty"`
}

// UndoRequest names a journal entry; none means the newest of this device that
// a caller asked for and that was not reverted. What came from a note that is there is
// not reverted, for the note would say it again.
type UndoRequest struct {
	Tx     string `json:"tx,omitempty" doc:"ID (tx) of the change to revert, or at least its first four characters, from journal or from the answer of the change; default: the newest change of a caller on this device"`
	Force  bool   `json:"force,omitempty" doc:"also revert memories that changed again after the change to revert"`
	DryRun bool   `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// UndoResult reports what was reverted.
type UndoResult struct {
	Entry    Entry      `json:"entry"`        // what was undone
	Tx       string     `json:"tx,omitempty"` // the entry of the undo itself
	DryRun   bool       `json:"dry_run,omitempty"`
	Items    []UndoItem `json:"items"`
	Previous string     `json:"previous,omitempty"` // the change to undo instead, if the newest one was left whole
}

// UndoItem is the fate of one memory or note: removed, restored, reverted, or left because it was changed since.
type UndoItem struct {
	ID     memory.ID `json:"id,omitempty"`   // of a memory
	Path   string    `json:"path,omitempty"` // of a note
	Action string    `json:"action"`
	Reason string    `json:"reason,omitempty"`
}

// Entry is one line of the journal.
type Entry struct {
	Tx   string       `json:"tx"`
	Verb string       `json:"verb"`
	At   time.Time    `json:"at"`
	By   memory.Actor `json:"by"`
	IDs  int          `json:"ids"` // how many memories it changed
	// Notes are the paths of notes that a caller changed; it changed no memory then.
	Notes []string `json:"notes,omitempty"`
}

// TrashListRequest pages through the trash.
type TrashListRequest struct {
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
}

// TrashListResult is one page of the trash.
type TrashListResult struct {
	Items      []Trashed `json:"items"`
	Total      int       `json:"total"`
	NextCursor string    `json:"next_cursor,omitempty"`
	// Textless counts forgotten memories whose text was lost with a log file: no page has them.
	Textless int `json:"textless,omitempty" doc:"number of deleted memories whose text emberd lost with a log file; no page contains these memories"`
}

// Trashed is a forgotten memory as it was.
type Trashed struct {
	Memory    memory.Memory `json:"memory"`
	Forgotten time.Time     `json:"forgotten"`
	Until     time.Time     `json:"until"`
	Tx        string        `json:"tx"`
}

// TrashRestoreRequest names memories in the trash, by id or shortened id.
type TrashRestoreRequest struct {
	IDs []string `json:"ids" doc:"IDs of the memories to restore"`
}

// TrashRestoreResult holds the memories as they are again.
type TrashRestoreResult struct {
	Restored []Memory `json:"restored"`
	Tx       string   `json:"tx"`
}
