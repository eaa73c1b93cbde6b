package op

import (
	"time"

	"emberd/memory"
)

// WhyRequest names one memory.
type WhyRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
}

// WhyResult reports why a memory is where it is, and what happens to it next.
type WhyResult struct {
	Memory Memory     `json:"memory"`
	Parts  ScoreParts `json:"parts"`
	// Text is the path of the note that holds the memory's text, "" for the log.
	Text string `json:"text,omitempty"`
	// Stages are those that it goes to if it is left alone, and when.
	Stages []StageDue `json:"stages"`
	// Crossings are when its score falls below what matters, highest first.
	Crossings []Crossing   `json:"crossings"`
	Promotion PromotionDue `json:"promotion"`
	Used      WhyUsed      `json:"used"` // what one use now would change
}

// ScoreParts are what a decay score is multiplied from:
// score = (use_count + 1)^beta × age factor × strength.
type ScoreParts struct {
	UseCount  int64   `json:"use_count"`
	Beta      float64 `json:"beta"`
	Uses      float64 `json:"uses"`     // (use_count + 1)^beta
	AgeDays   float64 `json:"age_days"` // since the last use
	Model     string  `json:"model"`
	AgeFactor float64 `json:"age_factor"`
	Strength  float64 `json:"strength"`
	Score     float64 `json:"score"` // their product; a core memory counts as 1 at least
	Core      bool    `json:"core,omitempty"`
}

// StageDue is a stage with the time it is due at, which may be past: the keeper has
// not looked since.
type StageDue struct {
	Stage memory.Stage `json:"stage"`
	At    time.Time    `json:"at"`
}

// The scores that matter.
const (
	CrossPromote = "promote" // from here on a memory may deserve a note
	CrossReview  = "review"  // below, searches mix it in, until CrossFading
	CrossFading  = "fading"  // the lower end of that zone
	CrossForget  = "forget"  // below, gc may collect it
)

// Crossing is when a score falls below a threshold.
type Crossing struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	Below bool    `json:"below"` // it has
	// At is when it will, if it is left alone; zero for never or long ago.
	At time.Time `json:"at,omitzero"`
}

// PromotionDue reports whether a memory deserves a note of its own accord.
type PromotionDue struct {
	Path  string          `json:"path,omitempty"` // of the note it has
	Rule  string          `json:"rule,omitempty"` // the rule that is met: score or use_count
	Rules []PromotionRule `json:"rules"`
}

// PromotionRule is one rule and what it lacks, in words; nothing when it is met.
type PromotionRule struct {
	Rule    string   `json:"rule"`
	Missing []string `json:"missing"`
}

// WhyUsed is how a memory would stand after one use now.
type WhyUsed struct {
	Score float64 `json:"score"`
	// Next is the stage it would go to next, none for one that does not fade.
	Next *StageDue `json:"next,omitempty"`
	Rule string    `json:"rule,omitempty"` // the rule by which it would be promoted
}

// TimelineRequest names one memory.
type TimelineRequest struct {
	ID     string  `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
	Days   float64 `json:"days,omitempty" query:"days" doc:"number of future days in the curve of the decay score, up to 3,650, default 90"`
	Points int     `json:"points,omitempty" query:"points" doc:"number of points in the curve of the decay score, 2 to 1,000, default 200"`
}

// TimelineResult is the score of a memory from when it was made to a day ahead.
type TimelineResult struct {
	ID     memory.ID       `json:"id"`
	Now    time.Time       `json:"now"`
	Points []TimelinePoint `json:"points"` // evenly spaced but for one at each use
	Events []TimelineEvent `json:"events"` // the latest 1,000, oldest first
	// EarlierEvents is how many were before them; emberd history lists all but uses.
	EarlierEvents int `json:"earlier_events,omitempty"`
	// Thresholds are the scores that matter, highest first.
	Thresholds []Crossing `json:"thresholds"`
	Stages     []StageDue `json:"stages"`
}

// TimelinePoint is the score at a time.
type TimelinePoint struct {
	At    time.Time `json:"at"`
	Score float64   `json:"score"`
}

// TimelineEvent is something that happened to a memory: saved, edited, used,
// promoted, demoted, archived, faded, woken, rekindled or restored.
type TimelineEvent struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	Uses int64     `json:"uses,omitempty"` // all in all by then, of used
}
