package op

import "emberd/memory"

// The decisions about a review item.
const (
	DecidePromote = "promote" // give the memories notes
	DecideKeep    = "keep"    // leave them as they are, with a use of each
	DecideMerge   = "merge"   // make one of them
	DecideForget  = "forget"  // move them to the trash
)

// DecideForgetOne begins the decision to forget one memory of several; its id follows.
const DecideForgetOne = DecideForget + ":"

// DecideSupersede begins the decision that one of two memories is superseded by the other; its id follows.
const DecideSupersede = "supersede:"

// DecideTake begins the decision which of several texts a memory has, for items of the agent text; the digits
// that the item's choices name follow, which stand for a text other than the memory's.
const DecideTake = "take:"

// DecideAdopt begins the decision that a note is that of a memory, for items of the agent note; the digits
// that the item's choices name follow, which stand for the note that was shown.
const DecideAdopt = DecidePromote + ":"

// The values of Agent: the agents that file review items, and others.
const (
	ReviewDecay     = AgentDecay
	ReviewCluster   = AgentCluster
	ReviewMerge     = AgentMerge
	ReviewPromote   = AgentPromote
	ReviewRelations = AgentRelations
	ReviewHealth    = "health"
	ReviewCleanup   = "cleanup"
	ReviewNote      = "note"
	ReviewText      = "text"
	ReviewUser      = "user"
)

// ReviewAgents returns the values that Agent can have. The caller owns the list.
func ReviewAgents() []string {
	return []string{ReviewDecay, ReviewCluster, ReviewMerge, ReviewPromote, ReviewRelations, ReviewHealth,
		ReviewCleanup, ReviewNote, ReviewText, ReviewUser}
}

// Labels of a review item of the agent note begin with these: the SHA-256 of the note that was shown, and
// that of its path.
const (
	NoteLabel     = "note-sha256:"
	NotePathLabel = "note-path-sha256:"
)

// The actions of review items of the agents note and text.
const (
	AdoptNote  = "adopt_note"
	ChooseText = "choose_text"
)

// TextLabel begins the labels of a review item of the agent text: the beginning of the SHA-256 of a text that
// the memory could have follows.
const TextLabel = "text-sha256:"

// How urgent a review item is.
const (
	UrgencyHigh   = "high"
	UrgencyMedium = "medium"
	UrgencyLow    = "low"
)

// AnyStatus selects review items whatever their state is.
const AnyStatus = "all"

// Bounds of a review item.
const (
	MaxEvidence = 2000 // characters
	MaxReason   = 500  // characters
	MaxLabels   = 20
)

// ReviewListRequest selects review items.
type ReviewListRequest struct {
	Agent  string `json:"agent,omitempty" query:"agent" doc:"list only review items from this creator: decay, cluster, merge, promote, relations, health, cleanup, note, text or user"`
	Status string `json:"status,omitempty" query:"status" doc:"list only review items with this status: open, claimed, closed or all; default: the undecided ones, open or claimed"`
	Label  string `json:"label,omitempty" query:"label" doc:"list only review items with this label"`
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of review items, 1 to 1000, default 100"`
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
}

// ReviewListResult is a page of items, the most urgent first and then the oldest. Total counts
// the items of all pages.
type ReviewListResult struct {
	Items      []memory.ReviewItem `json:"items"`
	Total      int                 `json:"total"`
	NextCursor string              `json:"next_cursor,omitempty"`
}

// ReviewShowRequest names an item by its id or the beginning of that.
type ReviewShowRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the review item, from review.list"`
}

// ReviewShowResult is an item with the memories that it is about and, of two or more, what
// is different in them.
type ReviewShowResult struct {
	Item     memory.ReviewItem `json:"item"`
	Memories []Memory          `json:"memories"`
	// Diff is a line for each sentence: after "  " those that all have, after "- " others of
	// the first memory, and after "+ " those that it lacks.
	Diff []string `json:"diff,omitempty"`
	// Choices are the decisions that can be applied now.
	Choices []string `json:"choices"`
	// MergeRefused is why several memories cannot be merged, which is no choice then.
	MergeRefused string `json:"merge_refused,omitempty"`
	// DecidedBy is the decision that policy makes at DecidedAt if no reviewer decides before, "" for nothing.
	DecidedBy string `json:"decided_by,omitempty"`
	DecidedAt string `json:"decided_at,omitempty"`
}

// ReviewClaimRequest claims an item for one reviewer.
type ReviewClaimRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the review item, from review.list"`
	By string `json:"by,omitempty" doc:"name of the reviewer, default: the name of the client"`
}

// ReviewCloseRequest closes an item, after its decision, if there is one, was applied.
type ReviewCloseRequest struct {
	ID       string `json:"-" path:"id" doc:"ID of the review item, from review.list"`
	Decision string `json:"decision,omitempty" doc:"decision to apply, one of the choices that review.show returns, such as keep, merge, forget or supersede:ID; without a decision, emberd only closes the item"`
	Reason   string `json:"reason,omitempty" doc:"reason for the decision, up to 500 characters"`

	AllowSecret bool `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// ReviewChangeResult is an item after it was changed.
type ReviewChangeResult struct {
	Item memory.ReviewItem `json:"item"`
	// Made says that the item is new; one about the same memories was answered otherwise.
	Made bool   `json:"made,omitempty"`
	Tx   string `json:"tx,omitempty"` // journal entry, with what the decision did
}

// ReviewCreateRequest files an item.
type ReviewCreateRequest struct {
	Agent     string   `json:"agent,omitempty" doc:"creator of the review item: user (default), or the name of a maintenance agent"`
	MemoryIDs []string `json:"memory_ids" doc:"IDs of the memories to review, 1 to 100"`
	Action    string   `json:"action,omitempty" doc:"action that the review item proposes, default needs_review"`
	Urgency   string   `json:"urgency,omitempty" doc:"urgency of the review item: high, medium (default) or low"`
	Labels    []string `json:"labels,omitempty" doc:"labels of the review item, up to 20"`
	Evidence  string   `json:"evidence,omitempty" doc:"reason for the review, up to 2,000 characters"`
	// Decision closes the item in the change that creates it, so that one undo leaves no open item.
	Decision string `json:"decision,omitempty" doc:"decision to apply to the new item at once; keep closes the item and leaves the memories unchanged"`

	AllowSecret bool `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}
