// Package ignore matches paths against the patterns of notes and folders that emberd leaves out.
// The vault and the watcher match with it, so that both leave out the same.
//
// A pattern without a slash matches a name at any depth; one with a slash matches the whole path
// from the root. A slash at the end restricts it to folders. What lies in a folder that matches
// is matched too. Elements are those of [path.Match], and ** stands for any number of folders.
// The time of a match is the product of the lengths of path and patterns, whatever the patterns.
package ignore

import (
	"fmt"
	"path"
	"strings"
)

// pattern is one pattern, split at its slashes.
type pattern struct {
	elements []string
	folder   bool // matches folders only
}

// Patterns are parsed patterns. The zero value matches nothing.
type Patterns []pattern

// PatternError is the error of a pattern that is not one.
type PatternError string

func (e PatternError) Error() string { return string(e) }

// Parse parses patterns as a user writes them into the settings. The error is a [PatternError].
func Parse(patterns []string) (Patterns, error) {
	var all Patterns
	for _, p := range patterns {
		if strings.HasPrefix(p, "!") {
			return nil, PatternError(fmt.Sprintf("ignore pattern %q begins with an exclamation mark; exceptions are "+
				"not supported", p))
		}
		elements := strings.Split(strings.TrimSuffix(strings.TrimPrefix(p, "/"), "/"), "/")
		for _, e := range elements {
			if _, err := path.Match(e, ""); err != nil || e == "" {
				return nil, PatternError(fmt.Sprintf("%q is not an ignore pattern; use names with *, ? and [a-z], "+
					"separated by single slashes", p))
			}
		}
		named, folder := strings.CutSuffix(p, "/")
		if !strings.Contains(named, "/") {
			elements = append([]string{"**"}, elements...)
		}
		all = append(all, pattern{elements, folder})
	}
	return all, nil
}

// Match reports whether a pattern matches the path, which may be that of a folder, or
// a folder above it.
func (p Patterns) Match(name string, folder bool) bool {
	if len(p) == 0 {
		return false
	}
	elements := strings.Split(name, "/")
	for _, one := range p {
		if one.match(elements, folder) {
			return true
		}
	}
	return false
}

// match follows all ways through the pattern at once, so that its time is the
// product of the two lengths whatever the pattern. live[i] means that the elements
// so far match the first i of the pattern.
func (p pattern) match(elements []string, folder bool) bool {
	end := len(p.elements)
	live := make([]bool, end+1)
	live[0] = true
	p.skip(live)
	for at, e := range elements {
		next := make([]bool, end+1)
		for i, want := range p.elements {
			if !live[i] {
				continue
			}
			if want == "**" {
				next[i] = true
			} else if ok, err := path.Match(want, e); ok && err == nil {
				next[i+1] = true
			}
		}
		live = next
		p.skip(live)
		if live[end] && (!p.folder || folder || at+1 < len(elements)) {
			return true
		}
	}
	return false
}

// skip lets ** stand for no folder at all.
func (p pattern) skip(live []bool) {
	for i, want := range p.elements {
		live[i+1] = live[i+1] || live[i] && want == "**"
	}
}
