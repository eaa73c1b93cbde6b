package contradiction

import "slices"

// contrasts finds that one sentence says X and denies Y, as "X, not Y" and "X instead of Y" do, where the other
// says Y behind the same words.
func contrasts(p *pair) []Finding {
	if !p.comparable() || p.s.refers != p.t.refers {
		return nil
	}
	if no, yes := refuted(p.s.parts, p.t.parts); no != nil {
		return []Finding{contrast(p.f.stretch(no), p.g.stretch(yes))}
	}
	if no, yes := refuted(p.t.parts, p.s.parts); no != nil {
		return []Finding{contrast(p.f.stretch(yes), p.g.stretch(no))}
	}
	return nil
}

func contrast(a, b string) Finding {
	return Finding{Kind: "negation", A: a, B: b, Why: a + " against " + b, framed: true}
}

// refuted finds what a denies behind a comma, with the word that denies it, and where b says it. What both say of it
// is the same, but for words such as "we decided to".
func refuted(a, b []part) (no, yes []part) {
	cut := only(a, keyInstead)
	if cut < 0 || cut+1 == len(a) {
		return nil, nil
	}
	end := nextLink(a, cut+1)
	value := keysOf(a[cut+1 : end])
	if len(value) == 0 || len(value) > maxSlot || !allIn(a[end:], b) {
		return nil, nil
	}
	said := b
	if i := only(b, keyInstead); i >= 0 {
		said = b[:i]
	}
	if slices.ContainsFunc(said, denies) || slices.ContainsFunc(a[:cut], denies) {
		return nil, nil
	}
	at := indexOfKeys(said, value)
	if at < 1 || !allIn(said[at+len(value):], a) || !chosen(a[:cut], said[:at], value) {
		return nil, nil
	}
	return a[cut:end], said[at : at+len(value)]
}

// chosen reports whether a statement says one other value behind the words that lead to a value.
func chosen(a, lead []part, value []string) bool {
	for i := len(a) - 1; i > 0; i-- {
		n := sharedEnd(a[:i], lead)
		says := slices.ContainsFunc(a[i-n:i], func(p part) bool { return !p.link })
		if n == 0 || !says || !preamble(a[:i-n]) || !preamble(lead[:len(lead)-n]) {
			continue
		}
		other := a[i:]
		return len(other) <= maxSlot && indexOfKeys(other, value) < 0 &&
			!slices.ContainsFunc(other, func(p part) bool { return p.link && p.key != keyAnd })
	}
	return false
}

// sharedEnd is how many parts two stretches end with alike.
func sharedEnd(a, b []part) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n].key == b[len(b)-1-n].key {
		n++
	}
	return n
}

// preamble reports whether parts say only who says it and that it is decided.
func preamble(parts []part) bool {
	known := vocabularyOf().preambles
	return !slices.ContainsFunc(parts, func(p part) bool { return p.lower != ":" && !known[p.key] })
}

// allIn reports whether b has all of some parts but links.
func allIn(parts, b []part) bool {
	return !slices.ContainsFunc(parts, func(p part) bool {
		return !p.link && !slices.ContainsFunc(b, func(q part) bool { return q.key == p.key })
	})
}

func denies(p part) bool { return p.key == keyNot || p.key == keyInstead }

// nextLink is where the first link is from an index on, or the end.
func nextLink(parts []part, from int) int {
	for from < len(parts) && !parts[from].link {
		from++
	}
	return from
}

// indexOfKeys is where parts have some keys in a row, -1 if nowhere.
func indexOfKeys(parts []part, keys []string) int {
	for i := 0; i+len(keys) <= len(parts); i++ {
		if slices.Equal(keysOf(parts[i:i+len(keys)]), keys) {
			return i
		}
	}
	return -1
}
