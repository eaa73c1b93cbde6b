package conflict

// Finding is one thing in which two texts cannot both hold.
type Finding struct {
	Kind string // number, date, version, unit, name, negation or opposite
	A, B string // the value or words of either text, as they stand there
	Why  string // one clause, such as "5432 against 5433"
}

// Find lists what two texts about one thing disagree in, what is plainest first. It is
// nil if nothing shows that they do.
func (f *Facts) Find(g *Facts) []Finding {
	if a, b := only(f.numbers, g.numbers), only(g.numbers, f.numbers); a != "" && b != "" {
		return []Finding{{Kind: "number", A: a, B: b, Why: a + " against " + b}}
	}
	return nil
}

// Shares reports whether two texts speak of one thing: whether most of the words that say
// something in the shorter one are in the other too.
func (f *Facts) Shares(g *Facts) bool {
	if len(f.words) > len(g.words) {
		f, g = g, f
	}
	both := 0
	for w := range f.words {
		if g.words[w] {
			both++
		}
	}
	return 2*both > len(f.words)
}

// Against lists what two texts of some similarity (calibrated, 0 to 1) contradict each
// other in. It is the one gate for telling so: the texts are at least as similar as
// related asks, or speak of one thing, and then it is what [Facts.Find] finds.
func (f *Facts) Against(g *Facts, similarity, related float64) []Finding {
	if similarity < related && !f.Shares(g) {
		return nil
	}
	return f.Find(g)
}
