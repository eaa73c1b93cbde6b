// Package access defines what a caller may see and change. A [Grant] is bound to an access
// token: a caller that sends the token has the grant, whatever name it claims.
//
// A [Store] keeps the tokens of a device, never their secrets.
//
// Grants separate cooperating agents. They do not protect against a process of the same user
// that reads the data folder itself.
package access

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"emberd/memory"
)

// The kinds of scopes.
const (
	All     = "all"     // everything
	Tag     = "tag"     // memories and notes with the tag, or with one below it
	Project = "project" // memories of the project
	Folder  = "folder"  // notes in the folder of the vault or below it, and memories with such a note
)

// maxScope bounds the value of a scope, in bytes.
const maxScope = 200

// Scope is one part of a grant. It is written kind:value, or all.
type Scope struct{ Kind, Value string }

// ParseScope reads a scope. Tags are taken with or without #, folders as a shell completes
// them, always from the root of the vault.
func ParseScope(text string) (Scope, error) {
	if text == All {
		return Scope{Kind: All}, nil
	}
	kind, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	switch kind {
	case Tag:
		value = strings.TrimPrefix(value, "#")
	case Folder:
		if value = strings.Trim(path.Clean(value), "/"); value == "." {
			value = ""
		}
	case Project:
	default:
		value = ""
	}
	if value == "" || len(value) > maxScope {
		return Scope{}, memory.Errorf(memory.Invalid,
			"invalid scope %q; use tag:NAME, project:NAME or folder:PATH with at most %d bytes after the colon, or all",
			text, maxScope)
	}
	return Scope{Kind: kind, Value: value}, nil
}

// String returns the form that [ParseScope] reads.
func (s Scope) String() string {
	if s.Kind == All {
		return All
	}
	return s.Kind + ":" + s.Value
}

// Subject is what scopes are held against: a memory, or a note of the vault.
type Subject struct {
	Tags    []string
	Project string
	Note    string // path of the note from the root of the vault with slashes, "" for none
}

// covers reports whether the scope takes the subject in.
func (s Scope) covers(x Subject) bool {
	switch s.Kind {
	case All:
		return true
	case Tag:
		return slices.ContainsFunc(x.Tags, func(tag string) bool { return within(tag, s.Value, strings.EqualFold) })
	case Project:
		return x.Project == s.Value
	case Folder:
		return x.Note != "" && x.Note != s.Value && within(x.Note, s.Value, func(a, b string) bool { return a == b })
	}
	return false
}

// within reports whether name is outer or lies below it.
func within(name, outer string, same func(a, b string) bool) bool {
	if len(name) > len(outer) && name[len(outer)] == '/' {
		name = name[:len(outer)]
	}
	return same(name, outer)
}

// Grant is what a caller may see and change. The nil grant is everything. A grant is not
// changed once it is made, so it may be shared.
type Grant struct {
	Token string  // name of the token that it is bound to
	Read  []Scope // what it sees beside what it may change
	Write []Scope
	Made  time.Time // when the token was made; one of the same name before it was another

	ended   <-chan struct{} // closed when the token is revoked; nil without a store
	expires time.Time       // zero for never
}

// Hold returns a context that ends with ctx, and as soon as the token is revoked or
// expires: what lasts longer than one answer runs under it. The caller must call cancel.
func (g *Grant) Hold(ctx context.Context) (held context.Context, cancel context.CancelFunc) {
	if g == nil {
		return context.WithCancel(ctx)
	}
	if g.expires.IsZero() {
		held, cancel = context.WithCancel(ctx)
	} else {
		held, cancel = context.WithDeadline(ctx, g.expires)
	}
	go func() { // ends with held
		select {
		case <-g.ended:
			cancel()
		case <-held.Done():
		}
	}()
	return held, cancel
}

// Whole reports whether everything may be seen and changed.
func (g *Grant) Whole() bool {
	return g == nil || slices.ContainsFunc(g.Write, func(s Scope) bool { return s.Kind == All })
}

// Sees reports whether the subject may be read. Permission to change includes permission to read.
func (g *Grant) Sees(x Subject) bool {
	return g == nil || covered(g.Read, x) || covered(g.Write, x)
}

// SeesAll reports whether everything may be read.
func (g *Grant) SeesAll() bool {
	return g.Sees(Subject{}) // which only a scope of all covers
}

// May reports whether the subject may be made, changed or removed.
func (g *Grant) May(x Subject) bool { return g == nil || covered(g.Write, x) }

func covered(scopes []Scope, x Subject) bool {
	return slices.ContainsFunc(scopes, func(s Scope) bool { return s.covers(x) })
}
