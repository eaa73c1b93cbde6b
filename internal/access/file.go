package access

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// maxFile bounds the file, in bytes; a thousand tokens with the most scopes of the
// longest have about half of it.
const maxFile = 16 << 20

// format is the version of the file. A later one is refused: it may limit tokens in ways
// that are not known here.
const format = 1

// fileForm is the file, JSON: format, the tokens by name, and those revoked last.
type fileForm struct {
	Format  int           `json:"format"`
	Tokens  []tokenForm   `json:"tokens"`
	Revoked []revokedForm `json:"revoked,omitempty"`
}

// tokenForm is one token. SHA256 is of its secret, in hexadecimal digits.
type tokenForm struct {
	Name    string    `json:"name"`
	SHA256  string    `json:"sha256"`
	Client  string    `json:"client,omitempty"`
	Read    []string  `json:"read"`
	Write   []string  `json:"write"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Shown   string    `json:"shown,omitempty"` // a day
}

type revokedForm struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

func encode(b *tokenTable) []byte {
	f := fileForm{Format: format, Tokens: []tokenForm{}}
	for key, e := range b.tokens {
		t := tokenForm{Name: e.Name, SHA256: hex.EncodeToString(key[:]), Client: e.Client,
			Read: ScopeTexts(e.Read), Write: ScopeTexts(e.Write), Created: e.Created, Expires: e.Expires}
		if !e.Shown.IsZero() {
			t.Shown = e.Shown.Format(time.DateOnly)
		}
		f.Tokens = append(f.Tokens, t)
	}
	slices.SortFunc(f.Tokens, func(a, b tokenForm) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range b.revoked {
		f.Revoked = append(f.Revoked, revokedForm{r.name, hex.EncodeToString(r.key[:])})
	}
	text, _ := json.MarshalIndent(&f, "", "  ") // strings and times of this package: this cannot fail
	return append(text, '\n')
}

// decode believes nothing: a scope that is not understood must not become none, nor a
// time that is left out never.
func decode(raw []byte) (*tokenTable, error) {
	var f fileForm
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("the file contains data after the end of its JSON value")
	}
	if f.Format != format {
		return nil, fmt.Errorf("the file has format %d, but this version of emberd supports format %d", f.Format,
			format)
	}
	if len(f.Tokens) > MaxTokens || len(f.Revoked) > maxRevoked {
		return nil, errors.New("too many tokens in the file")
	}
	b := (&tokenTable{}).clone()
	for i := range f.Tokens {
		key, t, err := f.Tokens[i].token()
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		if b.tokens[key] != nil || b.named(t.Name) != nil {
			return nil, fmt.Errorf("token %d has the same name or digest as an earlier token", i+1)
		}
		b.tokens[key] = newEntry(t, key)
	}
	for i, r := range f.Revoked {
		key, err := readDigest(r.SHA256)
		if err != nil || !isName(r.Name) {
			return nil, fmt.Errorf("revoked token %d has an invalid name or digest", i+1)
		}
		b.revoked = append(b.revoked, revokedToken{r.Name, key})
	}
	return b, nil
}

func (f *tokenForm) token() (key digest, t Token, err error) {
	t = Token{Name: f.Name, Client: f.Client, Created: f.Created, Expires: f.Expires}
	if key, err = readDigest(f.SHA256); err != nil {
		return key, t, err
	}
	if t.Read, err = ParseScopes(f.Read); err != nil {
		return key, t, err
	}
	if t.Write, err = ParseScopes(f.Write); err != nil {
		return key, t, err
	}
	if f.Shown != "" {
		if t.Shown, err = time.Parse(time.DateOnly, f.Shown); err != nil {
			return key, t, err
		}
	}
	return key, t, t.check()
}

func readDigest(text string) (key digest, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(key) {
		return key, errors.New("invalid digest; use 64 hexadecimal digits")
	}
	return digest(raw), nil
}
