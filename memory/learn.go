package memory

import (
	"cmp"
	"slices"
)

// MaxSources bounds the links of a provenance chain.
const MaxSources = 50

// Learn adds a link to the provenance chain. One that differs from a link that is there
// only in time, and in the process that wrote it, is counted there. A full chain lets go
// of its oldest link but the first, and counts it in SourcesDropped. The link and its
// Actor are copied, and a chain that m shares with a copy of it is left alone.
func (m *Memory) Learn(s Source) {
	s = s.owned()
	if len(m.Sources) == 0 {
		m.Sources = []Source{s}
		return
	}
	chain := slices.Clone(m.Sources)
	i := slices.IndexFunc(chain, s.Equal)
	if i >= 0 {
		s = chain[i].with(s)
	}
	switch {
	case i == 0:
		chain[0] = s
		m.Sources = chain
		return
	case i > 0:
		chain = slices.Delete(chain, i, i+1)
	}
	at, _ := slices.BinarySearchFunc(chain[1:], s, func(have, s Source) int {
		return cmp.Or(have.At.Compare(s.At), -1) // behind those of the same moment
	})
	m.Sources = slices.Insert(chain, 1+at, s)
	m.ShortenChain(MaxSources)
}

// ShortenChain keeps the first link of the provenance chain and the latest, limit in all,
// and counts the others in SourcesDropped. A chain that m shares is left alone.
func (m *Memory) ShortenChain(limit int) {
	over := len(m.Sources) - max(1, limit)
	if over <= 0 {
		return
	}
	for _, s := range m.Sources[1 : 1+over] {
		m.SourcesDropped += s.Count()
	}
	m.Sources = slices.Delete(slices.Clone(m.Sources), 1, 1+over)
}

// LearnAll adds the whole chain of another memory, what was dropped of it included.
func (m *Memory) LearnAll(o *Memory) {
	for _, s := range o.Sources {
		m.Learn(s)
	}
	m.SourcesDropped += o.SourcesDropped
}

// Count is how often it was learned by this link, at least once.
func (s Source) Count() int64 { return max(1, s.Times) }

// Equal reports whether two links say the same but for when, how often and in which
// process.
func (s Source) Equal(o Source) bool {
	return s.Kind == o.Kind && s.Ref == o.Ref && s.Line == o.Line && s.Evidence == o.Evidence &&
		s.Project == o.Project && s.By.same(o.By)
}

// same compares two actors but for their processes. None is one of its own.
func (a *Actor) same(o *Actor) bool {
	if a == nil || o == nil {
		return a == o
	}
	one, other := *a, *o
	one.PID, other.PID = 0, 0
	return one == other
}

// owned returns the link with an Actor of its own.
func (s Source) owned() Source {
	if s.By != nil {
		by := *s.By
		s.By = &by
	}
	return s
}

// with returns the link counted together with an equal one: the process is that of the later.
func (s Source) with(o Source) Source {
	s = s.owned()
	s.Times = s.Count() + o.Count()
	if o.At.After(s.At) {
		s.At = o.At
		if s.By != nil {
			s.By.PID = o.By.PID
		}
	}
	return s
}
