package stm

import (
	"maps"
	"time"

	"emberd/memory"
)

// Counts says how many live memories there are, in all and by what they are. What
// there is none of is left out.
type Counts struct {
	Total                       int
	Stages                      map[memory.Stage]int
	Promoted                    map[memory.Stage]int // those of which a note was made
	Collections, Projects, Tags map[string]int       // "" is no project
	Uses                        int64                // on all devices, imported ones among them
	Oldest, Newest              time.Time            // creation, zero without memories
}

// tally keeps counts as rows take each other's place. It begins when somebody asks
// for the first time, which spares the start of what it costs.
type tally struct {
	begun                       bool
	stages, promoted            [len(stages)]int
	collections, projects, tags map[string]int
	uses                        int64
	oldest, newest              int64 // Unix milliseconds, 0 for none
	vague                       bool  // the oldest or the newest went
}

// Counts counts the live memories. The caller owns it. The first call looks at all
// of them, and one after the oldest or the newest memory went at their creation.
func (m *Memories) Counts() Counts {
	if m.sees != nil {
		t := newTally()
		for r := range m.Rows() {
			t.add(r)
		}
		return t.counts()
	}
	m.table.placing.Lock()
	defer m.table.placing.Unlock()
	t := &m.table.tally
	if !t.begun {
		*t = newTally()
		for r := range m.Rows() {
			t.add(r)
		}
	}
	if t.vague {
		t.oldest, t.newest, t.vague = 0, 0, false
		for r := range m.Rows() {
			t.span(r)
		}
	}
	return t.counts()
}

func newTally() tally {
	return tally{begun: true, collections: map[string]int{}, projects: map[string]int{}, tags: map[string]int{}}
}

func (t *tally) counts() Counts {
	c := Counts{Stages: map[memory.Stage]int{}, Promoted: map[memory.Stage]int{}, Collections: maps.Clone(t.collections),
		Projects: maps.Clone(t.projects), Tags: maps.Clone(t.tags), Uses: t.uses, Oldest: milli(t.oldest), Newest: milli(t.newest)}
	for i, name := range stages {
		c.Total += t.stages[i]
		count(c.Stages, name, t.stages[i])
		count(c.Promoted, name, t.promoted[i])
	}
	return c
}

// replace counts a row that took another's place.
func (t *tally) replace(old, next *Row) {
	switch was, is := old.live(), next.live(); {
	case !t.begun:
	case was && is && sameDoc(old, next):
		t.uses += next.UseCount() - old.UseCount()
	default:
		if was {
			t.remove(old)
		}
		if is {
			t.add(next)
		}
	}
}

func (t *tally) add(r *Row) {
	t.span(r)
	t.note(r, 1)
}

func (t *tally) remove(r *Row) {
	t.note(r, -1)
	t.vague = t.vague || r.hot.created == t.oldest || r.hot.created == t.newest
}

// span widens the time from the oldest to the newest. A memory that does not say
// when it was made is neither.
func (t *tally) span(r *Row) {
	switch at := r.hot.created; {
	case at == 0:
	case t.oldest == 0:
		t.oldest, t.newest = at, at
	default:
		t.oldest, t.newest = min(t.oldest, at), max(t.newest, at)
	}
}

// note counts a row once more or, with -1, once less.
func (t *tally) note(r *Row, n int) {
	t.stages[r.hot.stage] += n
	if r.hot.promoted {
		t.promoted[r.hot.stage] += n
	}
	count(t.collections, r.hot.collection, n)
	count(t.projects, r.hot.project, n)
	for _, tag := range r.hot.tags {
		count(t.tags, tag, n)
	}
	t.uses += int64(n) * r.UseCount()
}

func count[K comparable](in map[K]int, key K, n int) {
	if in[key] += n; in[key] == 0 {
		delete(in, key)
	}
}
