package contradiction

import (
	"cmp"
	"slices"
	"strings"
)

// Finding is one thing in which two texts cannot both hold.
type Finding struct {
	Kind string `json:"kind"` // number, unit, date, version, name, order, negation, opposite or change
	A    string `json:"a"`    // the value or words of either text, as they stand there
	B    string `json:"b"`
	Why  string `json:"why"` // one clause, such as "5432 against 5433"
	// Leans is set if one of the texts says of what it is true in another sentence, and the other in the same
	// one, so that they may be about two things after all.
	Leans bool `json:"-"`
	// framed is set if all but this is the same, or known to exclude it: the texts need share nothing else
	framed bool
}

// maxFindings bounds the findings about two texts.
const maxFindings = 8

// nearest is how many sentences of the other text one is compared with at most.
const nearest = 8

// Find lists what two texts about one thing disagree in, in the order of the first one.
// It is nil if nothing shows that they do. Of a text of several sentences each is held
// against those of the other that share most with it.
func (f *Facts) Find(g *Facts) []Finding {
	if f.repeats(g) {
		return nil
	}
	var out []Finding
	met := meet(f, g)
	for i := range f.sentences {
		for _, j := range g.closest(&f.sentences[i]) {
			p := pair{f: f, g: g, s: &f.sentences[i], t: &g.sentences[j], met: &met}
			p.weigh()
			for _, found := range p.findings() {
				found.Leans = p.leaning
				if !slices.Contains(out, found) {
					out = append(out, found)
				}
			}
			if len(out) >= maxFindings {
				return out[:maxFindings]
			}
		}
	}
	return out
}

