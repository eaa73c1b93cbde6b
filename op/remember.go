package op

import (
	"time"

	"emberd/memory"
)

// Provenance is what a caller says of the source of a text. It is claimed: what the
// kernel and the connection say of the caller is kept beside it.
type Provenance struct {
	Origin string `json:"origin,omitempty" doc:"author of the text: user, agent, tool or web; default: user on the command line, otherwise agent; texts from tool and web are unconfirmed"`
	File   string `json:"file,omitempty" doc:"path of the source file of the text, up to 500 characters"`
	Line   int    `json:"line,omitempty" doc:"line number in the source file, from 1"`
	Quote  string `json:"quote,omitempty" doc:"exact words of the source, up to 1,000 characters"`
}

// AddRequest is knowledge that is worth keeping, to be stored unless it is known.
type AddRequest struct {
	IdempotencyKey string `json:"-" header:"Idempotency-Key" doc:"key of the request, up to 200 characters; if a client repeats the key within 24 hours, emberd returns the result of the first request"`

	Content    string   `json:"content" doc:"text to save; the text must be specific, and understandable without other texts"`
	Section    string   `json:"section,omitempty" doc:"section of the memory: Key Topics, Important Facts (default), People & Entities, Ongoing Threads or File Knowledge"`
	Importance string   `json:"importance,omitempty" doc:"importance of the memory: low, normal (default), high or core (never fades); emberd raises an existing memory to this importance"`
	Tags       []string `json:"tags,omitempty" doc:"tags of the memory, up to 50, each up to 100 characters"`
	Source     string   `json:"source,omitempty" doc:"source of the text, such as a person or page, up to 500 characters"`
	Context    string   `json:"context,omitempty" doc:"reason for the save, such as the task or question, up to 1,000 characters"`
	Project    string   `json:"project,omitempty" doc:"project of the memory, to filter searches"`
	// ProjectInferred is as in SaveRequest.
	ProjectInferred bool   `json:"project_inferred,omitempty" doc:"true: if the caller cannot write to the project, save the memory without a project"`
	Collection      string `json:"collection,omitempty" doc:"collection that contains the memory; default: knowledge"`
	SessionID       string `json:"session_id,omitempty" doc:"ID of the session or conversation that the text comes from"`
	Provenance
	AllowSecret bool `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
	Again       bool `json:"again,omitempty" doc:"save a new memory even if a memory with this text exists or was deleted"`
}

// AddResult is the memory that has the text now: a new one, or the one that said it
// already and is reinforced.
type AddResult struct {
	Memory     Memory         `json:"memory"`
	New        bool           `json:"new"`
	Reinforced *Reinforcement `json:"reinforced,omitempty"`
	Echo       *Echo          `json:"echo,omitempty"`
	// Conflicts are what is known that disagrees. A relation "contradicts" leads from the
	// memory to each that is a memory.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Compared  string     `json:"compared_by"` // ComparedByWords or ComparedByVectors
	Message   string     `json:"message"`
	// Pending is why the memory's note does not have the change yet. emberd continues trying.
	Pending *PendingWrite `json:"pending,omitempty"`
	Added   string        `json:"added_scope,omitempty"` // as SaveResult has it
	// RecordedOrigin is as in SaveResult.
	RecordedOrigin string `json:"recorded_origin,omitempty"`
	Tx             string `json:"tx,omitempty"`
}

// What texts were compared by.
const (
	ComparedByWords   = "words"
	ComparedByVectors = "vectors"
)

// Reinforcement is what became of a memory that was learned once more.
type Reinforcement struct {
	Similarity    float64 `json:"similarity"`
	OldImportance float64 `json:"old_importance"`
	NewImportance float64 `json:"new_importance"`
	Sources       int     `json:"source_count"` // how often it was learned, the first time included
	// SuggestCore says that its importance reaches 0.8, and it is no core memory.
	SuggestCore bool `json:"suggest_core,omitempty"`
	// Core says that it became a core memory, as was asked for.
	Core bool `json:"core,omitempty"`
	// Held reports why the importance did not rise, if it did not.
	Held string `json:"held,omitempty"`
	// Entities are those it is about, with how often each is mentioned now.
	Entities []Mention `json:"entities,omitempty"`
}

// Mention is how often an entity was mentioned, and when last.
type Mention struct {
	Name     string    `json:"name"`
	Count    int       `json:"mention_count"`
	LastSeen time.Time `json:"last_seen,omitzero"`
}

// Echo says that a text had just been recalled when it was saved, so that nothing was
// stored: from a memory, which counts as used, or from a note.
type Echo struct {
	Of         memory.ID `json:"of,omitempty"`
	Path       string    `json:"path,omitempty"` // of the note, in the vault
	Similarity float64   `json:"similarity"`
	RecalledAt time.Time `json:"recalled_at"`
}

// Match is something known that is about what a text says.
type Match struct {
	Memory *Memory `json:"memory,omitempty"`
	Note   *Note   `json:"note,omitempty"` // of which Text is a passage
	// Text is the part that was compared: a whole short memory, or the nearest sentences.
	Text       string  `json:"text"`
	Similarity float64 `json:"similarity"` // 0 to 1, on the scale of embeddings
	// Compared is ComparedByVectors, or "" for words.
	Compared string `json:"compared_by,omitempty"`
	Verdict  string `json:"verdict"` // confirms, related or conflict
	// Standing says in words why a memory may count for less than it says: it is archived,
	// and Text is of its summary; another memory superseded it; or no user confirmed it.
	Standing string `json:"standing,omitempty"`
}

// The verdicts of a match.
const (
	VerdictConfirms = "confirms"
	VerdictRelated  = "related"
	VerdictConflict = "conflict"
)

// Conflict is something known that disagrees with what is claimed.
type Conflict struct {
	Match
	Kind    string `json:"kind"`    // number, date, version, unit, name, negation or opposite
	Claimed string `json:"claimed"` // the value or words in the claim
	Known   string `json:"known"`   // those in what is known
	Why     string `json:"why"`     // one clause, such as "5432 against 5433"
	// Newer reports which holds more likely: claim, or known when that was made after what
	// the claim is dated to.
	Newer string `json:"newer"`
	// Supersede says that the claim seems to replace what is known, rather than to be
	// wrong, and how to say so.
	Supersede string `json:"supersede,omitempty"`
}

// VerifyRequest asks what is known about a claim. Nothing is stored.
type VerifyRequest struct {
	Claim      string `json:"claim" query:"claim" doc:"statement to compare, such as \"the database runs on port 5432\", up to 4 KiB"`
	Project    string `json:"project,omitempty" query:"project" doc:"compare only with memories of this project"`
	Collection string `json:"collection,omitempty" query:"collection" doc:"compare only with memories of this collection; default: all collections"`
	Limit      int    `json:"limit,omitempty" query:"limit" doc:"maximum number of matches, and of contradictions, 1 to 100, default 5"`
	Track      *bool  `json:"track_access,omitempty" query:"track_access" doc:"count the search as an access to each matching memory, default true"`
}

// VerifyResult is what is known about a claim.
type VerifyResult struct {
	Status     string     `json:"status"` // confirmed, related, new or conflict
	Message    string     `json:"message"`
	Confidence float64    `json:"confidence"` // in the status, 0 to 1
	Matches    []Match    `json:"matches"`    // most similar first
	Conflicts  []Conflict `json:"conflicts,omitempty"`
	Entities   []Entity   `json:"entities,omitempty"` // that the claim names and something is known of
	Compared   string     `json:"compared_by"`
	Loading    *Loading   `json:"loading,omitempty"`
	Indexing   *Loading   `json:"indexing,omitempty"` // notes are still being read
}

// The statuses of a claim.
const (
	StatusConfirmed = "confirmed"
	StatusRelated   = "related"
	StatusNew       = "new"
	StatusConflict  = "conflict"
)

// ReinforceRequest says that something known was learned once more.
type ReinforceRequest struct {
	Content  string `json:"content,omitempty" doc:"text that came up again; emberd reinforces the memory that best matches this text"`
	ID       string `json:"id,omitempty" doc:"ID of the memory to reinforce, instead of content"`
	Evidence string `json:"new_evidence,omitempty" doc:"evidence to add to the memory, such as a quote or source, up to 1,000 characters"`
	Project  string `json:"project,omitempty" doc:"compare only with memories of this project"`
	Provenance
	SessionID   string `json:"session_id,omitempty" doc:"ID of the session or conversation that the text comes from"`
	AllowSecret bool   `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// ReinforceResult reports what was reinforced, if anything was.
type ReinforceResult struct {
	Found      bool           `json:"found"`
	Memory     *Memory        `json:"memory,omitempty"`
	Reinforced *Reinforcement `json:"reinforced,omitempty"`
	// Conflicts are set when what is nearest disagrees with the content, so that it was
	// not reinforced.
	Conflicts []Conflict    `json:"conflicts,omitempty"`
	Compared  string        `json:"compared_by"`
	Message   string        `json:"message"`
	Pending   *PendingWrite `json:"pending,omitempty"`
	Tx        string        `json:"tx,omitempty"`
}

// QueryRequest asks what is known, in one of four scopes.
type QueryRequest struct {
	Query      string   `json:"query" query:"query" doc:"topic, question or words to search for, with the same operators as in search; up to 4 KiB"`
	Scope      string   `json:"scope,omitempty" query:"scope" doc:"texts to search: all (default; notes and knowledge), notes (memories and vault), memories, vault, knowledge (entities and related memories), archive (only archived memories) or sessions (messages of past sessions with coding agents)"`
	Limit      int      `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 5"`
	Offset     int      `json:"offset,omitempty" query:"offset" doc:"number of results to skip"`
	Tags       []string `json:"tags,omitempty" query:"tag" doc:"return only results with all of these tags"`
	Project    string   `json:"project,omitempty" query:"project" doc:"return only memories and notes of this project"`
	Collection string   `json:"collection,omitempty" query:"collection" doc:"return only memories of this collection; default: all collections"`
	WindowDays float64  `json:"window_days,omitempty" query:"window_days" doc:"return only memories used or created, and notes modified, in the last N days, up to 3,650"`
	Track      *bool    `json:"track_access,omitempty" query:"track_access" doc:"count the search as an access to each result; if a caller then opens an archived result, emberd restores the full text of the memory; default true"`
	// IncludeReview puts matches that are about to fade in the place of the last of the
	// first page. What they push out is found behind as many as are no such matches.
	IncludeReview bool `json:"include_review_candidates,omitempty" query:"include_review_candidates" doc:"also return, on the first page, a few memories that match the query and fade soon"`
}

// QueryResult is what is known, most relevant first.
type QueryResult struct {
	Results   []QueryHit   `json:"results"`
	Total     int          `json:"total"`
	AtLeast   bool         `json:"at_least,omitempty"` // Total is a lower bound
	Message   string       `json:"message,omitempty"`
	Compared  string       `json:"compared_by"` // ComparedByVectors if they add to the relevance of any of Results
	Similar   bool         `json:"similar,omitempty"`
	Respelled []Respelling `json:"respelled,omitempty"`
	// Nearest is what comes nearest when nothing fits, and so Results has nothing.
	Nearest  []QueryHit `json:"nearest,omitempty"`
	Loading  *Loading   `json:"loading,omitempty"`
	Indexing *Loading   `json:"indexing,omitempty"`
	Away     time.Time  `json:"away,omitzero"` // as of a search
}

// QueryHit is one thing that is known: a memory or note, or an entity. In the scope
// knowledge a memory is one that a relation leads to.
type QueryHit struct {
	Scope     string  `json:"scope"`     // notes, knowledge, archive or sessions
	Relevance float64 `json:"relevance"` // 0 to 1
	Hit       *Hit    `json:"hit,omitempty"`
	Entity    *Entity `json:"entity,omitempty"`
	// Via is the relation that leads to the memory from one that matches, or back.
	Via *memory.Relation `json:"via,omitempty"`
	// Source says in a few words where a memory comes from.
	Source string `json:"source,omitempty"`
}

// Entity is what is known of a person, a project or anything else that memories and
// notes name.
type Entity struct {
	Name      string    `json:"name"`
	Aliases   []string  `json:"aliases,omitempty"`
	Mentions  int       `json:"mention_count"`
	Memories  int       `json:"memories"`       // that name it
	Notes     int       `json:"notes"`          // that link to it or are tagged with it
	Note      string    `json:"note,omitempty"` // the note that is about it
	FirstSeen time.Time `json:"first_seen,omitzero"`
	LastSeen  time.Time `json:"last_seen,omitzero"`
	// Related are the entities named together with it most often, and those that
	// relations lead to, strongest first.
	Related []EntityRelation `json:"related,omitempty"`
}

// EntityRelation leads from one entity to another.
type EntityRelation struct {
	Name string `json:"name"`
	Type string `json:"type"` // mentioned_with, links_to, or the type or kind of a relation of memories
	// Incoming says that a relation leads from that entity to this one.
	Incoming bool `json:"incoming,omitempty"`
	// Weight is how many memories and notes say so, or the strength of a relation.
	Weight float64     `json:"weight"`
	In     []memory.ID `json:"in,omitempty"` // some of the memories that say so
}

// EntityListRequest asks for the entities there are.
type EntityListRequest struct {
	Query   string `json:"q,omitempty" query:"q" doc:"list only entities with these words in the name or an alias"`
	Project string `json:"project,omitempty" query:"project" doc:"list only entities that memories of this project mention"`
	Sort    string `json:"sort,omitempty" query:"sort" doc:"order of the entities: mentions (default), recent or name"`
	Limit   int    `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
	Offset  int    `json:"offset,omitempty" query:"offset" doc:"number of entities to skip"`
}

// EntityListResult is one page of entities.
type EntityListResult struct {
	Entities []Entity `json:"entities"`
	Total    int      `json:"total"`
	// Partial says that notes are still being read.
	Partial bool `json:"partial,omitempty"`
}

// KnowledgeRequest asks for the part of the knowledge graph around something, or for
// what is mentioned most.
type KnowledgeRequest struct {
	Of      string `json:"of,omitempty" query:"of" doc:"center of the graph: the ID of a memory, the path of a note, or an entity; default: the most mentioned entities"`
	Depth   int    `json:"depth,omitempty" query:"depth" doc:"maximum distance of a node from the center, counted in relations and links, 1 to 3, default 1"`
	Project string `json:"project,omitempty" query:"project" doc:"return only memories of this project"`
	Limit   int    `json:"limit,omitempty" query:"limit" doc:"maximum number of nodes, 1 to 1,000, default 100"`
}

// KnowledgeResult is a part of the graph. Edges lead between its nodes.
type KnowledgeResult struct {
	Nodes     []KnowledgeNode `json:"nodes"`
	Edges     []KnowledgeEdge `json:"edges"`
	Truncated bool            `json:"truncated,omitempty"` // there are more nodes
	Partial   bool            `json:"partial,omitempty"`   // notes are still being read
}

// KnowledgeNode is a memory, a note or an entity.
type KnowledgeNode struct {
	ID       string    `json:"id"`   // of a memory; "note:" and a path; "entity:" and a name
	Kind     string    `json:"kind"` // memory, note or entity
	Label    string    `json:"label"`
	Mentions int       `json:"mention_count,omitempty"`
	At       time.Time `json:"at,omitzero"` // when it was made, of an entity when last seen
}

// KnowledgeEdge leads from a node to another.
type KnowledgeEdge struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Type   string  `json:"type"` // mentions, about, links_to, mentioned_with, superseded_by, or the type of a relation
	Kind   string  `json:"kind,omitempty"`
	Weight float64 `json:"weight"`
}

// ConfirmRequest says that what a tool or the web said holds.
type ConfirmRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the memory, or several IDs separated by commas"`
}

// ConfirmResult is the memories, which count like all others now.
type ConfirmResult struct {
	Memories []Memory `json:"memories"`
	Tx       string   `json:"tx,omitempty"`
}
