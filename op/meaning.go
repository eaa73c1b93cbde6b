package op

// Meaning tells what part vectors had in an answer.
type Meaning struct {
	Provider string `json:"provider,omitempty"` // http, go, words; none yet if empty
	Model    string `json:"model,omitempty"`
	// Covered of Total memories and notes have their vectors.
	Covered int `json:"covered"`
	Total   int `json:"total"`
	// Weight is what rankings trust the vectors, 0 to 1: 0 leaves them out.
	Weight float64 `json:"weight"`
	// Without is why this answer is by words alone, if it is.
	Without string `json:"without,omitempty"`
}

// MeaningExplain is what the nearest vector of a hit added to its relevance.
type MeaningExplain struct {
	Cosine float64 `json:"cosine"`
	Near   float64 `json:"near"` // 0, as texts that have nothing to do with each other, to 1, the same meaning
	Line   int     `json:"line,omitempty"`
	Score  float64 `json:"score"`
}

// SignalExplain is what something beside words and meaning added to a relevance, and for what.
type SignalExplain struct {
	For   string  `json:"for"`
	Score float64 `json:"score"`
}
