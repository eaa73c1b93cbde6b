package access

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/bubble"
	"emberd/memory"
)

// clock is a time that tests set.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

// noon is when the tests of this file begin.
func noon() *clock { return &clock{time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)} }

func openAt(t *testing.T, file string, c *clock) *Store {
	t.Helper()
	s := OpenStore(durable.OS{}, file, c.now)
	if err := s.Damage(); err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, s *Store, name string, expires time.Time) (secret string) {
	t.Helper()
	secret, _, err := s.Create(Token{Name: name, Read: []Scope{{Tag, "home"}}, Write: []Scope{{Tag, "work"}}, Expires: expires}, false)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestATokenGivesItsGrantUntilItEnds(t *testing.T) {
	file, c := filepath.Join(t.TempDir(), "tokens.json"), noon()
	s := openAt(t, file, c)
	ever, day := create(t, s, "ever", time.Time{}), create(t, s, "day", c.Add(24*time.Hour))
	if len(ever) != len(Prefix)+52 || ever == day {
		t.Errorf("secrets are %q and %q, want two of %d characters", ever, day, len(Prefix)+52)
	}
	for range 2 { // as made, and as read again
		g, err := s.Grant(ever)
		if err != nil || g.Token != "ever" || g.Whole() || !g.May(Subject{Tags: []string{"work"}}) || g.May(Subject{Tags: []string{"home"}}) {
			t.Fatalf("the grant is %+v, %v", g, err)
		}
		if again, err := s.Grant(ever); again != g || err != nil {
			t.Error("the same token has another grant")
		}
		s = openAt(t, file, c)
	}
	c.Time = c.Add(24 * time.Hour)
	wantForbidden(t, s, day, "token day expired at 2026-03-06T12:00:00Z")
	if _, err := s.Grant(ever); err != nil {
		t.Error(err)
	}
	if _, err := s.Revoke("ever"); err != nil {
		t.Fatal(err)
	}
	wantForbidden(t, s, ever, "token ever was revoked")
	wantForbidden(t, openAt(t, file, c), ever, "token ever was revoked")
	for _, secret := range []string{"", Prefix, ever[:len(ever)-1], ever + "A", strings.ToLower(ever), "ever", hexOf(day)} {
		wantForbidden(t, s, secret, "token not found")
	}
}

// hexOf is what a reader of the file could show.
func hexOf(secret string) string {
	key := digestOf(secret)
	return hex.EncodeToString(key[:])
}

func wantForbidden(t *testing.T, s *Store, secret, want string) {
	t.Helper()
	g, err := s.Grant(secret)
	if g != nil || memory.CodeOf(err) != memory.Forbidden || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Grant(%.10q…) = %v, %v; want %q", secret, g, err, want)
	}
}

func TestTheFileHasNoSecretAndIsItsOwners(t *testing.T) {
	file, c := filepath.Join(t.TempDir(), "tokens.json"), noon()
	s := openAt(t, file, c)
	secret := create(t, s, "cursor", time.Time{})
	if strings.Contains(read(t, file), strings.TrimPrefix(secret, Prefix)) {
		t.Error("the file has the secret")
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v; want 0600", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := OpenStore(durable.OS{}, file, c.now).Damage(); memory.CodeOf(err) != memory.Forbidden || !strings.Contains(err.Error(), fmt.Sprintf("(mode %04o)", mode)) {
			t.Errorf("with mode %04o: %v, want a refusal that tells it", mode, err)
		}
	}
}

func TestShowingATokenIsKeptByTheDay(t *testing.T) {
	file, c := filepath.Join(t.TempDir(), "tokens.json"), noon()
	s := openAt(t, file, c)
	secret := create(t, s, "cursor", time.Time{})
	show := func(want string) {
		t.Helper()
		if _, err := s.Grant(secret); err != nil {
			t.Fatal(err)
		}
		if got := openAt(t, file, c).List()[0].Shown.Format(time.DateOnly); got != want {
			t.Errorf("last shown %s, want %s", got, want)
		}
	}
	show("2026-03-05")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	c.Time = c.Add(11 * time.Hour)
	show("2026-03-05")
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written again on the same day: %v", err)
	}
	c.Time = c.Add(time.Hour)
	show("2026-03-06")
}

// fullDisk takes no new file.
type fullDisk struct{ durable.OS }

func (fullDisk) CreateAppend(string) (durable.File, error) { return nil, errors.New("no space left") }