// closest are the sentences that share a word with one of another text, the ones that share most first.
func (f *Facts) closest(s *sentence) []int {
	if len(f.sentences) == 1 {
		return []int{0}
	}
	counts := make(map[int]int)
	for _, stem := range s.stems {
		for _, j := range f.index[stem] {
			counts[j]++
		}
	}
	out := make([]int, 0, len(counts))
	for j := range counts {
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return out[:min(len(out), nearest)]
}

// Shares reports whether two texts speak of one thing: whether most of the words that say
// something in a sentence of the one are in a sentence of the other.
func (f *Facts) Shares(g *Facts) bool {
	for i := range f.sentences {
		for _, j := range g.closest(&f.sentences[i]) {
			p := pair{f: f, g: g, s: &f.sentences[i], t: &g.sentences[j]}
			p.weigh()
			if p.shared > 0 && 2*p.shared >= min(len(p.s.stems), len(p.t.stems)) {
				return true
			}
		}
	}
	return false
}

// Related is the similarity (calibrated, 0 to 1) from which on texts are held against each
// other, unless a setting says otherwise.
const Related = 0.6

// Against lists what two texts of some similarity (calibrated, 0 to 1) contradict each
// other in. It is the one gate for telling so: the texts are at least as similar as
// related asks, or speak of one thing, and then it is what [Facts.Find] finds.
func (f *Facts) Against(g *Facts, similarity, related float64) []Finding {
	found := f.Find(g)
	if similarity < related && len(found) > 0 && !f.Shares(g) {
		found = slices.DeleteFunc(found, func(one Finding) bool { return !one.framed })
	}
	return found
}

// Settled is [Facts.Against] for what acts on a conflict by itself, where nobody reads both texts: both have to be
// brief, and to say in one way what they are about.
func Settled(f, g *Facts, similarity, related float64) []Finding {
	if !f.Brief() || !g.Brief() {
		return nil
	}
	return slices.DeleteFunc(f.Against(g, similarity, related), func(one Finding) bool { return one.Leans })
}

// pair is two sentences that are held against each other.
type pair struct {
	f, g   *Facts
	s, t   *sentence
	shared int // stems that both have
	met    *meeting
	// leaning is set if one of the sentences alone says what it is about
	leaning bool
}

func (p *pair) weigh() {
	for _, stem := range p.s.stems {
		if p.t.has(stem) {
			p.shared++
		}
	}
}

func (p *pair) findings() []Finding {
	if p.shared == 0 && !p.unspaced() || !p.s.states() || !p.t.states() || p.elsewhere() || p.ofOthers() ||
		p.offTopic() {
		return nil
	}
	if another := p.another(); another || p.shared == 0 { // pairs of characters do not show parts that are shared
		if !another || p.s.numbered() && p.t.numbered() {
			return p.roles()
		}
		return nil
	}
	for _, find := range [...]func(*pair) []Finding{(*pair).roles, (*pair).values,
		(*pair).denials, contrasts, (*pair).sides, (*pair).opposites, (*pair).habits, (*pair).slots, (*pair).directions,
		(*pair).changes} {
		if found := find(p); found != nil {
			return found
		}
	}
	return nil
}

// comparable reports whether values of two sentences can be compared: each is about something that
// it names, in the same environment, and no word stands behind opposite prepositions.
func (p *pair) comparable() bool {
	return !p.s.scene && !p.t.scene && p.s.where == p.t.where && !p.elsewhere() && !p.another() && !p.crossed()
}

// ofOthers reports whether each sentence is about something with a hyphen in its name that
// the other text does not know.
func (p *pair) ofOthers() bool {
	alone := func(f, g *Facts, s *sentence) bool {
		return slices.ContainsFunc(f.compounds, func(at wordPosition) bool {
			return &f.sentences[at.sentence] == s && !g.hasJoined(f, at)
		})
	}
	return alone(p.f, p.g, p.s) && alone(p.g, p.f, p.t)
}

func (p *pair) finding(kind string, a, b word) Finding {
	x, y := p.f.text[a.start:a.end], p.g.text[b.start:b.end]
	return Finding{Kind: kind, A: x, B: y, Why: x + " against " + y}
}

func joins(stem string) bool { return stem == "and" || stem == "which" }

// aligned reports whether the words at i of the one sentence and at j of the other say
// something of one thing: what they are about is shared, and only one of them says more.
func (p *pair) aligned(i, j int) bool {
	a, b := p.s.about(i), p.t.about(j)
	skip := func(w string) bool { return w == p.s.words[i].stem || w == p.t.words[j].stem }
	both, mine, other := 0, 0, 0
	for _, w := range a {
		switch {
		case skip(w):
		case slices.Contains(b, w):
			both++
		case !p.t.has(w):
			mine++
		}
	}
	for _, w := range b {
		if !skip(w) && !p.s.has(w) {
			other++
		}
	}
	return both > 0 && (mine == 0 || other == 0)
}

// values finds numbers, dates, versions and times of one thing that are not the same.
func (p *pair) values() (out []Finding) {
	if !p.comparable() || p.s.tells() || p.t.tells() || p.s.names(p.t) && p.t.names(p.s) || p.happenedTwice() ||
		sums(p.s) != sums(p.t) {
		return nil
	}
	for i := range p.s.words {
		if p.t.holds(&p.s.words[i]) {
			continue
		}
		for j := range p.t.words {
			if !p.s.holds(&p.t.words[j]) && p.slot(i, j) && p.aligned(i, j) {
				v, w := p.s.words[i].value, p.t.words[j].value
				kind := v.kind
				switch {
				case w.kind == "version":
					kind = "version"
				case kind == "number" && v.unit == w.unit && v.plain == w.plain || v.unit != w.unit:
					kind = "unit"
				case kind == "weekday" || kind == "time":
					kind = "date"
				}
				out = append(out, p.finding(kind, p.s.words[i], p.t.words[j]))
				break
			}
		}
	}
	return out
}

// names reports whether a sentence has a name that the other one has not.
func (s *sentence) names(t *sentence) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return w.name && !w.former && !t.has(w.stem) })
}

// holds reports whether a sentence has a value that agrees with that of a word. It does
// too if the word has none that still counts.
func (s *sentence) holds(w *word) bool {
	if w.value == nil || w.former {
		return true
	}
	for i := range s.words {
		if v := s.words[i].value; v != nil && !s.words[i].former && s.words[i].denied == w.denied && v.agrees(w.value) {
			return true
		}
	}
	return false
}

