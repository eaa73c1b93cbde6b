package eval

import "fmt"

// LifecycleReport is what became of a unit's questions after its memories had faded.
type LifecycleReport struct {
	Manifest  Manifest       `json:"manifest"`
	Unit      Unit           `json:"unit"`
	Files     []File         `json:"files"`
	Memories  int            `json:"memories"`
	Questions int            `json:"questions"`
	Sessions  int            `json:"sessions"` // after each of which the lifecycle was run
	Bytes     int64          `json:"bytes"`    // of all texts
	Ages      [3]float64     `json:"ages_days"`
	Results   []LifecycleRow `json:"results"`
}

// LifecycleRow is one way of fading.
type LifecycleRow struct {
	Name   string         `json:"name"`
	Stages map[string]int `json:"stages"` // before the first question
	Cold   float64        `json:"cold"`   // share of the memories whose text was in a note then
	Hot    int64          `json:"hot_bytes"`

	// Rekindled are the memories that the questions brought back; Read those whose text
	// was asked for at the very end, these included; Identical those that had it to the
	// byte.
	Rekindled int      `json:"rekindled"`
	Read      int      `json:"read"`
	Identical int      `json:"identical"`
	Latency   Latency  `json:"latency"`
	Figures   []Result `json:"figures"`
	// Halves are the figures of the questions with an even and an odd place, for each of the judgements.
	Halves [][2]Figures `json:"halves"`
	// Log, Snapshot and Heap are bytes: of the log after a compaction, of the snapshot, and of live objects after a
	// collection, all before the first question.
	Log      int64 `json:"log_bytes"`
	Snapshot int64 `json:"snapshot_bytes"`
	Heap     int64 `json:"heap_bytes"`
	// Restated are facts that were stated twice, and Recency questions about what was updated or contradicted: how
	// often the newer statement is above the older.
	Restated Pairs `json:"restated"`
	Recency  Pairs `json:"recency"`
}

// Pairs counts pairs of an older and a newer statement, and in how many the newer ranks higher.
type Pairs struct {
	Newer int `json:"newer"`
	All   int `json:"all"`
}

// Add counts a pair.
func (p *Pairs) Add(newer bool) {
	if p.All++; newer {
		p.Newer++
	}
}

func (p Pairs) String() string {
	if p.All == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", p.Newer, p.All)
}
