package op

// Respelling is a word of the query that few or no texts hold, and the terms that were
// probably meant, which were searched for beside it. Terms are stemmed.
type Respelling struct {
	Word  string   `json:"word"`
	Terms []string `json:"terms"`
	// Meant are words of the hits with these terms, in small letters, as far as they are shown.
	Meant []string `json:"meant,omitempty"`
}

// Words returns the words for people to read.
func (r *Respelling) Words() []string {
	if len(r.Meant) > 0 {
		return r.Meant
	}
	return r.Terms
}
