package op

import "emberd/memory"

// WhyNotRequest asks what keeps one memory or note out of the answer to a search, which
// is given as it was made.
type WhyNotRequest struct {
	Query string `json:"q,omitempty" query:"q" doc:"query of the search, with the same operators as in search"`
	Of    string `json:"of" query:"of" doc:"memory or note that the search does not return: the ID of a memory, or the path, name or alias of a note"`
	Scope string `json:"scope,omitempty" query:"scope" doc:"texts to search: all (default), memories, notes or archive (only archived memories)"`
	Filter
	Limit         int   `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 10"`
	IncludeReview *bool `json:"include_review_candidates,omitempty" query:"include_review_candidates" doc:"also return a few memories that match the query and fade soon, default true"`
}

// WhyNotResult names what keeps it out: each of the causes alone would, so that all of
// them have to go. There are none when it is shown.
type WhyNotResult struct {
	Query  string     `json:"query"`
	ID     memory.ID  `json:"id,omitempty"`
	Note   string     `json:"note,omitempty"` // path in the vault
	Shown  bool       `json:"shown"`
	Place  int        `json:"place,omitempty"` // from 1 among all that match, if it does
	Total  int        `json:"total,omitempty"` // how many match
	As     string     `json:"as,omitempty"`    // how it is shown, where that is not as itself
	Causes []WhyCause `json:"causes"`
	// Drags are what kept the rank of a match down, with the place it would have without.
	Drags []WhyDrag `json:"drags,omitempty"`
}

// WhyCause is the stage of a search that dropped a memory or note.
type WhyCause struct {
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
	Fix    string `json:"fix,omitempty"` // the smallest change after which this stage lets it pass
}

// WhyDrag is a factor of a rank that is less than 1.
type WhyDrag struct {
	What   string  `json:"what"` // decay, stage or tier
	Factor float64 `json:"factor"`
	Place  int     `json:"place"`
}

// The stages of a search, in the order in which something can be dropped.
const (
	WhyAbsent   = "absent"         // there is no such thing
	WhyTrash    = "trash"          // it was forgotten, and can be restored
	WhyPurged   = "purged"         // it was forgotten for good
	WhyFolder   = "archive folder" // a note that is kept out of the index
	WhyUnread   = "not read"       // a note that cannot be, is not to be or has not been read
	WhyScope    = "scope"
	WhyFilter   = "filter"
	WhyOperator = "operator" // of the query
	WhyArchived = "archived" // it has the words, in the vault
	WhyWords    = "words"
	WhyPhrase   = "phrase" // looked up in the best candidates only
	WhyReview   = "review" // it made room for what is about to fade
	WhyLimit    = "limit"
)
