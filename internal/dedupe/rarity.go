package dedupe

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/entity"
	"emberd/internal/text/analysis"
)

// What the strength of a link is made of. All but the bounds were chosen on labelled pairs of
// conversations and of facts about them; docs/internals/evaluation.md has the figures of others.
const (
	rarityShare     = 0.7
	similarityShare = 0.3
	// unseen is how many memories without any of its terms a group is assumed to have besides,
	// so that a term of both memories of a group of two is still rare.
	unseen = 100
	// fewestShared is the minimum number of shared terms that a rarity is the mean of, and
	// sharedPart the part of the shorter text's terms that it is the mean of.
	fewestShared = 4
	sharedPart   = 5

	searchedTerms = 32 // rarest terms of a subject by which others are found
	maxHolders    = 64 // latest subjects that a term leads to
	toldWords     = 5
)

// traits are what a subject can share with others, and what it is compared by.
type traits struct {
	terms          []int32 // words, names and tags by number, the rarest first
	entities, tags map[string]string
	given          map[string]bool // entities that are not in the text, by key
}

// discovery compares each member of a group with those before it.
type discovery struct {
	rules    RelationRules
	subjects []Subject
	members  []int     // indexes of subjects, ascending by ID
	of       *comparer // of the members
	names    map[string]int32
	df       []int32 // by term, the members that have it
	traits   []traits
	rank     []int32   // by term, its place when all are sorted by df; the terms of traits are these
	rarities []float32 // by rank, 0 to 1
	isWord   []bool    // by rank
	floor    float64   // minimum mean rarity of what the members of a link share
	holders  [][]int32 // by rank, the latest members that have it
	count    []uint8   // by member, the terms by which the current one met it
	met      []int32   // members that the current one met
}

func newDiscovery(ctx context.Context, a *analysis.Analyzer, subjects []Subject, members []int, of *Vectors,
	rules RelationRules) (*discovery, error) {
	d := &discovery{rules: rules, subjects: subjects, members: members, names: make(map[string]int32),
		traits: make([]traits, len(members)), count: make([]uint8, len(members)),
		floor: max(0, (rules.MinStrength-similarityShare)/rarityShare)}
	items := make([]Item, len(members))
	for n, i := range members {
		items[n].Text = subjects[i].Text
	}
	var err error
	if d.of, err = newComparer(ctx, a, items, of.among(members), func(int, int) {}); err != nil {
		return nil, err
	}
	d.df = make([]int32, d.of.corpus.Terms())
	for n := range members {
		if n%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		d.traits[n] = d.traitsOf(n)
		for _, t := range d.traits[n].terms {
			d.df[t]++
		}
	}
	d.rankTerms(d.of.corpus.Terms())
	return d, nil
}

// among returns the vectors of some items as those of a list of their own.
func (v *Vectors) among(members []int) *Vectors {
	if v == nil {
		return nil
	}
	return &Vectors{Of: func(n int) ([]float32, bool) { return v.Of(members[n]) }, Similarity: v.Similarity}
}

// traitsOf returns the words, names and tags of a member, in no order.
func (d *discovery) traitsOf(n int) traits {
	s := &d.subjects[d.members[n]]
	t := traits{entities: byKey(s.Entities), tags: byKey(s.Tags), given: make(map[string]bool)}
	for _, w := range d.of.weights[n] {
		t.terms = append(t.terms, w.Term)
	}
	text := ""
	if len(t.entities) > 0 {
		text = " " + entity.Key(s.Text) + " "
	}
	for key := range t.entities {
		if !strings.Contains(text, " "+key+" ") {
			t.given[key] = true
			t.terms = append(t.terms, d.number("entity "+key))
		}
	}
	for key := range t.tags {
		t.terms = append(t.terms, d.number("tag "+key))
	}
	return t
}

