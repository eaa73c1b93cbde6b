package op

import "emberd/memory"

// AnalyzeMessageRequest asks whether a message says something worth keeping.
type AnalyzeMessageRequest struct {
	Message string `json:"message" doc:"message of the user to analyze, up to 50,000 characters"`
}

// AnalyzeMessageResult is the verdict, and what to save the message with.
type AnalyzeMessageResult struct {
	ShouldSave        bool     `json:"should_save"`
	Confidence        float64  `json:"confidence"` // 0 to 1; below 0.4 do not save, below 0.7 ask
	SuggestedEntities []string `json:"suggested_entities"`
	SuggestedTags     []string `json:"suggested_tags"`
	SuggestedStrength float64  `json:"suggested_strength"` // 1 to 2
	Reasoning         string   `json:"reasoning"`
}

// AnalyzeRecallRequest asks whether a message asks for something kept earlier.
type AnalyzeRecallRequest struct {
	Message string `json:"message" doc:"message of the user to analyze, up to 50,000 characters"`
}

// AnalyzeRecallResult is the verdict, and what to search for.
type AnalyzeRecallResult struct {
	ShouldSearch      bool     `json:"should_search"`
	Confidence        float64  `json:"confidence"`      // 0 to 1; below 0.4 do not search, below 0.7 ask
	SuggestedQuery    string   `json:"suggested_query"` // up to 200 characters
	SuggestedTags     []string `json:"suggested_tags"`
	SuggestedEntities []string `json:"suggested_entities"`
	Reasoning         string   `json:"reasoning"`
}

// ObserveRequest names memories that an answer was made with.
type ObserveRequest struct {
	IDs  []string `json:"ids" doc:"up to 100 IDs of memories, or at least the first or last four characters of each ID; emberd ignores duplicate IDs"`
	Tags []string `json:"tags,omitempty" doc:"tags of the conversation, up to 50"`
}

// ObserveResult answers for every memory that was named, in that order.
type ObserveResult struct {
	Reinforced  bool       `json:"reinforced"`
	Reason      string     `json:"reason,omitempty"` // why nothing was
	Count       int        `json:"count"`            // of memories that were
	CrossDomain int        `json:"cross_domain_count"`
	Results     []Observed `json:"results"`
	Tx          string     `json:"tx,omitempty"` // takes strength and reviews back; uses stay
}

// Observed is what became of one memory. One that is not there has only its id, as it
// was given, and the status.
type Observed struct {
	ID          string  `json:"id"`
	Status      string  `json:"status"` // reinforced or not_found
	CrossDomain bool    `json:"cross_domain,omitempty"`
	UseCount    int64   `json:"new_use_count,omitempty"`
	ReviewCount int64   `json:"new_review_count,omitempty"`
	Strength    float64 `json:"strength,omitempty"`
	// Stage is there for a cold memory: a use does not bring its text back.
	Stage memory.Stage `json:"stage,omitempty"`
	// Pending is why the memory's note does not have the strength yet. emberd continues
	// trying.
	Pending *PendingWrite `json:"pending,omitempty"`
}

// What [Observed.Status] says.
const (
	ObservedReinforced = "reinforced"
	ObservedNotFound   = "not_found"
)