func TestAFullDiskKeepsNobodyOut(t *testing.T) {
	file, c := filepath.Join(t.TempDir(), "tokens.json"), noon()
	secret := create(t, openAt(t, file, c), "cursor", time.Time{})
	s := OpenStore(fullDisk{}, file, c.now)
	if _, err := s.Grant(secret); err != nil {
		t.Errorf("showing a token: %v", err)
	}
	if _, err := s.Revoke("cursor"); memory.CodeOf(err) != memory.ReadOnly {
		t.Errorf("revoking: %v, want that it cannot be written", err)
	}
	if _, err := s.Grant(secret); err != nil {
		t.Errorf("after a revocation that failed: %v", err)
	}
	if _, _, err := s.Create(Token{Name: "other", Read: []Scope{{Kind: All}}}, false); memory.CodeOf(err) != memory.ReadOnly || len(s.List()) != 1 {
		t.Errorf("making one: %v, and %d tokens", err, len(s.List()))
	}
}

func TestCreateRefuses(t *testing.T) {
	c := noon()
	s := openAt(t, filepath.Join(t.TempDir(), "tokens.json"), c)
	create(t, s, "taken", time.Time{})
	all := []Scope{{Kind: All}}
	tests := []struct {
		token Token
		want  string
	}{
		{Token{Name: "new"}, "missing scope; set a read or write scope"},
		{Token{Name: "taken", Read: all}, "token taken already exists"},
		{Token{Name: "", Read: all}, `invalid token name ""`},
		{Token{Name: "New", Read: all}, `invalid token name "New"`},
		{Token{Name: "a/b", Read: all}, `invalid token name "a/b"`},
		{Token{Name: strings.Repeat("a", 65), Read: all}, `invalid token name "aaaa`},
		{Token{Name: "new", Client: "C d", Read: all}, `invalid client name "C d"`},
		{Token{Name: "new", Read: all, Expires: c.Time}, "the expiry time 2026-03-05T12:00:00Z is in the past"},
		{Token{Name: "new", Write: make([]Scope, maxScopes+1)}, "too many write scopes: 21 (limit 20)"},
	}
	for _, test := range tests {
		if _, _, err := s.Create(test.token, false); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("Create(%+v): %v, want %q", test.token, err, test.want)
		}
	}
	if got := s.List(); len(got) != 1 {
		t.Errorf("there are %d tokens, want the one", len(got))
	}
}