// byKey returns names by the form in which they are compared.
func byKey(names []string) map[string]string {
	out := make(map[string]string, len(names))
	for _, name := range names {
		if key := entity.Key(name); key != "" {
			out[key] = name
		}
	}
	return out
}

// number returns the number of a term that is no word.
func (d *discovery) number(name string) int32 {
	n, known := d.names[name]
	if !known {
		n = int32(len(d.df))
		d.names[name] = n
		d.df = append(d.df, 0)
	}
	return n
}

// rankTerms renumbers the terms by rarity, the rarest first, and calculates how rare each is:
// ln((N + unseen) / df), as a part of that of a single holder. The given number of terms, which come first, are
// words of texts. The formula is an inverse document frequency
// (Spärck Jones, "A statistical interpretation of term specificity", 1972) on a scale of 0 to 1.
func (d *discovery) rankTerms(words int) {
	order := make([]int32, len(d.df))
	for t := range order {
		order[t] = int32(t)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(d.df[a], d.df[b]), cmp.Compare(a, b)) })
	d.rank, d.rarities = make([]int32, len(order)), make([]float32, len(order))
	d.isWord, d.holders = make([]bool, len(order)), make([][]int32, len(order))
	all := float64(len(d.members) + unseen)
	for rank, t := range order {
		d.rank[t], d.isWord[rank] = int32(rank), int(t) < words
		d.rarities[rank] = float32(math.Log(all/float64(d.df[t])) / math.Log(all))
	}
	for n := range d.traits {
		terms := d.traits[n].terms
		for i, t := range terms {
			terms[i] = d.rank[t]
		}
		slices.Sort(terms)
	}
}

// searched returns the terms of a member by which others are found, the rarest first.
func (d *discovery) searched(n int) []int32 {
	terms := d.traits[n].terms
	for len(terms) > 0 && d.rarities[terms[0]] >= 1 { // nobody else has it
		terms = terms[1:]
	}
	most := 0
	for most < min(len(terms), searchedTerms) && float64(d.rarities[terms[most]]) >= d.floor {
		most++
	}
	return terms[:most]
}

// enter returns the best links of a member to earlier ones, and lets later ones find it. Of those it links to
// it has met at least two by their terms, unless one is enough for the floor.
func (d *discovery) enter(n int) []Link {
	enough := uint8(max(1, math.Ceil(d.floor*fewestShared)))
	d.met = d.met[:0]
	var candidates []int32
	for _, t := range d.searched(n) {
		in := d.holders[t]
		for _, other := range in {
			if d.count[other]++; d.count[other] == 1 {
				d.met = append(d.met, other)
			}
			if d.count[other] == enough {
				candidates = append(candidates, other)
			}
		}
		if len(in) == maxHolders {
			in = slices.Delete(in, 0, 1)
		}
		d.holders[t] = append(in, int32(n))
	}
	for _, other := range d.met {
		d.count[other] = 0
	}
	var links []Link
	for _, other := range candidates {
		if l, ok := d.link(int(other), n); ok {
			links = append(links, l)
		}
	}
	slices.SortFunc(links, stronger(d.subjects))
	links = links[:min(len(links), d.rules.Most)]
	for i := range links {
		links[i].Words = d.wordsOf(&links[i], n)
	}
	return links
}

