package dedupe

import (
	"cmp"
	"context"
	"slices"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/entity"
	"emberd/memory"
)

// What a relation's strength is made of (CortexGraph).
const (
	entityShare = 0.7
	tagShare    = 0.3
)

// maxHolders is how many memories one name leads to: the latest. A store in which every
// memory names one person is so still done in time.
const maxHolders = 200

// RelationStrength of the relation of two memories: seven tenths the [similarity.Jaccard] of their
// entities and three tenths that of their tags, 0 to 1 (CortexGraph's
// RelationshipDiscovery).
func RelationStrength(entities, others, tags, otherTags map[string]bool) float64 {
	return entityShare*similarity.Jaccard(entities, others) + tagShare*similarity.Jaccard(tags, otherTags)
}

// RelationConfidence in the relation of two memories by how many entities and tags they share:
// six tenths by the former, of which three are enough, and four by the latter, of which two
// are; 0 to 1 (CortexGraph's RelationshipDiscovery).
func RelationConfidence(entities, tags int) float64 {
	return 0.6*min(1, float64(entities)/3) + 0.4*min(1, float64(tags)/2)
}

// Subject is a memory that may be related to others of its Group.
type Subject struct {
	ID       memory.ID
	Group    string
	Entities []string
	Tags     []string
	// Related are those that it is related to, whichever way.
	Related map[memory.ID]bool
}

// RelationRules say what is related.
type RelationRules struct {
	MinShared     int     // entities that both name, 1 or more
	MinConfidence float64 // 0 to 1
	// Most is how many relations a memory has at most; one that has as many gets none.
	Most int
}

// Link is a relation that was found between two subjects, by their place, with A before B
// by id.
type Link struct {
	A, B                 int
	Strength, Confidence float64
	Entities, Tags       []string // that both have, as A writes them
}

// DiscoverRelations finds the subjects that share enough names and are not related yet, strongest
// first. Names are compared as [entity.Key] has them. A name leads to the 200 latest
// that have it, so that the work grows with the number of names and not with its square.
// The error is that of ctx.
func DiscoverRelations(ctx context.Context, subjects []Subject, rules RelationRules) ([]Link, error) {
	d := discovery{rules: rules, subjects: subjects, names: make([]named, len(subjects)),
		holders: make(map[string][]int), shared: make([]int, len(subjects))}
	order := make([]int, len(subjects))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(subjects[a].ID, subjects[b].ID) })
	var found []Link
	for n, i := range order {
		if n%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found = append(found, d.enter(i)...)
	}
	return d.choose(found), nil
}

// named is what a subject names: what is compared, and how it is written.
type named struct{ entities, tags map[string]string }

func namesOf(s *Subject) named {
	n := named{make(map[string]string, len(s.Entities)), make(map[string]string, len(s.Tags))}
	for _, e := range s.Entities {
		n.entities[entity.Key(e)] = e
	}
	for _, t := range s.Tags {
		n.tags[entity.Key(t)] = t
	}
	delete(n.entities, "")
	delete(n.tags, "")
	return n
}

// discovery compares each subject with those before it by id.
type discovery struct {
	rules    RelationRules
	subjects []Subject
	names    []named
	holders  map[string][]int // by name, the latest last
	shared   []int            // by subject, with the one that is entered
}

// enter returns the best links of a subject to earlier ones, and has later ones find it.
func (d *discovery) enter(i int) []Link {
	s := &d.subjects[i]
	d.names[i] = namesOf(s)
	var met []int
	for name := range d.names[i].entities {
		key := s.Group + "\x00" + name
		in := d.holders[key]
		for _, j := range in {
			if d.shared[j]++; d.shared[j] == 1 {
				met = append(met, j)
			}
		}
		if len(in) == maxHolders {
			in = slices.Delete(in, 0, 1)
		}
		d.holders[key] = append(in, i)
	}
	var links []Link
	for _, j := range met {
		if d.shared[j] >= d.rules.MinShared && s.ID != d.subjects[j].ID && !s.Related[d.subjects[j].ID] &&
			!d.subjects[j].Related[s.ID] {
			if l := d.link(j, i); l.Confidence >= d.rules.MinConfidence {
				links = append(links, l)
			}
		}
		d.shared[j] = 0
	}
	slices.SortFunc(links, d.stronger)
	return links[:min(len(links), d.rules.Most)]
}

func (d *discovery) link(a, b int) Link {
	one, other := d.names[a], d.names[b]
	l := Link{A: a, B: b, Entities: both(one.entities, other.entities), Tags: both(one.tags, other.tags)}
	l.Confidence = RelationConfidence(len(l.Entities), len(l.Tags))
	l.Strength = RelationStrength(set(one.entities), set(other.entities), set(one.tags), set(other.tags))
	return l
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

func (d *discovery) stronger(a, b Link) int {
	return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(b.Confidence, a.Confidence),
		cmp.Compare(d.subjects[a.A].ID, d.subjects[b.A].ID), cmp.Compare(d.subjects[a.B].ID, d.subjects[b.B].ID))
}

// choose takes the strongest links first, and none that gives a subject too many.
func (d *discovery) choose(found []Link) []Link {
	slices.SortFunc(found, d.stronger)
	has := make([]int, len(d.subjects))
	for i := range d.subjects {
		has[i] = len(d.subjects[i].Related)
	}
	var chosen []Link
	for _, l := range found {
		if has[l.A] < d.rules.Most && has[l.B] < d.rules.Most {
			has[l.A], has[l.B] = has[l.A]+1, has[l.B]+1
			chosen = append(chosen, l)
		}
	}
	return chosen
}
