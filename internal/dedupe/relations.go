package dedupe

import (
	"cmp"
	"context"
	"slices"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/text/analysis"
	"emberd/memory"
)

// Shares of entities and tags in [RelationStrength] (CortexGraph).
const (
	entityShare = 0.7
	tagShare    = 0.3
)

// RelationStrength returns CortexGraph's strength of a relation: seven tenths the
// [similarity.Jaccard] of the entities and three tenths that of the tags, 0 to 1
// (RelationshipDiscovery). It counts a name that all memories have as much as a rare one.
func RelationStrength(entities, others, tags, otherTags map[string]bool) float64 {
	return entityShare*similarity.Jaccard(entities, others) + tagShare*similarity.Jaccard(tags, otherTags)
}

// RelationConfidence returns CortexGraph's confidence in a relation by how many entities and tags are
// shared: six tenths by the former, of which three are enough, and four by the latter, of which two
// are; 0 to 1 (RelationshipDiscovery).
func RelationConfidence(entities, tags int) float64 {
	return 0.6*min(1, float64(entities)/3) + 0.4*min(1, float64(tags)/2)
}

// MinRelationStrength is the strength from which on two memories are related by default. It was chosen on
// one half of labelled pairs; docs/internals/evaluation.md has the share of right ones in the other half.
const MinRelationStrength = 0.6

// Subject is a memory that may be related to others of its Group.
type Subject struct {
	ID       memory.ID
	Group    string
	Text     string
	Entities []string
	Tags     []string
	// Related are the memories that it is related to, in either direction.
	Related map[memory.ID]bool
}

// RelationRules say what is related.
type RelationRules struct {
	// MinShared entities and a [RelationConfidence] of MinConfidence are the minimum for names
	// that are not in the texts to count.
	MinShared     int     // 1 or more
	MinConfidence float64 // 0 to 1; also the minimum of [Link.Confidence]
	MinStrength   float64 // minimum of [Link.Strength], 0 to 1
	// Same is the similarity of words, on the scale of [similarity.Calibrate], from which on two texts
	// say nearly the same, so that they are clustered and not related; 0 relates them too.
	Same float64
	// Most is the maximum number of relations of a memory.
	Most int
}

// Link is a relation that was found between two subjects, by their index, with A before B by ID.
type Link struct {
	A, B int
	// Strength is 0.7 of how rare it is what both have and 0.3 of how similar they are.
	Strength float64
	// Confidence is the larger of [RelationConfidence] and the share of right relations among
	// labelled ones of this strength, 0 to 1.
	Confidence float64
	Jaccard    float64  // [RelationStrength]
	Entities   []string // that both have, as A writes them
	Tags       []string
	Words      []string // rare ones that both texts have, as A writes them, at most 5
}

// DiscoverRelations returns relations between subjects that share what few others have and are not
// related yet, strongest first. vectors are those of subjects by index, nil to compare texts by their
// words only. A word or name leads to at most the 64 latest subjects that have it, and each
// subject looks for its 32 rarest, so that the work grows with the number of subjects and not
// with its square. The error is that of ctx.
func DiscoverRelations(ctx context.Context, a *analysis.Analyzer, subjects []Subject, vectors *Vectors,
	rules RelationRules) ([]Link, error) {
	var found []Link
	for _, members := range subjectsByGroup(subjects) {
		d, err := newDiscovery(ctx, a, subjects, members, vectors, rules)
		if err != nil {
			return nil, err
		}
		for n := range members {
			if n%256 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			found = append(found, d.enter(n)...)
		}
	}
	return chooseLinks(found, subjects, rules.Most), nil
}

// subjectsByGroup returns the indexes of the subjects of each group, ascending by ID.
func subjectsByGroup(subjects []Subject) [][]int {
	number := make(map[string]int)
	var groups [][]int
	for i := range subjects {
		n, known := number[subjects[i].Group]
		if !known {
			n = len(groups)
			number[subjects[i].Group] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b int) int { return cmp.Compare(subjects[a].ID, subjects[b].ID) })
	}
	return groups
}

// stronger orders links, strongest first.
func stronger(subjects []Subject) func(a, b Link) int {
	return func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(b.Confidence, a.Confidence),
			cmp.Compare(subjects[a.A].ID, subjects[b.A].ID), cmp.Compare(subjects[a.B].ID, subjects[b.B].ID))
	}
}

// chooseLinks returns the strongest links of which no subject gets too many.
func chooseLinks(found []Link, subjects []Subject, most int) []Link {
	slices.SortFunc(found, stronger(subjects))
	has := make([]int, len(subjects))
	for i := range subjects {
		has[i] = len(subjects[i].Related)
	}
	var chosen []Link
	for _, l := range found {
		if has[l.A] < most && has[l.B] < most {
			has[l.A], has[l.B] = has[l.A]+1, has[l.B]+1
			chosen = append(chosen, l)
		}
	}
	return chosen
}