// link returns the link of two members, false if they are related or not strongly enough.
func (d *discovery) link(a, b int) (l Link, ok bool) {
	one, other := &d.subjects[d.members[a]], &d.subjects[d.members[b]]
	if one.ID == other.ID || one.Related[other.ID] || other.Related[one.ID] {
		return l, false
	}
	if most := d.rarityOf(a, b, true); rarityShare*most+similarityShare < d.rules.MinStrength || most == 0 {
		return l, false
	}
	l = Link{A: d.members[a], B: d.members[b], Entities: both(d.traits[a].entities, d.traits[b].entities),
		Tags: both(d.traits[a].tags, d.traits[b].tags)}
	l.Confidence = RelationConfidence(len(l.Entities), len(l.Tags))
	named := len(l.Entities) >= d.rules.MinShared && l.Confidence >= d.rules.MinConfidence
	rare := d.rarityOf(a, b, named)
	if rare == 0 {
		return l, false
	}
	words := similarity.Calibrate(d.of.weights[a].Cosine(d.of.weights[b]))
	if d.rules.Same > 0 && words >= d.rules.Same {
		return l, false
	}
	l.Strength = rarityShare*rare + similarityShare*d.similarity(a, b, words, named)
	l.Confidence = max(l.Confidence, precisionAt(l.Strength))
	l.Jaccard = RelationStrength(set(d.traits[a].entities), set(d.traits[b].entities), set(d.traits[a].tags),
		set(d.traits[b].tags))
	return l, l.Strength >= d.rules.MinStrength && l.Confidence >= d.rules.MinConfidence
}

// rarityOf returns the mean rarity of the rarest terms that two members share, 0 to 1: of a fifth of the
// shorter one's terms, and of four at least. Without names it is of words only.
func (d *discovery) rarityOf(a, b int, names bool) float64 {
	x, y := d.traits[a].terms, d.traits[b].terms
	most := max(fewestShared, min(len(x), len(y))/sharedPart)
	sum, shared := 0.0, 0
	for i, j := 0, 0; i < len(x) && j < len(y) && shared < most; {
		switch {
		case x[i] < y[j]:
			i++
		case x[i] > y[j]:
			j++
		default:
			if names || d.isWord[x[i]] {
				sum, shared = sum+float64(d.rarities[x[i]]), shared+1
			}
			i, j = i+1, j+1
		}
	}
	return sum / float64(most)
}

// similarity returns the similarity of the texts, that by words or the mean of it and that by vectors, or that of
// the names that are not in the texts if it is higher; 0 to 1.
func (d *discovery) similarity(a, b int, words float64, named bool) float64 {
	alike := words
	if d.of.table.both(a, b) {
		alike = (alike + max(0, d.of.table.of.Similarity(d.of.table.about(a, b)))) / 2
	}
	if !named {
		return alike
	}
	one, other := &d.traits[a], &d.traits[b]
	return max(alike, RelationStrength(one.given, other.given, set(one.tags), set(other.tags)))
}

// wordsOf returns the rarest words that both texts of a link have; b is the later member.
func (d *discovery) wordsOf(l *Link, b int) []string {
	text := d.subjects[l.A].Text
	written := make(map[int32]string)
	for _, t := range d.of.analyzer.Terms(text) {
		if id, known := d.of.corpus.ID(t.Text); known && !t.Inner() && written[d.rank[id]] == "" {
			written[d.rank[id]] = strings.ToLower(text[t.Start:t.End])
		}
	}
	var words []string
	for _, t := range d.traits[b].terms {
		if written[t] != "" && len(words) < toldWords && float64(d.rarities[t]) >= d.floor {
			words = append(words, written[t])
		}
	}
	return words
}

// precision has the share of right relations among labelled ones, by strength.
var precision = [][2]float64{{0, 0}, {0.52, 0.70}, {0.58, 0.80}, {0.65, 0.90}, {0.70, 0.95}, {1, 1}}

// precisionAt returns the share of right relations of a strength, in straight lines between those measured.
func precisionAt(strength float64) float64 {
	for i, p := range precision[1:] {
		if before := precision[i]; strength <= p[0] {
			return before[1] + (p[1]-before[1])*(strength-before[0])/(p[0]-before[0])
		}
	}
	return 1
}

func both(a, b map[string]string) []string {
	var out []string
	for name, written := range a {
		if _, there := b[name]; there {
			out = append(out, written)
		}
	}
	slices.Sort(out)
	return out
}

func set(names map[string]string) map[string]bool {
	out := make(map[string]bool, len(names))
	for name := range names {
		out[name] = true
	}
	return out
}
