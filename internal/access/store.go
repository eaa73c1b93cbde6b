package access

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// Store is the tokens of a device, in one file that is replaced as a whole with every
// change. Any number of goroutines can use it; looking a secret up takes no
// lock.
type Store struct {
	fsys durable.FS
	file string
	now  func() time.Time

	damage   error                      // why the file cannot be used, nil if it can; set by OpenStore
	changing sync.Mutex                 // held while a goroutine writes the file
	book     atomic.Pointer[tokenTable] // never changed, but replaced
	refused  refusals
}

// tokenTable is all tokens at one moment.
type tokenTable struct {
	tokens  map[digest]*entry
	revoked []revokedToken // the latest last
}

// entry is one token. Its grant stays the same as long as the token is there.
type entry struct {
	Token
	key   digest // of its secret
	grant *Grant
	end   chan struct{} // closed with its revocation
}

// revokedToken is a token that was revoked, kept so that its callers learn why they are refused.
type revokedToken struct {
	name string
	key  digest
}

// maxRevoked bounds the revoked tokens that are kept.
const maxRevoked = 100

// OpenStore reads the tokens in a file, which need not exist. A file that others could read is not
// used, since they could have changed it, and neither is a damaged one: then no token is valid, and
// nothing is written, see [Store.Damage]. The caller holds the lock of the folder.
func OpenStore(fsys durable.FS, file string, now func() time.Time) *Store {
	s := &Store{fsys: fsys, file: file, now: now}
	b, err := s.read()
	if err != nil {
		b, s.damage = &tokenTable{}, err
	}
	s.book.Store(b)
	return s
}

// Damage returns why the file of the tokens cannot be used and what to do, or nil. emberd leaves
// such a file as it is.
func (s *Store) Damage() error { return s.damage }

func (s *Store) read() (*tokenTable, error) {
	info, err := s.fsys.Lstat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tokenTable{}, nil
	case err != nil:
		return nil, s.unusable(err)
	case info.Mode().Perm()&0o077 != 0:
		return nil, s.unusable(fmt.Errorf("other users can access the file (mode %04o) and might "+
			"have changed it; check its content, and run: chmod 600 %s", info.Mode().Perm(), s.file))
	case info.Size() > maxFile:
		return nil, s.unusable(fmt.Errorf("too many bytes in the file: %d (limit %d)", info.Size(), maxFile))
	}
	raw, err := durable.ReadAtMost(s.fsys, s.file, maxFile)
	if err != nil {
		return nil, s.unusable(err)
	}
	b, err := decode(raw)
	if err != nil {
		return nil, s.unusable(fmt.Errorf("invalid content: %w", err))
	}
	return b, nil
}

// unusable is the error of a file that cannot be used.
func (s *Store) unusable(why error) error {
	return memory.Errorf(memory.Forbidden, "emberd accepts no tokens, because it cannot use the file %s: %w; repair "+
		"the file, or rename the file and create new tokens; then restart the daemon", s.file, why)
}

