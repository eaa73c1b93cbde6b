// Package quality judges how much a memory is worth keeping, in the five dimensions of the
// specification "memory cleanup": by rules alone ([Heuristic]), or with a language model
// beside them ([Scorer]).
//
// Both are bounded, and a model is not trusted: what it says can raise a score freely and
// lower it by at most [MaxLowered], and [Score.Floor] stays what the rules say, which is
// what every removal goes by. So the worst that a model can do, or a text that tells it
// what to answer, is that something stays.
//
// Nothing here reads a clock or a file.
package quality

import (
	"math"
	"time"

	"emberd/memory"
)

// The weights of the five dimensions.
const (
	AccuracyWeight     = 0.30
	CompletenessWeight = 0.25
	SpecificityWeight  = 0.20
	ReusabilityWeight  = 0.15
	RecencyWeight      = 0.10
)

// MaxLowered is how much a model may take from the score that the rules give.
const MaxLowered = 0.2

// The scorers that [Score.Scorer] names.
const (
	ByHeuristic = "heuristic"
	ByLLM       = "llm"
)

// Entry is what of a memory is judged.
type Entry struct {
	ID         memory.ID
	Text       string
	Entities   []string // given by the caller, not found in the text
	Created    time.Time
	LastUsed   time.Time // zero: never, then Created counts
	UseCount   int64
	Confidence float64 // 0 to 1, usually 1
	Origin     string  // whose words, see memory.Memory.Origin
	Confirmed  bool    // a person said that it holds
	Learned    int     // how often it was learned, see memory.Memory.Learned
	Disputed   int     // how many live memories contradict it
	Superseded bool    // another took its place
	Copies     int     // how many other memories have the same words
}

// Dimensions are five numbers of 0 to 1.
type Dimensions struct {
	Accuracy     float64 `json:"accuracy"`
	Completeness float64 `json:"completeness"`
	Specificity  float64 `json:"specificity"`
	Reusability  float64 `json:"reusability"`
	Recency      float64 `json:"recency"`
}

// Overall returns the weighted sum, 0 to 1, to four digits.
func (d Dimensions) Overall() float64 {
	return rounded(AccuracyWeight*d.Accuracy + CompletenessWeight*d.Completeness + SpecificityWeight*d.Specificity +
		ReusabilityWeight*d.Reusability + RecencyWeight*d.Recency)
}

// Score is what a memory is worth. Its JSON is what a memory's quality field stores.
type Score struct {
	Dimensions
	Overall float64  `json:"overall"`           // of rules and model together, 0 to 1
	Floor   float64  `json:"heuristic"`         // of the rules alone; removals ask for both
	Reasons []string `json:"reasons,omitempty"` // what took most from it, in few words, none of the memory's
	Scorer  string   `json:"scorer"`            // heuristic or llm
	Model   string   `json:"model,omitempty"`
	Digest  string   `json:"digest"` // of the text: the first 16 hex digits of its SHA-256
}

// Below reports whether rules and model both find less than a bound.
func (s *Score) Below(bound float64) bool { return s.Floor < bound && s.Overall < bound }

func rounded(x float64) float64 { return math.Round(1e4*x) / 1e4 }
