package access

import (
	"sync"
	"time"
)

// Refusals counts what was refused to a token since the daemon started.
type Refusals struct {
	Count     int
	Last      time.Time
	Operation string // that was refused last
}

// refusals counts by name. There are no more names than tokens.
type refusals struct {
	mu     sync.Mutex // guards byName
	byName map[string]Refusals
}

func (r *refusals) of(name string) Refusals {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name]
}

// forget drops the count of a token that ends, since another may get its name.
func (r *refusals) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, name)
}

// CountRefusal records that an operation was refused to a token, or parts of it as often as it says.
func (s *Store) CountRefusal(g *Grant, operation string, times int) {
	e := s.book.Load().named(g.Token)
	if e == nil || e.grant != g {
		return // it was revoked in the meantime
	}
	s.refused.mu.Lock()
	defer s.refused.mu.Unlock()
	if s.refused.byName == nil {
		s.refused.byName = make(map[string]Refusals)
	}
	was := s.refused.byName[g.Token]
	s.refused.byName[g.Token] = Refusals{Count: was.Count + times, Last: s.now().UTC(), Operation: operation}
}
