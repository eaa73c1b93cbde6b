package access

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"emberd/memory"
)

// Prefix begins every secret, so that people and scanners know one when they see it. What
// follows are 52 characters of base32 (RFC 4648, section 6).
const Prefix = "emberd_"

// Bounds of tokens.
const (
	MaxTokens = 1000 // of a device
	maxName   = 64   // bytes of a token's name, and of its client's
	maxScopes = 20   // of each kind of access
)

// Token is what is known of a capability token: everything but its secret.
type Token struct {
	Name    string
	Client  string // that it was made for, "" when nobody said
	Read    []Scope
	Write   []Scope
	Created time.Time
	Expires time.Time // zero for never
	Shown   time.Time // the last day on which it was shown, in UTC; zero for never
	Refused Refusals  // is not in the file
}

// check returns why a token cannot be created.
func (t *Token) check() error {
	switch {
	case !isName(t.Name):
		return memory.Errorf(memory.Invalid, "invalid token name %q; use 1 to %d characters: a to z, 0 to 9 and -",
			memory.Clip(t.Name), maxName).At("name")
	case t.Client != "" && !isName(t.Client):
		return memory.Errorf(memory.Invalid, "invalid client name %q; use 1 to %d characters: a to z, 0 to 9 and -",
			memory.Clip(t.Client), maxName).At("client")
	case len(t.Read)+len(t.Write) == 0:
		return memory.Errorf(memory.Invalid,
			"missing scope; set a read or write scope: tag:NAME, project:NAME, folder:PATH or all").At("read")
	case len(t.Read) > maxScopes:
		return memory.Errorf(memory.Invalid,
			"too many read scopes: %d (limit %d); create two tokens, or use a parent tag", len(t.Read),
			maxScopes).At("read")
	case len(t.Write) > maxScopes:
		return memory.Errorf(memory.Invalid,
			"too many write scopes: %d (limit %d); create two tokens, or use a parent tag", len(t.Write),
			maxScopes).At("write")
	}
	return nil
}

func isName(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// ParseScopes reads scopes; equal ones count once.
func ParseScopes(texts []string) ([]Scope, error) {
	var scopes []Scope
	for _, text := range texts {
		s, err := ParseScope(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// ScopeTexts returns the form of scopes that [ParseScopes] reads, never nil.
func ScopeTexts(scopes []Scope) []string {
	texts := make([]string, 0, len(scopes))
	for _, s := range scopes {
		texts = append(texts, s.String())
	}
	return texts
}

// newSecret makes a secret of 260 random bits. A guess at one is as hopeless as at a key,
// so its digest needs no work factor, which passwords need.
func newSecret() string { return Prefix + rand.Text() + rand.Text() }

// digest is what is kept of a secret.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }
