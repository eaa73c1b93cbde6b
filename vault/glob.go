package vault

import (
	"fmt"
	"path"
	"strings"
)

// glob is one ignore pattern, split at its slashes. One that was written with a
// slash at the end fits folders only.
type glob struct {
	elements []string
	folder   bool
}

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
		named, folder := strings.CutSuffix(p, "/")
		if !strings.Contains(named, "/") {
			elements = append([]string{"**"}, elements...)
		}
		all = append(all, glob{elements, folder})
	}
	return all, nil
}

// match reports whether a pattern fits the path, which may be that of a folder, or
// a folder above it.
func (g globs) match(name string, folder bool) bool {
	if len(g) == 0 {
		return false
	}
	elements := strings.Split(name, "/")
	for _, pattern := range g {
		if pattern.match(elements, folder) {
			return true
		}
	}
	return false
}

// match follows all ways through the pattern at once, so that its time is the
// product of the two lengths whatever the pattern. live[i] says that the elements
// so far fit the first i of the pattern.
func (g glob) match(elements []string, folder bool) bool {
	end := len(g.elements)
	live := make([]bool, end+1)
	live[0] = true
	g.skip(live)
	for at, e := range elements {
		next := make([]bool, end+1)
		for i, want := range g.elements {
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
		if live[end] && (!g.folder || folder || at+1 < len(elements)) {
			return true
		}
	}
	return false
}

// skip lets ** stand for no folder at all.
func (g glob) skip(live []bool) {
	for i, want := range g.elements {
		live[i+1] = live[i+1] || live[i] && want == "**"
	}
}
