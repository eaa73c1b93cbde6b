package vault

import (
	"fmt"
	"path"
	"strings"
)

// glob is one ignore pattern, split at its slashes.
type glob []string

type globs []glob

func parseGlobs(patterns []string) (globs, error) {
	var all globs
	for _, p := range patterns {
		elements := strings.Split(strings.Trim(p, "/"), "/")
		for _, e := range elements {
			if _, err := path.Match(e, ""); err != nil || e == "" {
				return nil, fmt.Errorf("%q is not an ignore pattern; use names with *, ? and [a-z], separated by single slashes", p)
			}
		}
		if !strings.Contains(p, "/") {
			elements = append(glob{"**"}, elements...)
		}
		all = append(all, elements)
	}
	return all, nil
}

// match reports whether a pattern fits the path or a folder above it.
func (g globs) match(name string) bool {
	if len(g) == 0 {
		return false
	}
	elements := strings.Split(name, "/")
	for _, pattern := range g {
		if pattern.match(elements) {
			return true
		}
	}
	return false
}

// match follows all ways through the pattern at once, so that its time is the
// product of the two lengths whatever the pattern. live[i] says that the elements
// so far fit the first i of the pattern.
func (g glob) match(elements []string) bool {
	live := make([]bool, len(g)+1)
	live[0] = true
	g.skip(live)
	for _, e := range elements {
		next := make([]bool, len(g)+1)
		for i, want := range g {
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
		g.skip(live)
		if live[len(g)] {
			return true
		}
	}
	return false
}

// skip lets ** stand for no folder at all.
func (g glob) skip(live []bool) {
	for i, want := range g {
		live[i+1] = live[i+1] || live[i] && want == "**"
	}
}