// slot reports whether two values stand in one place: they measure the same, and count
// the same things or follow the same word.
func (p *pair) slot(i, j int) bool {
	v, w := p.s.words[i].value, p.t.words[j].value
	if v == nil || w == nil || !v.alike(w) || p.s.words[i].former || p.t.words[j].former ||
		p.s.words[i].denied != p.t.words[j].denied || isOutcome(p.s, i) || isOutcome(p.t, j) ||
		p.ofProducts(i, j) {
		return false
	}
	if v.unit != w.unit && (v.unit == "" || w.unit == "" || v.plain != w.plain) {
		return false
	}
	events := p.s.isEvent() && p.t.isEvent()
	if v.kind != "number" || w.kind != "number" {
		return !events || v.kind != "weekday" && v.kind != "time"
	}
	a, b := p.s.counted(i), p.t.counted(j)
	if events && (a != "" || b != "") || p.s.numbers(i) || p.t.numbers(j) {
		return false
	}
	if a != "" && b != "" || v.spelt || w.spelt || isPart(a) || isPart(b) {
		return a == b
	}
	lead, other := p.s.leads(i), p.t.leads(j)
	if a == "" && b == "" && (lead == "port") != (other == "port") {
		return p.s.leads(i-1) == p.t.leads(j) && lead == "port" || p.s.leads(i) == p.t.leads(j-1) && other == "port"
	}
	return lead == other || p.s.says(p.t, i) && p.t.says(p.s, j)
}

// numbers reports whether the number at i is the name of a thing, as in "line 42" and "line number 42".
func (s *sentence) numbers(i int) bool {
	labelled := i > 0 && s.words[i].labelled
	if i > 1 && s.words[i-1].stem == "number" {
		i--
	}
	return i > 0 && s.words[i-1].content && !labelled && !strings.HasSuffix(s.words[i-1].lower, "s") &&
		isNumbered(s.words[i-1].stem)
}

// numbered reports whether all values are the names of things: "task 12 blocks task 15".
func (s *sentence) numbered() bool {
	for i := range s.words {
		if s.words[i].value != nil && !s.numbers(i) {
			return false
		}
	}
	return true
}

// isPart reports a word that says which part of something is counted.
func isPart(stem string) bool {
	switch stem {
	case "free", "us", "left", "remain", "avail", "total":
		return true
	}
	return false
}

// counted is the stem of what a number counts, "" if no word follows it at once.
func (s *sentence) counted(i int) string {
	if i+1 < len(s.words) && !s.words[i+1].boundary && s.words[i+1].content {
		return s.words[i+1].stem
	}
	return ""
}

// leads is the stem of the last word with meaning before i that says not when it is so, "" if there is none.
func (s *sentence) leads(i int) string {
	for i--; i >= 0; i-- {
		if w := &s.words[i]; w.content && !w.known.neutral && !w.month {
			return w.stem
		}
	}
	return ""
}

// denials finds what one sentence denies and the other says.
func (p *pair) denials() []Finding {
	if i, j := denied(p.s, p.t); i >= 0 {
		return []Finding{p.finding("negation", p.s.denial(i), p.t.words[j])}
	}
	if i, j := denied(p.t, p.s); i >= 0 {
		return []Finding{p.finding("negation", p.s.words[j], p.t.denial(i))}
	}
	return p.negated()
}

// negated finds that two statements are the same but for one word that denies.
func (p *pair) negated() []Finding {
	x, plainX := withoutDenial(p.s.active)
	y, plainY := withoutDenial(p.t.active)
	if x == y || len(plainX) < 2 || !slices.Equal(plainX, plainY) {
		return nil
	}
	a, b := p.f.whole(p.s), p.g.whole(p.t)
	return []Finding{{Kind: "negation", A: a, B: b, Why: "one denies what the other says", framed: true}}
}

// withoutDenial reports whether a statement has an odd number of words that deny, and its
// other words.
func withoutDenial(parts []part) (denies bool, rest []string) {
	for _, p := range parts {
		switch {
		case p.key == keyNot, p.single && strings.Contains("不没沒無无未别", p.key):
			denies = !denies
		case p.key != keyBe:
			rest = append(rest, p.key)
		}
	}
	return denies, rest
}

