package contradiction

import (
	"iter"
	"slices"
	"strings"
)

// arrangement is how two statements with the same parts are arranged.
type arrangement int8

const (
	unlike    arrangement = iota // they do not have the same parts
	alike                        // who does what to whom is the same
	exchanged                    // two parts have each other's place
	reordered                    // the order is another one, for no reason that is known
)

// exchange is two parts that have each other's place, as they stand in the first statement.
type exchange struct{ x, y []part }

// arrange compares the order of the parts of two statements. Forms of be do not count, and
// neither do orders that mean the same: the passive voice, a phrase that moved to the front,
// and the two sides of "is" and "and".
func arrange(a, b []part) (arrangement, exchange) {
	a, b = active(a), active(b)
	if equalKeys(a, plain(b)) {
		return alike, exchange{}
	}
	if !slices.Equal(sorted(a), sorted(b)) {
		return unlike, exchange{}
	}
	if sameOrder(a, b) {
		return alike, exchange{}
	}
	swap, found := exchangeIn(a, b)
	switch {
	case !found:
		return reordered, exchange{}
	case swap.mutual:
		return alike, exchange{}
	}
	return exchanged, swap.exchange
}

// plain are the keys of parts but for forms of be.
func plain(parts []part) []string {
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.key != keyBe {
			out = append(out, p.key)
		}
	}
	return out
}

func sorted(parts []part) []string {
	out := plain(parts)
	slices.Sort(out)
	return out
}

// sameOrder reports whether two arrangements of the same parts mean the same.
func sameOrder(a, b []part) bool {
	want := plain(b)
	is := func(form []part) bool { return equalKeys(active(form), want) }
	return anyForm(forms(a), is) || anyForm(inverted(a), is)
}

func anyForm(forms iter.Seq[[]part], is func([]part) bool) bool {
	for form := range forms {
		if is(form) {
			return true
		}
	}
	return false
}

// equalKeys reports whether parts but for forms of be have these keys.
func equalKeys(parts []part, keys []string) bool {
	at := 0
	for _, p := range parts {
		if p.key == keyBe {
			continue
		}
		if at == len(keys) || keys[at] != p.key {
			return false
		}
		at++
	}
	return at == len(keys)
}

// forms are the orders in which the parts of a statement mean the same: as it is, with the
// sides of "is" exchanged, and with a phrase moved from the end to the front or back.
func forms(a []part) iter.Seq[[]part] {
	return func(yield func([]part) bool) {
		if !yield(a) {
			return
		}
		if i := only(a, keyBe); i > 0 && !yield(slices.Concat(a[i+1:], a[i:i+1], a[:i])) {
			return
		}
		for k := 1; k < len(a); k++ {
			if (movable(a[0]) || movable(a[k])) && !yield(slices.Concat(a[k:], a[:k])) {
				return
			}
		}
	}
}

// inverted are the forms in which a verb stands on the other side of its subject, too, because
// a phrase moved to the front, as in German.
func inverted(a []part) iter.Seq[[]part] {
	return func(yield func([]part) bool) {
		for k := 1; k < len(a); k++ {
			for j := k + 1; movable(a[0]) && j < len(a); j++ { // the phrase is a[:k]
				if !yield(slices.Concat(a[k+1:j+1], a[k:k+1], a[j+1:], a[:k])) {
					return
				}
			}
			for j := 1; movable(a[k]) && j < k; j++ { // the phrase is a[k:]
				if !yield(slices.Concat(a[k:], a[j:j+1], a[:j], a[j+1:k])) {
					return
				}
			}
		}
	}
}

// movable reports whether a phrase that begins with a part can stand at either end.
func movable(p part) bool {
	switch p.key {
	case keyBe, keyAnd, keyNot, keyBy, "than", "of", "":
		return false
	}
	return p.link || strings.HasPrefix(p.key, "weekday ") || strings.HasPrefix(p.key, "date ") ||
		strings.HasPrefix(p.key, "time ")
}

// only is where the one part with a key stands, -1 if there is none or more than one.
func only(parts []part, key string) int {
	has := func(p part) bool { return p.key == key }
	i := slices.IndexFunc(parts, has)
	if i < 0 || slices.ContainsFunc(parts[i+1:], has) {
		return -1
	}
	return i
}

// active writes "the service is owned by Ann" as "Ann owns the service", and "it is kept in S3"
// as "keep it in S3".
func active(parts []part) []part {
	for i := 1; i+1 < len(parts); i++ {
		if parts[i].lower == "被" && parts[i+1].named && i+2 < len(parts) {
			return slices.Concat(parts[i+1:], parts[:i])
		}
		if parts[i].key != keyBe {
			continue
		}
		j := i + 1
		if strings.HasSuffix(parts[j].lower, "ly") && j+1 < len(parts) {
			j++
		}
		if !isParticiple(parts[j].lower) || parts[j].link {
			continue
		}
		from := 1 + lastIndex(parts[:i], keyAnd)
		subject := parts[from:i]
		agent, rest := []part(nil), parts[j+1:]
		if k := slices.IndexFunc(rest, func(p part) bool { return p.key == keyBy }); k >= 0 {
			end := k + 1
			for end < len(rest) && (!rest[end].link || rest[end].key == "of") {
				end++
			}
			agent, rest = rest[k+1:end], slices.Concat(rest[:k], rest[end:])
		}
		return slices.Concat(parts[:from], agent, parts[i+1:j+1], subject, rest)
	}
	return parts
}

func lastIndex(parts []part, key string) int {
	for i, p := range slices.Backward(parts) {
		if p.key == key {
			return i
		}
	}
	return -1
}

// isParticiple reports a word that says what is done to something behind a form of be.
func isParticiple(lower string) bool {
	return len(lower) > 4 && strings.HasSuffix(lower, "ed") || vocabularyOf().participles[lower]
}

