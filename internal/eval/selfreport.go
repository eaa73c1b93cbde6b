package eval

// SelfReport is what became of questions made of somebody's own words.
type SelfReport struct {
	Questions int            `json:"questions"`
	HeldOut   int            `json:"held_out"` // of them, by which choices are confirmed
	Seed      uint64         `json:"seed"`
	Classes   map[string]int `json:"classes"` // asked
	Found     map[string]int `json:"found"`   // of which those asked are a sample
	Ambiguous int            `json:"ambiguous"`
	Failed    int            `json:"failed"` // refused by the search; they count as without a hit
	Latency   Latency        `json:"latency"`
	// Present are the figures of the settings as they are: of all questions that do not
	// name their answer, and of each class.
	Present []Result `json:"present"`
	// NDCG10 is theirs with notes and memories counting half each, as for trials.
	NDCG10 float64     `json:"ndcg@10"`
	Trials []SelfTrial `json:"trials"`
	// Proposed are the settings that gained, together if they are several.
	Proposed []Proposal `json:"proposed"`
	Applied  string     `json:"applied,omitempty"` // the file that has them now
}

// SelfTrial is one setting tried with another value.
type SelfTrial struct {
	Setting string  `json:"setting"`
	Value   string  `json:"value"`
	NDCG10  float64 `json:"ndcg@10"`
	// Chosen and Confirmed are the differences to the present settings on the half by
	// which a value is chosen and on the one held out.
	Chosen    Difference `json:"chosen"`
	Confirmed Difference `json:"confirmed"`
	// Worst is the class that loses most, and how much.
	Worst     string  `json:"worst,omitempty"`
	WorstLoss float64 `json:"worst_loss,omitempty"`
	// Verdict says what speaks against proposing it, "" if nothing does.
	Verdict string `json:"verdict,omitempty"`
}

// Proposal is a setting that is to have another value.
type Proposal struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Was     string `json:"was"`
	From    string `json:"from"` // where the present value is set
}
