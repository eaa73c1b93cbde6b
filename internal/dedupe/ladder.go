package dedupe

// Action is what is suggested for a cluster.
type Action string

// The actions, in the order of falling cohesion.
const (
	AutoMerge    Action = "auto-merge"
	LLMReview    Action = "llm-review"
	KeepSeparate Action = "keep-separate"
)

// Ladder maps the cohesion of a cluster, 0 to 1, to an action.
type Ladder struct {
	AutoMerge float64 // from here on it can be merged without review
	Review    float64 // from here on a person should look at it; below it stays
}

// DefaultLadder returns 0.85 and 0.65, by which CortexGraph's agents go.
func DefaultLadder() Ladder { return Ladder{AutoMerge: 0.85, Review: 0.65} }

// ListLadder returns 0.90 and 0.75, by which CortexGraph's lists of clusters suggest an action.
func ListLadder() Ladder { return Ladder{AutoMerge: 0.90, Review: 0.75} }

// For returns the action for a cohesion.
func (l Ladder) For(cohesion float64) Action {
	switch {
	case cohesion >= l.AutoMerge:
		return AutoMerge
	case cohesion >= l.Review:
		return LLMReview
	}
	return KeepSeparate
}
