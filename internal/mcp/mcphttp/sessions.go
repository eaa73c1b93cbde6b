package mcphttp

import (
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/access"
)

// sessions knows which session is in use. The server knows which there are.
type sessions struct {
	mu      sync.Mutex // guards what follows
	servers []*sdk.Server
	open    map[string]*session // by id
	coming  int                 // requests that may each open one
	closed  bool

	stop  chan struct{} // closed with the first close
	calls sync.WaitGroup
}

// session is one session.
type session struct {
	server  *sdk.Server
	grant   *access.Grant // of the token that opened it, nil for none
	running int           // requests and streams
	since   time.Time
	idle    *time.Timer // runs while nothing is running
}

func newSessions() *sessions {
	return &sessions{open: make(map[string]*session), stop: make(chan struct{})}
}

// watch has close end the sessions of a server.
func (s *sessions) watch(server *sdk.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, server)
}

// reserve makes room for a session, if need be by ending the one that has been idle
// longest; false when all are in use. add or release must follow.
func (s *sessions) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open)+s.coming >= maxSessions && !s.evict() {
		return false
	}
	s.coming++
	return true
}

// release gives back what reserve took, when no session came of it.
func (s *sessions) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming--
}

// add takes the place of one reserved, for a session with a request that leave ends.
func (s *sessions) add(id string, server *sdk.Server, grant *access.Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming--
	s.open[id] = &session{server: server, grant: grant, running: 1}
}

// enter counts a request of a session, until leave. It returns false if there is no such
// session, or if another token opened it: for other callers it does not exist.
func (s *sessions) enter(id string, grant *access.Grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.open[id]
	if !ok || v.grant != grant {
		return false
	}
	v.running++
	if v.idle != nil {
		v.idle.Stop()
	}
	return true
}

// leave follows enter and add. A session without requests is ended after idleTime.
func (s *sessions) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.open[id]
	switch {
	case !ok:
		return
	case find(v.server, id) == nil: // its client ended it, or it never began
		s.drop(id, v)
		return
	}
	if v.running--; v.running > 0 {
		return
	}
	v.since = time.Now()
	v.idle = time.AfterFunc(idleTime, func() { s.expire(id, v) })
}

func (s *sessions) expire(id string, v *session) {
	s.mu.Lock()
	expired := s.open[id] == v && v.running == 0
	if expired {
		s.drop(id, v)
	}
	s.mu.Unlock()
	if expired {
		end(v.server, id)
	}
}

// evict ends the session that has been idle longest, if one is idle.
func (s *sessions) evict() bool {
	oldest := ""
	for id, v := range s.open {
		if v.running == 0 && (oldest == "" || v.since.Before(s.open[oldest].since)) {
			oldest = id
		}
	}
	if oldest == "" {
		return false
	}
	v := s.open[oldest]
	s.drop(oldest, v)
	go end(v.server, oldest)
	return true
}

func (s *sessions) drop(id string, v *session) {
	delete(s.open, id)
	if v.idle != nil {
		v.idle.Stop()
	}
}

// call counts a request until s.calls.Done, unless the end has come.
func (s *sessions) call() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.calls.Add(1)
	}
	return !s.closed
}

// close ends streams, waits for calls, and ends the sessions. A session that is ended
// first would not write the answers of its calls.
func (s *sessions) close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	s.mu.Unlock()
	s.calls.Wait()
	s.mu.Lock()
	for id, v := range s.open {
		s.drop(id, v)
	}
	servers := slices.Clone(s.servers)
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, server := range servers {
		for session := range server.Sessions() {
			all.Go(func() { _ = session.Close() }) // an error is its client's, which is gone
		}
	}
	all.Wait()
}

// find returns the session of an id, nil when there is none.
func find(server *sdk.Server, id string) *sdk.ServerSession {
	for session := range server.Sessions() {
		if session.ID() == id {
			return session
		}
	}
	return nil
}

// end ends a session, if it is still there.
func end(server *sdk.Server, id string) {
	if session := find(server, id); session != nil {
		_ = session.Close() // an error is its client's, which has been silent for long
	}
}