// swapped is an exchange; a mutual one changes nothing.
type swapped struct {
	exchange
	mutual bool
}

// exchangeIn finds two stretches of a that have each other's place in b, with the same parts
// around and between them.
func exchangeIn(a, b []part) (swapped, bool) {
	k, l := keysOf(a), keysOf(b)
	if len(k) != len(l) { // forms of be are not in both
		a, b = slices.DeleteFunc(slices.Clone(a), isBe), slices.DeleteFunc(slices.Clone(b), isBe)
		k, l = keysOf(a), keysOf(b)
	}
	from, to := 0, len(k)
	for from < to && k[from] == l[from] {
		from++
	}
	for to > from && k[to-1] == l[to-1] {
		to--
	}
	for x := from + 1; x < to; x++ {
		for y := x + 1; y < to; y++ {
			n := to - y // the length of the second stretch
			if slices.Equal(k[y:to], l[from:from+n]) && slices.Equal(k[x:y], l[from+n:to-(x-from)]) &&
				slices.Equal(k[from:x], l[to-(x-from):to]) {
				e := exchange{a[from:x], a[y:to]}
				return swapped{e, isMutual(a, x, y, to)}, true
			}
		}
	}
	return swapped{}, false
}

func isBe(p part) bool { return p.key == keyBe }

// isMutual reports whether what stands between two parts, from x to y, and behind the second
// says the same of both: "Ann and Bob", "Ann is married to Bob", "the lead is Ann".
func isMutual(parts []part, x, y, behind int) bool {
	if slices.ContainsFunc(parts, func(p part) bool { return vocabularyOf().mutual[p.key] }) {
		return true
	}
	for _, p := range parts[x:y] {
		if p.key != keyAnd && p.key != keyBe {
			return false
		}
	}
	return behind == len(parts) || parts[behind].link || parts[x].key == keyAnd
}

// roles finds that two parts of a statement have each other's place in another one: Ann
// reports to Bob, and Bob to Ann. One of the statements may say a little more.
func (p *pair) roles() []Finding {
	if p.s.scene || p.t.scene || p.s.where != p.t.where || p.s.isUnderWay() || p.t.isUnderWay() {
		return nil
	}
	if (only(p.s.active, keyAnd) < 0) != (only(p.t.active, keyAnd) < 0) {
		return nil
	}
	if p.apart(2) || (only(p.s.active, keyBy) < 0) != (only(p.t.active, keyBy) < 0) {
		return nil
	}
	a, b := common(p.s.active, p.t.active), common(p.t.active, p.s.active)
	if more := len(p.s.active) - len(a) + len(p.t.active) - len(b); more > 0 &&
		(more > 2 || len(a) < len(p.s.active) && len(b) < len(p.t.active)) {
		return nil
	}
	how, swap := arrange(a, b)
	_, back := arrange(b, a)
	if how == exchanged && len(back.x) > 0 && !(p.f.addresses(p.s, swap) && p.g.addresses(p.t, back)) {
		x, y := p.f.stretch(swap.x), p.g.stretch(back.x)
		return []Finding{{Kind: "order", A: x, B: y, Why: x + " and " + y + " have each other's place"}}
	}
	return nil
}

// addresses reports whether a sentence is a turn in a conversation, "Ann: Thanks, Bob!": the exchanged parts are
// who speaks and who is spoken to, and nothing is said of either.
func (f *Facts) addresses(s *sentence, e exchange) bool {
	if len(e.x) != 1 || len(e.y) != 1 || e.x[0].word != 0 || !strings.HasPrefix(f.text[e.x[0].end:], ":") {
		return false
	}
	called, rest := &s.words[e.y[0].word], f.text[e.y[0].end:]
	return e.y[0].named && e.y[0].word > 0 && (called.boundary || isGreeting(s.words[e.y[0].word-1].lower)) &&
		(rest == "" || strings.ContainsRune(".!?,", rune(rest[0])))
}

// apart reports whether either sentence has more than so many words that the other lacks. Where
// no spaces stand between words, their pairs of characters do not show it.
func (p *pair) apart(most int) bool {
	return !p.unspaced() && max(len(p.s.stems), len(p.t.stems)) > p.shared+most
}

// unspaced reports whether both sentences have words of a script without spaces.
func (p *pair) unspaced() bool {
	single := func(q part) bool { return q.single }
	return slices.ContainsFunc(p.s.parts, single) && slices.ContainsFunc(p.t.parts, single)
}

// isUnderWay reports a sentence of what something unnamed is doing: "the kangaroo is picking up".
func (s *sentence) isUnderWay() bool {
	if !isOne(s.words[0], "the", "a", "an") {
		return false
	}
	for i := 1; i < len(s.words); i++ {
		if strings.HasSuffix(s.words[i].lower, "ing") && isOne(s.words[i-1], "is", "are", "was", "were") {
			return true
		}
	}
	return false
}

// crossed reports whether a word stands behind opposite prepositions: from Lyon and to Lyon,
// until April and from April.
func (p *pair) crossed() bool {
	i, _ := p.crossing(vocabularyOf().opposed)
	return i >= 0
}

// crossing is where a word stands behind a preposition in s, and behind an opposite one in t; -1 if
// there is none.
func (p *pair) crossing(opposed map[string]bool) (i, j int) {
	for i := 1; i < len(p.s.parts); i++ {
		link, word := p.s.parts[i-1], p.s.parts[i]
		if !link.link || word.link {
			continue
		}
		for j := 1; j < len(p.t.parts); j++ {
			if p.t.parts[j].key == word.key && opposed[link.key+"/"+p.t.parts[j-1].key] {
				return i - 1, j - 1
			}
		}
	}
	return -1, -1
}
