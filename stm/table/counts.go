package table

import (
	"maps"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// Counts reports how many live memories there are, in all and by what they are. What
// there is none of is left out.
type Counts struct {
	Total                       int
	Stages                      map[memory.Stage]int
	Promoted                    map[memory.Stage]int // those of which a note was made
	Collections, Projects, Tags map[string]int       // "" is no project
	Uses                        int64                // on all devices, imported ones among them
	Oldest, Newest              time.Time            // creation, zero without memories
}

// counter keeps counts while rows replace each other. It counts when a caller asks
// for the first time, so that the start does not pay for it.
type counter struct {
	begun                       bool
	stages, promoted            [len(record.Stages)]int
	collections, projects, tags map[string]int
	uses                        int64
	oldest, newest              int64 // Unix milliseconds, 0 for none
	vague                       bool  // the oldest or the newest went
}

// Counts counts the live memories. The caller owns it. The first call looks at all
// of them, and one after the oldest or the newest memory went at their creation.
func (m *MemorySet) Counts() Counts {
	if m.Sees != nil {
		t := newTally()
		for r := range m.Rows() {
			t.add(r)
		}
		return t.counts()
	}
	m.Table.placing.Lock()
	defer m.Table.placing.Unlock()
	t := m.tally()
	if t.vague {
		t.oldest, t.newest, t.vague = 0, 0, false
		for r := range m.Rows() {
			t.span(r)
		}
	}
	return t.counts()
}

// OfProject counts the live memories of a project, "" for those of none. It takes no time after the first call, nor
// after the first of [MemorySet.Counts], unless only some memories are seen.
func (m *MemorySet) OfProject(project string) int {
	if m.Sees != nil {
		return m.count(func(r *Row) bool { return r.Project() == project })
	}
	m.Table.placing.Lock()
	defer m.Table.placing.Unlock()
	return m.tally().projects[project]
}

// tally returns the counts, which the caller has locked. The first call looks at all live memories.
func (m *MemorySet) tally() *counter {
	t := &m.Table.tally
	if !t.begun {
		*t = newTally()
		for r := range m.Rows() {
			t.add(r)
		}
	}
	return t
}

func newTally() counter {
	return counter{begun: true, collections: map[string]int{}, projects: map[string]int{}, tags: map[string]int{}}
}

func (t *counter) counts() Counts {
	c := Counts{Stages: map[memory.Stage]int{}, Promoted: map[memory.Stage]int{},
		Collections: maps.Clone(t.collections),
		Projects:    maps.Clone(t.projects), Tags: maps.Clone(t.tags), Uses: t.uses, Oldest: record.Millis(t.oldest),
		Newest: record.Millis(t.newest)}
	for i, name := range record.Stages {
		c.Total += t.stages[i]
		count(c.Stages, name, t.stages[i])
		count(c.Promoted, name, t.promoted[i])
	}
	return c
}

// replace counts a row that took another's place.
func (t *counter) replace(old, next *Row) {
	switch was, is := old.Live(), next.Live(); {
	case !t.begun:
	case was && is && SameDoc(old, next):
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

func (t *counter) add(r *Row) {
	t.span(r)
	t.note(r, 1)
}

func (t *counter) remove(r *Row) {
	t.note(r, -1)
	t.vague = t.vague || r.Hot.Created == t.oldest || r.Hot.Created == t.newest
}

// span widens the time from the oldest to the newest. A memory that does not say
// when it was made is neither.
func (t *counter) span(r *Row) {
	switch at := r.Hot.Created; {
	case at == 0:
	case t.oldest == 0:
		t.oldest, t.newest = at, at
	default:
		t.oldest, t.newest = min(t.oldest, at), max(t.newest, at)
	}
}

// note counts a row once more or, with -1, once less.
func (t *counter) note(r *Row, n int) {
	t.stages[r.Hot.Stage] += n
	if r.Hot.Promoted {
		t.promoted[r.Hot.Stage] += n
	}
	labels := r.Hot.Labels()
	count(t.collections, labels.Collection, n)
	count(t.projects, labels.Project, n)
	for _, tag := range labels.Tags {
		count(t.tags, tag, n)
	}
	t.uses += int64(n) * r.UseCount()
}

func count[K comparable](in map[K]int, key K, n int) {
	if in[key] += n; in[key] == 0 {
		delete(in, key)
	}
}
