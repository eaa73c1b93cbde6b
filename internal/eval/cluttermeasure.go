package eval

import (
	"fmt"
	"slices"
)

// Fate is what a cleanup made of an entry.
type Fate struct {
	ID        string
	Gone      bool   // forgotten
	Into      string // what it was merged into
	Successor string // what supersedes it
	Related   []Related
	Review    bool // somebody is asked about it
}

// Related is a relation of a kind to something else, whichever way.
type Related struct{ Kind, ID string }

// Cleaned is what a cleanup made of a [Clutter].
type Cleaned struct {
	Entries    int     `json:"entries"`
	After      int     `json:"after"`
	Reduction  float64 `json:"reduction"`  // of the entries
	Duplicates Found   `json:"duplicates"` // entries that say what another one says
	Junk       Found   `json:"junk"`
	JunkMerged int     `json:"junk_merged"` // with other junk
	Conflicts  Solved  `json:"conflicts"`
	// Kinds are the conflicts by what they are about.
	Kinds map[string]Solved `json:"kinds"`
	// Wrong lists what should not have been done.
	Wrong []Wrong `json:"wrong"`
}

// Found counts what was removed against what there was to remove.
type Found struct {
	All       int     `json:"all"`
	Removed   int     `json:"removed"`
	Right     int     `json:"right"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

func (f *Found) finish() {
	f.Precision, f.Recall = share(f.Right, f.Removed), share(f.Right, f.All)
}

// share is 1 of nothing.
func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// Solved counts what became of groups that disagree. Those of Contradiction are for
// somebody to decide, which is Review.
type Solved struct {
	Groups int `json:"groups"`
	Right  int `json:"right"`  // resolved, and well
	Wrong  int `json:"wrong"`  // resolved, and not well
	Review int `json:"review"` // somebody is asked
	Left   int `json:"left"`   // nothing happened
}

func (s *Solved) add(o Solved) {
	s.Groups, s.Right, s.Wrong, s.Review, s.Left = s.Groups+o.Groups, s.Right+o.Right, s.Wrong+o.Wrong,
		s.Review+o.Review, s.Left+o.Left
}

// Wrong is something that should not have been done to entries.
type Wrong struct {
	What  string   `json:"what"`
	Kind  string   `json:"kind"` // of the first entry
	Texts []string `json:"texts"`
}

// Measure holds what became of the entries, at their places, against what they are.
func (c *Clutter) Measure(fates []Fate) *Cleaned {
	m := clutterMeasure{Clutter: c, fates: fates, groups: make(map[int][]int), merges: make(map[string][]int),
		of: make(map[string]int)}
	m.out = Cleaned{Entries: len(c.Entries), Kinds: make(map[string]Solved), Wrong: []Wrong{}}
	for i := range c.Entries {
		m.groups[c.Entries[i].Group] = append(m.groups[c.Entries[i].Group], i)
		m.of[fates[i].ID] = c.Entries[i].Group
		if into := fates[i].Into; into != "" {
			m.merges[into] = append(m.merges[into], i)
			m.of[into] = c.Entries[i].Group
		}
	}
	m.count()
	for _, group := range sortedKeys(m.groups) {
		m.group(m.groups[group])
	}
	for _, into := range sortedKeys(m.merges) {
		m.merge(m.merges[into])
	}
	m.deletions()
	m.strays()
	m.out.Duplicates.finish()
	m.out.Junk.finish()
	return &m.out
}

func sortedKeys[K int | string, V any](m map[K]V) []K {
	var keys []K
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

type clutterMeasure struct {
	*Clutter
	fates  []Fate
	groups map[int][]int    // places
	merges map[string][]int // places, by what they were merged into
	of     map[string]int   // groups, by the id of an entry or a merged memory
	out    Cleaned
}

func (m *clutterMeasure) count() {
	for i := range m.fates {
		if f := &m.fates[i]; !f.Gone && f.Into == "" {
			m.out.After++
		}
		if m.Entries[i].Kind == Junk {
			m.out.Junk.All++
		}
	}
	m.out.After += len(m.merges)
	m.out.Reduction = 1 - share(m.out.After, m.out.Entries)
}

// SaysTheSame reports whether the entries of a group say the same.
func (e *Cluttered) SaysTheSame() bool { return e.Kind == Good || e.Kind == Copy || e.Kind == Reworded }

// Holders are the ids of the live memories that say what an entry says.
func (c *Clutter) Holders(place int, fates []Fate) []string {
	var ids []string
	for i := range c.Entries {
		e, f := &c.Entries[i], &fates[i]
		if i != place && (e.Group != c.Entries[place].Group || !e.SaysTheSame()) {
			continue
		}
		switch {
		case f.Into != "":
			ids = append(ids, f.Into)
		case !f.Gone:
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// group looks at what became of the entries of one group.
func (m *clutterMeasure) group(places []int) {
	switch e := &m.Entries[places[0]]; {
	case e.SaysTheSame():
		m.out.Duplicates.All += len(places) - 1
	case e.Kind == Version || e.Kind == Platform || e.Kind == Changed || e.Kind == Contradiction:
		one, why := m.solved(places)
		one.Groups = 1
		all := m.out.Kinds[e.Kind]
		all.add(one)
		m.out.Kinds[e.Kind] = all
		m.out.Conflicts.add(one)
		if one.Wrong > 0 {
			m.wrong(why, places)
		}
	}
}

func (m *clutterMeasure) wrong(what string, places []int) {
	w := Wrong{What: what, Kind: m.Entries[places[0]].Kind}
	for _, i := range places {
		w.Texts = append(w.Texts, m.Entries[i].Text)
	}
	m.out.Wrong = append(m.out.Wrong, w)
}

// solved is what became of a group that disagrees.
func (m *clutterMeasure) solved(places []int) (s Solved, why string) {
	kind, review, done := m.Entries[places[0]].Kind, false, 0
	for _, i := range places {
		e, f := &m.Entries[i], &m.fates[i]
		review = review || f.Review
		outdated := kind == Changed && !e.Latest
		switch {
		case f.Into != "":
			return Solved{Wrong: 1}, "merged despite a contradiction"
		case f.Gone && !outdated:
			return Solved{Wrong: 1}, "forgotten what holds"
		case f.Successor != "" && (!outdated || m.of[f.Successor] != e.Group):
			return Solved{Wrong: 1}, "superseded what holds"
		case outdated && (f.Gone || f.Successor != ""), kind != Changed && m.related(e, f):
			done++
		}
	}
	wanted := len(places)
	if kind == Changed {
		wanted--
	}
	switch {
	case kind != Contradiction && done == wanted:
		return Solved{Right: 1}, ""
	case review:
		return Solved{Review: 1}, ""
	}
	return Solved{Left: 1}, ""
}

// related reports whether an entry is in a relation of its kind to another of its group.
func (m *clutterMeasure) related(e *Cluttered, f *Fate) bool {
	return slices.ContainsFunc(f.Related, func(r Related) bool { return r.Kind == e.Kind && m.of[r.ID] == e.Group })
}

// strays looks at what was superseded by, or related as a version or platform to, something
// that is about something else.
func (m *clutterMeasure) strays() {
	for i := range m.fates {
		e, f := &m.Entries[i], &m.fates[i]
		if f.Successor != "" && (e.SaysTheSame() || e.Kind == Indexed || e.Kind == Kept) {
			m.wrong("superseded what holds, by something else", append([]int{i}, m.groups[m.of[f.Successor]]...))
		}
		stray := func(r Related) bool {
			return (r.Kind == Version || r.Kind == Platform) && m.of[r.ID] != e.Group
		}
		if at := slices.IndexFunc(f.Related, stray); at >= 0 && m.of[f.Related[at].ID] > e.Group { // once
			m.wrong("related as a "+f.Related[at].Kind+" to something else",
				append([]int{i}, m.groups[m.of[f.Related[at].ID]]...))
		}
	}
}

// merge looks at the entries that became one. Junk that became one with other junk is
// neither right nor wrong.
func (m *clutterMeasure) merge(places []int) {
	same, junk := make(map[int]bool), 0
	for _, i := range places {
		e := &m.Entries[i]
		same[e.Group] = true
		if e.Kind == Junk {
			junk++
		}
	}
	if junk == len(places) {
		m.out.JunkMerged += junk - 1
		return
	}
	d := &m.out.Duplicates
	d.Removed += len(places) - 1
	if m.Entries[places[0]].SaysTheSame() {
		d.Right += len(places) - len(same)
	}
	if len(same) > 1 {
		m.wrong(fmt.Sprintf("merged %d different things", len(same)), places)
	}
}

// deletions looks at what was forgotten.
func (m *clutterMeasure) deletions() {
	for i := range m.fates {
		e := &m.Entries[i]
		switch {
		case !m.fates[i].Gone || e.Kind == Changed && !e.Latest:
		case e.Kind == Junk:
			m.out.Junk.Removed++
			m.out.Junk.Right++
		case e.SaysTheSame() && len(m.Holders(i, m.fates)) > 0:
			m.out.Duplicates.Removed++
			m.out.Duplicates.Right++
		default:
			m.out.Junk.Removed++
			m.wrong("forgotten what is good", []int{i})
		}
	}
}
