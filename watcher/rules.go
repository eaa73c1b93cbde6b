package watcher

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// dotted tells whether a file or folder is none of the user's notes: .obsidian,
// .trash, .git, what is hidden, and the stubs of iCloud.
func dotted(name string) bool { return strings.HasPrefix(name, ".") }

// unfinished tells whether editors and sync clients give such a name to files that
// are not notes: *~, *.tmp, ~$* and #*#. Those of vim's probe (4913) and of other
// locks do not end like a note and need no rule. A folder may have any such name.
func unfinished(name string) bool {
	return strings.HasSuffix(name, "~") ||
		strings.HasSuffix(name, ".tmp") ||
		strings.HasPrefix(name, "~$") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

// rules say which paths are followed.
type rules struct {
	extensions []string
	patterns   []pattern
}

type pattern struct {
	elems  []string // of the path, one for a name at any depth
	folder bool     // fits folders only
}

func newRules(extensions, ignore []string) (rules, error) {
	r := rules{extensions: slices.Clone(extensions)}
	for _, ext := range extensions {
		if !strings.HasPrefix(ext, ".") {
			return r, fmt.Errorf("extension %q of notes does not begin with a dot", ext)
		}
	}
	for _, text := range ignore {
		p, err := parsePattern(text)
		if err != nil {
			return r, err
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

func parsePattern(text string) (pattern, error) {
	if strings.HasPrefix(text, "!") {
		return pattern{}, fmt.Errorf("ignore pattern %q begins with an exclamation mark; exceptions are not supported", text)
	}
	trimmed := strings.TrimSuffix(text, "/")
	anchored := strings.HasPrefix(trimmed, "/")
	p := pattern{elems: strings.Split(strings.TrimPrefix(trimmed, "/"), "/"), folder: trimmed != text}
	for _, elem := range p.elems {
		if _, err := path.Match(elem, ""); err != nil || elem == "" {
			return pattern{}, fmt.Errorf("ignore pattern %q is not valid; see path patterns of a shell: *, ?, [a-z], **", text)
		}
	}
	if len(p.elems) == 1 && !anchored {
		p.elems = []string{"**", p.elems[0]}
	}
	return p, nil
}

// wanted tells whether a file's name ends like a note's.
func (r rules) wanted(p string) bool {
	ext := path.Ext(p)
	return slices.ContainsFunc(r.extensions, func(e string) bool { return strings.EqualFold(e, ext) })
}

// ignores tells whether a path is ignored in its own right, whatever it lies in.
func (r rules) ignores(p string, folder bool) bool {
	name := path.Base(p)
	return dotted(name) || !folder && unfinished(name) || r.excludes(p, folder)
}

// excludes tells whether one of the caller's patterns fits a path.
func (r rules) excludes(p string, folder bool) bool {
	if len(r.patterns) == 0 {
		return false
	}
	elems := strings.Split(p, "/")
	return slices.ContainsFunc(r.patterns, func(p pattern) bool {
		return (folder || !p.folder) && fits(p.elems, elems)
	})
}

// hides tells whether a path is ignored, or a folder it lies in, whether it is a
// file or a folder itself. The root never is.
func (r rules) hides(p string) bool {
	if p == "." {
		return false
	}
	for i := range len(p) {
		if p[i] == '/' && r.ignores(p[:i], true) {
			return true
		}
	}
	return dotted(path.Base(p)) || r.excludes(p, false)
}

// fits matches the elements of a path against those of a pattern.
func fits(pattern, elems []string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if len(elems) == 0 {
			return false
		}
		if ok, _ := path.Match(pattern[0], elems[0]); !ok {
			return false
		}
		pattern, elems = pattern[1:], elems[1:]
	}
	if len(pattern) == 0 {
		return len(elems) == 0
	}
	for i := range len(elems) + 1 {
		if fits(pattern[1:], elems[i:]) {
			return true
		}
	}
	return false
}