// Create creates a token and returns its secret, which cannot be read again later. With
// replace it also revokes the token of the same name, atomically.
func (s *Store) Create(t Token, replace bool) (secret string, made Token, err error) {
	if err := t.check(); err != nil {
		return "", Token{}, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	now, fresh := s.now(), s.book.Load().clone()
	old := fresh.named(t.Name)
	switch {
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return "", Token{},
			memory.Errorf(memory.Invalid, "the expiry time %s is in the past; pass a later time",
				t.Expires.Format(time.RFC3339)).At("expires")
	case old != nil && !replace:
		return "", Token{},
			memory.Errorf(memory.Conflict,
				"token %s already exists; choose another name, or run: emberd agent token revoke %s", t.Name,
				t.Name).At("name")
	case old == nil && len(fresh.tokens) >= MaxTokens:
		return "", Token{}, memory.Errorf(memory.Invalid,
			"too many tokens (limit %d); revoke a token; to list the tokens, run: emberd agent token list", MaxTokens)
	}
	t.Created, t.Expires, t.Shown = now.UTC().Truncate(time.Second), t.Expires.UTC().Truncate(time.Second), time.Time{}
	secret = newSecret()
	if old != nil {
		fresh.revoke(old)
	}
	fresh.tokens[digestOf(secret)] = newEntry(t, digestOf(secret))
	if err := s.write(fresh); err != nil {
		return "", Token{}, err
	}
	if old != nil {
		close(old.end)
		s.refused.forget(old.Name)
	}
	return secret, t, nil
}

func newEntry(t Token, key digest) *entry {
	end := make(chan struct{})
	return &entry{Token: t, key: key, end: end,
		grant: &Grant{Token: t.Name, Read: t.Read, Write: t.Write, Made: t.Created, ended: end, expires: t.Expires}}
}

// write makes b the tokens, if the disk takes it.
func (s *Store) write(b *tokenTable) error {
	if s.damage != nil {
		return s.damage
	}
	if err := durable.ReplaceFile(s.fsys, s.file, encode(b)); err != nil {
		return memory.Errorf(memory.ReadOnly, "cannot write the token file: %w; nothing changed", err)
	}
	s.book.Store(b)
	return nil
}

// List returns all tokens by name, those that have expired among them.
func (s *Store) List() []Token {
	var all []Token
	for _, e := range s.book.Load().tokens {
		t := e.Token
		t.Refused = s.refused.of(t.Name)
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Token) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Revoke ends a token at once, and whatever holds its grant. Its name is free again.
func (s *Store) Revoke(name string) (Token, error) {
	if s.damage != nil {
		return Token{}, s.damage
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	fresh := s.book.Load().clone()
	e := fresh.named(name)
	if e == nil {
		return Token{}, memory.Errorf(memory.NotFound, "token %q not found; run: emberd agent token list",
			memory.Clip(name)).At("name")
	}
	fresh.revoke(e)
	if err := s.write(fresh); err != nil {
		return Token{}, err
	}
	close(e.end)
	s.refused.forget(name)
	return e.Token, nil
}

// Grant returns the permissions of the token with a secret. The same token has the same grant
// until it is revoked. Tokens are found by the digest of the secret, so that the duration of a
// search reveals nothing about it.
func (s *Store) Grant(secret string) (*Grant, error) {
	b, key := s.book.Load(), digestOf(secret)
	e, ok := b.tokens[key]
	if s.damage != nil {
		return nil, memory.Errorf(memory.Forbidden,
			"emberd accepts no tokens, because it cannot use the token file; to see the reason, run: emberd doctor")
	}
	if !ok {
		for _, r := range b.revoked {
			if r.key == key {
				return nil, memory.Errorf(memory.Forbidden,
					"token %s was revoked; to create a new token, run: emberd agent token create", r.name)
			}
		}
		return nil, memory.Errorf(memory.Forbidden,
			"token not found; to create a token, run: emberd agent token create")
	}
	now := s.now()
	if !e.Expires.IsZero() && !now.Before(e.Expires) {
		return nil, memory.Errorf(memory.Forbidden,
			"token %s expired at %s; to create a new token, run: emberd agent token create", e.Name,
			e.Expires.Format(time.RFC3339))
	}
	if day := now.UTC().Truncate(24 * time.Hour); day.After(e.Shown) {
		s.recordUse(key, day)
	}
	return e.grant, nil
}

// recordUse records the day of a token's last use, with one write a day. It does not wait for
// another goroutine that writes. A day that cannot be written is kept until the daemon ends.
func (s *Store) recordUse(key digest, day time.Time) {
	if !s.changing.TryLock() {
		return
	}
	defer s.changing.Unlock()
	fresh := s.book.Load().clone()
	e, ok := fresh.tokens[key]
	if !ok || !day.After(e.Shown) {
		return
	}
	shown := *e
	shown.Shown = day
	fresh.tokens[key] = &shown
	if s.write(fresh) != nil { // a full disk must not make a token invalid
		s.book.Store(fresh)
	}
}

// Count returns how many tokens there are that have not expired, and how many of them will
// within a time.
func (s *Store) Count(within time.Duration) (valid, expiring int) {
	now := s.now()
	for _, e := range s.book.Load().tokens {
		left := e.Expires.Sub(now)
		switch {
		case e.Expires.IsZero():
			valid++
		case left > 0:
			valid++
			if left <= within {
				expiring++
			}
		}
	}
	return valid, expiring
}

func (b *tokenTable) clone() *tokenTable {
	c := &tokenTable{tokens: maps.Clone(b.tokens), revoked: slices.Clone(b.revoked)}
	if c.tokens == nil {
		c.tokens = make(map[digest]*entry)
	}
	return c
}

// revoke removes an entry from a table that no other goroutine has yet.
func (b *tokenTable) revoke(e *entry) {
	delete(b.tokens, e.key)
	b.revoked = append(b.revoked, revokedToken{e.Name, e.key})
	b.revoked = b.revoked[max(0, len(b.revoked)-maxRevoked):]
}

func (b *tokenTable) named(name string) *entry {
	for _, e := range b.tokens {
		if e.Name == name {
			return e
		}
	}
	return nil
}
