package watcher

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"emberd/internal/ignore"
)

// dotted reports whether a name is that of no note of the user: .obsidian, .trash, .git, hidden
// files, and the stubs of iCloud.
func dotted(name string) bool { return strings.HasPrefix(name, ".") }

// unfinished reports whether editors and sync clients give such a name to files that
// are not notes: *~, *.tmp, ~$* and #*#. Those of vim's probe (4913) and of other
// locks do not end like a note and need no rule. A folder may have any such name.
func unfinished(name string) bool {
	return strings.HasSuffix(name, "~") ||
		strings.HasSuffix(name, ".tmp") ||
		strings.HasPrefix(name, "~$") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

// rules decide which paths the watcher follows.
type rules struct {
	extensions []string
	patterns   ignore.Patterns
}

func newRules(extensions, patterns []string) (rules, error) {
	for _, ext := range extensions {
		if !strings.HasPrefix(ext, ".") {
			return rules{}, fmt.Errorf("invalid note extension %q; begin the extension with a dot", ext)
		}
	}
	parsed, err := ignore.Parse(patterns)
	return rules{extensions: slices.Clone(extensions), patterns: parsed}, err
}

// wanted reports whether a file's name ends like a note's.
func (r rules) wanted(p string) bool {
	ext := path.Ext(p)
	return slices.ContainsFunc(r.extensions, func(e string) bool { return strings.EqualFold(e, ext) })
}

// ignores reports whether a path is left out that lies in no folder that is.
func (r rules) ignores(p string, folder bool) bool {
	name := path.Base(p)
	return dotted(name) || !folder && unfinished(name) || r.patterns.Match(p, folder)
}

// hides reports whether a path, which may be that of a file or folder, or a folder above it is
// left out. The root never is.
func (r rules) hides(p string) bool {
	return p != "." && (dotted(p) || strings.Contains(p, "/.") || r.patterns.Match(p, false))
}
