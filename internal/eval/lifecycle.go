package eval

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
}
