package contradiction

import "emberd/internal/text/analysis"

// Terms are the terms of a text without stop words.
func Terms(a *analysis.Analyzer, text string) map[string]bool {
	terms := make(map[string]bool)
	for _, t := range a.Terms(text) {
		if !t.Stop() {
			terms[t.Text] = true
		}
	}
	return terms
}

// Exchange reports whether each of the [Terms] of two texts has one that the other lacks.
func Exchange(a, b map[string]bool) bool {
	lacks := func(terms, others map[string]bool) bool {
		for t := range terms {
			if !others[t] {
				return true
			}
		}
		return false
	}
	return lacks(a, b) && lacks(b, a)
}
