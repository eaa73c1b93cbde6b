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
