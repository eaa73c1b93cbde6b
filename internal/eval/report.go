package eval

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Report is everything that one evaluation found out.
type Report struct {
	Manifest Manifest    `json:"manifest"`
	Sets     []SetReport `json:"sets"`
}

// Manifest says what was measured where, so that figures can be told apart and
// had again.
type Manifest struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"` // "" when the build does not say
	Go       string            `json:"go"`
	GOOS     string            `json:"goos"`
	GOARCH   string            `json:"goarch"`
	CPUs     int               `json:"cpus"`
	Date     time.Time         `json:"date"`
	Folder   string            `json:"folder"`
	Settings map[string]string `json:"settings"` // those that change a ranking
}

// SetReport is what became of one unit of a folder.
type SetReport struct {
	Unit       Unit      `json:"unit"`
	Files      []File    `json:"files"`
	Documents  int       `json:"documents"`
	Loaded     int       `json:"loaded"`           // documents that could be found
	Refused    []Refusal `json:"refused"`          // the others
	Lost       int       `json:"lost_judgements"`  // judged things among the refused or not in the set; they count as not found
	Questions  int       `json:"questions"`        // asked
	Failed     []Refusal `json:"failed_questions"` // refused by the search; they count as without a hit
	Unjudged   []string  `json:"unjudged"`         // questions without judgement, not asked
	Missing    []string  `json:"missing"`          // judged questions that the set does not have, not counted
	Ambiguous  int       `json:"ambiguous,omitempty"`
	LoadMillis float64   `json:"load_ms"`           // until everything could be found
	Vectors    *Vectors  `json:"vectors,omitempty"` // nil without any
	Repeated   int       `json:"repeated_hits"`
	Latency    Latency   `json:"latency"`
	Results    []Result  `json:"results"`
	Answers    []Answer  `json:"-"`
}

// Vectors are those that took part in the answers.
type Vectors struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Weight is what rankings trusted them, 0 to 1; where it is 0, Without says why.
	Weight  float64 `json:"weight"`
	Without string  `json:"without,omitempty"`
	Covered int     `json:"covered"` // things that have theirs
	Total   int     `json:"total"`
	Millis  float64 `json:"ms"` // until they had, after everything could be found by words
}

// Refusal names something that could not be used, and says why.
type Refusal struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Scopes of a result.
const (
	ScopeAll   = "all"          // every thing of the set together
	ScopeGroup = "conversation" // each question within its own conversation
)

// Result is one line of figures. Category is "" for all questions.
type Result struct {
	Judgements string `json:"judgements"`
	Scope      string `json:"scope"`
	Category   string `json:"category,omitempty"`
	System     string `json:"system"`
	// Kept is the share of the texts' characters that was searched, where it was not all.
	Kept float64 `json:"kept,omitempty"`
	Figures
}

// Answer is what became of one question in one scope.
type Answer struct {
	Unit     Unit     `json:"unit"`
	Scope    string   `json:"scope"`
	ID       string   `json:"id"`
	Category string   `json:"category,omitempty"`
	Relevant []Place  `json:"relevant"`
	Top      []string `json:"top"` // the first ten, best first
	Millis   float64  `json:"ms"`
	Error    string   `json:"error,omitempty"`
}

// Place is the rank of a relevant thing, from 1; 0 is not among the first ten.
type Place struct {
	Judgements string `json:"judgements"`
	Name       string `json:"name"`
	Rank       int    `json:"rank"`
	Plain      int    `json:"plain_rank"` // in the first plain BM25
}

// Latency is how long searches took, in milliseconds.
type Latency struct {
	Searches int     `json:"searches"`
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
	P99      float64 `json:"p99_ms"`
}

// LatencyOf takes the nearest-rank percentiles of samples.
func LatencyOf(samples []time.Duration) Latency {
	sorted := slices.Sorted(slices.Values(samples))
	at := func(share float64) float64 {
		if len(sorted) == 0 {
			return 0
		}
		return Millis(sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)])
	}
	return Latency{len(samples), at(0.5), at(0.95), at(0.99)}
}

// Millis is a duration in milliseconds, to the microsecond.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Judge adds where the things that j calls relevant are, in the answer and in the
// ranking of plain BM25.
func (a *Answer) Judge(j Judgements, plain []string) {
	for _, name := range slices.Sorted(maps.Keys(j.Relevant[a.ID])) {
		a.Relevant = append(a.Relevant, Place{j.File, name, Rank(a.Top, name), Rank(plain, name)})
	}
}