// denied finds a word that s denies and t does not. All that s says in denying has to be
// in t but for a fifth; all but nothing if t denies something that s has too.
func denied(s, t *sentence) (i, j int) {
	if !s.denies || t.denies && !denialsApart(t, s) && !(s.covered(t) && t.covered(s)) {
		return -1, -1
	}
	i, j = -1, -1
	all, there := 0, 0
	for k := range s.words {
		w := &s.words[k]
		if w.denied && !t.holds(w) {
			return -1, -1 // never on Fridays, and on Tuesdays
		}
		if !w.content || linkOf(w.lower) == keyBe {
			continue
		}
		at := slices.IndexFunc(t.words, func(v word) bool { return v.content && v.stem == w.stem })
		if !w.known.modal {
			all++
		}
		if at < 0 {
			continue
		}
		if !w.known.modal {
			there++
		}
		if i < 0 && w.denied && !t.refuses(w.stem) && !t.words[at].former && w.lacking == t.words[at].lacking {
			i, j = k, at
		}
	}
	if 5*there < 4*all || all < 2 && (!t.covered(s) || s.isAnswer()) {
		return -1, -1
	}
	return i, j
}

// denialsApart reports whether a sentence denies only, each behind a comma, what another one lacks: "X, never Y".
func denialsApart(s, t *sentence) bool {
	return !slices.ContainsFunc(s.words, func(w word) bool {
		return w.negates && !w.boundary || w.denied && (w.value != nil || w.content && t.has(w.stem))
	})
}

// refuses reports whether a sentence denies a word, wherever it has it.
func (s *sentence) refuses(stem string) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return w.denied && w.stem == stem })
}

// denial is a denied word with what denies it, if that stands close before it.
func (s *sentence) denial(i int) word {
	w := s.words[i]
	for _, before := range s.words[max(0, i-3):i] {
		if before.negates {
			w.start = before.start
		}
	}
	return w
}

// opposites finds words of opposite meaning that are said of one thing.
func (p *pair) opposites() []Finding {
	if p.s.scene || p.t.scene || p.s.where != p.t.where || p.s.valued(p.t) && p.t.valued(p.s) {
		return nil
	}
	for i := range p.s.words {
		a := &p.s.words[i]
		if a.value != nil || a.former || a.negates || a.condition || p.t.has(a.stem) {
			continue
		}
		for j := range p.t.words {
			b := &p.t.words[j]
			if b.value == nil && !b.former && !b.negates && !b.condition && a.denied == b.denied && a.opposed(b) &&
				!p.s.has(b.stem) && p.within(i, j) {
				return []Finding{p.finding("opposite", *a, *b)}
			}
		}
	}
	return nil
}

// valued reports whether a sentence has a value that the other has not.
func (s *sentence) valued(t *sentence) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return !t.holds(&w) })
}

// within is aligned, but that small words and colours have to be what is said of
// something, as in "is on", and small words all that differs: a bird may sit on a tree
// before it sits off it, and a dog is brown and white.
func (p *pair) within(i, j int) bool {
	a, b := &p.s.words[i], &p.t.words[j]
	switch {
	case !p.aligned(i, j):
		return false
	case a.known.coloured && b.known.coloured:
		return p.s.stated(i) && p.t.stated(j)
	case a.content && b.content:
		return true
	}
	return p.s.stated(i) && p.t.stated(j) && p.shared == len(p.s.stems) && p.shared == len(p.t.stems)
}

// stated reports whether the word at i is what the sentence says in the end: it stands
// behind a verb or a colon, and no word with meaning stands behind it.
func (s *sentence) stated(i int) bool {
	if i == 0 || i+1 < len(s.words) && !s.words[i+1].boundary && s.words[i+1].content {
		return false
	}
	before := &s.words[i-1]
	return s.words[i].labelled || before.known.functional || isOne(*before, "turned", "switched")
}
