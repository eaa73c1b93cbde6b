package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Bounds of codes and sessions.
const (
	codeLife    = 60 * time.Second
	sessionLife = 12 * time.Hour
	maxSessions = 8
	maxUndo     = 100 // entries that a session can undo, one after another
)

// digest stands for a secret, so that a lookup takes the same time whatever the secret is.
type digest [sha256.Size]byte

// sessions are the one code that can be used now, and the browsers that used one.
type sessions struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	code    digest
	expires time.Time // of the code; zero if there is none
	open    []*session
}

// session is one browser that showed a code.
type session struct {
	key   digest
	began time.Time

	mu    sync.Mutex // guards undos
	undos []string   // journal entries that were made here, the latest last
}

// random returns random bytes as text that a URL and a cookie can contain.
func random(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// newCode makes a code of 128 bits that opens one session within 60 seconds. A code from before
// is no longer valid.
func (s *sessions) newCode() string {
	code := random(16)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.expires = sha256.Sum256([]byte(code)), s.now().Add(codeLife)
	return code
}

// begin opens a session for a code and returns the secret of the session, false if the code is
// unknown, used or expired. The oldest session ends if there are too many.
func (s *sessions) begin(code string) (string, bool) {
	shown := digest(sha256.Sum256([]byte(code)))
	s.mu.Lock()
	defer s.mu.Unlock()
	valid := s.now().Before(s.expires) && subtle.ConstantTimeCompare(shown[:], s.code[:]) == 1
	if !valid {
		return "", false
	}
	s.expires = time.Time{}
	key := random(32)
	s.open = append(s.open, &session{key: sha256.Sum256([]byte(key)), began: s.now()})
	s.open = s.open[max(0, len(s.open)-maxSessions):]
	return key, true
}

// find returns the session with a secret, nil if there is none or it is older than 12 hours.
func (s *sessions) find(key string) *session {
	sum := digest(sha256.Sum256([]byte(key)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o *session) bool { return s.now().Sub(o.began) >= sessionLife })
	i := slices.IndexFunc(s.open, func(o *session) bool { return subtle.ConstantTimeCompare(o.key[:], sum[:]) == 1 })
	if i < 0 {
		return nil
	}
	return s.open[i]
}

// end closes a session.
func (s *sessions) end(ended *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o *session) bool { return o == ended })
}

// did records a journal entry, for undo.
func (s *session) did(tx string) {
	if tx == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undos = append(s.undos, tx)
	s.undos = s.undos[max(0, len(s.undos)-maxUndo):]
}

// last returns the latest entry that was not undone, "" if there is none.
func (s *session) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.undos) == 0 {
		return ""
	}
	return s.undos[len(s.undos)-1]
}

// undid forgets an entry that was undone, and reports whether it was made here.
func (s *session) undid(tx string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.undos)
	s.undos = slices.DeleteFunc(s.undos, func(u string) bool { return u == tx })
	return len(s.undos) < before
}

// cookie returns the cookie of a session. Browsers send cookies to every port of a host, so
// the name contains the port.
func (p *Page) cookie(key string) *http.Cookie {
	return &http.Cookie{Name: p.cookieName(), Value: key, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(sessionLife / time.Second)}
}

func (p *Page) cookieName() string { return "emberd-" + p.port }

// sessionOf returns the session of a request, nil if its cookie is missing, repeated or not valid.
func (p *Page) sessionOf(r *http.Request) *session {
	all := r.CookiesNamed(p.cookieName())
	if len(all) != 1 {
		return nil
	}
	return p.sessions.find(all[0].Value)
}
