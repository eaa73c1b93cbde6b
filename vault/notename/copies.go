package notename

import (
	"emberd/internal/text"
	"path"
	"strings"
)

// ParseCloudStub returns the note that an iCloud stub stands for: before macOS 14 a small file of
// such a name replaces the content of an evicted file.
func ParseCloudStub(name string) (note string, ok bool) {
	dir, base := path.Split(name)
	base, dotted := strings.CutPrefix(base, ".")
	base, stub := strings.CutSuffix(base, ".icloud")
	return dir + base, dotted && stub && base != ""
}

// IsTemporary recognizes the names that Syncthing, Office, vim and Emacs give to temporary files
// and that do not begin with a dot.
func IsTemporary(base string) bool {
	return strings.HasPrefix(base, "~syncthing~") || strings.HasPrefix(base, "~$") || strings.HasSuffix(base, "~") ||
		strings.HasSuffix(base, ".swp") || base == "4913"
}

// IsConflictName recognizes the names that Syncthing, Dropbox and Obsidian Sync give to copies of
// a note that two devices changed.
func IsConflictName(base string) bool {
	return strings.Contains(base, ".sync-conflict-") ||
		strings.Contains(strings.ToLower(base), "conflicted copy")
}

// IsCopy reports whether a note's name is one that Syncthing, Dropbox or Obsidian Sync gives to a
// copy, and returns the name of the original, "" if it cannot be told.
func IsCopy(name string) (of string, ok bool) {
	dir, base := path.Split(name)
	if !IsConflictName(base) {
		return "", false
	}
	stem, ext := base, path.Ext(base)
	for _, mark := range []string{".sync-conflict-", " (", " - "} {
		if before, _, found := strings.Cut(stem, mark); found && before != "" {
			return dir + before + ext, true
		}
	}
	return "", true
}

// numbered is what iCloud puts behind the name of a copy.
var numbered = text.Pattern(`^(.+) [0-9]{1,3}(\.md)$`)

// NumberedCopyOf returns the note whose copy a note may be: "name.md" for "name 2.md", which people write, too.
func NumberedCopyOf(name string) (of string, may bool) {
	m := numbered().FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return m[1] + m[2], true
}

// likeCopy is what iCloud ("name 2") and OneDrive ("name-COMPUTER") put behind a name, and people too.
var likeCopy = text.Pattern(`^(?: [0-9]{1,3}|-[0-9A-Za-z][0-9A-Za-z_-]{0,62})$`)

// CopyOf reports whether a name is one that a sync tool gives to a copy of a note in the same folder. It is
// certain for the names of [IsConflictName]; those of iCloud and OneDrive can be other notes'.
func CopyOf(name, of string) (is, certain bool) {
	if path.Dir(name) != path.Dir(of) {
		return false, false
	}
	stem := TrimExtension(path.Base(of))
	rest, begins := strings.CutPrefix(path.Base(name), stem)
	switch {
	case !begins || rest == "" || path.Base(name) == path.Base(of):
		return false, false
	case IsConflictName(rest):
		return true, true
	}
	tail, note := strings.CutSuffix(rest, ".md")
	return note && likeCopy().MatchString(tail), false
}