// TestATokenIsReplacedAtOnce, or stays when what is to take its place cannot be made.
func TestATokenIsReplacedAtOnce(t *testing.T) {
	c := noon()
	s := openAt(t, filepath.Join(t.TempDir(), "tokens.json"), c)
	first := create(t, s, "cursor", time.Time{})
	held, err := s.Grant(first)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := held.Hold(t.Context())
	defer cancel()
	if _, _, err := s.Create(Token{Name: "cursor", Read: []Scope{{Kind: All}}, Expires: c.Add(-time.Hour)}, true); err == nil || ctx.Err() != nil {
		t.Errorf("with one that has expired: %v, and %v", err, ctx.Err())
	}
	if _, err := s.Grant(first); err != nil {
		t.Error(err)
	}
	second, _, err := s.Create(Token{Name: "cursor", Read: []Scope{{Kind: All}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	wantForbidden(t, s, first, "token cursor was revoked")
	if g, err := s.Grant(second); err != nil || !g.Sees(Subject{}) || len(s.List()) != 1 {
		t.Errorf("the second is %+v, %v, of %d", g, err, len(s.List()))
	}
}

func TestThereIsAMostOfTokens(t *testing.T) {
	b := (&tokenTable{}).clone()
	for i := range MaxTokens {
		key := digestOf(fmt.Sprint(i))
		b.tokens[key] = newEntry(Token{Name: fmt.Sprintf("t-%d", i), Read: []Scope{{Kind: All}}}, key)
	}
	file, c := filepath.Join(t.TempDir(), "tokens.json"), noon()
	if err := os.WriteFile(file, encode(b), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, file, c)
	if _, _, err := s.Create(Token{Name: "more", Read: []Scope{{Kind: All}}}, false); err == nil || !strings.Contains(err.Error(), "too many tokens (limit 1000)") {
		t.Errorf("one more: %v", err)
	}
	for i := range maxRevoked + 10 {
		if _, err := s.Revoke(fmt.Sprintf("t-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if s = openAt(t, file, c); len(s.List()) != MaxTokens-maxRevoked-10 || len(s.book.Load().revoked) != maxRevoked {
		t.Errorf("%d tokens are left and %d revoked are told", len(s.List()), len(s.book.Load().revoked))
	}
	if valid, expiring := s.Count(time.Hour); valid != len(s.List()) || expiring != 0 {
		t.Errorf("Count = %d, %d", valid, expiring)
	}
}

// TestAFileThatIsNotOursIsRefused: guessing what it meant could widen a token.
func TestAFileThatIsNotOursIsRefused(t *testing.T) {
	key := hexOf("x")
	tests := map[string]string{
		"nothing":          ``,
		"no JSON":          `tokens`,
		"more behind it":   `{"format":1,"tokens":[]}{"format":1}`,
		"later format":     `{"format":2,"tokens":[]}`,
		"unknown limit":    `{"format":1,"tokens":[{"name":"a","sha256":"` + key + `","read":["all"],"write":[],"hours":"9-17"}]}`,
		"unknown scope":    `{"format":1,"tokens":[{"name":"a","sha256":"` + key + `","read":["planet:earth"],"write":[]}]}`,
		"no scope":         `{"format":1,"tokens":[{"name":"a","sha256":"` + key + `","read":[],"write":[]}]}`,
		"half a digest":    `{"format":1,"tokens":[{"name":"a","sha256":"` + key[:32] + `","read":["all"],"write":[]}]}`,
		"the same twice":   `{"format":1,"tokens":[{"name":"a","sha256":"` + key + `","read":["all"],"write":[]},{"name":"b","sha256":"` + key + `","read":["all"],"write":[]}]}`,
		"no day":           `{"format":1,"tokens":[{"name":"a","sha256":"` + key + `","read":["all"],"write":[],"shown":"yesterday"}]}`,
		"nameless revoked": `{"format":1,"tokens":[],"revoked":[{"name":"","sha256":"` + key + `"}]}`,
	}
	for name, text := range tests {
		file := filepath.Join(t.TempDir(), "tokens.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := OpenStore(durable.OS{}, file, time.Now)
		if err := s.Damage(); memory.CodeOf(err) != memory.Forbidden ||
			!strings.Contains(err.Error(), "cannot use the file "+file+": invalid content: ") {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		_, granted := s.Grant("a")
		_, _, made := s.Create(Token{Name: "new", Read: []Scope{{Kind: All}}}, true)
		_, revoked := s.Revoke("a")
		for what, err := range map[string]error{"a token": granted, "a new one": made, "a revocation": revoked} {
			if memory.CodeOf(err) != memory.Forbidden || !strings.HasPrefix(err.Error(), "emberd accepts no tokens, because") {
				t.Errorf("%s: %s: %v, want a refusal", name, what, err)
			}
		}
		if got := read(t, file); got != text {
			t.Errorf("%s: the file was changed to %s", name, got)
		}
	}
}

// TestWhatIsHeldEndsWithTheToken: by revocation, with time, and with its own context.
func TestWhatIsHeldEndsWithTheToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	bubble.Test(t, func(t *testing.T) {
		s := OpenStore(durable.OS{}, file, time.Now)
		hold := func(name string, expires time.Time) context.Context {
			g, err := s.Grant(create(t, s, name, expires))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := g.Hold(t.Context())
			t.Cleanup(cancel)
			return ctx
		}
		stays, revoked, expires := hold("stays", time.Time{}), hold("revoked", time.Time{}), hold("expires", time.Now().Add(time.Hour))
		ended := func(want ...bool) {
			t.Helper()
			synctest.Wait()
			for i, ctx := range []context.Context{stays, revoked, expires} {
				if got := ctx.Err() != nil; got != want[i] {
					t.Errorf("context %d ended: %t, want %t", i, got, want[i])
				}
			}
		}
		ended(false, false, false)
		if _, err := s.Revoke("revoked"); err != nil {
			t.Fatal(err)
		}
		ended(false, true, false)
		time.Sleep(time.Hour + time.Second)
		ended(false, true, true)
		var everything *Grant
		held, cancel := everything.Hold(t.Context())
		cancel()
		if held.Err() == nil {
			t.Error("cancel does not end what everything holds")
		}
	})
}

// TestManyAskWhileTokensChange: lookups wait for nobody and see one book or the next. It
// is of use with the race detector.
func TestManyAskWhileTokensChange(t *testing.T) {
	c := noon()
	s := openAt(t, filepath.Join(t.TempDir(), "tokens.json"), c)
	secret := create(t, s, "stays", time.Time{})
	done := make(chan error)
	for range 4 {
		go func() {
			for range 200 {
				if _, err := s.Grant(secret); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for i := range 5 {
		name := fmt.Sprintf("t-%d", i)
		create(t, s, name, time.Time{})
		if _, err := s.Revoke(name); err != nil {
			t.Error(err)
		}
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
